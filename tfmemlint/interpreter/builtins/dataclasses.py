"""``dataclasses.field``."""

from __future__ import annotations

from collections.abc import Mapping

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.registry import Invocation, builtin
from tfmemlint.interpreter.values import UNKNOWN, Const, Field, Value


def _field(keywords: Mapping[str, Value]) -> Value:
    """Interpret ``dataclasses.field(...)``."""
    init, keyword_only = keywords.get("init", Const(True)), keywords.get("kw_only")
    if not isinstance(init, Const) or not isinstance(keyword_only, (Const, type(None))):
        return UNKNOWN
    return Field(
        keywords.get("default"),
        keywords.get("default_factory"),
        bool(init.value),
        None if keyword_only is None else bool(keyword_only.value),
    )


@builtin("dataclasses.field")
def dataclass_field(context: Context, call: Invocation) -> Value | None:
    return _field(call.keywords)


@builtin("pydantic.Field", "pydantic.fields.Field", "pydantic.v1.Field", "sqlmodel.Field")
def model_field(context: Context, call: Invocation) -> Value | None:
    """A field with another name outside is not known: what is given for it comes under that name."""
    if call.keywords.keys() & {"alias", "validation_alias"}:
        return UNKNOWN
    return Field(call.argument(0, "default"), call.keywords.get("default_factory"), True, None)
