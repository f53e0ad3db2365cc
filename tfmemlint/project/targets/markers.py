"""Whether a requirement's environment marker can be true where GPUs are used: on 64-bit Linux, with some Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from functools import lru_cache

_PYTHONS = tuple(f"3.{minor}" for minor in range(5, 15))
_LINUX = {
    "os_name": "posix",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "platform_machine": "x86_64",
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ast.Eq: lambda one, other: one == other,
    ast.NotEq: lambda one, other: one != other,
    ast.Lt: lambda one, other: one < other,
    ast.LtE: lambda one, other: one <= other,
    ast.Gt: lambda one, other: one > other,
    ast.GtE: lambda one, other: one >= other,
}


@lru_cache(maxsize=256)
def may_apply(marker: str) -> bool:
    """Whether a marker (``python_version < "3.8" and sys_platform == "linux"``) is true for 64-bit Linux and some
    Python from 3.5 on. What can't be told counts as true."""
    try:
        # Markers are written as Python's own expressions are, but for `~=` and `===`.
        tree = ast.parse(marker.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return any(_value(tree, {**_LINUX, "python_version": one, "python_full_version": f"{one}.0"}) for one in _PYTHONS)


def _value(node: ast.expr, names: Mapping[str, str]) -> bool:
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            return all(_value(one, names) for one in values)
        case ast.BoolOp(values=values):
            return any(_value(one, names) for one in values)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compared(_text(left, names), op, _text(right, names), versions=_is_of_python(left, right))
    return True


def _text(node: ast.expr, names: Mapping[str, str]) -> str | None:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name):
            return names.get(name)
    return None


def _is_of_python(left: ast.expr, right: ast.expr) -> bool:
    return any(isinstance(one, ast.Name) and one.id.startswith("python_") for one in (left, right))


def _compared(left: str | None, op: ast.cmpop, right: str | None, *, versions: bool) -> bool:
    if left is None or right is None:
        return True
    if isinstance(op, ast.In):
        return left in right
    if isinstance(op, ast.NotIn):
        return left not in right
    if not versions:
        return left == right if isinstance(op, ast.Eq) else left != right if isinstance(op, ast.NotEq) else True
    pair = [tuple(int(one) for one in re.findall(r"\d+", text)) for text in (left, right)]
    if right.endswith(".*"):
        pair[0] = pair[0][: len(pair[1])]
    elif len(pair[0]) != len(pair[1]):
        # `python_version` has two numbers, and 3.8 is 3.8.0.
        pair = [(*one, 0, 0, 0)[:3] for one in pair]
    return _COMPARISONS[type(op)](pair[0], pair[1]) if type(op) in _COMPARISONS else True
