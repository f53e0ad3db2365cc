"""Expressions: what they come to, and what evaluating them does."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import Any

from tfmemlint.facts import folding
from tfmemlint.facts.names import canonical, is_tensorflow
from tfmemlint.flow.conditions import Conditions
from tfmemlint.flow.program import Item, Use
from tfmemlint.flow.state import Guards
from tfmemlint.flow.values import (
    EACH,
    UNKNOWN,
    Class,
    Const,
    Device,
    DeviceName,
    Devices,
    Dict,
    Function,
    Index,
    Instance,
    Made,
    Proto,
    Ref,
    Seq,
    Value,
    join,
)
from tfmemlint.knowledge import names as inventory

_VERSIONS = frozenset({"tf.__version__", "tf.version.VERSION", "tf.VERSION", "tf.compat.v1.VERSION"})
_WATCHED = ("tf.config.", "tf.test.", "tf.python.", "tf.compat.v1.config.", "tf.compat.v1.test.")
_REPETITIONS = range(65)
"""How often a list may be repeated without becoming a burden."""


class Evaluator(Conditions):
    """Evaluating expressions."""

    def evaluate(self, node: ast.expr | None) -> Value:
        """The value of an expression, with all that evaluating it does."""
        if node is None:
            return Const(None)
        if self.state is None:
            return UNKNOWN
        self.step()
        method: Callable[[Any], Value] | None = getattr(self, f"_{type(node).__name__}", None)
        value = method(node) if method is not None else self._children(node)
        self._last_values[id(node)] = value
        return value

    def _children(self, node: ast.AST) -> Value:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.evaluate(child)
        return UNKNOWN

    # Leaves

    def _Constant(self, node: ast.Constant) -> Value:
        return Const(node.value)

    def _Name(self, node: ast.Name) -> Value:
        found = self.scope.lookup(node.id)
        if found is not None:
            return found
        if node.id == "__name__":
            return Const("__main__")
        for module in self.stars:
            name = f"{module}.{node.id}"
            if inventory.ever_existed(name):
                return Ref(canonical(name))
        # A name that nothing binds: a built-in, or `tf` in a snippet without its import.
        return Ref(node.id)

    def _JoinedStr(self, node: ast.JoinedStr) -> Value:
        parts: list[str] | None = []
        for part in node.values:
            value = self.evaluate(part.value if isinstance(part, ast.FormattedValue) else part)
            plain = not (isinstance(part, ast.FormattedValue) and (part.format_spec or part.conversion != -1))
            if parts is not None and plain and isinstance(value, Const):
                parts.append(str(value.value))
            else:
                parts = None
        return UNKNOWN if parts is None else Const("".join(parts))

    def _Lambda(self, node: ast.Lambda) -> Value:
        self.evaluate_defaults(node.args)
        function = Function(node, self.scope)
        self.functions.setdefault(id(node), function)
        return function

    # Operators

    def _BinOp(self, node: ast.BinOp) -> Value:
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        if isinstance(left, Const) and isinstance(right, Const):
            return self._fold(lambda: folding.binary(node.op, left.value, right.value))
        if isinstance(left, Seq) and isinstance(right, Seq) and isinstance(node.op, ast.Add):
            return Seq(left.items + right.items, left.kind)
        if isinstance(left, Seq) and isinstance(right, Const) and isinstance(node.op, ast.Mult):
            known = isinstance(right.value, int) and right.value in _REPETITIONS
            return Seq(left.items * right.value, left.kind) if known else UNKNOWN
        return UNKNOWN

    def _UnaryOp(self, node: ast.UnaryOp) -> Value:
        value = self.evaluate(node.operand)
        if isinstance(value, Const):
            return self._fold(lambda: folding.unary(node.op, value.value))
        return UNKNOWN

    def _BoolOp(self, node: ast.BoolOp) -> Value:
        value = self.evaluate(node.values[0])
        stop = isinstance(node.op, ast.Or)
        for part, following in zip(node.values, node.values[1:], strict=False):
            verdict = self.verdict(part, value)
            if verdict.truth is stop and not verdict.assumed:
                return value
            saved = self.snapshot()
            with self.doubtful(self.guards_of(part, not stop), doubt=verdict.truth is None):
                other = self.evaluate(following)
            if verdict.truth is None:
                self.merge(saved)
                value = join(value, other)
            elif verdict.truth is not stop:
                value = other
        return value

    def _Compare(self, node: ast.Compare) -> Value:
        left = self.evaluate(node.left)
        result: Value = UNKNOWN
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(comparator)
            if not (isinstance(left, Const) and isinstance(right, Const)):
                return self._rest(node)
            a, b = left.value, right.value
            folded = self._fold(functools.partial(folding.compare, op, a, b))
            if not isinstance(folded, Const):
                return UNKNOWN
            result, left = folded, right
            if not folded.value:
                break
        return result

    def _rest(self, node: ast.Compare) -> Value:
        for comparator in node.comparators[1:]:
            self.evaluate(comparator)
        return UNKNOWN

    def _fold(self, compute: Callable[[], Any]) -> Value:
        try:
            result = compute()
        except folding.NotFolded:
            return UNKNOWN
        return _lift(result)

    def _IfExp(self, node: ast.IfExp) -> Value:
        verdict = self.verdict(node.test, self.evaluate(node.test))
        if verdict.truth is not None:
            return self.evaluate(node.body if verdict.truth else node.orelse)
        yes, no = self.guards_of(node.test, True), self.guards_of(node.test, False)
        before = self.snapshot()
        with self.doubtful(yes):
            left = self.evaluate(node.body)
        after = self.snapshot()
        self.restore(before)
        with self.doubtful(no):
            right = self.evaluate(node.orelse)
        self.merge(after, no, yes)
        return join(left, right)

    def _NamedExpr(self, node: ast.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        self.assign(node.target, value)
        return value

    def _Yield(self, node: ast.Yield) -> Value:
        self.escape(self.evaluate(node.value))
        return UNKNOWN

    # Containers

    def _List(self, node: ast.List) -> Value:
        return self._sequence(node.elts, "list")

    def _Tuple(self, node: ast.Tuple) -> Value:
        return self._sequence(node.elts, "tuple")

    def _Set(self, node: ast.Set) -> Value:
        return self._sequence(node.elts, "set")

    def _sequence(self, elements: list[ast.expr], kind: str) -> Value:
        items: list[Value] = []
        known = True
        for element in elements:
            if isinstance(element, ast.Starred):
                inner = self.evaluate(element.value)
                if isinstance(inner, Seq):
                    items.extend(inner.items)
                else:
                    known = False
            else:
                items.append(self.evaluate(element))
        for item in items:
            self.escape(item)
        return Seq(tuple(items), kind) if known else UNKNOWN

    def _Dict(self, node: ast.Dict) -> Value:
        items: dict[str, Value] = {}
        is_open = False
        for key, element in zip(node.keys, node.values, strict=True):
            name = self.evaluate(key) if key is not None else UNKNOWN
            value = self.evaluate(element)
            # What is in a container may go anywhere with it.
            self.escape(value)
            if isinstance(name, Const) and isinstance(name.value, str):
                items[name.value] = value
            else:
                is_open = True
        return Dict(items, is_open)

    # Comprehensions

    def _ListComp(self, node: ast.ListComp) -> Value:
        return self._comprehension(node, node.elt)

    def _SetComp(self, node: ast.SetComp) -> Value:
        return self._comprehension(node, node.elt)

    def _GeneratorExp(self, node: ast.GeneratorExp) -> Value:
        # Not run here, in truth, but nearly always run at once by what it is passed to.
        return self._comprehension(node, node.elt)

    def _DictComp(self, node: ast.DictComp) -> Value:
        self._comprehension(node, node.key, node.value)
        return UNKNOWN

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, *elements: ast.expr
    ) -> Value:
        values: list[Value] = []
        generators = node.generators

        def level(depth: int) -> None:
            if depth == len(generators):
                values.append([self.evaluate(element) for element in elements][-1])
                return
            generator = generators[depth]
            iterable = self.evaluate(generator.iter)

            def body() -> None:
                before = self.snapshot()
                guards: Guards = ()
                doubt = False
                for test in generator.ifs:
                    verdict = self.verdict(test, self.evaluate(test))
                    doubt = doubt or verdict.truth is None
                    guards = (*guards, *self.guards_of(test, True))
                with self.doubtful(guards, doubt=doubt):
                    level(depth + 1)
                if doubt:
                    self.merge(before)

            rebound = self.bound_names([generator.target])
            self.iterate(node, iterable, lambda value: self.assign(generator.target, value), body, rebound)

        saved = {
            name: self.scope.names.get(name)
            for generator in generators
            for name in self.bound_names([generator.target])
        }
        level(0)
        for name, value in saved.items():
            if value is None:
                self.scope.names.pop(name, None)
            else:
                self.scope.names[name] = value
        return self._comprehended(node, values)

    def _comprehended(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, values: list[Value]
    ) -> Value:
        """A list of devices filtered or renamed is still a list of devices."""
        filtered = any(generator.ifs for generator in node.generators)
        last = values[-1] if values else UNKNOWN
        device = last.device if isinstance(last, DeviceName) else last
        if isinstance(device, Device) and device.loop:
            type_ = _filtered_type(node, device.type)
            whole = not filtered or (device.type is None and type_ is not None)
            return Devices(device.kind, type_, whole, names=isinstance(last, DeviceName))
        source = self._last_values.get(id(node.generators[0].iter))
        if isinstance(source, Seq) and not filtered and len(node.generators) == 1 and len(values) == len(source.items):
            return Seq(tuple(values), "list")
        return UNKNOWN

    # Attributes and items

    def _Attribute(self, node: ast.Attribute) -> Value:
        return self.attribute_chain(node, called=False)

    def attribute_chain(self, node: ast.Attribute, *, called: bool) -> Value:
        """``a.b.c``; reports the use of a TensorFlow name once, for the whole chain."""
        base = self._base(node.value)
        value = self.attribute(base, node.attr, node)
        if isinstance(value, Ref) and isinstance(base, (Ref, Made)):
            self.use(node, value.name, called=called)
            if value.name in _VERSIONS:
                return Const(self.target.version)
        return value

    def _base(self, node: ast.expr) -> Value:
        """What an attribute is looked up on: inner links of a chain aren't uses of their own."""
        if not isinstance(node, ast.Attribute):
            return self.evaluate(node)
        self.step()
        value = self.attribute(self._base(node.value), node.attr, node)
        return Const(self.target.version) if isinstance(value, Ref) and value.name in _VERSIONS else value

    def use(self, node: ast.AST, name: str, *, called: bool = False, origin: str = "attribute") -> None:
        """Report a reference to a TensorFlow name, where it could matter: all but ordinary names that exist."""
        if self.state is None or not is_tensorflow(name):
            return
        if name.startswith(_WATCHED) or not inventory.exists(name, self.target):
            text = self.text(node) if not isinstance(node, ast.alias) else name
            self.emit(Use(name=name, text=text, called=called, origin=origin, **self.around(node)))

    def attribute(self, base: Value, name: str, node: ast.AST) -> Value:
        """``base.name``."""
        match base:
            case Ref("typing" | "typing_extensions") if name == "TYPE_CHECKING":
                return Const(False)
            case Ref(owner):
                return Ref(canonical(f"{owner}.{name}"))
            case Made(owner, serial):
                self.used.add(serial)
                return Ref(f"{owner}().{name}") if is_tensorflow(owner) else UNKNOWN
            case Device():
                return self._of_device(base, name)
            case Proto(_, record, prefix):
                full = prefix + name
                found = record.fields.get(full)
                if found is not None:
                    return found
                return Proto(f"{base.name}.{name}", record, full + ".")
            case Instance():
                return self.member(base, name, node)
            case Class():
                return self.class_member(base, name) or UNKNOWN
            case Const(value) if isinstance(value, tuple) and name in ("major", "minor", "release"):
                return _version_part(value, name)
            case _:
                return UNKNOWN

    def _of_device(self, device: Device, name: str) -> Value:
        if name == "name":
            return DeviceName(device)
        if name == "device_type" and device.type is not None:
            return Const(device.type)
        return UNKNOWN

    def member(self, instance: Instance, name: str, node: ast.AST) -> Value:
        """An attribute of an object of the program's own: a field, a method, a property, or an inherited name."""
        if name in instance.fields:
            return instance.fields[name]
        found = self.class_member(instance.cls, name)
        if isinstance(found, Function):
            names = {value.name for value in found.decorators if isinstance(value, Ref)}
            if "staticmethod" in names:
                return found
            receiver: Value = instance.cls if "classmethod" in names else instance
            bound = Function(found.node, found.scope, found.decorators, receiver)
            if names & {"property", "functools.cached_property", "cached_property"}:
                return self.call_value(bound, (), {}, node)
            return bound
        return found if found is not None else UNKNOWN

    def class_member(self, cls: Class, name: str, seen: int = 0) -> Value | None:
        """A name of a class or of its bases; a base that is TensorFlow's answers with its own name."""
        if name in cls.members:
            return cls.members[name]
        for base in cls.bases:
            if isinstance(base, Class) and seen < 20:
                found = self.class_member(base, name, seen + 1)
                if found is not None:
                    return found
            elif isinstance(base, Ref) and is_tensorflow(base.name):
                return Ref(f"{base.name}().{name}")
        return None

    def _Subscript(self, node: ast.Subscript) -> Value:
        base = self.evaluate(node.value)
        if isinstance(node.slice, ast.Slice):
            for part in (node.slice.lower, node.slice.upper, node.slice.step):
                if part is not None:
                    self.evaluate(part)
            return self._sliced(base, node.slice)
        return self.item(base, self.evaluate(node.slice), node, node.slice)

    def _sliced(self, base: Value, part: ast.Slice) -> Value:
        if isinstance(base, Devices):
            whole = part.lower is None and part.upper is None
            return Devices(base.kind, base.type, base.whole and whole, base.names)
        bounds = self._bounds(part)
        if bounds is not None and isinstance(base, Seq):
            return Seq(base.items[bounds], base.kind)
        if bounds is not None and isinstance(base, Const):
            return self._fold(lambda: _index(base.value, bounds))
        return UNKNOWN

    def _bounds(self, part: ast.Slice) -> slice | None:
        edges: list[int | None] = []
        for node in (part.lower, part.upper, part.step):
            value = Const(None) if node is None else self._last_values.get(id(node))
            if not isinstance(value, Const) or not isinstance(value.value, (int, type(None))):
                return None
            edges.append(value.value)
        return None if edges[2] == 0 else slice(*edges)

    def item(self, base: Value, key: Value, node: ast.expr, written: ast.expr | None = None) -> Value:
        """``base[key]``."""
        match base:
            case Devices():
                device = self._device_at(base, key, written)
                return DeviceName(device) if base.names else device
            case Seq(items):
                if isinstance(key, Const) and isinstance(key.value, int) and -len(items) <= key.value < len(items):
                    return items[key.value]
                return UNKNOWN
            case Dict(items):
                if isinstance(key, Const) and isinstance(key.value, str):
                    return items.get(key.value, UNKNOWN)
                return UNKNOWN
            case Ref("os.environ"):
                return self.env_value(key)
            case Made(_, serial):
                self.used.add(serial)
                self.look_up(base, key, node, node.value if isinstance(node, ast.Subscript) else node)
                return UNKNOWN
            case Const(value) if isinstance(key, Const):
                return self._fold(lambda: _index(value, key.value))
            case _:
                return UNKNOWN

    def look_up(self, made: Made, key: Value, node: ast.expr, base: ast.expr, *, get: bool = False) -> None:
        """Report a key that is asked of what a call returned."""
        if self.state is None:
            return
        self.emit(
            Item(
                of=made.name,
                key=key,
                base=self.span(base),
                call=self.made_by.get(made.serial),
                get=get,
                **self.around(node),
            )
        )

    def _device_at(self, devices: Devices, key: Value, written: ast.expr | None) -> Device:
        if isinstance(key, Index):
            return Device(devices.kind, devices.type, key.device.index, loop=key.device.loop)
        if isinstance(written, ast.Name):
            for loop in reversed(self.loops):
                if written.id in loop.rebound:
                    # The index goes with the loop: taken for the loop over all the devices that it nearly always is.
                    return Device(devices.kind, devices.type, EACH if loop.repeated else 0, loop=True)
        if isinstance(key, Const) and isinstance(key.value, int):
            # From a slice or a filtered list: the number in that list isn't the device's own.
            return Device(devices.kind, devices.type, key.value if devices.whole else f"[{key.value}] of some")
        return Device(devices.kind, devices.type, ast.unparse(written) if written is not None else None)

    def env_value(self, key: Value) -> Value:
        """What the program itself put into the environment under ``key``."""
        if isinstance(key, Const) and isinstance(key.value, str) and self.state is not None:
            return self.state.env.get(key.value, UNKNOWN)
        return UNKNOWN

    # What the other parts add

    stars: list[str]
    made_by: dict[int, Any]

    def assign(self, target: ast.expr, value: Value) -> None:
        raise NotImplementedError

    def escape(self, value: Value) -> None:
        raise NotImplementedError

    def evaluate_defaults(self, args: ast.arguments) -> None:
        raise NotImplementedError


def _lift(result: object) -> Value:
    if isinstance(result, (list, tuple)):
        return Seq(tuple(_lift(item) for item in result), "list" if isinstance(result, list) else "tuple")
    return Const(result)


def _index(value: Any, key: Any) -> Any:
    try:
        return value[key]
    except (TypeError, LookupError):
        raise folding.NotFolded from None


def _version_part(version: tuple[int, ...], name: str) -> Value:
    if name == "release":
        return Const(version)
    position = ("major", "minor").index(name)
    return Const(version[position]) if position < len(version) else UNKNOWN


def _filtered_type(node: ast.expr, type_: str | None) -> str | None:
    """The type of device that a filter such as ``if d.device_type == 'GPU'`` leaves."""
    if type_ is None:
        for generator in getattr(node, "generators", ()):
            for test in generator.ifs:
                for child in ast.walk(test):
                    if isinstance(child, ast.Constant) and isinstance(child.value, str):
                        for known in ("GPU", "CPU"):
                            if known in child.value.upper():
                                return known
    return type_
