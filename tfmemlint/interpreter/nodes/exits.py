"""``return``, ``raise``, ``break`` and ``continue``."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Broken, Continued, Returned
from tfmemlint.interpreter.operations.amounts_told import told_by_name
from tfmemlint.interpreter.operations.contents import mark_escaped
from tfmemlint.interpreter.operations.exceptions import leave, resume_exit
from tfmemlint.interpreter.operations.paths import snapshot
from tfmemlint.interpreter.registry import visits
from tfmemlint.interpreter.values import Amount, Class, Ref, Value


@visits(ast.Return)
def visit_return(context: Context, node: ast.Return) -> None:
    value = context.evaluate(node.value)
    if isinstance(value, Amount) and node.value is not None:
        value = told_by_name(context, node.value, value, context.frame.function.rpartition(".")[2])
    if context.state is not None:
        if len([frame for frame in context.frames if frame.call is not None]) == 0:
            # Nobody in sight gets it.
            mark_escaped(context, value)
        resume_exit(context, Returned(context.state, value), context.state)


@visits(ast.Raise)
def visit_raise(context: Context, node: ast.Raise) -> None:
    context.evaluate_children(node)
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    if context.state is None:
        return
    exceptions = _raised_by(context, raised)
    leave(context, certain=isinstance(raised, ast.Name) and raised.id == "SystemExit", exceptions=exceptions)


def _raised_by(context: Context, raised: ast.expr | None) -> tuple[str, ...]:
    """Return the names by which a handler may catch what is raised."""
    value = context.last_values.get(id(raised)) if raised is not None else None
    if raised is None or not isinstance(value, (Ref, Class)):
        # What a handler raises again, most often.
        caught = context.caught[-1] if context.caught else ()
        return tuple("Exception" if name == "*" else name for name in caught) or ("Exception",)
    return tuple(_exception_lineage(value)) or ("Exception",)


@visits(ast.Break)
def visit_break(context: Context, node: ast.Break) -> None:
    if context.loops and context.state is not None:
        resume_exit(context, Broken(snapshot(context)), context.state)
    context.state = None


@visits(ast.Continue)
def visit_continue(context: Context, node: ast.Continue) -> None:
    if context.loops and context.state is not None:
        resume_exit(context, Continued(snapshot(context)), context.state)
    context.state = None


def _exception_lineage(value: Value) -> list[str]:
    """Return the names of a class of exceptions and of its bases."""
    match value:
        case Ref(name):
            return [name]
        case Class(node, _, bases):
            return [node.name, *(name for base in bases for name in _exception_lineage(base))]
        case _:
            return []
