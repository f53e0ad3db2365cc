"""Objects of pydantic's models: their fields are what is given, checked and converted, or their defaults."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tfmemlint.facts.syntax import dotted
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.amounts import as_number, option_value
from tfmemlint.interpreter.operations.bindings import set_field_of
from tfmemlint.interpreter.operations.classes import class_member
from tfmemlint.interpreter.operations.contents import mark_escaped
from tfmemlint.interpreter.operations.dataclass_fields import class_lineage
from tfmemlint.interpreter.operations.dataclass_init import is_vague_call
from tfmemlint.interpreter.values import UNKNOWN, Amount, Class, Const, Field, Function, Instance, Ref, Value

_SETTINGS = frozenset({"pydantic_settings.BaseSettings", "pydantic.BaseSettings", "pydantic.v1.BaseSettings"})
"""Models whose fields the environment may set."""
_MODELS = _SETTINGS | {"pydantic.BaseModel", "pydantic.v1.BaseModel", "pydantic.main.BaseModel", "sqlmodel.SQLModel"}
_FIELD_VALIDATORS = frozenset({"field_validator", "validator"})
_MODEL_VALIDATORS = frozenset({"model_validator", "root_validator"})


def is_model(cls: Class) -> bool:
    """True if objects of a class get their fields from pydantic."""
    return not _MODELS.isdisjoint(_foreign_bases(cls))


def _foreign_bases(cls: Class) -> Iterator[str]:
    for ancestor in class_lineage(cls):
        if ancestor is not None:
            yield from (base.name for base in ancestor.bases if isinstance(base, Ref))


def forget_fields(context: Context, instance: Instance) -> None:
    """Note that nothing is known of the fields of a model that has an ``__init__`` of its own."""
    for name in _fields(instance.cls):
        set_field_of(context, instance, name, UNKNOWN)


def make_model(
    context: Context, instance: Instance, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.AST
) -> None:
    """Set the fields of a new object as pydantic does, and call the methods that check them."""
    cls = instance.cls
    vague = bool(args) or is_vague_call(context, node)
    from_environment = not _SETTINGS.isdisjoint(_foreign_bases(cls))
    checks = list(_validators(cls))
    whole = any(name in _MODEL_VALIDATORS for name, _, _ in checks)
    for name, annotation in _fields(cls).items():
        if context.state is None:
            return
        if name in keywords:
            value = converted(keywords[name], annotation)
            mark_escaped(context, value)
            for kind, fields, check in checks:
                if kind in _FIELD_VALIDATORS and (name in fields or "*" in fields):
                    value = _checked(context, replace(check, bound=cls), value, node)
        else:
            value = UNKNOWN if vague else _default(context, cls, name, node)
            if from_environment:
                value = _from_environment(name, annotation, value)
        set_field_of(context, instance, name, UNKNOWN if whole else value)
    for kind, _, check in checks:
        if kind in _MODEL_VALIDATORS and context.state is not None:
            is_method = Ref("classmethod") not in check.decorators
            context.call(replace(check, bound=instance if is_method else cls), [] if is_method else [UNKNOWN], {}, node)
    after = class_member(context, cls, "model_post_init")
    if isinstance(after, Function) and context.state is not None:
        context.call(replace(after, bound=instance), [Const(None)], {}, node)


def _fields(cls: Class) -> dict[str, str]:
    """Return the names of a model's fields, those of its bases first, with their types as written."""
    found: dict[str, str] = {}
    for ancestor in reversed([ancestor for ancestor in class_lineage(cls) if ancestor is not None]):
        for part in ancestor.node.body:
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                written = part.annotation
                kind = dotted(written.value if isinstance(written, ast.Subscript) else written)
                if not part.target.id.startswith("_") and kind.rpartition(".")[2] != "ClassVar":
                    found[part.target.id] = kind if isinstance(written, ast.Name) else ""
    return found


def _default(context: Context, cls: Class, name: str, node: ast.AST) -> Value:
    found = next((known.members[name] for known in class_lineage(cls) if known and name in known.members), UNKNOWN)
    if not isinstance(found, Field):
        return found
    if found.factory is not None:
        return context.call(found.factory, [], {}, node)
    return UNKNOWN if found.default in (None, Const(...)) else found.default or UNKNOWN


def _from_environment(name: str, annotation: str, default: Value) -> Value:
    if annotation in ("str", "int", "float"):
        return option_value(name, annotation, default, f"the setting {name}")
    return default if isinstance(default, Instance) else UNKNOWN


def converted(value: Value, annotation: str) -> Value:
    """Return what pydantic makes of a value for a field of a plain type."""
    if annotation in ("int", "float"):
        number = isinstance(value, Const) and type(value.value) in (int, float)
        return value if number else as_number(value) if isinstance(value, (Const, Amount)) else UNKNOWN
    is_text = isinstance(value, Const) and isinstance(value.value, str)
    return value if annotation in ("str", "") or not is_text else UNKNOWN


def _validators(cls: Class) -> Iterator[tuple[str, tuple[object, ...], Function]]:
    """Yield the methods that check values: the name of the decorator, the fields that it names, the method."""
    for ancestor in class_lineage(cls):
        for method in ancestor.members.values() if ancestor is not None else ():
            if not isinstance(method, Function) or isinstance(method.node, ast.Lambda):
                continue
            for mark in method.node.decorator_list:
                kind = dotted(mark.func if isinstance(mark, ast.Call) else mark).rpartition(".")[2]
                if kind in _FIELD_VALIDATORS | _MODEL_VALIDATORS:
                    names = mark.args if isinstance(mark, ast.Call) else []
                    yield kind, tuple(name.value for name in names if isinstance(name, ast.Constant)), method


def _checked(context: Context, check: Function, value: Value, node: ast.AST) -> Value:
    """Return what a method makes of the value that it checks."""
    if context.state is None or isinstance(check.node, ast.Lambda):
        return UNKNOWN
    others = len(check.node.args.args) - 2
    return context.call(check, [value, *[UNKNOWN] * max(others, 0)], {}, node)
