"""Values that are one of a few: what is made of each of them, and the functions that answer yes or no."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from tfmemlint.facts import folding
from tfmemlint.interpreter.values import TRUTH, UNKNOWN, Const, OneOf, TextTruth, Value

MAX_OPTION_CHARACTERS = 200
"""Longer texts are no settings."""

SAYING_YES_OR_NO = frozenset({"startswith", "endswith", "isdigit", "isnumeric", "isdecimal", "isalpha", "isalnum"})
"""Methods of texts that return a bool."""
_ASKING = frozenset(
    {"isinstance", "issubclass", "callable", "hasattr", "any", "all", "bool"}
    | {f"os.path.{name}" for name in ("exists", "isfile", "isdir", "lexists", "isabs", "islink", "ismount")}
)
"""Functions that return a bool, whatever they are given."""
_ONE_OR_ZERO = "distutils.util.strtobool"


def as_options(value: Value) -> OneOf | None:
    """Return a value as one of a few; None where it is none."""
    if isinstance(value, TextTruth):
        return TRUTH
    return value if isinstance(value, OneOf) else None


def answer_of(function: str) -> Value:
    """Return what is known of the result of a function that says yes or no; UNKNOWN for any other."""
    if function in _ASKING:
        return TRUTH
    return OneOf((1, 0)) if function == _ONE_OR_ZERO else UNKNOWN


def of_each(value: OneOf, make: Callable[[Any], Any]) -> Value:
    """Return what is made of each option; UNKNOWN if it can't be made of all of them."""
    made: list[Any] = []
    try:
        for option in value.options:
            result = make(option)
            if result not in made:
                made.append(result)
    except folding.NotFolded:
        return UNKNOWN
    return OneOf(tuple(made)) if all(isinstance(each, (str, int, float)) for each in made) else UNKNOWN


def between(left: Value, right: Value) -> Value | None:
    """Return what a conditional expression with two short texts is; None for all others."""
    match left, right:
        case Const(str() as first), Const(str() as second) if max(len(first), len(second)) <= MAX_OPTION_CHARACTERS:
            return OneOf((first, second)) if first != second else None
        case _:
            return None


def formatted_option(node: ast.JoinedStr, values: Sequence[Value]) -> Value | None:
    """Return an f-string in which one value is one of a few, and all others are known; None for all others."""
    places = [place for place, value in enumerate(values) if as_options(value) is not None]
    if len(places) != 1 or len(values) != len(node.values):
        return None
    parts: list[str | None] = []
    template: str | None = None
    for place, (part, value) in enumerate(zip(node.values, values, strict=True)):
        field = _field(part) if isinstance(part, ast.FormattedValue) else "{}"
        if field is None or (place not in places and not isinstance(value, Const)):
            return None
        if place in places:
            template = field
            parts.append(None)
        elif isinstance(value, Const):
            parts.append(folding.formatted(field, [value.value], {}))
    option = as_options(values[places[0]])
    assert template is not None and option is not None
    field = template

    def make(each: object) -> str:
        shown = folding.formatted(field, [each], {})
        return "".join(shown if part is None else part for part in parts)

    return of_each(option, make)


def _field(part: ast.FormattedValue) -> str | None:
    """Return the field of a format that does what a part of an f-string does; None if its width is not constant."""
    spec = part.format_spec.values if isinstance(part.format_spec, ast.JoinedStr) else []
    texts = [each.value for each in spec if isinstance(each, ast.Constant)]
    if len(texts) != len(spec):
        return None
    conversion = f"!{chr(part.conversion)}" if part.conversion != -1 else ""
    return f"{{{conversion}:{''.join(map(str, texts))}}}"
