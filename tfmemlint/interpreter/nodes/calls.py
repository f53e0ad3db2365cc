"""Calls: which handler a call goes to, by what is called."""

from __future__ import annotations

import ast

from tfmemlint.facts.syntax import dotted, is_exit, may_exit
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.amounts import named
from tfmemlint.interpreter.operations.chains import evaluate_base
from tfmemlint.interpreter.operations.events import report_use
from tfmemlint.interpreter.operations.exceptions import leave
from tfmemlint.interpreter.operations.function_bodies import unit_of
from tfmemlint.interpreter.operations.methods import MethodCall, arguments, call_method
from tfmemlint.interpreter.operations.named_calls import call_by_name
from tfmemlint.interpreter.registry import Invocation, visits
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Class,
    Dict,
    Function,
    Made,
    Ref,
    Seq,
    Value,
)


@visits(ast.Call)
def visit_call(context: Context, node: ast.Call) -> Value:
    callee, handled = _callee_of(context, node)
    if handled is not None:
        return named(node, handled)
    values, keywords, written = arguments(context, node, written=isinstance(callee, Ref))
    if context.state is None:
        return UNKNOWN
    if isinstance(callee, Ref):
        return call_by_name(context, Invocation(callee.name, node, values, keywords, written))
    if not isinstance(callee, (Function, Class)):
        context.whole_calls.discard(id(node))
    result = context.call(callee, values, keywords, node)
    if isinstance(callee, Function):
        given = (*node.args, *(keyword.value for keyword in node.keywords))
        names = [argument.id for argument in given if isinstance(argument, ast.Name)]
        listed = [name for name in names if _is_nameless(context.scope.lookup(name))]
        if listed and unit_of(context, callee).shapes.changes_arguments(callee.node):
            for name in listed:
                context.scope.bind(name, UNKNOWN)
    return named(node, result)


def _callee_of(context: Context, node: ast.Call) -> tuple[Value, Value | None]:
    """Return what is called; or, as the second value, the result of a method of a known value."""
    func = node.func
    if may_exit(func) and is_exit(dotted(func)):
        arguments(context, node)
        leave(context, certain=True)
        return UNKNOWN, UNKNOWN
    if not isinstance(func, ast.Attribute):
        return context.evaluate(func), None
    base = context.current(evaluate_base(context, func.value))
    result = call_method(context, base, MethodCall(node, func))
    if result is not None:
        return UNKNOWN, result
    value = context.attribute(base, func.attr, func)
    if isinstance(value, Ref) and isinstance(base, (Ref, Made)):
        report_use(context, func, value.name, called=True)
    return value, None


def _is_nameless(value: Value | None) -> bool:
    """True if a value is a list or a dictionary without a cell."""
    return isinstance(value, (Seq, Dict)) and value.cell is None
