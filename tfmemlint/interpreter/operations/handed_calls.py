"""Calls where a function is to be handed over: ``Pool(2, initializer=claim_gpu(4096))``.

The call runs in this process, before the pool is made, and its result is handed over: ``None``, with which a new
process calls nothing (measured with Python 3.12: neither ``Pool`` nor ``ProcessPoolExecutor`` nor ``Process`` raises).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.classes import class_member
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.operations.module_names import named_in_module
from tfmemlint.interpreter.operations.never_run import configured_by
from tfmemlint.interpreter.program import CallHanded
from tfmemlint.interpreter.values import Const, Function, Instance, Module, Value

_PLACES = {"Pool": (1, "initializer"), "ProcessPoolExecutor": (2, "initializer"), "Process": (1, "target")}
"""The parameter with the function that a new process calls: its position, and its name."""
_STARTED_ANEW = ("spawn", "forkserver")
"""Ways to start a process in which it has nothing of its parent's configuration."""


def report_handed_call(
    context: Context, called: str, args: Sequence[Value], keywords: Mapping[str, Value], node: ast.AST
) -> None:
    """Report a call that configures a GPU and returns nothing, where a new process is to call the function."""
    position, name = _PLACES.get(called.rpartition(".")[2], (0, ""))
    if not name or not isinstance(node, ast.Call) or any(isinstance(arg, ast.Starred) for arg in node.args):
        return
    written = next((each.value for each in node.keywords if each.arg == name), None)
    value = keywords.get(name)
    if written is None and len(node.args) > position and len(args) > position:
        written, value = node.args[position], args[position]
    if not isinstance(written, ast.Call) or value != Const(None):
        return
    if name == "initializer" and context.children.method in ("fork", ""):
        # A process that is forked has the configuration of its parent, which the call has made.
        return
    function = _called(context, written.func)
    if not isinstance(function, Function) or function.decorators or not _returns_nothing(function.node):
        return
    found = configured_by(context, function)
    if not found:
        return
    context.emit(
        CallHanded(
            called=found,
            text=context.text(written.func),
            parameter=name,
            place=context.span(written),
            sure=context.children.method in _STARTED_ANEW,
            may_be_sent=isinstance(written.func, ast.Attribute) or function.scope.parent is None,
            **event_fields(context, node),
        )
    )


def _called(context: Context, written: ast.expr) -> Value | None:
    """Return what an expression calls that has just been evaluated: a function, or that of an object or a module."""
    if not isinstance(written, ast.Attribute):
        return context.last_values.get(id(written))
    base = context.last_values.get(id(written.value))
    if base is None and isinstance(written.value, ast.Name):
        base = context.scope.lookup(written.value.id)
    match base:
        case Instance(cls=cls):
            return class_member(context, cls, written.attr)
        case Module():
            return named_in_module(context, base, written.attr)
        case _:
            return None


def _returns_nothing(node: ast.AST) -> bool:
    """True if a function is plain code without a value: no coroutine, generator or lambda, and no ``return x``."""
    if not isinstance(node, ast.FunctionDef):
        return False
    return not any(
        isinstance(part, (ast.Yield, ast.YieldFrom)) or (isinstance(part, ast.Return) and part.value is not None)
        for part in ast.walk(node)
    )
