"""Methods that configure GPUs and never run, as the methods that a subclass has in their places do not call them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tfmemlint.facts.statements import name_span
from tfmemlint.facts.syntax import required_parameters
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.operations.function_bodies import unit_of
from tfmemlint.interpreter.operations.never_run import configured_by
from tfmemlint.interpreter.program import NeverRun
from tfmemlint.interpreter.state import Call, RuntimeStart
from tfmemlint.interpreter.values import Class, Function
from tfmemlint.knowledge.functions import CONFIGURES_GPUS

_ON_PURPOSE = re.compile(
    r"gpu|cuda|cpu|device|memory|growth|hardware|accel|tensorflow|(?<![a-z])tf(?![a-z])|dummy|fake|mock|noop"
)
"""Words in the name of a method, or of a class, that has others for what it does to GPUs."""


def report_replaced(context: Context) -> None:
    """Report the methods that run in place of one that configures GPUs, if the program then starts without.

    Call this before functions are interpreted that nothing calls.
    """
    if not any(isinstance(event, RuntimeStart) for event in context.events):
        return
    if any(isinstance(event, Call) and event.name in CONFIGURES_GPUS for event in context.events):
        return
    for method, cls, base, replaced in list(_replacing(context)):
        called = configured_by(context, replace(replaced, bound=cls))
        if not called or isinstance(method.node, ast.Lambda):
            continue
        # Whoever calls it may do so in time.
        context.named_before_start.add(id(replaced.node))
        if _does_nothing(method) or any(map(_ON_PURPOSE.search, (cls.node.name.lower(), method.node.name.lower()))):
            continue
        name, unit = method.node.name, context.unit
        context.unit = unit_of(context, method)
        fields = {**event_fields(context, method.node), "span": name_span(context.source, method.node)}
        context.unit = unit
        text, other = f"{cls.node.name}.{name}", f"{base.node.name}.{name}"
        given = _arguments(method.node, replaced.node)
        context.emit(NeverRun(kind="replaced", called=called, text=text, stored_in=other, arguments=given, **fields))


def _replacing(context: Context) -> Iterator[tuple[Function, Class, Class, Function]]:
    """Yield the methods that have run where that of a base never has, each with its class, and that base's."""
    lineages = [line for _, line in context.lineages.values()]
    for cls, *bases in lineages:
        if not isinstance(cls, Class):
            continue
        for name, method in cls.members.items():
            if not isinstance(method, Function) or not _has_run(context, method):
                continue
            base = next((base for base in bases if isinstance(base, Class) and name in base.members), None)
            replaced = base.members[name] if base is not None else None
            if base is None or not isinstance(replaced, Function) or _has_run(context, replaced):
                continue
            if _names_a_base(method, bases) or _inherits_it(lineages, base, name):
                continue
            yield method, cls, base, replaced


def _has_run(context: Context, function: Function) -> bool:
    return id(function.node) in context.entered


def _does_nothing(method: Function) -> bool:
    """True if a method is there so that nothing is done."""
    body = method.node.body if isinstance(method.node.body, list) else [method.node.body]
    return all(
        isinstance(part, (ast.Pass, ast.Raise, ast.Return))
        or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
        for part in body
    )


def _arguments(method: ast.FunctionDef | ast.AsyncFunctionDef, replaced: ast.AST) -> str | None:
    """Return the arguments with which a method can call the one that it replaces; None if it lacks one.

    A method that is awaited, and one that belongs to the class, is called in other ways.
    """
    if not isinstance(method, ast.FunctionDef) or not isinstance(replaced, ast.FunctionDef):
        return None
    if method.decorator_list or replaced.decorator_list:
        return None
    own = method.args
    known = {each.arg for each in (*own.posonlyargs, *own.args[1:], *own.kwonlyargs)}
    plain, named = required_parameters(replaced.args)
    if not own.args or not {*plain[1:], *named} <= known:
        return None
    return ", ".join([*plain[1:], *(f"{name}={name}" for name in named)])


def _names_a_base(method: Function, bases: Sequence[object]) -> bool:
    """True if a method may call those of the classes that it is derived from."""
    names = {"super", *(base.node.name for base in bases if isinstance(base, Class))}
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(method.node))


def _inherits_it(lineages: Sequence[tuple[object, ...]], base: Class, name: str) -> bool:
    """True if another class uses the method as it is: then it has its use."""
    return any(
        isinstance(cls, Class)
        and base in bases
        and next((each for each in (cls, *bases) if isinstance(each, Class) and name in each.members), None) is base
        for cls, *bases in lineages
    )
