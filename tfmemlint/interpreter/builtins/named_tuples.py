"""``collections.namedtuple`` and ``typing.NamedTuple``, called: they make classes that keep what they are given."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.registry import Invocation, builtin
from tfmemlint.interpreter.values import UNKNOWN, Class, Const, Dict, Ref, Scope, Seq, Value


@builtin("collections.namedtuple", "typing.NamedTuple")
def named_tuple(context: Context, call: Invocation) -> Value | None:
    name, given = call.argument(0, "typename"), call.argument(1, "field_names")
    names = _names(given)
    if not isinstance(name, Const) or not isinstance(name.value, str) or not names or "rename" in call.keywords:
        return None
    defaults = call.keywords.get("defaults", Seq(()))
    values: Sequence[Value] = defaults.items if isinstance(defaults, Seq) else [UNKNOWN] * len(names)
    members = dict(zip(names[len(names) - len(values) :], values, strict=False))
    body: list[ast.stmt] = [
        ast.AnnAssign(
            ast.Name(field, ast.Store()),
            ast.Name("object", ast.Load()),
            ast.Constant(None) if field in members else None,
            1,
        )
        for field in names
    ]
    node = ast.ClassDef(name.value, bases=[], keywords=[], body=body, decorator_list=[])
    ast.copy_location(node, call.node)
    return Class(node, Scope(context.module), (Ref("typing.NamedTuple"),), members)


def _names(given: Value | None) -> list[str]:
    """Return the names of the fields, from ``"a b"``, ``["a", "b"]`` or ``[("a", int)]``; none if not all are known."""
    match given:
        case Const(str(text)):
            return text.replace(",", " ").split()
        case Dict(items, open=False):
            return [key for key in items if isinstance(key, str)]
        case Seq(items):
            firsts = [item.items[0] if isinstance(item, Seq) and item.items else item for item in items]
            names = [item.value for item in firsts if isinstance(item, Const) and isinstance(item.value, str)]
            return names if len(names) == len(firsts) else []
        case _:
            return []
