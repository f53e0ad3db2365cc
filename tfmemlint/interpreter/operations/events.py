"""Events, with the fields that they share."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from tfmemlint.facts.names import is_tensorflow
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.unread_names import goes_nowhere
from tfmemlint.interpreter.program import Arg, Call, Handler, Store, Use
from tfmemlint.interpreter.state import ConfigEffect
from tfmemlint.interpreter.values import Value
from tfmemlint.knowledge import names as inventory
from tfmemlint.knowledge.functions import LOGICAL_CONFIGURATION
from tfmemlint.model.finding import Span

_WATCHED = ("tf.config.", "tf.test.", "tf.python.", "tf.compat.v1.config.", "tf.compat.v1.test.")


def event_fields(context: Context, node: ast.AST) -> dict[str, Any]:
    """Return the fields that all events share, for an event at ``node``."""
    statement = context.statement if context.statement is not None else node
    handlers: list[Handler] = []
    probed = False
    for catching in reversed(context.handlers):
        for handler in catching.group:
            handlers.append(handler if catching.depth == len(context.frames) else replace(handler, here=False))
            probed = probed or _probes(handler, node)
    devices = next((loop for loop in reversed(context.loops) if loop.devices), None)
    return {
        "path": context.source.path,
        "span": context.span(node),
        "statement": statement_span(context, statement),
        "state": context.here,
        "frames": tuple(frame.call for frame in context.frames if frame.call is not None),
        "handlers": tuple(handlers),
        "guards": context.guards,
        "probed": probed,
        "repeated": any(loop.repeated for loop in context.loops),
        "devices_loop": context.span(devices.node) if devices else None,
        "function": context.frame.function,
        "certain": context.uncertain == 0,
        "ways": context.ways,
    }


def statement_span(context: Context, statement: ast.AST) -> Span:
    """Return the span of a statement; of a compound one, of its head alone."""
    if context.unit.library and context.site is not None and context.site[2] is not None:
        statement = context.site[2]
        span = context.site[0].span(statement)
    else:
        span = context.span(statement)
    body = getattr(statement, "body", None)
    if isinstance(body, list) and body and isinstance(statement, ast.stmt):
        head_end = max(span.row, context.source.span(body[0]).row - 1)
        if head_end < span.end_row:
            return Span(span.row, span.column, head_end, len(context.source.lines[head_end - 1]) + 1)
    return span


def name_event_fields(context: Context, node: ast.AST, name: str) -> dict[str, Any]:
    """`around`, for an event about a name: what another release has is no mistake where only that one gets."""
    around = event_fields(context, node)
    if inventory.ever_existed(name):
        around["probed"] = around["probed"] or bool(context.import_fallbacks)
    elif around["probed"]:
        # What no release has is not asked for by trying it: the handler always runs, and has to do the work.
        around["probed"] = any(_probes(handler, node) and not handler.gives_up for handler in around["handlers"])
    return around


def _probes(handler: Handler, node: ast.AST) -> bool:
    """True if a handler does something else where the name in an import, or in other code, is not there."""
    return handler.probes_import if isinstance(node, (ast.Import, ast.ImportFrom, ast.alias)) else handler.probes


def report_use(context: Context, node: ast.AST, name: str, *, called: bool = False, origin: str = "attribute") -> None:
    """Report a reference to a TensorFlow name if it could matter: all but ordinary names that exist."""
    if context.state is None or context.modules is not None or not is_tensorflow(name):
        return
    exists = inventory.exists(name, context.target)
    context.missing_names_used += not exists
    if name.startswith(_WATCHED) or not exists:
        text = context.text(node) if not isinstance(node, ast.alias) else name
        context.emit(Use(name=name, text=text, called=called, origin=origin, **name_event_fields(context, node, name)))


def emit_call(
    context: Context, name: str, node: ast.AST, written: list[Arg], outcome: ConfigEffect | None = None
) -> Call:
    func = node.func if isinstance(node, ast.Call) else node
    statement = context.statement
    return context.emit(
        Call(
            name=name,
            args=tuple(written),
            func=context.span(func),
            text=context.text(func),
            effect=outcome,
            result_used=not isinstance(statement, ast.Expr) or statement.value is not node,
            unread=name in LOGICAL_CONFIGURATION and goes_nowhere(context, node),
            node=node if isinstance(node, ast.Call) else None,
            **name_event_fields(context, node, name),
        )
    )


def emit_store(
    context: Context,
    module: str,
    name: str,
    value: Value,
    node: ast.AST,
    device: Value,
    owner: ast.expr | None,
    given: ast.expr | None,
) -> None:
    owner_text = context.text(owner) if owner is not None else ""
    context.emit(
        Store(
            owner=module,
            attribute=name,
            value=value,
            text=context.text(node) if isinstance(node, ast.Attribute) else f"{owner_text or module}.{name}",
            device=device,
            owner_text=owner_text,
            value_text=context.text(given) if given is not None else "",
            by_name=not isinstance(node, ast.Attribute),
            **event_fields(context, node),
        )
    )
