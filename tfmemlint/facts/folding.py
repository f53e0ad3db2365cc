"""Constant folding: what an expression over constants comes to. Anything doubtful folds to nothing."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

_LONGEST = 10_000
_LARGEST_POWER = 64

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
    ast.Is: lambda a, b: a is b,
    ast.IsNot: lambda a, b: a is not b,
}
_METHODS = frozenset(
    {"startswith", "endswith", "split", "rsplit", "strip", "lstrip", "rstrip", "lower", "upper", "title", "join"}
    | {"replace", "format", "count", "index", "find", "isdigit", "splitlines", "partition", "rpartition", "zfill"}
    | {"is_integer"}
)
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": bool,
    "len": len,
    "min": min,
    "max": max,
    "abs": abs,
    "round": round,
    "sum": sum,
    "tuple": tuple,
    "list": list,
    "sorted": sorted,
}
_ERRORS = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, MemoryError)


class NotFolded(Exception):
    """The expression has no constant value that is known."""


def binary(op: ast.operator, left: Any, right: Any) -> Any:
    """``left op right``; raises `NotFolded`."""
    function = _BINARY.get(type(op))
    if function is None or _explodes(op, left, right):
        raise NotFolded
    return _run(function, left, right)


def unary(op: ast.unaryop, operand: Any) -> Any:
    """``op operand``; raises `NotFolded`."""
    return _run(_UNARY[type(op)], operand)


def compare(op: ast.cmpop, left: Any, right: Any) -> Any:
    """``left op right`` for a comparison; raises `NotFolded`."""
    return _run(_COMPARE[type(op)], left, right)


def method(receiver: Any, name: str, args: Sequence[Any]) -> Any:
    """``receiver.name(*args)`` for the harmless methods of strings and numbers; raises `NotFolded`."""
    if not isinstance(receiver, (str, int, float)) or name not in _METHODS:
        raise NotFolded
    return _run(getattr(receiver, name, None), *args)


def function(name: str, args: Sequence[Any]) -> Any:
    """``name(*args)`` for harmless built-in functions; raises `NotFolded`."""
    found = _FUNCTIONS.get(name)
    if found is None:
        raise NotFolded
    return _run(found, *args)


def _run(function: Callable[..., Any] | None, *args: Any) -> Any:
    if function is None:
        raise NotFolded
    try:
        result = function(*args)
    except _ERRORS:
        raise NotFolded from None
    if isinstance(result, (str, bytes, list, tuple)) and len(result) > _LONGEST:
        raise NotFolded
    return result


def _explodes(op: ast.operator, left: Any, right: Any) -> bool:
    """Whether folding could take long or much memory: huge powers and shifts, long repetitions."""
    if isinstance(op, (ast.Pow, ast.LShift)):
        return not isinstance(right, (int, float)) or abs(right) > _LARGEST_POWER
    if isinstance(op, ast.Mult):
        for text, times in ((left, right), (right, left)):
            if isinstance(text, (str, bytes, list, tuple)):
                return not isinstance(times, int) or len(text) * max(times, 0) > _LONGEST
    return isinstance(op, ast.Mod) and isinstance(left, (str, bytes)) and len(left) > _LONGEST
