"""Changes of dictionaries."""

from __future__ import annotations

from collections.abc import Hashable

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.contents import Container, alter, forget_contents, passed_to_unknown
from tfmemlint.interpreter.operations.lists import belongs_to_caller
from tfmemlint.interpreter.values import NO_KEY, UNKNOWN, Dict, Ref, Value, holds_code, is_called, key_of


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
