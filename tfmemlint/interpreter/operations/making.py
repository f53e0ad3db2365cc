"""Making objects of classes, and classes themselves."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.limits import MAX_CLASSES_MADE
from tfmemlint.interpreter.observer import Surrender
from tfmemlint.interpreter.operations.bindings import set_field_of
from tfmemlint.interpreter.operations.classes import ENUMS, MEMBERS, class_member, derives_from, lineage, member_after
from tfmemlint.interpreter.operations.contents import mark_escaped
from tfmemlint.interpreter.operations.dataclass_init import make_record, takes_fields, written_init
from tfmemlint.interpreter.operations.dict_objects import fill, is_dict
from tfmemlint.interpreter.operations.function_bodies import function_name
from tfmemlint.interpreter.operations.function_calls import call_function
from tfmemlint.interpreter.operations.named_calls import call_by_name
from tfmemlint.interpreter.operations.objects import call_special
from tfmemlint.interpreter.operations.pydantic_models import forget_fields, is_model, make_model
from tfmemlint.interpreter.operations.side_effects import is_side_effect_free
from tfmemlint.interpreter.operations.worker_processes import PROCESSES, note_process_object
from tfmemlint.interpreter.registry import Invocation
from tfmemlint.interpreter.values import UNKNOWN, Choice, Class, Const, Dict, Function, Instance, Ref, Seq, Value


def make_object(
    context: Context, cls: Class, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
) -> Value:
    """Make an object of a class: ``type.__call__``."""
    if derives_from(context, cls, ENUMS) and len(args) == 1 and context.heap.get((cls, MEMBERS)) is not None:
        return enum_member(context, cls, args[0], node)
    new = class_member(context, cls, "__new__")
    if isinstance(new, Function):
        made = call_function(context, replace(new, bound=None), [cls, *args], keywords, node)
        if isinstance(made, Choice):
            own = [
                option
                for option in made.options
                if isinstance(option, Instance) and cls in lineage(context, option.cls)
            ]
            made = own[0] if len(own) == 1 else made
        if context.state is None or not isinstance(made, Instance) or cls not in lineage(context, made.cls):
            return made
        instance = made
    else:
        instance = Instance(cls)
    context.instances[id(cls.node)] = instance
    _initialize(context, instance, args, keywords, node)
    if derives_from(context, cls, PROCESSES):
        run = class_member(context, cls, "run")
        if isinstance(run, Function):
            init = class_member(context, cls, "__init__")
            note_process_object(context, replace(run, bound=instance), init, args, keywords, node)
    return instance


def _initialize(
    context: Context, instance: Instance, args: Sequence[Value], keywords: dict[str, Value], node: ast.AST
) -> None:
    cls = instance.cls
    init = class_member(context, cls, "__init__")
    record = written_init(cls)
    if record is not None:
        make_record(context, instance, record, args, keywords, node)
    elif isinstance(init, Function):
        if is_model(cls):
            forget_fields(context, instance)
        call_function(context, replace(init, bound=instance), args, keywords, node)
    elif is_model(cls):
        make_model(context, instance, args, keywords, node)
    elif isinstance(after := class_member(context, cls, "__post_init__"), Function):
        # A dataclass.
        call_function(context, replace(after, bound=instance), [], {}, node)
    elif takes_fields(context, cls, args, keywords, instance):
        after = class_member(context, cls, "__attrs_post_init__")
        if isinstance(after, Function) and context.state is not None:
            call_function(context, replace(after, bound=instance), [], {}, node)
    elif init is None and is_dict(context, instance):
        fill(context, instance, args, keywords)
    elif isinstance(init, Ref):
        call_by_name(context, Invocation(init.name.removesuffix("().__init__"), node, list(args), keywords, []))
    else:
        for value in (*args, *keywords.values()):
            mark_escaped(context, value)


def enum_member(context: Context, cls: Class, value: Value, node: ast.AST) -> Value:
    """Return the member of an Enum with a value: ``Mode("train")``."""
    listed = context.heap.get((cls, MEMBERS))
    members = listed.items if isinstance(listed, Seq) else ()
    if value in members:
        return value
    values = [context.heap.get((member, "value")) for member in members if isinstance(member, Instance)]
    if not isinstance(value, Const) or not all(isinstance(known, Const) for known in values):
        return Choice(members) if 0 < len(members) <= 6 else UNKNOWN
    for member, known in zip(members, values, strict=True):
        if isinstance(known, Const) and known.value == value.value:
            return member
    missing = class_member(context, cls, "_missing_")
    if not isinstance(missing, Function):
        return UNKNOWN
    return call_function(context, replace(missing, bound=cls), [value], {}, node)


def finish_class(
    context: Context, cls: Class, metaclass: Value | None, keywords: Mapping[str, Value], node: ast.AST
) -> Value:
    """Make a class of its body's names: call its metaclass, ``__set_name__`` and ``__init_subclass__``."""
    if isinstance(metaclass, Class):
        context.being_made.append(cls)
        namespace = Dict(dict(cls.members), open=True)
        given: list[Value] = [Const(cls.node.name), Seq(cls.bases, "tuple"), namespace]
        result = call_special_of_class(context, metaclass, "__new__", [metaclass, *given], keywords, node)
        if cls in context.being_made:
            context.being_made.remove(cls)
            complete_class(context, cls, keywords, node)
        if result is None or result is cls:
            init = class_member(context, metaclass, "__init__")
            if isinstance(init, Function) and context.state is not None:
                context.call(replace(init, bound=cls), given, dict(keywords), node)
            return cls
        return result if isinstance(result, (Class, Instance, Function)) else cls
    if metaclass is not None and isinstance(metaclass, Function):
        made = context.call(
            metaclass, [Const(cls.node.name), Seq(cls.bases, "tuple"), Dict(dict(cls.members), open=True)], {}, node
        )
        return made if isinstance(made, (Class, Instance, Function)) else cls
    complete_class(context, cls, keywords, node)
    return cls


def call_special_of_class(
    context: Context, cls: Class, name: str, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.AST
) -> Value | None:
    """Call a static special method of a class (``__new__``, ``__prepare__``); None if it has none that is known."""
    found = class_member(context, cls, name)
    if not isinstance(found, Function) or context.state is None or _made_many(context, found):
        return None
    bound = cls if Ref("classmethod") in found.decorators else None
    return context.call(replace(found, bound=bound), list(args), dict(keywords), node)


def _made_many(context: Context, hook: Function) -> bool:
    """True if a method that configures nothing has made so many classes that the next one tells nothing new."""
    runs = context.classes_made[id(hook.node)] = context.classes_made.get(id(hook.node), 0) + 1
    if runs <= MAX_CLASSES_MADE or not is_side_effect_free(context, hook):
        return False
    context.tell_surrender(Surrender.REPEATED, function_name(hook.node))
    return True


def complete_class(context: Context, cls: Class, keywords: Mapping[str, Value], node: ast.AST) -> None:
    """Do what ``type.__new__`` does with a class."""
    if derives_from(context, cls, ENUMS):
        _make_members(context, cls, node)
    for name, value in list(cls.members.items()):
        if isinstance(value, Instance) and context.state is not None:
            call_special(context, value, "__set_name__", [cls, Const(name)], node)
    found = member_after(context, cls, cls, "__init_subclass__")
    if isinstance(found, Function) and context.state is not None and not _made_many(context, found):
        context.call(replace(found, bound=cls), [], dict(keywords), node)


def _make_members(context: Context, cls: Class, node: ast.AST) -> None:
    """Make the members of an Enum of what its body assigns."""
    made: list[Value] = []
    init = class_member(context, cls, "__init__")
    for name in _assigned(cls.node.body):
        value = cls.members.get(name)
        if value is None or name.startswith("_") or isinstance(value, (Function, Class)):
            continue
        if value == Ref("enum.auto()"):
            count: list[Value] = [Const(name), Const(1), Const(len(made)), UNKNOWN]
            numbered = call_special_of_class(context, cls, "_generate_next_value_", count, {}, node)
            value = Const(len(made) + 1) if numbered is None else numbered
        member = Instance(cls)
        cls.members[name] = member
        made.append(member)
        for field, content in (("name", Const(name)), ("_name_", Const(name)), ("value", value), ("_value_", value)):
            set_field_of(context, member, field, content)
        if isinstance(init, Function) and context.state is not None:
            given = list(value.items) if isinstance(value, Seq) and value.kind == "tuple" else [value]
            context.call(replace(init, bound=member), given, {}, node)
    if made:
        set_field_of(context, cls, MEMBERS, Seq(tuple(made), "tuple"))


def _assigned(body: Sequence[ast.stmt]) -> list[str]:
    """Return the names that are assigned in the body of a class, in this order."""
    names: dict[str, None] = {}
    for statement in body:
        targets = (
            statement.targets
            if isinstance(statement, ast.Assign)
            else [statement.target]
            if isinstance(statement, ast.AnnAssign) and statement.value is not None
            else []
        )
        for target in targets:
            for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(part, ast.Name):
                    names[part.id] = None
    return list(names)
