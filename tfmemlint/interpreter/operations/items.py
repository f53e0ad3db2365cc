"""Assignments to items: ``base[key] = value``."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.bindings import set_field_of
from tfmemlint.interpreter.operations.contents import alter, cells_of, forget_contents, mark_escaped
from tfmemlint.interpreter.operations.dict_objects import put_held
from tfmemlint.interpreter.operations.dicts import set_key
from tfmemlint.interpreter.operations.environment import set_env
from tfmemlint.interpreter.operations.lists import extend, set_place
from tfmemlint.interpreter.operations.objects import call_special
from tfmemlint.interpreter.operations.protos import set_proto_item
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Class,
    Const,
    Dict,
    Instance,
    Made,
    OwnDict,
    Proto,
    Ref,
    Rows,
    Seq,
    Value,
)
from tfmemlint.knowledge.purposes import REAL_KEYS

ITEMS = "[]"
"""Under this name the heap notes that an object of a subclass of ``dict`` may hold something."""


def set_item(context: Context, target: ast.Subscript, value: Value) -> None:
    base = context.evaluate(target.value)
    key = context.evaluate(target.slice)
    if context.state is None:
        return
    if isinstance(base, (Instance, Class)):
        set_field_of(context, base, ITEMS, UNKNOWN)
        if call_special(context, base, "__setitem__", [key, value], target) is not None:
            return
        if isinstance(base, Instance) and put_held(context, base, key, value):
            mark_escaped(context, value)
            return
    if base == Ref("os.environ"):
        if isinstance(key, Const) and isinstance(key.value, str):
            written = getattr(context.statement, "value", None)
            given = written if isinstance(written, ast.expr) else None
            set_env(
                context,
                key.value,
                value,
                target,
                context.text(given) if given is not None else "",
                key=context.span(target.slice),
                given=context.span(given) if given is not None else None,
                written=(target.slice, given) if given is not None else None,
            )
        return
    if isinstance(base, OwnDict) and isinstance(key, Const) and isinstance(key.value, str):
        set_field_of(context, base.owner, key.value, value)
    if isinstance(base, Proto):
        set_proto_item(context, base, key, value, context.span(target))
        return
    if isinstance(base, Rows):
        context.heap = {**context.heap, (base.cell, ""): UNKNOWN}
    mark_escaped(context, value)
    for container in cells_of(base):
        if isinstance(container, (Seq, Dict)) and container.cell is not None:
            _put_item(context, base, container, target.slice, key, value)
        elif container is not base:
            forget_contents(context, value)
    if isinstance(base, (Seq, Dict)) and base.cell is not None:
        return
    forget_contents(context, value)
    if isinstance(target.value, ast.Name):
        if isinstance(base, Dict) and isinstance(key, Const) and isinstance(key.value, str):
            context.scope.bind(target.value.id, Dict({**base.items, key.value: value}, base.open))
        elif isinstance(base, (Seq, Dict)) or (isinstance(base, Made) and base.name in REAL_KEYS):
            context.scope.bind(target.value.id, UNKNOWN)


def _put_item(context: Context, base: Value, container: Seq | Dict, place: ast.expr, key: Value, value: Value) -> None:
    """Assign an item of ``container``, which ``base`` means, or may mean."""
    if container is not base and len(cells_of(base)) > 1:
        forget_contents(context, value)
        forget_contents(context, container)
    elif isinstance(container, Dict):
        set_key(context, container, key, value)
    elif isinstance(place, ast.Slice):
        whole = place.lower is None and place.upper is None and place.step is None
        alter(context, container, lambda content: Seq((), "list", content.cell) if whole else UNKNOWN)
        if whole:
            extend(context, container, value)
    else:
        set_place(context, container, key, value)
