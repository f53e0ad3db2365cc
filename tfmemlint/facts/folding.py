"""Constant folding: the values of expressions over constants. Anything doubtful does not fold."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfmemlint.model.patterns import late_pattern

MAX_LENGTH = 10_000
"""Characters or items of a constant that is known."""
MAX_BITS = 1_023
"""Bits of an integer that is known: each such integer can be turned into a float, as rules do to calculate with it."""
_LARGEST_POWER = 64
_WIDTH = late_pattern(r"[0-9]{5}|\*")
"""The parts of a format that make a text of any length: a width of five digits, or one that is an argument."""
_NESTED_WIDTH = late_pattern(r"\{[^{}]*:[^{}]*\{")
"""The same in a format string: ``{:>{width}}``."""

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
    | {"is_integer", "isalpha", "isnumeric", "isdecimal", "isalnum", "isspace", "removesuffix", "removeprefix"}
    | {"casefold", "capitalize", "swapcase", "rfind", "rindex"}
)


def _dedented(text: str) -> str:
    from textwrap import dedent

    return dedent(text)


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
    "textwrap.dedent": _dedented,
    "math.floor": math.floor,
    "math.ceil": math.ceil,
    "math.trunc": math.trunc,
    "math.log2": math.log2,
    "math.sqrt": math.sqrt,
}
_ERRORS = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, MemoryError)


class NotFolded(Exception):
    """The expression has no known constant value."""


def binary(op: ast.operator, left: Any, right: Any) -> Any:
    """Return ``left op right``.

    Raises:
        NotFolded: the value is not known.
    """
    function = _BINARY.get(type(op))
    if function is None or _explodes(op, left, right):
        raise NotFolded
    return _run(function, left, right)


def unary(op: ast.unaryop, operand: Any) -> Any:
    """Return ``op operand``.

    Raises:
        NotFolded: the value is not known.
    """
    return _run(_UNARY[type(op)], operand)


def compare(op: ast.cmpop, left: Any, right: Any) -> Any:
    """Return ``left op right`` for a comparison.

    Raises:
        NotFolded: the value is not known.
    """
    return _run(_COMPARE[type(op)], left, right)


def method(receiver: Any, name: str, args: Sequence[Any]) -> Any:
    """Return ``receiver.name(*args)`` for the pure methods of strings and numbers.

    Raises:
        NotFolded: the value is not known.
    """
    if not isinstance(receiver, (str, int, float)) or name not in _METHODS:
        raise NotFolded
    if _grows(receiver, name, args):
        raise NotFolded
    return _run(getattr(receiver, name, None), *args)


def _grows(receiver: object, name: str, args: Sequence[Any]) -> bool:
    """True for a method whose result may be far longer than what it is made of."""
    if not isinstance(receiver, str):
        return False
    if name == "zfill":
        return not all(isinstance(width, int) and width <= MAX_LENGTH for width in args)
    if name == "format" and (_WIDTH.search(receiver) or _NESTED_WIDTH.search(receiver)):
        return True
    longest = max((len(arg) for arg in args if isinstance(arg, (str, list, tuple))), default=0)
    return name in ("format", "replace", "join") and (len(receiver) + 1) * longest > MAX_LENGTH * 10


def formatted(text: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> str:
    """``text.format(*args, **keywords)``; raises `NotFolded`."""
    if _grows(text, "format", [*args, *keywords.values()]):
        raise NotFolded
    return str(_run(lambda: text.format(*args, **keywords)))


def function(name: str, args: Sequence[Any]) -> Any:
    """Return ``name(*args)`` for pure built-in functions.

    Raises:
        NotFolded: the value is not known.
    """
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
    if is_large(result):
        raise NotFolded
    return result


def is_large(value: object) -> bool:
    """True for a constant that is too long to go on with."""
    if isinstance(value, (str, bytes, list, tuple)):
        return len(value) > MAX_LENGTH
    return isinstance(value, int) and value.bit_length() > MAX_BITS


def _explodes(op: ast.operator, left: Any, right: Any) -> bool:
    """True if folding may take long or much memory: huge powers and shifts, long repetitions."""
    if isinstance(op, (ast.Pow, ast.LShift)):
        return not isinstance(right, (int, float)) or abs(right) > _LARGEST_POWER
    if isinstance(op, ast.Mult):
        for text, times in ((left, right), (right, left)):
            if isinstance(text, (str, bytes, list, tuple)):
                return not isinstance(times, int) or len(text) * max(times, 0) > MAX_LENGTH
    if isinstance(op, ast.Mod) and isinstance(left, bytes):
        return b"*" in left or _WIDTH.search(left.decode("latin-1")) is not None
    return isinstance(op, ast.Mod) and isinstance(left, str) and _WIDTH.search(left) is not None
