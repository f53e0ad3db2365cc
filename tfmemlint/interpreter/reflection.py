"""Attributes that are got and set by names in strings: ``setattr``, ``operator.attrgetter``, ``vars``, and kin."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tfmemlint.facts.names import canonical, is_tensorflow
from tfmemlint.interpreter.evaluate import Evaluator
from tfmemlint.interpreter.scopes import Scope
from tfmemlint.interpreter.values import UNKNOWN, Class, Const, Instance, Lazy, Partial, Ref, Seq, Value

_GETTER = "operator.attrgetter()"
"""What ``operator.attrgetter`` returns, called with the paths and then the object."""
_PLAIN_OBJECTS = frozenset({"types.SimpleNamespace", "argparse.Namespace"})


class Reflection(Evaluator):
    """Calling what gets at attributes by their names."""

    def call_reflection(
        self, name: str, node: ast.AST, values: Sequence[Value], keywords: Mapping[str, Value]
    ) -> Value | None:
        """What such a function returns; None where ``name`` is none."""
        match name, values:
            case "setattr", [owner, Const(str(attribute)), value]:
                written = node.args if isinstance(node, ast.Call) and len(node.args) == 3 else []
                self.set_attribute(owner, attribute, value, node, *(written[::2] or (None, None)))
                return Const(None)
            case "vars", [Ref(owner)]:
                return Ref(f"{owner}.__dict__")
            case "operator.attrgetter", [_, *_]:
                return Partial(Ref(_GETTER), tuple(values), {})
            case "operator.attrgetter()", [*paths, owner]:
                found = [self._walked(owner, path, node) for path in paths]
                return found[0] if len(found) == 1 else Seq(tuple(found), "tuple")
            case "functools.reduce", [function, Seq(items), *first]:
                return self._reduced(function, [*first, *items], node)
            case _ if name in _PLAIN_OBJECTS and not values:
                made = Instance(Class(_NAMESPACE, Scope()))
                for key, value in keywords.items():
                    self.keep(made, key, value)
                return made
            case _:
                return None

    def _walked(self, owner: Value, path: Value, node: ast.AST) -> Value:
        """What the dotted ``path`` leads to from ``owner``."""
        if not isinstance(path, Const) or not isinstance(path.value, str):
            return UNKNOWN
        value = owner
        for part in path.value.split("."):
            value = self.attribute(value, part, node)
        if isinstance(value, Ref) and is_tensorflow(value.name):
            self.use(node, value.name, origin="getattr")
        return value

    def _reduced(self, function: Value, values: Sequence[Value], node: ast.AST) -> Value:
        if not values or any(isinstance(value, Lazy) for value in values):
            return UNKNOWN
        result = values[0]
        for value in values[1:]:
            result = self.call_any(function, [result, value], {}, node)
        return result

    def module_loaded(self, key: Value) -> Value:
        """``sys.modules[key]``, of TensorFlow."""
        if isinstance(key, Const) and isinstance(key.value, str) and is_tensorflow(canonical(key.value)):
            return Ref(canonical(key.value))
        return UNKNOWN

    # What the other parts add

    def set_attribute(
        self,
        base: Value,
        name: str,
        value: Value,
        node: ast.AST,
        owner: ast.expr | None = None,
        given: ast.expr | None = None,
    ) -> None:
        raise NotImplementedError

    def call_any(self, callee: Value, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST) -> Value:
        raise NotImplementedError


_NAMESPACE = ast.ClassDef("SimpleNamespace", bases=[], keywords=[], body=[], decorator_list=[])
