"""Parts of the models of Python's library that Python cannot say (`tfmemlint.interpreter.operations.library`)."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.awaiting import awaited
from tfmemlint.interpreter.operations.bindings import set_field_of
from tfmemlint.interpreter.operations.callbacks import run_thread, wait_for
from tfmemlint.interpreter.operations.classes import lineage
from tfmemlint.interpreter.operations.commands import typed_options
from tfmemlint.interpreter.operations.contents import mark_escaped, new_container, passed_to_unknown
from tfmemlint.interpreter.operations.dict_objects import held, is_dict
from tfmemlint.interpreter.operations.dicts import view_of
from tfmemlint.interpreter.operations.signals import may_be_signalled, signal, wait_for_signal
from tfmemlint.interpreter.registry import Invocation, builtin
from tfmemlint.interpreter.values import (
    UNKNOWN,
    Class,
    Const,
    Dict,
    FilePath,
    FileValue,
    Function,
    Instance,
    Partial,
    Ref,
    Scope,
    Seq,
    Thread,
    Value,
    is_called,
)

_NAMESPACE = ast.ClassDef("Namespace", bases=[], keywords=[], body=[], decorator_list=[])


@builtin("tfmemlint.unknown")
def unknown(context: Context, call: Invocation) -> Value | None:
    may_be_signalled(context, call.values)
    for value in call.values:
        mark_escaped(context, value)
        passed_to_unknown(context, value)
    return UNKNOWN


@builtin("tfmemlint.background")
def background(context: Context, call: Invocation) -> Value | None:
    thread = Thread(call.values[0], tuple(call.values[1:]), {})
    run_thread(context, thread, call.node)
    return thread


@builtin("tfmemlint.end_of")
def end_of(context: Context, call: Invocation) -> Value | None:
    for value in call.values:
        if isinstance(value, Thread):
            wait_for(context, value)
    return UNKNOWN


@builtin("tfmemlint.awaitable")
def awaitable(context: Context, call: Invocation) -> Value | None:
    """An object by which threads wait for each other, new in this program."""
    if isinstance(call.values[0], Instance):
        context.signals[call.values[0]] = {}
    return UNKNOWN


@builtin("tfmemlint.signal")
def signal_(context: Context, call: Invocation) -> Value | None:
    """A signal to those that wait for the object."""
    signal(context, call.values[0])
    return UNKNOWN


@builtin("tfmemlint.signal_of")
def signal_of(context: Context, call: Invocation) -> Value | None:
    """A wait for a signal. One with a time limit is as good where nothing catches the error at its end."""
    on, *timeout = call.values
    if not timeout or timeout[0] == Const(None) or not context.handlers:
        wait_for_signal(context, on)
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
    """The annotation of a parameter of a function, by default of the first; None where it is no function."""
    function, *place = call.values
    if not isinstance(function, Function):
        return Const(None)
    parameters = (*function.node.args.posonlyargs, *function.node.args.args)
    number = place[0].value if place and isinstance(place[0], Const) else 0
    annotation = parameters[number].annotation if isinstance(number, int) and number < len(parameters) else None
    if not isinstance(annotation, ast.Name):
        return UNKNOWN
    return function.scope.lookup(annotation.id) or Ref(annotation.id)


@builtin("tfmemlint.defaults")
def defaults(context: Context, call: Invocation) -> Value | None:
    """The parameters of a function, each with its default where that is a constant."""
    function = call.values[0]
    if not isinstance(function, Function):
        return UNKNOWN
    given = function.node.args
    places = [*given.posonlyargs, *given.args]
    pairs = [
        *zip(places, [*[None] * (len(places) - len(given.defaults)), *given.defaults], strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]
    items = {
        parameter.arg: Const(default.value) if isinstance(default, ast.Constant) else UNKNOWN
        for parameter, default in pairs[function.bound is not None :]
    }
    return new_container(context, Dict(items, open=given.vararg is not None or given.kwarg is not None))


@builtin("tfmemlint.modules_in")
def modules_in(context: Context, call: Invocation) -> Value | None:
    """The modules in the directory of a package, as ``pkgutil`` finds them: their names, and whether they are
    packages."""
    match call.values:
        case [FilePath(path, anchored=True)] | [Seq([FilePath(path, anchored=True)])]:
            found = context.modules.modules_in(path) if context.modules is not None else None
        case _:
            found = None
    if found is None or len(found) > _MOST_PLUGINS:
        return UNKNOWN
    return Seq(tuple(Seq((Const(name), Const(is_package)), "tuple") for name, is_package in found))


_MOST_PLUGINS = 30
"""Modules of one package that a program finds by looking into its directory."""


@builtin("tfmemlint.is_text")
def is_text(context: Context, call: Invocation) -> Value | None:
    value = call.values[0]
    return Const(isinstance(value.value, str)) if isinstance(value, Const) else Const(False)


@builtin("tfmemlint.is_function")
def is_function(context: Context, call: Invocation) -> Value | None:
    return Const(isinstance(call.values[0], (Function, Partial)))


@builtin("tfmemlint.as_command")
def as_command(context: Context, call: Invocation) -> Value | None:
    """Call a function with what a command line gives it."""
    function = call.values[0]
    options = typed_options(function) if isinstance(function, Function) and function.bound is None else {}
    return context.call(function, [], options, call.node)


@builtin("tfmemlint.is_dict")
def is_dict_(context: Context, call: Invocation) -> Value | None:
    """True for a dictionary; a value of a configuration file is what that file has, and not undecided."""
    match call.values[0]:
        case Dict():
            return Const(True)
        case FileValue() | Const():
            return Const(False)
        case Instance() as value:
            return Const(is_dict(context, value))
        case _:
            return UNKNOWN


@builtin("tfmemlint.known_items")
def known_items(context: Context, call: Invocation) -> Value | None:
    """The items of a dictionary that are known, be there others or not; those of no dictionary are unknown."""
    given = _as_dict(context, call.values[0])
    return UNKNOWN if given is None else Seq(view_of(given, "items"), "view")


@builtin("tfmemlint.without_known")
def without_known(context: Context, call: Invocation) -> Value | None:
    """The rest of a dictionary: nothing, or items of which nothing is known."""
    given = _as_dict(context, call.values[0])
    return UNKNOWN if given is None else new_container(context, Dict(open=given.open))


def _as_dict(context: Context, value: Value) -> Dict | None:
    given = context.current(value) if isinstance(value, Dict) else held(context, value)
    return given if isinstance(given, Dict) else None


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
