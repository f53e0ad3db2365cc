"""Definitions of functions and classes."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from tfmemlint.facts.syntax import dotted
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Frame
from tfmemlint.interpreter.operations.bindings import bind
from tfmemlint.interpreter.operations.conditions import decide
from tfmemlint.interpreter.operations.function_bodies import evaluate_defaults
from tfmemlint.interpreter.operations.paths import evaluating
from tfmemlint.interpreter.registry import visits
from tfmemlint.interpreter.scopes import Scope
from tfmemlint.interpreter.values import UNKNOWN, Choice, Class, Function, Instance, Partial, Value


@visits(ast.FunctionDef, ast.AsyncFunctionDef)
def visit_function_def(context: Context, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    decorators = _evaluate_decorators(context, node)
    if _is_skipped(context, node.decorator_list):
        bind(context, node.name, UNKNOWN)
        return
    evaluate_defaults(context, node.args)
    function = Function(node, context.scope, decorators)
    if any(dotted(written) == f"{node.name}.setter" for written in node.decorator_list):
        getter = context.scope.lookup(node.name)
        if isinstance(getter, Function):
            bind(context, node.name, replace(getter, setter=function))
            return
    if context.unit is context.main:
        context.functions.setdefault(id(node), function)
    bound: Value = function
    for decorator in reversed(decorators):
        if isinstance(decorator, (Function, Class, Instance, Partial, Choice)):
            # It runs here and now. Unless it returns something of the program's own, what it returns is taken to
            # do what the function itself does.
            result = context.call(decorator, [bound], {}, node)
            bound = result if isinstance(result, (Function, Instance, Partial, Choice)) else bound
    bind(context, node.name, bound)


@visits(ast.ClassDef)
def visit_class_def(context: Context, node: ast.ClassDef) -> None:
    decorators = _evaluate_decorators(context, node)
    if _is_skipped(context, node.decorator_list):
        bind(context, node.name, UNKNOWN)
        return
    bases = tuple(context.evaluate(base) for base in node.bases)
    for keyword in node.keywords:
        context.evaluate(keyword.value)
    scope = Scope(context.scope, is_class=True, number=context.next_serial())
    cls = Class(node, context.scope, bases, scope.names)
    if context.unit is context.main:
        context.classes.append(cls)
    context.frames.append(Frame(context.frame.function, scope, node))
    try:
        context.execute(node.body)
    finally:
        context.frames.pop()
    for made in reversed(decorators):
        if isinstance(made, (Function, Class, Instance)):
            context.call(made, [cls], {}, node)
    bind(context, node.name, cls)


def _evaluate_decorators(
    context: Context, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
) -> tuple[Value, ...]:
    if not node.decorator_list:
        return ()
    with evaluating(context, "decorator"):
        return tuple(context.evaluate(decorator) for decorator in node.decorator_list)


def _is_skipped(context: Context, decorators: Sequence[ast.expr]) -> bool:
    """True if a test never runs under the targeted release: ``skipif(version.parse(tf.__version__) >= ...)``."""
    for decorator in decorators:
        call = decorator if isinstance(decorator, ast.Call) else None
        kind = dotted(call.func if call is not None else decorator).rpartition(".")[2].lower()
        if kind == "skip":
            return True
        if kind not in ("skipif", "skipunless") or call is None or not call.args:
            continue
        verdict = decide(context, call.args[0], context.last_values.get(id(call.args[0]), UNKNOWN))
        if verdict.truth is (kind == "skipif") and not verdict.assumed:
            return True
    return False
