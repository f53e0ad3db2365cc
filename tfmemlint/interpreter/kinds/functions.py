"""Functions of the program, ``functools.partial``, threads, and choices of what may be called."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.callbacks import run_thread, wait_for
from tfmemlint.interpreter.operations.function_bodies import is_graph_function
from tfmemlint.interpreter.operations.function_calls import call_function
from tfmemlint.interpreter.operations.methods import MethodCall
from tfmemlint.interpreter.operations.starting import start_runtime
from tfmemlint.interpreter.registry import attribute_of, calls, method
from tfmemlint.interpreter.values import UNKNOWN, Const, Function, Partial, Thread, Value


@calls(Function)
def call_own_function(
    context: Context, callee: Function, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
) -> Value:
    return call_function(context, callee, args, keywords, node)


@calls(Partial)
def call_partial(
    context: Context, callee: Partial, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
) -> Value:
    return context.call(callee.function, [*callee.args, *args], {**callee.keywords, **keywords}, node)


@attribute_of(Function)
def attribute_of_function(context: Context, base: Function, name: str, node: ast.AST) -> Value:
    if name == "__name__" and base.bound is None:
        return Const(getattr(base.node, "name", "<lambda>"))
    return UNKNOWN


@method(Function, "get_concrete_function")
def trace_function(context: Context, base: Function, call: MethodCall) -> Value | None:
    if not is_graph_function(base):
        return None
    call.arguments(context)
    if context.state is not None and not context.here.graph_mode:
        start_runtime(context, call.node, "context", "tf.function", context.text(call.func))
    return UNKNOWN


@method(Thread)
def thread_method(context: Context, base: Thread, call: MethodCall) -> Value | None:
    values, keywords = call.arguments(context)[:2]
    if call.name == "start":
        run_thread(context, base, call.node)
    if call.name == "join" and not values and not keywords:
        wait_for(context, base)
    return UNKNOWN
