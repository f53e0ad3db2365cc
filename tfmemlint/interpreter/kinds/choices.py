"""Choices: whatever is done with one of several values is done with each of them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tfmemlint.facts.shapes import MUTATING
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.bindings import set_field_of
from tfmemlint.interpreter.operations.contents import cells_of
from tfmemlint.interpreter.operations.methods import MethodCall, call_method
from tfmemlint.interpreter.operations.paths import for_each_option
from tfmemlint.interpreter.registry import attribute_of, calls, item_of, method, stores_in
from tfmemlint.interpreter.values import UNKNOWN, Choice, Class, Dict, Instance, Seq, Value, join


@attribute_of(Choice)
def attribute_of_any(context: Context, base: Choice, name: str, node: ast.AST) -> Value:
    return for_each_option(context, base, lambda option: context.attribute(option, name, node))


@item_of(Choice)
def item_of_any(context: Context, base: Choice, key: Value, node: ast.expr, written: ast.expr | None = None) -> Value:
    if not any(isinstance(option, (Seq, Dict)) for option in base.options):
        return UNKNOWN
    return for_each_option(context, base, lambda option: context.item(option, key, node, written))


@calls(Choice)
def call_any_of(
    context: Context, callee: Choice, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
) -> Value:
    return for_each_option(context, callee, lambda option: context.call(option, args, keywords, node))


@stores_in(Choice)
def store_in_any(
    context: Context,
    base: Choice,
    name: str,
    value: Value,
    node: ast.AST,
    owner: ast.expr | None = None,
    given: ast.expr | None = None,
) -> None:
    for option in base.options:
        if isinstance(option, (Instance, Class)):
            set_field_of(context, option, name, join(context.heap.get((option, name)), value))


@method(Choice)
def method_of_any(context: Context, base: Choice, call: MethodCall) -> Value | None:
    """Call a method of one of several lists, or of one whose items differ from path to path."""
    if not any(isinstance(option, (Seq, Dict)) for option in base.options):
        return None
    values, keywords, written = call.arguments(context)
    func = call.func
    meant = cells_of(base) if func.attr in MUTATING else list(base.options)

    def act(option: Value) -> Value:
        if isinstance(option, (Seq, Dict)):
            result = call_method(context, option, MethodCall(call.node, func, (values, keywords, written)))
            return UNKNOWN if result is None else result
        return context.call(context.attribute(option, func.attr, func), values, keywords, func)

    result = act(meant[0]) if len(meant) == 1 else for_each_option(context, Choice(tuple(meant)), act)
    # What is taken out differs from path to path, too.
    return result if func.attr not in ("pop", "popleft") else UNKNOWN
