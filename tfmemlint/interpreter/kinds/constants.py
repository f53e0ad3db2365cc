"""Constants: their items, attributes and methods."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tfmemlint.facts import folding
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.amounts_told import told_by_format
from tfmemlint.interpreter.operations.constants import fold, index_constant, plain_values, version_part
from tfmemlint.interpreter.operations.methods import MethodCall
from tfmemlint.interpreter.operations.options import as_options, of_each
from tfmemlint.interpreter.operations.protocols import call_all, collected
from tfmemlint.interpreter.registry import attribute_of, item_of, method
from tfmemlint.interpreter.values import UNKNOWN, Amount, Const, Index, NumberedName, Value
from tfmemlint.knowledge.data_model import ASKED


def _format_constant(text: str, values: Sequence[Value], keywords: dict[str, Value]) -> str:
    return folding.formatted(
        text,
        [value.value for value in values if isinstance(value, Const)],
        {name: value.value for name, value in keywords.items() if isinstance(value, Const)},
    )


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
    if call.name == "join":
        # Its generator is gone through once: what it gives a second time is not known.
        values, keywords, _ = call.arguments(context)
        for value in values:
            if context.state is not None:
                collected(context, value, call.node)
    else:
        values, keywords = call.drained_arguments(context)
    if context.state is None:
        return UNKNOWN
    plain = None if keywords else plain_values(values)
    return UNKNOWN if plain is None else fold(lambda: folding.method(base.value, call.name, plain))


@method(Const, "format")
def format_text(context: Context, base: Const, call: MethodCall) -> Value:
    if not isinstance(base.value, str):
        return constant_method(context, base, call)
    values, keywords = call.drained_arguments(context)
    if isinstance(call.node, ast.Call) and len(call.node.args) == len(values):
        named = {each.arg: (each.value, keywords[each.arg]) for each in call.node.keywords if each.arg in keywords}
        told_by_format(context, base.value, list(zip(call.node.args, values, strict=True)), named)
    if all(isinstance(value, Const) for value in (*values, *keywords.values())):
        return fold(lambda: _format_constant(base.value, values, keywords))
    option = as_options(values[0]) if len(values) == 1 and not keywords else None
    if option is not None:
        return of_each(option, lambda each: folding.formatted(str(base.value), [each], {}))
    if len(values) == 1 and isinstance(values[0], Index) and base.value.endswith("{}") and base.value.count("{") == 1:
        return NumberedName(base.value[:-2], values[0])
    if context.state is not None:
        call_all(context, [*values, *keywords.values()], ASKED["format"], call.node)
    return Amount("str", source="a format")
