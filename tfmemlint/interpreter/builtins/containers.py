"""Built-in functions that make lists, sets and dictionaries, and methods that are called by their classes."""

from __future__ import annotations

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.changes import change
from tfmemlint.interpreter.operations.contents import cells_of, forget_contents, mark_escaped, new_container
from tfmemlint.interpreter.operations.dict_objects import call_inherited, is_dict
from tfmemlint.interpreter.operations.lists import same_items
from tfmemlint.interpreter.registry import Invocation, builtin
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Choice,
    Dict,
    Instance,
    Seq,
    Value,
)


def _new_dict(context: Context, name: str, values: list[Value], keywords: dict[str, Value]) -> Value:
    """Return a new dictionary."""
    default: Value | None = None
    if name == "collections.defaultdict":
        default, values = (values[0] if values else None), []
    given = values[0] if values else Dict()
    if not isinstance(given, Dict):
        return UNKNOWN
    return new_container(context, Dict({**given.items, **keywords}, given.open, default))


def _change_by_name(context: Context, method: str, values: list[Value], keywords: dict[str, Value]) -> Value:
    """Interpret ``list.append(values, value)``, or a method that was taken from a list to be called later."""
    base, *rest = values
    for value in rest:
        mark_escaped(context, value)
    now = context.current(base)
    meant = cells_of(now)
    if len(meant) == 1 and isinstance(meant[0], (Seq, Dict)) and meant[0].cell is not None:
        return change(context, meant[0], method, rest, keywords)
    for value in (base, *rest):
        forget_contents(context, value)
    return UNKNOWN


@builtin("list", "set")
def new_list_or_set(context: Context, call: Invocation) -> Value | None:
    if call.values:
        return same_items(context, call.name, call.values[0])
    if call.keywords:
        return None
    return new_container(context, Seq((), "set") if call.name == "set" else Seq(()))


@builtin("tuple", "sorted", "reversed", "tqdm", "tqdm.tqdm")
def same(context: Context, call: Invocation) -> Value | None:
    return same_items(context, call.name, call.values[0]) if call.values else None


@builtin("collections.deque")
def deque(context: Context, call: Invocation) -> Value | None:
    if not call.values and not call.keywords:
        return new_container(context, Seq(()))
    return copy_container(context, call)


@builtin("copy.copy")
def copy_container(context: Context, call: Invocation) -> Value | None:
    base = call.values[0] if call.values else None
    if isinstance(base, Seq):
        return new_container(context, Seq(base.items, base.kind))
    if isinstance(base, Dict):
        return new_container(context, Dict(base.items, base.open, base.default))
    return None


@builtin("dict", "collections.OrderedDict", "collections.defaultdict")
def dict_(context: Context, call: Invocation) -> Value | None:
    return _new_dict(context, call.name, call.values, call.keywords) if len(call.values) < 2 else None


@builtin("list.*", "dict.*", "set.*")
def method_by_class(context: Context, call: Invocation) -> Value | None:
    method = call.name.partition(".")[2]
    if method and call.values and isinstance(call.values[0], Instance) and is_dict(context, call.values[0]):
        return call_inherited(context, method, call.values[0], call.values[1:], call.keywords)
    if "." in call.name and call.values and isinstance(call.values[0], (Seq, Dict, Choice)):
        return _change_by_name(context, call.name.partition(".")[2], call.values, call.keywords)
    return None
