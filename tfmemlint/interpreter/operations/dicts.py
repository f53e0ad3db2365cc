"""Changes of dictionaries."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.contents import Container, alter, forget_contents, passed_to_unknown
from tfmemlint.interpreter.operations.lists import belongs_to_caller
from tfmemlint.interpreter.values import (
    NO_KEY,
    UNKNOWN,
    Const,
    Dict,
    FileValue,
    Made,
    Ref,
    Seq,
    Value,
    holds_code,
    is_called,
    key_of,
    value_of_key,
)
from tfmemlint.knowledge import units


def set_key(context: Context, base: Dict, key: Value, value: Value) -> None:
    """Interpret ``base[key] = value`` of a dictionary."""
    known = key_of(key)
    vague = (
        not is_called(value)
        and not holds_code(value)
        and not isinstance(value, Ref)
        and belongs_to_caller(context, base)
    )

    def act(content: Container) -> Value:
        if not isinstance(content, Dict):
            return UNKNOWN
        if known is not NO_KEY:
            if content.items.get(known) == value:
                return content
            if vague and isinstance(value, Made):
                # Another call that is not followed puts its like there, which starts the runtime by the same methods.
                return Dict({**content.items, known: value}, True, content.default, content.cell)
            if vague:
                items = {name: item for name, item in content.items.items() if name != known}
                return Dict(items, True, content.default, content.cell)
            return Dict({**content.items, known: value}, content.open, content.default, content.cell)
        return UNKNOWN if is_called(content) or is_called(value) else Dict({}, True, None, content.cell)

    if known is NO_KEY:
        forget_contents(context, value)
        passed_to_unknown(context, value)
    alter(context, base, act)


def without_key(content: Container, key: Hashable) -> Value:
    if not isinstance(content, Dict):
        return UNKNOWN
    items = {name: item for name, item in content.items.items() if name != key}
    return Dict(items, content.open, content.default, content.cell)


def view_of(of: Dict, kind: str) -> tuple[Value, ...]:
    """Return what ``items()``, ``keys()`` or ``values()`` of a dictionary gives."""
    if kind == "keys":
        return tuple(map(value_of_key, of.items))
    if kind == "values":
        return tuple(of.items.values())
    return tuple(Seq((value_of_key(key), value), "tuple") for key, value in of.items.items())


def found_item(base: Dict, values: Sequence[Value]) -> Value:
    """Interpret ``base.get(key, default)``."""
    known = key_of(values[0])
    if known is NO_KEY:
        return UNKNOWN
    found = base.items.get(known)
    if found is None and not base.open:
        return values[1] if len(values) > 1 else Const(None)
    if found is None and base.file and len(values) > 1:
        return _default_beside_file(base, str(known), values[1])
    return UNKNOWN if found is None else found


def _default_beside_file(base: Dict, name: str, default: Value) -> Value:
    """Return what a program takes where a configuration file lacks a key: as unsure as what the file has."""
    value = default.value if isinstance(default, Const) else None
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return UNKNOWN
    kind, source = "str" if isinstance(value, str) else "number", f"the default where {base.file} has no such key"
    number = None if isinstance(value, str) else value
    return FileValue(kind, units.unit_in_name(name), source, False, number, path=base.file, value=value)
