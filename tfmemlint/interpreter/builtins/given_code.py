"""Functions of the standard library that call what they are given, depending on the values that they go through."""

from __future__ import annotations

import ast
import json
import re

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.bindings import set_field_of
from tfmemlint.interpreter.operations.classes import class_member, lineage
from tfmemlint.interpreter.operations.contents import passed_to_unknown
from tfmemlint.interpreter.operations.objects import call_method_of, member
from tfmemlint.interpreter.operations.options import as_options, of_each
from tfmemlint.interpreter.operations.signals import may_be_signalled
from tfmemlint.interpreter.operations.text_matches import result_of
from tfmemlint.interpreter.registry import Invocation, attribute_of, builtin
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Amount,
    Class,
    Const,
    Function,
    Instance,
    Partial,
    Property,
    Ref,
    Value,
    parts,
)
from tfmemlint.model.patterns import late_pattern

_SIMPLE = late_pattern(r"(?:\\[dwsDWSb.]|[\w \-=:,/@#%<>!]|\[[\w\- ]+\]|[.+*?^$])*")
"""Regular expressions without groups and alternatives."""
MAX_SEARCHED_CHARACTERS = 200


def _call_for_matches(context: Context, pattern: Value, function: Value, text: Value, node: ast.AST) -> None:
    """Call a function for what a pattern matches in a text: for sure if both are known and it does."""
    known = isinstance(pattern, Const) and isinstance(text, Const)
    if known and isinstance(pattern, Const) and isinstance(text, Const):
        if not isinstance(pattern.value, str) or not isinstance(text.value, str):
            return
        wildcards = sum(pattern.value.count(sign) for sign in "+*?")
        if wildcards <= 1 and len(text.value) <= MAX_SEARCHED_CHARACTERS and _SIMPLE.fullmatch(pattern.value):
            try:
                found = re.search(pattern.value, text.value)
            except re.error:
                return
            if found is not None:
                context.call(function, [UNKNOWN], {}, node)
            return
    passed_to_unknown(context, function)


@builtin("re.sub", "re.subn")
def substitute(context: Context, call: Invocation) -> Value | None:
    pattern, replacement, text = (
        call.argument(place, name) for place, name in enumerate(("pattern", "repl", "string"))
    )
    if isinstance(replacement, (Function, Partial, Instance)) and pattern is not None and text is not None:
        _call_for_matches(context, pattern, replacement, text, call.node)
        return UNKNOWN
    if call.name == "re.subn" or replacement is None or text is None or len(call.values) > 3:
        return None
    return result_of("sub", pattern, [replacement, text], call.keywords.get("flags"))


@builtin("re.search", "re.match", "re.fullmatch", "re.findall", "re.split")
def matched(context: Context, call: Invocation) -> Value | None:
    """A piece of a text of which the unit is known has that unit."""
    text = call.argument(1, "string")
    if isinstance(text, Const) and not call.keywords.keys() - {"pattern", "string", "flags"}:
        flags = call.argument(2, "flags") if call.name != "re.split" else call.keywords.get("flags")
        known = call.name != "re.split" or len(call.values) < 3
        return result_of(call.name[3:], call.argument(0, "pattern"), [text], flags) if known else None
    if not isinstance(text, Amount) or text.type != "str" or not text.unit:
        return None
    return Amount("list" if call.name in ("re.findall", "re.split") else "str", text.unit, text.source)


@builtin("re.compile")
def compile_(context: Context, call: Invocation) -> Value | None:
    match call.values:
        case [Const(str())]:
            return Partial(Ref("re.compile()"), (call.values[0],), dict(call.keywords))
        case [Const(str()), flags] if not call.keywords:
            return Partial(Ref("re.compile()"), (call.values[0],), {"flags": flags})
        case _:
            return None


_METHODS_OF_PATTERNS = frozenset({"sub", "subn", "match", "fullmatch", "search", "findall", "split"})


@attribute_of(Partial)
def attribute_of_pattern(context: Context, base: Partial, name: str, node: ast.AST) -> Value:
    if base.function == Ref("re.compile()") and name in _METHODS_OF_PATTERNS:
        return Partial(Ref(f"re.{name}"), base.args, base.keywords)
    return UNKNOWN


@builtin("json.dumps", "json.dump")
def dump(context: Context, call: Invocation) -> Value | None:
    default = call.keywords.get("default")
    option = as_options(call.values[0]) if call.values else None
    if option is not None and call.name == "json.dumps":
        return of_each(option, json.dumps)
    if default is None or not call.values:
        return None
    if _has_object(context, call.values[0]):
        context.call(default, [UNKNOWN], {}, call.node)
        return UNKNOWN
    return None


def _has_object(context: Context, value: Value) -> bool:
    """True if a value is an object of the program, or has one in it, which JSON has no form for."""
    return isinstance(value, Instance) or any(_has_object(context, part) for part in parts(context.current(value)))


@builtin("dataclasses.replace", "attr.evolve", "attrs.evolve")
def replace_fields(context: Context, call: Invocation) -> Value | None:
    match call.values:
        case [Instance(cls) as base]:
            made = Instance(cls)
            fields = {name: value for (holder, name), value in context.heap.items() if holder is base}
            for name, value in {**fields, **call.keywords}.items():
                set_field_of(context, made, name, value)
            for method in ("__post_init__", "__attrs_post_init__"):
                if isinstance(class_member(context, cls, method), Function):
                    call_method_of(context, made, method, call.node)
            return made
        case _:
            return None


@builtin("inspect.getmembers")
def get_members(context: Context, call: Invocation) -> Value | None:
    match call.values:
        case [Instance(cls) as base, *_]:
            for ancestor in lineage(context, cls):
                for name, value in list(ancestor.members.items()) if isinstance(ancestor, Class) else ():
                    if _is_asked(value) and context.state is not None:
                        member(context, base, name, call.node)
        case _:
            pass
    return None


def _is_asked(value: Value) -> bool:
    """True if getting an attribute runs code."""
    decorators = value.decorators if isinstance(value, Function) else ()
    return isinstance(value, (Property, Instance)) or Ref("property") in decorators


@builtin("signal.signal", "atexit.register", "sys.settrace", "sys.setprofile", "threading.excepthook")
def called_later(context: Context, call: Invocation) -> Value | None:
    """Code that runs at another time, or never: nothing that comes here depends on it, but for signals of threads."""
    may_be_signalled(context, call.values)
    function = call.values[-1] if call.values else UNKNOWN
    return function if call.name == "atexit.register" else UNKNOWN
