"""TF1's messages and sessions, and eager execution."""

from __future__ import annotations

import ast
from dataclasses import replace

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.contents import mark_escaped
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.operations.exceptions import throw
from tfmemlint.interpreter.operations.protos import new_proto
from tfmemlint.interpreter.operations.run_configs import note_run_config
from tfmemlint.interpreter.operations.starting import start_runtime
from tfmemlint.interpreter.program import Call, SessionMade
from tfmemlint.interpreter.registry import Invocation, models
from tfmemlint.interpreter.state import Tri
from tfmemlint.interpreter.state.options import hides_gpus
from tfmemlint.interpreter.values import UNKNOWN, Const, Made, Proto, Value
from tfmemlint.knowledge import effects
from tfmemlint.knowledge.functions import (
    DISABLE_EAGER,
    ENABLE_EAGER,
    PROTOS,
    RUN_CONFIGS,
    SESSION_CREATORS,
    SESSION_LOOPS,
    SESSIONS,
    TARGETED,
)
from tfmemlint.model.finding import Span

_SESSION = "tf.compat.v1.Session"


def _new_session(
    context: Context, name: str, values: list[Value], keywords: dict[str, Value], node: ast.AST, call: Call, made: Made
) -> Value:
    config = keywords.get("config")
    position = {"Session": 2, "InteractiveSession": 2}.get(name.rsplit(".", 1)[-1])
    if config is None:
        config = values[position] if position is not None and len(values) > position else None
    if name.endswith(".MonitoredSession"):
        config = _config_of_creator(context, keywords.get("session_creator", values[0] if values else None))
    for value in (*values, *keywords.values()):
        mark_escaped(context, value)
    if name.rsplit(".", 1)[-1] in TARGETED and any(isinstance(value, Proto) for value in values[:2]):
        # In the place of the target, or of the graph: there is no session then.
        if throw(context, "TypeError"):
            context.state = None
        return made
    fields: dict[str, Value] | None = {} if config in (None, Const(None)) else None
    spans: dict[str, Span] = {}
    if isinstance(config, Proto):
        fields = dict(config.record.fields)
        spans = {field: span for field, span in config.record.spans.items() if span}
    event = SessionMade(
        name=name,
        fields=fields,
        own_config=isinstance(config, Proto),
        graph_mode=context.here.graph_mode,
        field_spans=spans,
        serial=made.serial,
        **event_fields(context, node),
    )
    context.emit(event)
    if keywords.get("graph", values[1] if position is not None and len(values) > 1 else Const(None)) != Const(None):
        # What it is for is in that graph, whatever eager code does.
        context.used.add(made.serial)
    if isinstance(config, Proto):
        config.record.taken = event
    if hides_gpus(fields):
        return made
    if effects.effect(name, context.target, graph=context.here.graph_mode) is effects.Effect.STARTS:
        # A monitored session makes a sharded Saver first, which asks the eager context for its devices.
        start_runtime(context, node, "context", name, call.text)
    start_runtime(context, node, "allocator", name, call.text)
    return made


def _config_of_creator(context: Context, creator: Value | None) -> Value | None:
    """Return the options that a ``MonitoredSession`` has by what makes its session; None if that has none."""
    if creator in (None, Const(None)):
        return None
    made_by = context.made_by.get(creator.serial) if isinstance(creator, Made) else None
    if made_by is None or made_by.name not in SESSION_CREATORS or made_by.has_star:
        return UNKNOWN
    given = made_by.arg(2, "config")
    return given.value if given is not None else None


@models(*SESSION_LOOPS)
def make_session_within(context: Context, call: Invocation) -> Value | None:
    """A loop or a manager makes a session of its own, unless that runs in another process."""
    position, keyword, master = SESSION_LOOPS[call.name]
    given = call.argument(position, keyword)
    for value in call.all_values:
        mark_escaped(context, value)
    if call.keywords.get(master, Const("")) not in (Const(""), Const(None)) or call.event.has_star:
        return None
    event = SessionMade(
        name=call.name,
        fields=dict(given.record.fields) if isinstance(given, Proto) else {} if given in (None, Const(None)) else None,
        own_config=isinstance(given, Proto),
        graph_mode=True,
        field_spans={field: span for field, span in given.record.spans.items() if span}
        if isinstance(given, Proto)
        else {},
        serial=call.result.serial,
        **event_fields(context, call.node),
    )
    context.emit(event)
    if isinstance(given, Proto):
        given.record.taken = event
    if not hides_gpus(event.fields):
        start_runtime(context, call.node, "allocator", call.name, call.event.text)
    return None


@models(*PROTOS)
def make_proto(context: Context, call: Invocation) -> Value:
    return new_proto(context, call.name, call.keywords, call.event)


@models(*SESSIONS)
def make_session(context: Context, call: Invocation) -> Value:
    return _new_session(context, call.name, call.values, call.keywords, call.node, call.event, call.result)


@models(*RUN_CONFIGS)
def make_run_config(context: Context, call: Invocation) -> Value | None:
    note_run_config(context, call.result.serial, call.keywords, call.node, call.written)
    return None


@models(*(f"{name}().replace" for name in RUN_CONFIGS))
def copy_run_config(context: Context, call: Invocation) -> Value:
    """``replace`` returns another ``RunConfig``."""
    for value in call.all_values:
        mark_escaped(context, value)
    note_run_config(context, call.result.serial, call.keywords, call.node, call.written, "replace")
    return Made(call.name.removesuffix("().replace"), call.result.serial)


@models("tf.get_default_session", "tf.compat.v1.get_default_session")
def default_session(context: Context, call: Invocation) -> Value:
    """A session, once the program may have made one: it is seldom asked for where no session is the default one."""
    return UNKNOWN if context.here.allocator.has is Tri.NO else Made(_SESSION, call.result.serial)


@models(*DISABLE_EAGER)
def disable_eager(context: Context, call: Invocation) -> Value:
    context.state = replace(context.here, eager=False)
    return Const(None)


@models(*ENABLE_EAGER)
def enable_eager(context: Context, call: Invocation) -> Value:
    for value in call.all_values:
        mark_escaped(context, value)
    context.state = replace(context.here, eager=True)
    return Const(None)
