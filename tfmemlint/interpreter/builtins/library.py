"""Parts of the models of Python's library that Python cannot say (`tfmemlint.interpreter.operations.library`)."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.awaiting import awaited
from tfmemlint.interpreter.operations.bindings import set_field_of
from tfmemlint.interpreter.operations.callbacks import run_in_background
from tfmemlint.interpreter.operations.classes import lineage
from tfmemlint.interpreter.operations.contents import mark_escaped, passed_to_unknown
from tfmemlint.interpreter.registry import Invocation, builtin
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Class,
    Const,
    Dict,
    Function,
    Instance,
    Partial,
    Ref,
    Scope,
    Seq,
    Value,
    is_called,
)

_NAMESPACE = ast.ClassDef("Namespace", bases=[], keywords=[], body=[], decorator_list=[])


@builtin("tfmemlint.unknown")
def unknown(context: Context, call: Invocation) -> Value | None:
    for value in call.values:
        mark_escaped(context, value)
        passed_to_unknown(context, value)
    return UNKNOWN


@builtin("tfmemlint.background")
def background(context: Context, call: Invocation) -> Value | None:
    run_in_background(context, call.values[0], call.values[1:], {}, call.node)
    return UNKNOWN


@builtin("tfmemlint.await")
def await_(context: Context, call: Invocation) -> Value | None:
    return awaited(context, call.values[0], call.node)


@builtin("tfmemlint.kind")
def kind(context: Context, call: Invocation) -> Value | None:
    """The class of a value, or the first of its bases that a registry knows."""
    match call.values:
        case [Const(value), *_]:
            return Ref(type(value).__name__)
        case [Instance(cls), Dict(items)]:
            return next((base for base in lineage(context, cls) if isinstance(base, Class) and base in items), cls)
        case [Seq(_, listed), *_]:
            return Ref(listed)
        case [Dict(), *_]:
            return Ref("dict")
        case _:
            return UNKNOWN


@builtin("tfmemlint.parameter")
def parameter(context: Context, call: Invocation) -> Value | None:
    """The annotation of the first parameter of a function; None where it is no function."""
    function = call.values[0]
    if not isinstance(function, Function):
        return Const(None)
    first = next(iter((*function.node.args.posonlyargs, *function.node.args.args)), None)
    if first is None or not isinstance(first.annotation, ast.Name):
        return UNKNOWN
    return function.scope.lookup(first.annotation.id) or Ref(first.annotation.id)


@builtin("tfmemlint.is_text")
def is_text(context: Context, call: Invocation) -> Value | None:
    value = call.values[0]
    return Const(isinstance(value.value, str)) if isinstance(value, Const) else Const(False)


@builtin("tfmemlint.is_function")
def is_function(context: Context, call: Invocation) -> Value | None:
    return Const(isinstance(call.values[0], (Function, Partial)))


@builtin("tfmemlint.namespace")
def namespace(context: Context, call: Invocation) -> Value | None:
    """The result of ``parse_args()``: only what was set to code is known of it."""
    code, known = call.values
    items = code.items if isinstance(code, Dict) else {}
    if not any(map(is_called, items.values())) or known != Const(True):
        return UNKNOWN
    made = Instance(Class(_NAMESPACE, Scope()))
    context.incomplete.add(made)
    for name, value in items.items():
        if isinstance(name, str) and is_called(value):
            set_field_of(context, made, name, value)
    return made


@builtin("enum.auto")
def auto(context: Context, call: Invocation) -> Value | None:
    return Ref("enum.auto()")


@builtin("globals")
def globals_(context: Context, call: Invocation) -> Value | None:
    return Dict(dict(context.module.names), open=True)
