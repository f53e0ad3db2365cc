"""Methods of ``os.environ``."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.environment import entries, env_write, read_variable, set_env, unset_env
from tfmemlint.interpreter.operations.methods import MethodCall
from tfmemlint.interpreter.registry import method
from tfmemlint.interpreter.values import UNKNOWN, Const, Dict, Ref, Value


@method(Ref, "get", "__getitem__")
def get_variable(context: Context, base: Ref, call: MethodCall) -> Value | None:
    if base.name != "os.environ":
        return None
    values, _, _ = call.arguments(context)
    return read_variable(context, values[0], values[1] if len(values) > 1 else None) if values else UNKNOWN


@method(Ref, "setdefault")
def set_default_variable(context: Context, base: Ref, call: MethodCall) -> Value | None:
    if base.name != "os.environ":
        return None
    values, _, written = call.arguments(context)
    # Whether it takes effect depends on the environment that the program starts in.
    env_write(context, values, call.node, written, default=True)
    return UNKNOWN


@method(Ref, "update")
def update_variables(context: Context, base: Ref, call: MethodCall) -> Value | None:
    if base.name != "os.environ":
        return None
    values, keywords, _ = call.arguments(context)
    items = dict(keywords)
    if values and isinstance(values[0], Dict):
        items |= {name: value for name, value in values[0].items.items() if isinstance(name, str)}
    written = entries(context, call.node) if isinstance(call.node, ast.Call) else {}
    for variable, value in items.items():
        place, entry = written.get(variable, (None, None))
        given = context.span(entry) if entry is not None else None
        named = (None, entry) if entry is not None else None
        set_env(context, variable, value, call.node, "", how="update", key=place, given=given, written=named)
    return UNKNOWN


@method(Ref, "pop")
def pop_variable(context: Context, base: Ref, call: MethodCall) -> Value | None:
    if base.name != "os.environ":
        return None
    values, _, _ = call.arguments(context)
    if values and isinstance(values[0], Const) and isinstance(values[0].value, str):
        unset_env(context, values[0].value)
    return UNKNOWN


@method(Ref)
def other_method(context: Context, base: Ref, call: MethodCall) -> Value | None:
    if base.name != "os.environ":
        return None
    call.arguments(context)
    return UNKNOWN
