"""``for`` and ``while``."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.arithmetic import numbered
from tfmemlint.interpreter.operations.bindings import bind
from tfmemlint.interpreter.operations.conditions import decide, tell_test
from tfmemlint.interpreter.operations.iteration import iterate, run_loop
from tfmemlint.interpreter.operations.protocols import tested
from tfmemlint.interpreter.registry import visits
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Const,
    Count,
    CountPlus,
    Device,
    DeviceName,
    Devices,
    Index,
    Indices,
    Ref,
    Value,
)


@visits(ast.For, ast.AsyncFor)
def visit_for(context: Context, node: ast.For | ast.AsyncFor) -> None:
    iterable = context.evaluate(node.iter)
    if context.state is None:
        return
    counters = _counters(context, node, iterable)

    def enter(value: Value) -> None:
        device = value.device if isinstance(value, DeviceName) else value
        if isinstance(device, Device):
            for name, start in counters.items():
                bind(context, name, Index(device, start))
        context.assign(node.target, value)

    rebound = context.bound_names([node.target, *node.body])
    iterate(context, node, iterable, enter, lambda: context.execute(node.body), rebound)
    for name in counters:
        bind(context, name, UNKNOWN)
    context.execute(node.orelse)


def _counters(context: Context, node: ast.For | ast.AsyncFor, iterable: Value) -> dict[str, int]:
    """Return the names that each pass of a loop over all GPUs makes larger by one, with their values before it.

    In a pass such a name has the number of the pass's GPU, like the variable of ``enumerate``.
    """
    if not (isinstance(iterable, Devices) and iterable.whole):
        return {}
    found: dict[str, int] = {}
    for statement in node.body:
        match statement:
            case ast.AugAssign(target=ast.Name(name), op=ast.Add(), value=ast.Constant(value=1)):
                before = context.scope.lookup(name)
                if isinstance(before, Const) and type(before.value) is int and _is_bound_once(node, name):
                    found[name] = before.value
            case _:
                pass
    return found


def _is_bound_once(loop: ast.For | ast.AsyncFor | ast.While, name: str) -> bool:
    """True if nothing in a loop binds a name but one statement, and no pass ends early."""
    nodes = [node for statement in loop.body for node in ast.walk(statement)]
    stores = sum(isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store) for node in nodes)
    return stores == 1 and not any(isinstance(node, (ast.Continue, ast.Break, ast.Global)) for node in nodes)


def _runs_as_range(context: Context, node: ast.While) -> bool:
    """Interpret ``while i < len(gpus): ...; i += 1`` as ``for i in range(i, len(gpus)): ...``; False for other loops.

    The counter is a number before the loop, and its last statement alone changes it.
    """
    match node.test:
        case ast.Compare(ast.Name(name), [ast.Lt() | ast.LtE() | ast.NotEq() as op], [bound]):
            pass
        case ast.Compare(bound, [ast.Gt() | ast.GtE() as op], [ast.Name(name)]):
            pass
        case _:
            return False
    match node.body[-1]:
        case ast.AugAssign(target=ast.Name(counter), op=ast.Add(), value=ast.Constant(value=1)):
            pass
        case ast.Assign([ast.Name(counter)], ast.BinOp(ast.Name(added), ast.Add(), ast.Constant(value=1))):
            counter = counter if added == counter else ""
        case _:
            return False
    before = context.scope.lookup(name)
    if counter != name or not isinstance(before, Const) or type(before.value) is not int or node.orelse:
        return False
    names = {part.id for part in ast.walk(bound) if isinstance(part, ast.Name)}
    counts = "len" in names or any(isinstance(context.scope.lookup(each), (Count, CountPlus)) for each in names)
    if not counts or not _is_bound_once(node, name) or not names.isdisjoint(context.bound_names(node.body)):
        return False
    stop = context.evaluate(bound)
    if isinstance(op, (ast.LtE, ast.GtE)):
        stop = numbered(ast.Add(), stop, Const(1)) or UNKNOWN
    counted = context.call(Ref("range"), [before, stop], {}, node)
    if not isinstance(counted, Indices) or context.state is None:
        return False
    rebound = context.bound_names(node.body)
    body = node.body[:-1]
    iterate(
        context,
        node,
        counted,
        lambda value: bind(context, name, value),
        lambda: context.execute(body),
        rebound,
    )
    bind(context, name, UNKNOWN)
    return True


@visits(ast.While)
def visit_while(context: Context, node: ast.While) -> None:
    if _runs_as_range(context, node):
        return
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
