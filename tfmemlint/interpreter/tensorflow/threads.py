"""``tf.config.threading``."""

from __future__ import annotations

from dataclasses import replace

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.in_force import is_refused, late_effect
from tfmemlint.interpreter.registry import Invocation, models, outcome_of
from tfmemlint.interpreter.state import ANY, ConfigEffect, Setting
from tfmemlint.interpreter.values import UNKNOWN, Const, Value
from tfmemlint.knowledge.functions import SET_THREADS


def _threads_outcome(context: Context, name: str, wanted: Value) -> ConfigEffect | None:
    """Return whether a number of threads is set too late.

    Only the eager context refuses it: what the devices alone make of it is not looked at. At first none is in force, so
    even 0, which means the default, is another value then.
    """
    if wanted == Const(None):
        return None
    in_force = context.here.threading.get(name)
    if in_force is None and ANY in context.here.growth and context.here.growth[ANY].by is None:
        # Code that could not be followed may have set it.
        in_force = Setting(UNKNOWN)
    late = late_effect(context, SET_THREADS[name], in_force, wanted)
    return late if late is not None and late.kind == "late" else None


@outcome_of(*SET_THREADS)
def check_threads(context: Context, call: Invocation) -> ConfigEffect | None:
    return _threads_outcome(context, call.name, call.argument(0, "num_threads") or UNKNOWN)


@models(*SET_THREADS)
def set_threads(context: Context, call: Invocation) -> Value:
    if not is_refused(context, call.event):
        threads = Setting(call.argument(0, "num_threads") or UNKNOWN, call.event)
        context.state = replace(context.here, threading={**context.here.threading, call.name: threads})
    return Const(None)
