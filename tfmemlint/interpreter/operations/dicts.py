"""Changes of dictionaries."""

from __future__ import annotations

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.contents import Container, alter, forget_contents, passed_to_unknown
from tfmemlint.interpreter.operations.lists import belongs_to_caller
from tfmemlint.interpreter.values import UNKNOWN, Const, Dict, Ref, Value, holds_code, is_called


def set_key(context: Context, base: Dict, key: Value, value: Value) -> None:
    """Interpret ``base[key] = value`` of a dictionary."""
    vague = (
        not is_called(value)
        and not holds_code(value)
        and not isinstance(value, Ref)
        and belongs_to_caller(context, base)
    )

    def act(content: Container) -> Value:
        if not isinstance(content, Dict):
            return UNKNOWN
        if isinstance(key, Const) and isinstance(key.value, str):
            if content.items.get(key.value) == value:
                return content
            if vague:
                items = {name: item for name, item in content.items.items() if name != key.value}
                return Dict(items, True, content.default, content.cell)
            return Dict({**content.items, key.value: value}, content.open, content.default, content.cell)
        if isinstance(key, Const):
            return Dict(content.items, True, content.default, content.cell)
        return UNKNOWN if is_called(content) or is_called(value) else Dict({}, True, None, content.cell)

    if not isinstance(key, Const) or not isinstance(key.value, str):
        forget_contents(context, value)
        passed_to_unknown(context, value)
    alter(context, base, act)


def without_key(content: Container, key: str) -> Value:
    if not isinstance(content, Dict):
        return UNKNOWN
    items = {name: item for name, item in content.items.items() if name != key}
    return Dict(items, content.open, content.default, content.cell)
