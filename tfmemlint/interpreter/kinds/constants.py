"""Constants: their items, attributes and methods."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tfmemlint.facts import folding
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.constants import fold, index_constant, plain_values, version_part
from tfmemlint.interpreter.operations.methods import MethodCall
from tfmemlint.interpreter.registry import attribute_of, item_of, method
from tfmemlint.interpreter.values import UNKNOWN, Const, Value


def _format_constant(text: str, values: Sequence[Value], keywords: dict[str, Value]) -> str:
    try:
        return text.format(
            *(value.value for value in values if isinstance(value, Const)),
            **{name: value.value for name, value in keywords.items() if isinstance(value, Const)},
        )
    except (ValueError, LookupError, AttributeError, TypeError):
        raise folding.NotFolded from None


@item_of(Const)
def item_of_constant(
    context: Context, base: Const, key: Value, node: ast.expr, written: ast.expr | None = None
) -> Value:
    return fold(lambda: index_constant(base.value, key.value)) if isinstance(key, Const) else UNKNOWN


@attribute_of(Const)
def attribute_of_constant(context: Context, base: Const, name: str, node: ast.AST) -> Value:
    if isinstance(base.value, tuple) and name in ("major", "minor", "release"):
        return version_part(base.value, name)
    return UNKNOWN


@method(Const)
def constant_method(context: Context, base: Const, call: MethodCall) -> Value:
    values, keywords = call.drained_arguments(context)
    plain = None if keywords else plain_values(values)
    return UNKNOWN if plain is None else fold(lambda: folding.method(base.value, call.name, plain))


@method(Const, "format")
def format_text(context: Context, base: Const, call: MethodCall) -> Value:
    if not isinstance(base.value, str):
        return constant_method(context, base, call)
    values, keywords = call.drained_arguments(context)
    if all(isinstance(value, Const) for value in (*values, *keywords.values())):
        return fold(lambda: _format_constant(base.value, values, keywords))
    return UNKNOWN
