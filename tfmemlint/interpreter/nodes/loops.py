"""``for`` and ``while``."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.conditions import decide, tell_test
from tfmemlint.interpreter.operations.iteration import iterate, run_loop
from tfmemlint.interpreter.operations.protocols import tested
from tfmemlint.interpreter.registry import visits
from tfmemlint.interpreter.values import Count


@visits(ast.For, ast.AsyncFor)
def visit_for(context: Context, node: ast.For | ast.AsyncFor) -> None:
    iterable = context.evaluate(node.iter)
    if context.state is None:
        return
    iterate(
        context,
        node,
        iterable,
        lambda value: context.assign(node.target, value),
        lambda: context.execute(node.body),
        context.bound_names([node.target, *node.body]),
    )
    context.execute(node.orelse)


@visits(ast.While)
def visit_while(context: Context, node: ast.While) -> None:
    first = tested(context, context.evaluate(node.test), node.test)
    if context.state is None:
        return
    outcome = decide(context, node.test, first)
    tell_test(context, node.test, first, outcome)
    if outcome.truth is False and not outcome.assumed:
        context.execute(node.orelse)
        return
    rebound = context.bound_names(node.body)
    counted = any(isinstance(context.last_values.get(id(child)), Count) for child in ast.walk(node.test))
    endless = outcome.truth is True and isinstance(node.test, ast.Constant)

    def again() -> bool:
        next_time = decide(context, node.test, tested(context, context.evaluate(node.test), node.test))
        return context.state is not None and (next_time.truth is not False or next_time.assumed)

    run_loop(
        context,
        node,
        [lambda: True, again],
        lambda: context.execute(node.body),
        rebound,
        counted,
        definite=outcome.truth is True or counted,
        endless=endless,
    )
    context.execute(node.orelse)
