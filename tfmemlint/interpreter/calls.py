"""Calls: of the program's own functions and classes, of methods of what is known, of built-in functions."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tfmemlint.facts import folding
from tfmemlint.facts.names import is_tensorflow
from tfmemlint.facts.shapes import MUTATING
from tfmemlint.facts.syntax import dotted, is_exit, may_exit
from tfmemlint.interpreter.builtin import constants
from tfmemlint.interpreter.functions import Functions, is_graph_function
from tfmemlint.interpreter.program import Arg
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Choice,
    Class,
    Const,
    Devices,
    Dict,
    Function,
    Instance,
    Lazy,
    Made,
    Proto,
    Ref,
    Seq,
    Thread,
    Value,
)


class Caller(Functions):
    """Calling things."""

    def _Call(self, node: ast.Call) -> Value:
        callee, handled = self._callee(node)
        if handled is not None:
            return handled
        values, keywords, written = self._arguments(node, written=isinstance(callee, Ref))
        if self.state is None:
            return UNKNOWN
        if isinstance(callee, Ref):
            return self.call_name(callee.name, node, values, keywords, written)
        result = self.call_value(callee, values, keywords, node)
        if isinstance(callee, Function):
            given = (*node.args, *(keyword.value for keyword in node.keywords))
            names = [one.id for one in given if isinstance(one, ast.Name)]
            listed = [name for name in names if _is_nameless(self.scope.lookup(name))]
            if listed and self.unit_of(callee).shapes.changes_arguments(callee.node):
                for name in listed:
                    self.scope.bind(name, UNKNOWN)
        return result

    def _callee(self, node: ast.Call) -> tuple[Value, Value | None]:
        """What is called; or, for a method of a value that is known, what the call returns."""
        func = node.func
        if may_exit(func) and is_exit(dotted(func)):
            self._arguments(node)
            self.leave(certain=True)
            return UNKNOWN, UNKNOWN
        if not isinstance(func, ast.Attribute):
            return self.evaluate(func), None
        if isinstance(func.value, ast.Call) and isinstance(func.value.func, ast.Name) and func.value.func.id == "super":
            return self._inherited(func.attr), None
        base = self.current(self._base(func.value))
        match base:
            case Function() if func.attr == "get_concrete_function" and is_graph_function(base):
                self._arguments(node)
                if self.state is not None and not self.here.graph_mode:
                    self.start(node, "context", "tf.function", self.text(func))
                return UNKNOWN, UNKNOWN
            case Const() | Seq() | Dict() | Devices() | Proto():
                values, keywords, _ = self._arguments(node)
                return UNKNOWN, self._method(base, func, values, keywords)
            case Choice() if any(isinstance(one, (Seq, Dict)) for one in base.options):
                values, keywords, _ = self._arguments(node)
                return UNKNOWN, self._method_of_any(base, func, values, keywords)
            case Thread(function, args, named):
                values, keywords, _ = self._arguments(node)
                if func.attr == "start":
                    self.in_the_background(function, args, dict(named), node)
                return UNKNOWN, UNKNOWN
            case Ref("os.environ"):
                values, keywords, written = self._arguments(node)
                return UNKNOWN, self.environ_method(func.attr, node, values, keywords, written)
            case Made(_, serial) if func.attr == "get" and node.args:
                values, _, _ = self._arguments(node)
                self.used.add(serial)
                self.look_up(base, values[0], node, func.value, get=True)
                return UNKNOWN, UNKNOWN
            case Made(name) if func.attr == "add" and name.endswith("Sequential"):
                values, keywords, written = self._arguments(node)
                for value in (*values[:1], *keywords.values()):
                    self.add_layer(base, value, node)
                return UNKNOWN, UNKNOWN
            case Ref() | Made():
                value = self.attribute(base, func.attr, func)
                if isinstance(value, Ref):
                    self.use(func, value.name, called=True)
                return value, None
            case _:
                return self.attribute(base, func.attr, func), None

    def _inherited(self, name: str) -> Value:
        """``super().name``: a method of a base class, bound to the object at hand."""
        for frame in reversed(self.frames):
            if isinstance(frame.receiver, Instance) and isinstance(frame.cls, Class):
                for base in frame.cls.bases:
                    if isinstance(base, Class):
                        found = self.class_member(base, name)
                        if isinstance(found, Function):
                            return Function(found.node, found.scope, found.decorators, frame.receiver)
                    elif isinstance(base, Ref) and is_tensorflow(base.name):
                        return Ref(base.name) if name == "__init__" else Ref(f"{base.name}().{name}")
                return UNKNOWN
        return UNKNOWN

    def _arguments(self, node: ast.Call, *, written: bool = True) -> tuple[list[Value], dict[str, Value], list[Arg]]:
        """The arguments of a call, by position and by keyword; and as they stand there, where that is wanted."""
        values: list[Value] = []
        keywords: dict[str, Value] = {}
        args: list[Arg] = []
        for part in node.args:
            star = isinstance(part, ast.Starred)
            inner = part.value if isinstance(part, ast.Starred) else part
            value = self.evaluate(inner)
            if star and isinstance(value, Seq):
                values.extend(value.items)
            else:
                values.append(UNKNOWN if star else value)
            if written:
                args.append(Arg(value, self.span(inner), self.text(inner), star=star, node=inner))
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            star = keyword.arg is None
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, Dict):
                keywords.update(value.items)
            if written:
                of = keyword.value
                args.append(Arg(value, self.span(of), self.text(of), keyword.arg, star, None if star else of))
        return values, keywords, args

    # Methods of values

    def _method(self, base: Value, func: ast.Attribute, values: Sequence[Value], keywords: dict[str, Value]) -> Value:
        for value in values:
            if isinstance(value, Lazy) and func.attr in ("join", "extend", "update"):
                self.drain(value)
        if isinstance(base, Const):
            if func.attr == "format" and isinstance(base.value, str):
                if all(isinstance(value, Const) for value in (*values, *keywords.values())):
                    return self._fold(lambda: _format(base.value, values, keywords))
                return UNKNOWN
            plain = None if keywords else constants(values)
            return UNKNOWN if plain is None else self._fold(lambda: folding.method(base.value, func.attr, plain))
        if isinstance(base, Proto):
            return self.proto_method(base, func.attr, values)
        if isinstance(base, Dict) and func.attr == "get" and values:
            return self._got(base, values)
        if isinstance(base, Dict) and func.attr in ("items", "keys", "values") and not base.open:
            return Seq(_view(base, func.attr), "view")
        if func.attr in MUTATING:
            for value in values:
                self.escape(value)
            if isinstance(base, (Seq, Dict)) and base.cell is not None:
                return self.change(base, func.attr, values, keywords)
            if isinstance(base, Seq) and func.attr == "append" and len(values) == 1 and not self.loops:
                return self._grown(func.value, base, values[0])
            if dotted(func.value):
                self.assign(func.value, UNKNOWN)
        elif isinstance(base, Devices) and func.attr in ("copy", "__iter__"):
            return base
        elif isinstance(base, (Devices, Seq)) and func.attr in ("index", "count", "__len__"):
            return UNKNOWN
        return UNKNOWN

    def change(self, base: Value, name: str, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        """Call a method that changes a list or a dictionary."""
        result: Value | None = None
        if isinstance(base, Seq):
            result = self.on_list(base, name, values)
        elif isinstance(base, Dict):
            result = self.on_dict(base, name, values, keywords)
        return UNKNOWN if result is None else result

    def _method_of_any(
        self, base: Choice, func: ast.Attribute, values: Sequence[Value], keywords: dict[str, Value]
    ) -> Value:
        """A method of one of several lists, or of one whose items differ from way to way."""
        meant = self.cells_of(base) if func.attr in MUTATING else list(base.options)

        def act(option: Value) -> Value:
            if isinstance(option, (Seq, Dict)):
                return self._method(option, func, values, keywords)
            return self.call_any(self.attribute(option, func.attr, func), values, keywords, func)

        result = act(meant[0]) if len(meant) == 1 else self.any_of(Choice(tuple(meant)), act)
        # What is taken out differs from way to way, too.
        return result if func.attr not in ("pop", "popleft") else UNKNOWN

    def _got(self, base: Dict, values: Sequence[Value]) -> Value:
        """``base.get(key, default)``."""
        key = values[0]
        if not isinstance(key, Const) or not isinstance(key.value, str):
            return UNKNOWN
        found = base.items.get(key.value)
        if found is None and not base.open:
            return values[1] if len(values) > 1 else Const(None)
        return UNKNOWN if found is None else found

    def _grown(self, target: ast.expr, base: Seq, value: Value) -> Value:
        if dotted(target):
            self.assign(target, Seq((*base.items, value), base.kind))
        return Const(None)

    # Calling values

    # What the other parts add

    defaults: dict[int, Value]

    tracing: int


def _is_nameless(value: Value | None) -> bool:
    """Whether a value is a list or a dictionary that isn't told apart from others."""
    return isinstance(value, (Seq, Dict)) and value.cell is None


def _view(of: Dict, kind: str) -> tuple[Value, ...]:
    """What ``items()``, ``keys()`` or ``values()`` of a dictionary gives."""
    if kind == "keys":
        return tuple(map(Const, of.items))
    if kind == "values":
        return tuple(of.items.values())
    return tuple(Seq((Const(key), value), "tuple") for key, value in of.items.items())


def _format(text: str, values: Sequence[Value], keywords: dict[str, Value]) -> str:
    try:
        return text.format(
            *(value.value for value in values if isinstance(value, Const)),
            **{name: value.value for name, value in keywords.items() if isinstance(value, Const)},
        )
    except (ValueError, LookupError, AttributeError, TypeError):
        raise folding.NotFolded from None
