"""The ``__init__`` that is generated for a dataclass: it keeps what it is given, and makes what it isn't."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Frame
from tfmemlint.interpreter.limits import MAX_CALL_DEPTH
from tfmemlint.interpreter.operations.bindings import set_field_of
from tfmemlint.interpreter.operations.classes import class_member, lineage
from tfmemlint.interpreter.operations.contents import mark_escaped
from tfmemlint.interpreter.operations.dataclass_fields import (
    DATACLASS,
    KEEPS_FIELDS,
    NAMED_TUPLES,
    Described,
    class_lineage,
    dataclass_fields,
    dataclass_mark,
    mark_options,
)
from tfmemlint.interpreter.operations.paths import doubtful, merge, snapshot
from tfmemlint.interpreter.values import UNKNOWN, Class, Dict, Function, Instance, Proto, Ref, Seq, Value
from tfmemlint.model.finding import Step

_INIT = ast.parse("def __init__(self): ...").body[0]
"""Stands for the method that is written for a dataclass."""


def written_init(cls: Class) -> Class | None:
    """Return the dataclass whose generated ``__init__`` makes objects of ``cls``; None if another one does, or may."""
    for ancestor in class_lineage(cls):
        if ancestor is None or "__init__" in ancestor.members or "__new__" in ancestor.members:
            return None
        mark = dataclass_mark(ancestor, DATACLASS)
        if mark is not None:
            options = mark_options(mark)
            if options is None:
                return None
            if options.get("init", True):
                return ancestor
    return None


def make_record(
    context: Context,
    instance: Instance,
    cls: Class,
    args: Sequence[Value],
    keywords: Mapping[str, Value],
    node: ast.AST,
) -> None:
    """Run the generated ``__init__`` of the dataclass ``cls``, and ``__post_init__`` after it."""
    if context.depth >= MAX_CALL_DEPTH:
        context.give_up(
            f"{context.source.path}:{context.span(node).row}: calls are nested more than {MAX_CALL_DEPTH} deep"
        )
        return
    words = f"{context.frame.function} makes" if context.frame.function else "makes"
    call = Step(context.source.path, context.span(node), f"{words} {instance.cls.node.name}()")
    context.frames.append(Frame("__init__", context.scope, _INIT, call))
    context.depth += 1
    try:
        _fill(context, instance, cls, args, keywords, node)
    finally:
        context.frames.pop()
        context.depth -= 1
    after = class_member(context, instance.cls, "__post_init__")
    if isinstance(after, Function) and context.state is not None:
        extra = [UNKNOWN for field in dataclass_fields(cls).values() if field.of_init]
        context.call(replace(after, bound=instance), extra, {}, node)


def _fill(
    context: Context,
    instance: Instance,
    cls: Class,
    args: Sequence[Value],
    keywords: Mapping[str, Value],
    node: ast.AST,
) -> None:
    fields = dataclass_fields(cls)
    places = [name for name, field in fields.items() if field.init and not field.keyword_only]
    given = {**dict(zip(places, args, strict=False)), **keywords}
    vague = is_vague_call(context, node)
    if args and None in class_lineage(cls):
        # A base of somebody else's may have fields of its own, which come first.
        given, vague = dict(keywords), True
    # What is in a named tuple may be taken by its place as well.
    keeps = not any(isinstance(base, Ref) and base.name in NAMED_TUPLES for base in lineage(context, cls))
    for name, field in fields.items():
        if context.state is None:
            return
        if name in given and field.init:
            value = given[name]
            if not (keeps and isinstance(value, Proto) and not field.of_init):
                mark_escaped(context, value)
        elif vague and field.init:
            value = _perhaps_made(context, field, node)
        else:
            value = _made_of(context, field, node)
        if not field.of_init:
            set_field_of(context, instance, name, value)


def _made_of(context: Context, field: Described, node: ast.AST) -> Value:
    if field.factory is not None:
        return _call_factory(context, field, field.factory, node)
    return UNKNOWN if field.default is None else field.default


def _call_factory(context: Context, field: Described, factory: Value, node: ast.AST) -> Value:
    """Call the factory of a field; one of a library does what it does where the field is written."""
    unit, written = field.owner.scope.unit, field.written
    factories = [each.value for each in getattr(written, "keywords", ()) if each.arg == "default_factory"]
    if unit is None or not factories or not isinstance(factory, Ref):
        return context.call(factory, [], {}, node)
    here, context.unit = context.unit, unit
    try:
        return context.call(factory, [], {}, factories[0])
    finally:
        context.unit = here


def _perhaps_made(context: Context, field: Described, node: ast.AST) -> Value:
    """Return the value of a field that may or may not be given."""
    if field.factory is not None:
        before = snapshot(context)
        with doubtful(context):
            _call_factory(context, field, field.factory, node)
        merge(context, before)
    return UNKNOWN


def is_vague_call(context: Context, node: ast.AST) -> bool:
    """True if a call has ``*`` or ``**`` with unknown contents."""
    if not isinstance(node, ast.Call):
        return True
    for part in node.args:
        if isinstance(part, ast.Starred) and not isinstance(context.last_values.get(id(part.value)), Seq):
            return True
    for keyword in node.keywords:
        if keyword.arg is None:
            value = context.last_values.get(id(keyword.value))
            if not isinstance(value, Dict) or value.open:
                return True
    return False


def takes_fields(
    context: Context, cls: Class, args: Sequence[Value], keywords: Mapping[str, Value], instance: Instance
) -> bool:
    """True if a class of attrs without a base keeps what it is given, field by field; then it is done."""
    if cls.bases or dataclass_mark(cls, KEEPS_FIELDS) is None:
        return False
    for name, value in (*zip(dataclass_fields(cls), args, strict=False), *keywords.items()):
        mark_escaped(context, value)
        set_field_of(context, instance, name, value)
    return True
