"""``with`` statements."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence
from dataclasses import replace

from tfmemlint.facts.syntax import dotted
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.awaiting import awaited
from tfmemlint.interpreter.operations.exceptions import suppressing
from tfmemlint.interpreter.operations.generators import consume
from tfmemlint.interpreter.operations.objects import call_special
from tfmemlint.interpreter.operations.paths import for_each_option
from tfmemlint.interpreter.registry import visits
from tfmemlint.interpreter.values import UNKNOWN, Choice, Instance, Lazy, Made, Value
from tfmemlint.knowledge.functions import GRAPHS, SESSIONS


@visits(ast.With, ast.AsyncWith)
def visit_with(context: Context, node: ast.With | ast.AsyncWith) -> None:
    _enter_items(context, node, list(node.items))


def _enter_items(context: Context, node: ast.With | ast.AsyncWith, items: list[ast.withitem]) -> None:
    """Enter the remaining items of a ``with``, interpret its body, and leave them again."""
    if not items:
        context.execute(node.body)
        return
    item, *rest = items
    value = context.evaluate(item.context_expr)
    if context.state is None:
        return
    caught = _suppressed_exceptions(item.context_expr)
    if caught is not None:
        suppressing(context, caught, item.context_expr, functools.partial(_enter_items, context, node, rest))
        return
    if isinstance(value, Choice):
        for_each_option(context, value, lambda option: _enter_value(context, option, node, item, rest))
        return
    _enter_value(context, value, node, item, rest)


def _enter_value(
    context: Context, value: Value, node: ast.With | ast.AsyncWith, item: ast.withitem, rest: list[ast.withitem]
) -> Value:
    """Enter one value, interpret the body, and leave it again."""
    if isinstance(value, Lazy):
        _run_in_context(context, value, item, lambda: _enter_items(context, node, rest))
        return UNKNOWN
    graphs = 0
    entered: Instance | None = None
    if isinstance(value, Made):
        context.used.add(value.serial)
        graphs += value.name in GRAPHS or value.name in SESSIONS or value.name.endswith("Session().as_default")
    if isinstance(value, Instance):
        entered = value
        enter = "__aenter__" if isinstance(node, ast.AsyncWith) else "__enter__"
        value = _call_context_method(context, value, enter, [], item.context_expr)
        if context.state is None:
            return UNKNOWN
    if item.optional_vars is not None:
        context.assign(item.optional_vars, value)
    before = context.here.graphs
    context.state = replace(context.here, graphs=before + graphs)
    _enter_items(context, node, rest)
    if entered is not None:
        leaving = "__aexit__" if isinstance(node, ast.AsyncWith) else "__exit__"
        _call_context_method(context, entered, leaving, [UNKNOWN] * 3, node)
    if context.state is not None:
        context.state = replace(context.state, graphs=before)
    return UNKNOWN


def _suppressed_exceptions(manager: ast.expr) -> tuple[str, ...] | None:
    """Return the exceptions that ``with contextlib.suppress(...)`` or ``pytest.raises(...)`` stops."""
    if not isinstance(manager, ast.Call) or not manager.args:
        return None
    if dotted(manager.func).rpartition(".")[2] not in ("suppress", "raises", "assertRaises", "assertRaisesRegex"):
        return None
    return _handled_names(manager.args)


def _run_in_context(context: Context, manager: Lazy, item: ast.withitem, body: Callable[[], None]) -> None:
    """Enter a context manager that is written as a generator: the body runs where that yields."""
    entered = False

    def inside(value: Value) -> None:
        nonlocal entered
        if not entered:
            entered = True
            if item.optional_vars is not None:
                context.assign(item.optional_vars, value)
            body()

    consume(context, manager, inside)


def _call_context_method(context: Context, instance: Instance, name: str, args: list[Value], node: ast.AST) -> Value:
    if context.state is None:
        return UNKNOWN
    result = call_special(context, instance, name, args, node)
    if result is None:
        return instance if name == "__enter__" else UNKNOWN
    return awaited(context, result, node) if name.startswith("__a") else result


def _handled_names(parts: Sequence[ast.expr]) -> tuple[str, ...]:
    """Return the names of exceptions as they are written in a call or in a tuple."""
    named = [name for part in parts for name in (part.elts if isinstance(part, ast.Tuple) else [part])]
    return tuple(dotted(name).replace("tensorflow.", "tf.", 1) or "?" for name in named)
