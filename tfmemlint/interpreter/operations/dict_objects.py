"""Objects of subclasses of ``dict``: the items that such an object holds, and the methods that it inherits.

The items are a dictionary of the interpreter's, in the heap: it is joined and forgotten as any other one. Where there
is none, nothing is known of the items. Source: the Python Library Reference, "Mapping Types" and `collections`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.bindings import set_field_of
from tfmemlint.interpreter.operations.changes import change
from tfmemlint.interpreter.operations.classes import derives_from
from tfmemlint.interpreter.operations.contents import mark_escaped, new_container
from tfmemlint.interpreter.operations.dicts import found_item, set_key, view_of
from tfmemlint.interpreter.values import (
    NO_KEY,
    UNKNOWN,
    Const,
    Dict,
    Instance,
    Partial,
    Ref,
    Seq,
    Value,
    is_called,
    key_of,
)

DICTS = frozenset({"dict", "collections.OrderedDict", "collections.UserDict", "collections.defaultdict"})
_HELD = "{}"
"""Under this name the heap has the items of an object."""
OWN_DICTIONARY = "__dict__"
ANY_NAME = "*"
"""Under this name the heap notes that an object may have been given an attribute of any name."""
_INHERITED = frozenset(
    {
        *("__init__", "__getitem__", "__setitem__", "__contains__", "get", "items", "keys", "values"),
        *("update", "pop", "setdefault", "clear", "copy"),
    }
)


def is_dict(context: Context, value: Value) -> bool:
    """True if a value is an object of a subclass of ``dict``."""
    return isinstance(value, Instance) and derives_from(context, value.cls, DICTS)


def held(context: Context, value: Value) -> Dict | None:
    """Return the items that an object holds; None if they are not known."""
    found = context.heap.get((value, _HELD)) if isinstance(value, Instance) else None
    now = context.current(found) if found is not None else None
    return now if isinstance(now, Dict) and now.cell is not None else None


def fill(context: Context, instance: Instance, values: Sequence[Value], keywords: Mapping[str, Value]) -> None:
    """Interpret ``dict.__init__(instance, *values, **keywords)``."""
    given: Value | None = values[0] if values else Dict()
    if isinstance(given, Instance):
        given = held(context, given)
    known = isinstance(given, Dict) and len(values) < 2 and not derives_from(context, instance.cls, _DEFAULTS)
    content = Dict({**given.items, **keywords}, given.open) if known and isinstance(given, Dict) else None
    if content is None or is_called(content):
        # What is called when it is looked up is not followed here.
        for value in (*values, *keywords.values()):
            mark_escaped(context, value)
    set_field_of(context, instance, _HELD, UNKNOWN if content is None else new_container(context, content))
    _forget_nothing(context)


def _forget_nothing(context: Context) -> None:
    """Note that the functions that run here give each object something of its own: no call of them is left out."""
    context.oldest_cell_changed = 0


_DEFAULTS = frozenset({"collections.defaultdict"})


def inherited(context: Context, receiver: Value, name: str) -> Value | None:
    """Return a method that an object inherits from ``dict``, bound to it; None if it has none of that name."""
    return Partial(Ref(f"dict.{name}"), (receiver,), {}) if name in _INHERITED and is_dict(context, receiver) else None


def item_held(context: Context, instance: Instance, key: Value) -> Value | None:
    """Return an item that an object holds for sure; None if that is not known."""
    content, known = held(context, instance), key_of(key)
    return content.items.get(known) if content is not None and known is not NO_KEY else None


def put_held(context: Context, instance: Instance, key: Value, value: Value) -> bool:
    """Interpret ``dict.__setitem__``; False if nothing is known of what the object holds."""
    content = held(context, instance)
    if content is not None:
        set_key(context, content, key, value)
    return content is not None


def call_inherited(
    context: Context, name: str, instance: Instance, values: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    """Call the method ``name`` of ``dict`` on an object; return its result."""
    if name == "__init__":
        fill(context, instance, values, keywords)
        return Const(None)
    content = held(context, instance)
    if content is None:
        for value in (*values, *keywords.values()):
            mark_escaped(context, value)
        return UNKNOWN
    match name, values:
        case "__getitem__", [key]:
            return found_item(content, [key, UNKNOWN])
        case "get", [_, *_]:
            return found_item(content, values)
        case "__setitem__", [key, value]:
            set_key(context, content, key, value)
            return Const(None)
        case "__contains__", [key] if not content.open and key_of(key) is not NO_KEY:
            return Const(key_of(key) in content.items)
        case (("items" | "keys" | "values"), []):
            return UNKNOWN if content.open else Seq(view_of(content, name), "view")
        case _:
            return change(context, content, name, values, keywords)


def set_attributes(context: Context, instance: Instance, given: Dict | None) -> None:
    """Give an object all items of a dictionary as attributes; None if these are not known."""
    for name, value in given.items.items() if given is not None else ():
        if isinstance(name, str):
            set_field_of(context, instance, name, value)
    _forget_nothing(context)
    if given is None or given.open:
        set_field_of(context, instance, ANY_NAME, UNKNOWN)
        context.incomplete.add(instance)


def attribute_held(context: Context, instance: Instance, name: str) -> Value | None:
    """Return an attribute of an object whose ``__dict__`` is the object itself; None if it has no such attribute."""
    if context.heap.get((instance, OWN_DICTIONARY)) is not instance:
        return None
    return item_held(context, instance, Const(name))
