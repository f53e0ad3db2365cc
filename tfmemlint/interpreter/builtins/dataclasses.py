"""``dataclasses.field`` and ``dataclasses.asdict``."""

from __future__ import annotations

from collections.abc import Mapping

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.contents import mark_escaped, new_container
from tfmemlint.interpreter.operations.dataclass_fields import class_lineage, dataclass_fields
from tfmemlint.interpreter.operations.objects import plain_member
from tfmemlint.interpreter.registry import Invocation, builtin
from tfmemlint.interpreter.values import UNKNOWN, Const, Dict, Field, Instance, Value


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


@builtin("dataclasses.asdict", "attr.asdict", "attrs.asdict")
def fields_as_dict(context: Context, call: Invocation) -> Value | None:
    """Interpret ``asdict(instance)``; of a field only a constant is known, as the others are copied."""
    match call.values:
        case [Instance() as instance] if not call.keywords and (names := dataclass_fields(instance.cls)):
            mark_escaped(context, instance)
            items = {name: plain_member(context, instance, name, call.node, ask=False) for name in names}
            known = {name: value if isinstance(value, Const) else UNKNOWN for name, value in items.items()}
            return new_container(context, Dict(known, None in class_lineage(instance.cls)))
        case _:
            return None


@builtin("pydantic.Field", "pydantic.fields.Field", "pydantic.v1.Field", "sqlmodel.Field")
def model_field(context: Context, call: Invocation) -> Value | None:
    """A field with another name outside is not known: what is given for it comes under that name."""
    if call.keywords.keys() & {"alias", "validation_alias"}:
        return UNKNOWN
    return Field(call.argument(0, "default"), call.keywords.get("default_factory"), True, None)
