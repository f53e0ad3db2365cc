"""Version classes, which compare versions as tuples of numbers."""

from __future__ import annotations

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.registry import Invocation, builtin
from tfmemlint.interpreter.values import UNKNOWN, Const, Value


def _parse_version(text: object) -> Value:
    """Return ``2.15.1`` as a tuple of numbers, which is what version classes compare."""
    if not isinstance(text, str):
        return UNKNOWN
    numbers = []
    for part in text.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
        if digits != part:
            break
    return Const(tuple(numbers)) if numbers else UNKNOWN


@builtin(
    "packaging.version.parse",
    "packaging.version.Version",
    "distutils.version.LooseVersion",
    "distutils.version.StrictVersion",
    "pkg_resources.parse_version",
    "setuptools._distutils.version.LooseVersion",
)
def version(context: Context, call: Invocation) -> Value | None:
    if not call.values:
        return None
    value = call.values[0]
    return _parse_version(value.value) if isinstance(value, Const) else UNKNOWN
