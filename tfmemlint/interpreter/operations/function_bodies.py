"""Interpreting the body of a function with its arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tfmemlint.facts.syntax import dotted
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Frame
from tfmemlint.interpreter.operations.classes import defining_class
from tfmemlint.interpreter.operations.paths import evaluating
from tfmemlint.interpreter.scopes import Scope
from tfmemlint.interpreter.state import join_states
from tfmemlint.interpreter.unit import ModuleInstance
from tfmemlint.interpreter.values import UNKNOWN, Const, Function, Instance, Made, Ref, Seq, Value, join
from tfmemlint.model.finding import Step


def run_function(
    context: Context,
    function: Function,
    args: Sequence[Value],
    keywords: dict[str, Value],
    node: ast.AST | None,
    *,
    graph: bool = False,
    on_yield: Callable[[Value], None] | None = None,
) -> Value:
    """Interpret a function's body with these arguments; ``node`` is the call, None for an entry point."""
    assert context.state is not None
    code = function.node
    name = function_name(code)
    call = None
    if node is not None and not isinstance(code, ast.Lambda):
        where = f"{context.frame.function} calls" if context.frame.function else "calls"
        made = function.bound.cls.node.name if name == "__init__" and isinstance(function.bound, Instance) else ""
        words = f"{where[:-5]}makes {made}()" if made else f"{where} {_called_name_of(function)}()"
        call = Step(context.source.path, context.span(node), words)
    consumer = context.consumer() if on_yield is not None else None
    here, context.unit = context.unit, unit_of(context, function)
    local, outer = context.unit.shapes.local_names(code), context.unit.shapes.outer_names(code)
    scope = Scope(function.scope, outer=outer, local=local, number=context.next_serial())
    receiver = function.bound
    values = [receiver, *args] if receiver is not None else list(args)
    _bind_parameters(context, code.args, scope, values, keywords, entry=node is None)
    cls = defining_class(receiver, code)
    frame = Frame(name, scope, code, call, receiver=receiver, cls=cls, on_yield=on_yield, consumer=consumer)
    statement, graphs = context.statement, context.state.graphs
    if graph:
        context.state = replace(context.state, graphs=graphs + 1)
    context.frames.append(frame)
    context.depth += 1
    where, context.where = context.where, ""
    try:
        if isinstance(code, ast.Lambda):
            value = context.evaluate(code.body)
            if context.state is not None:
                frame.returns.append((context.state, value))
        else:
            context.execute(code.body)
            if context.state is not None:
                frame.returns.append((context.state, Const(None)))
    finally:
        context.frames.pop()
        context.statement = statement
        context.unit = here
        context.depth -= 1
        context.where = where
    context.state, result = _joined_returns(frame.returns)
    if context.state is not None and context.state.graphs != graphs:
        context.state = replace(context.state, graphs=graphs)
    return result


def unit_of(context: Context, function: Function) -> ModuleInstance:
    """Return the module that a function is written in."""
    return function.scope.module.unit or context.unit


def _called_name_of(function: Function) -> str:
    """Return the name of a function; of a wrapper made by ``functools.wraps``, that of what it wraps."""
    for decorator in getattr(function.node, "decorator_list", ()):
        if isinstance(decorator, ast.Call) and dotted(decorator.func).rpartition(".")[2] == "wraps" and decorator.args:
            wrapped = function.scope.lookup(dotted(decorator.args[0]))
            if isinstance(wrapped, Function):
                return function_name(wrapped.node)
    return function_name(function.node)


def _bind_parameters(
    context: Context, args: ast.arguments, scope: Scope, values: list[Value], keywords: dict[str, Value], *, entry: bool
) -> None:
    positional = [*args.posonlyargs, *args.args]
    defaults: dict[str, ast.expr] = dict(
        zip([arg.arg for arg in positional[len(positional) - len(args.defaults) :]], args.defaults, strict=True)
    )
    defaults.update(
        {arg.arg: default for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True) if default}
    )
    known = dict(zip([arg.arg for arg in positional], values, strict=False)) | keywords
    for arg in (*positional, *args.kwonlyargs):
        value = known.get(arg.arg)
        if value is None and arg.arg in defaults:
            value = context.defaults.get(id(defaults[arg.arg]))
            if entry and not isinstance(value, Ref):
                # Whoever calls it may well pass something else.
                value = None
        if value is None or (value == UNKNOWN and arg.arg == "tf"):
            # TensorFlow handed in as a parameter goes by its usual name.
            value = Ref("tf") if arg.arg == "tf" else UNKNOWN
        scope.names[arg.arg] = value
    if args.vararg is not None:
        others = tuple(values[len(positional) :])
        scope.names[args.vararg.arg] = UNKNOWN if entry or UNKNOWN in others else Seq(others, "tuple")
    if args.kwarg is not None:
        scope.names[args.kwarg.arg] = UNKNOWN


def evaluate_defaults(context: Context, args: ast.arguments) -> None:
    """Evaluate default values, once, where the function is defined."""
    for default in (*args.defaults, *(default for default in args.kw_defaults if default is not None)):
        with evaluating(context, "default argument"):
            context.defaults[id(default)] = context.evaluate(default)


def is_graph_function(function: Function) -> bool:
    """True if a function is a ``tf.function``."""
    return any(isinstance(value, (Ref, Made)) and value.name == "tf.function" for value in function.decorators)


def function_name(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> str:
    """Return a function's name, ``<lambda>`` for a lambda."""
    return "<lambda>" if isinstance(node, ast.Lambda) else node.name


def _joined_returns(returns: list[tuple[Any, Value]]) -> tuple[Any, Value]:
    if not returns:
        return None, UNKNOWN
    state, value = returns[0]
    for other_state, other in returns[1:]:
        state, value = join_states(state, other_state), join(value, other)
    return state, value
