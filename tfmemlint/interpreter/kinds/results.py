"""Attributes and methods of results of TensorFlow's calls."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.call_effects import add_layer
from tfmemlint.interpreter.operations.devices import report_lookup
from tfmemlint.interpreter.operations.members import report_missing
from tfmemlint.interpreter.operations.methods import MethodCall
from tfmemlint.interpreter.operations.run_configs import note_run_config
from tfmemlint.interpreter.registry import attribute_of, method
from tfmemlint.interpreter.values import UNKNOWN, Const, Limit, Made, Value


@attribute_of(Limit)
def attribute_of_configuration(context: Context, base: Limit, name: str, node: ast.AST) -> Value:
    if name == "memory_limit":
        return Const(None) if base.value is None else base.value
    report_missing(context, base, name, node)
    return UNKNOWN


@method(Made, "get")
def get_from_result(context: Context, base: Made, call: MethodCall) -> Value | None:
    if not isinstance(call.node, ast.Call) or not call.node.args:
        return None
    values, _, _ = call.arguments(context)
    context.used.add(base.serial)
    report_lookup(context, base, values[0], call.node, call.func.value, get=True)
    return UNKNOWN


@method(Made, "replace")
def replace_in_result(context: Context, base: Made, call: MethodCall) -> Value | None:
    """``RunConfig.replace`` returns another object: where that is dropped, nobody gets what it was given."""
    if not base.name.endswith("RunConfig") or not _is_statement(context, call.node):
        return None
    _, keywords, written = call.arguments(context)
    note_run_config(context, context.next_serial(), keywords, call.node, written, "replace", dropped=True)
    return UNKNOWN


def _is_statement(context: Context, node: ast.AST) -> bool:
    return isinstance(context.statement, ast.Expr) and context.statement.value is node


@method(Made, "add")
def add_to_model(context: Context, base: Made, call: MethodCall) -> Value | None:
    if not base.name.endswith("Sequential"):
        return None
    values, keywords, _ = call.arguments(context)
    for value in (*values[:1], *keywords.values()):
        add_layer(context, base, value, call.node)
    return UNKNOWN
