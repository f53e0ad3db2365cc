"""Assignments: what names, attributes and items stand for from here on."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tfmemlint.facts.names import is_tensorflow
from tfmemlint.interpreter.imports import Imports
from tfmemlint.interpreter.program import Store
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Choice,
    Class,
    Const,
    Device,
    Devices,
    Dict,
    Function,
    Instance,
    Lazy,
    Made,
    Module,
    Proto,
    Ref,
    Seq,
    Value,
    join,
    parts,
)
from tfmemlint.knowledge.wishes import REAL_KEYS


class Assigning(Imports):
    """Binding."""

    def bind(self, name: str, value: Value) -> None:
        """Bind a name where an assignment here would."""
        home = self.scope.home(name)
        key = (home.number, name)
        self.rebindings[key] = self.rebindings.get(key, 0) + 1
        if home is self.scope:
            home.names[name] = value
        else:
            self.bind_outer(home, name, value)

    def _Assign(self, node: ast.Assign) -> None:
        value = self.evaluate(node.value)
        if self.state is None:
            return
        for target in node.targets:
            self.assign(target, value)

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            value = self.evaluate(node.value)
            if self.state is not None:
                self.assign(node.target, value)

    def _AugAssign(self, node: ast.AugAssign) -> None:
        if self._is_extended(node):
            return
        read = ast.copy_location(ast.BinOp(_as_load(node.target), node.op, node.value), node)
        value = self.evaluate(read)
        if self.state is not None and not isinstance(node.target, ast.Subscript):
            self.assign(node.target, value)

    def _is_extended(self, node: ast.AugAssign) -> bool:
        """Whether ``target += values`` is a list's: then it gets the values, by all its names."""
        target = _as_load(node.target)
        if not isinstance(node.op, ast.Add) or not isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)):
            return False
        before = self.evaluate(target)
        meant = self.cells_of(before)
        if not all(isinstance(one, Seq) and one.kind == "list" and one.cell is not None for one in meant):
            return False
        value = self.evaluate(node.value)
        if self.state is None:
            return True
        self.escape(value)
        if isinstance(value, Lazy):
            self.drain(value)
        if len(meant) == 1 and isinstance(meant[0], Seq):
            self.extend(meant[0], value)
        else:
            for one in meant:
                self.let_out(one)
        if not isinstance(target, ast.Subscript):
            self.assign(node.target, before)
        return True

    def assign(self, target: ast.expr, value: Value) -> None:
        """Bind a target to a value."""
        match target:
            case ast.Name():
                self.bind(target.id, value)
            case ast.Tuple() | ast.List():
                self._unpack(target.elts, value)
            case ast.Starred():
                self.assign(target.value, value if isinstance(value, Seq) else UNKNOWN)
            case ast.Attribute():
                given = getattr(self.statement, "value", None)
                given = given if isinstance(given, ast.expr) else None
                self.set_attribute(self._base(target.value), target.attr, value, target, target.value, given)
            case ast.Subscript():
                self._set_item(target, value)
            case _:
                pass

    def _unpack(self, targets: Sequence[ast.expr], value: Value) -> None:
        items: Sequence[Value] = [UNKNOWN] * len(targets)
        starred = next((place for place, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
        if starred is not None and isinstance(value, Seq) and len(value.items) >= len(targets) - 1:
            end = len(value.items) - (len(targets) - starred - 1)
            items = [*value.items[:starred], Seq(value.items[starred:end]), *value.items[end:]]
        elif isinstance(value, Seq) and len(value.items) == len(targets):
            items = value.items
        elif isinstance(value, Devices):
            items = [Device(value.kind, value.type, position) for position in range(len(targets))]
        else:
            self.escape(value)
        for target, item in zip(targets, items, strict=True):
            self.assign(target, item)

    def set_attribute(
        self,
        base: Value,
        name: str,
        value: Value,
        node: ast.AST,
        owner: ast.expr | None = None,
        given: ast.expr | None = None,
    ) -> None:
        """``base.name = value`` at ``node``: an assignment's target, or a call of ``setattr``.

        Args:
            owner, given: the base and the value as they are written, where they are.
        """
        self.attributes_set[name] = self.attributes_set.get(name, 0) + 1
        match base:
            case Proto():
                # What sets it by `setattr` may set any other field, too: no place that a fix may take away.
                self.set_field(base, name, value, self.span(node) if isinstance(node, ast.Attribute) else None)
            case Instance():
                known = self.class_member(base.cls, name)
                if isinstance(known, Function) and known.setter is not None:
                    setter = known.setter
                    bound = Function(setter.node, setter.scope, setter.decorators, base)
                    self.call_function(bound, [value], {}, node)
                else:
                    self.keep(base, name, value)
            case Class():
                self.keep(base, name, value)
            case Choice(options):
                for option in options:
                    if isinstance(option, (Instance, Class)):
                        self.keep(option, name, join(self.heap.get((option, name)), value))
            case Ref("sys") if name == "path":
                self.path_changed = True
            case Ref() | Device():
                module = base.name if isinstance(base, Ref) else "device"
                if module == "device" or is_tensorflow(module):
                    self._store(module, name, value, node, base if module == "device" else UNKNOWN, owner, given)
                else:
                    self.escape(value)
                    self.let_out(value)
            case Module(_, scope):
                self.bind_outer(scope, name, value)
            case _:
                self.escape(value)
                self.let_out(value)

    def _store(
        self,
        module: str,
        name: str,
        value: Value,
        node: ast.AST,
        device: Value,
        owner: ast.expr | None,
        given: ast.expr | None,
    ) -> None:
        owner_text = self.text(owner) if owner is not None else ""
        self.emit(
            Store(
                owner=module,
                attribute=name,
                value=value,
                text=self.text(node) if isinstance(node, ast.Attribute) else f"{owner_text or module}.{name}",
                device=device,
                owner_text=owner_text,
                value_text=self.text(given) if given is not None else "",
                by_name=not isinstance(node, ast.Attribute),
                **self.around(node),
            )
        )

    def _set_item(self, target: ast.Subscript, value: Value) -> None:
        base = self.evaluate(target.value)
        key = self.evaluate(target.slice)
        if base == Ref("os.environ"):
            if isinstance(key, Const) and isinstance(key.value, str):
                written = getattr(self.statement, "value", None)
                given = written if isinstance(written, ast.expr) else None
                self.set_env(
                    key.value,
                    value,
                    target,
                    self.text(given) if given is not None else "",
                    key=self.span(target.slice),
                    given=self.span(given) if given is not None else None,
                )
            return
        self.escape(value)
        for one in self.cells_of(base):
            if isinstance(one, (Seq, Dict)) and one.cell is not None:
                self._put(base, one, target.slice, key, value)
            elif one is not base:
                self.let_out(value)
        if isinstance(base, (Seq, Dict)) and base.cell is not None:
            return
        self.let_out(value)
        if isinstance(target.value, ast.Name):
            if isinstance(base, Dict) and isinstance(key, Const) and isinstance(key.value, str):
                self.scope.bind(target.value.id, Dict({**base.items, key.value: value}, base.open))
            elif isinstance(base, (Seq, Dict)) or (isinstance(base, Made) and base.name in REAL_KEYS):
                self.scope.bind(target.value.id, UNKNOWN)

    def _put(self, base: Value, one: Seq | Dict, place: ast.expr, key: Value, value: Value) -> None:
        """``one[key] = value``, where ``one`` is what is meant by ``base``, or may be."""
        if one is not base and len(self.cells_of(base)) > 1:
            self.let_out(value)
            self.let_out(one)
        elif isinstance(one, Dict):
            self.set_key(one, key, value)
        elif isinstance(place, ast.Slice):
            whole = place.lower is None and place.upper is None and place.step is None
            self.alter(one, lambda content: Seq((), "list", content.cell) if whole else UNKNOWN)
            if whole:
                self.extend(one, value)
        else:
            self.set_place(one, key, value)

    def _Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.bind(target.id, UNKNOWN)
            elif isinstance(target, ast.Subscript):
                self._delete_item(target)

    def _delete_item(self, target: ast.Subscript) -> None:
        base = self.evaluate(target.value)
        key = self.evaluate(target.slice)
        if base == Ref("os.environ"):
            if isinstance(key, Const):
                self.unset_env(str(key.value))
            return
        meant = self.cells_of(base)
        for one in meant:
            if not isinstance(one, (Seq, Dict)) or one.cell is None:
                continue
            place = target.slice
            if len(meant) > 1:
                self.let_out(one)
            elif isinstance(place, ast.Slice) and place.lower is None and place.upper is None and place.step is None:
                self.alter(one, lambda content: Seq((), "list", content.cell))
            elif isinstance(place, ast.Slice):
                self.alter(one, lambda _: UNKNOWN)
            else:
                self.change(one, "pop", [key], {})

    def escape(self, value: Value) -> None:
        """A value goes where it can't be followed."""
        match value:
            case Proto(_, record):
                record.consumed = True
            case Made(_, serial):
                self.used.add(serial)
            case _:
                for part in parts(value):
                    self.escape(part)


def _as_load(target: ast.expr) -> ast.expr:
    match target:
        case ast.Name():
            return ast.copy_location(ast.Name(target.id, ast.Load()), target)
        case ast.Attribute():
            return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
        case ast.Subscript():
            return ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
        case _:
            return target
