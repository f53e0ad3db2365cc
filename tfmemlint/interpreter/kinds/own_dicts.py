"""The ``__dict__`` of an object: what is put into it are attributes of the object."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.dict_objects import held, set_attributes
from tfmemlint.interpreter.operations.methods import MethodCall
from tfmemlint.interpreter.registry import item_of, method
from tfmemlint.interpreter.values import UNKNOWN, Const, Dict, OwnDict, Value


@method(OwnDict, "update")
def update_attributes(context: Context, base: OwnDict, call: MethodCall) -> Value:
    values, keywords = call.drained_arguments(context)
    first = values[0] if values else Dict()
    given = first if isinstance(first, Dict) else held(context, first)
    if base.complete:
        context.incomplete.discard(base.owner)
    set_attributes(context, base.owner, given)
    set_attributes(context, base.owner, Dict(keywords))
    return Const(None)


@item_of(OwnDict)
def attribute_as_item(
    context: Context, base: OwnDict, key: Value, node: ast.expr, written: ast.expr | None = None
) -> Value:
    name = key.value if isinstance(key, Const) else None
    return context.heap.get((base.owner, name), UNKNOWN) if isinstance(name, str) else UNKNOWN
