"""Expressions: what they come to, and what evaluating them does."""

from __future__ import annotations

import ast
import functools
from typing import Any

from tfmemlint.facts import folding
from tfmemlint.facts.names import canonical, is_tensorflow
from tfmemlint.facts.shapes import expressions
from tfmemlint.interpreter.attributes import Items
from tfmemlint.interpreter.state import Guards, Tri
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Choice,
    Class,
    Const,
    Device,
    DeviceName,
    Devices,
    Dict,
    Function,
    Instance,
    Made,
    Ref,
    Seq,
    Value,
    join,
)
from tfmemlint.knowledge import names as inventory
from tfmemlint.knowledge.functions import RANKS

_CHANGING = frozenset({Seq, Dict, Choice})
_REPETITIONS = range(65)
"""How often a list may be repeated without becoming a burden."""


class Evaluator(Items):
    """Evaluating expressions."""

    def evaluate(self, node: ast.expr | None) -> Value:
        """The value of an expression, with all that evaluating it does."""
        if node is None:
            return Const(None)
        if self.state is None:
            return UNKNOWN
        self.step()
        kind = type(node)
        method = self._methods[kind] if kind in self._methods else self.method_for(kind)
        value: Value = method(self, node) if method is not None else self._children(node)
        if type(value) in _CHANGING:
            value = self.current(value)
        self._last_values[id(node)] = value
        return value

    def _children(self, node: ast.AST) -> Value:
        for child in expressions(node):
            self.evaluate(child)
        return UNKNOWN

    # Leaves

    def _Constant(self, node: ast.Constant) -> Value:
        return Const(node.value)

    def _Name(self, node: ast.Name) -> Value:
        found = self.frames[-1].scope.lookup(node.id)
        if found is not None:
            if isinstance(found, Function) and self.here.context.has is not Tri.YES:
                self.early.add(id(found.node))
            return found
        if node.id == "__name__":
            return Const(self.unit.name)
        if node.id == "__package__":
            return Const(self.unit.package or "")
        for module in self.stars:
            name = f"{module}.{node.id}"
            if inventory.ever_existed(name):
                return Ref(canonical(name))
        # A name that nothing binds: a built-in, or `tf` in a snippet without its import.
        return Ref(node.id)

    def _JoinedStr(self, node: ast.JoinedStr) -> Value:
        parts: list[str] | None = []
        value: Value = UNKNOWN
        for part in node.values:
            value = self.evaluate(part.value if isinstance(part, ast.FormattedValue) else part)
            plain = not (isinstance(part, ast.FormattedValue) and (part.format_spec or part.conversion != -1))
            if parts is not None and plain and isinstance(value, Const):
                parts.append(str(value.value))
            else:
                parts = None
        if isinstance(value, Made) and value.name in RANKS and len(node.values) == 1:
            # The text of a number.
            return value
        return UNKNOWN if parts is None else Const("".join(parts))

    def _Lambda(self, node: ast.Lambda) -> Value:
        self.evaluate_defaults(node.args)
        function = Function(node, self.scope)
        if self.unit is self.main:
            self.functions.setdefault(id(node), function)
        return function

    # Operators

    def _BinOp(self, node: ast.BinOp) -> Value:
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        if isinstance(left, Const) and isinstance(right, Const):
            return self._fold(lambda: folding.binary(node.op, left.value, right.value))
        if isinstance(left, Seq) and isinstance(right, Seq) and isinstance(node.op, ast.Add):
            return self.fresh(Seq(left.items + right.items, left.kind))
        if isinstance(left, Seq) and isinstance(right, Const) and isinstance(node.op, ast.Mult):
            known = isinstance(right.value, int) and right.value in _REPETITIONS
            return self.fresh(Seq(left.items * right.value, left.kind)) if known else UNKNOWN
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
            if isinstance(op, (ast.In, ast.NotIn)):
                right = _names_in(right)
            plain = _constants(left, right)
            if plain is None and len(node.ops) == 1 and isinstance(op, (ast.Is, ast.IsNot)):
                # What TensorFlow has is never None, and neither is what the program defines.
                return Const(isinstance(op, ast.IsNot)) if self._is_something(left, right) else UNKNOWN
            if plain is None:
                return self._rest(node)
            a, b = plain
            folded = self._fold(functools.partial(folding.compare, op, a, b))
            if not isinstance(folded, Const):
                return UNKNOWN
            result, left = folded, right
            if not folded.value:
                break
        return result

    def _is_something(self, *values: Value) -> bool:
        """Whether of two values one is None, and the other certainly something."""
        others = [value for value in values if value != Const(None)]
        match others:
            case [Function() | Class() | Instance()]:
                return True
            case [Ref(name)]:
                return is_tensorflow(name) and inventory.exists(name, self.target)
            case _:
                return False

    def _rest(self, node: ast.Compare) -> Value:
        for comparator in node.comparators[1:]:
            self.evaluate(comparator)
        return UNKNOWN

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
        return self.fresh(Seq(tuple(items), kind)) if known else UNKNOWN

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
        return self.fresh(Dict(items, is_open))

    # Comprehensions

    def _ListComp(self, node: ast.ListComp) -> Value:
        return self._comprehension(node, node.elt)

    def _SetComp(self, node: ast.SetComp) -> Value:
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
                if isinstance(node, ast.GeneratorExp):
                    self.yielded(values[-1])
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
            return self.fresh(Seq(tuple(values), "list"))
        return UNKNOWN

    # What the other parts add

    stars: list[str]
    made_by: dict[int, Any]

    def assign(self, target: ast.expr, value: Value) -> None:
        raise NotImplementedError

    def yielded(self, value: Value) -> None:
        raise NotImplementedError

    def escape(self, value: Value) -> None:
        raise NotImplementedError

    def evaluate_defaults(self, args: ast.arguments) -> None:
        raise NotImplementedError


def _names_in(value: Value) -> Value:
    """What may be looked for in a value by ``in``, as a tuple where it has all of it."""
    match value:
        case Dict(items, open=False):
            return Seq(tuple(map(Const, items)), "tuple")
        case Seq(items, kind) if kind not in ("list", "tuple"):
            return Seq(items, "tuple")
        case _:
            return value


def _constants(*values: Value) -> tuple[Any, ...] | None:
    """The Python values of constants, and of lists and tuples of constants; None where there is another."""
    plain: list[Any] = []
    for value in values:
        if isinstance(value, Const):
            plain.append(value.value)
        elif isinstance(value, Seq) and value.kind in ("list", "tuple"):
            inner = _constants(*value.items)
            if inner is None:
                return None
            plain.append(list(inner) if value.kind == "list" else inner)
        else:
            return None
    return tuple(plain)


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
