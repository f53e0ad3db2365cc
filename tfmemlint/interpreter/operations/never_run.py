"""Code that would configure a GPU and that is made without being run.

``map``, ``filter``, generators, coroutines, partials and lambdas do nothing until something iterates over them, awaits
or calls them. Source: https://docs.python.org/3/library/functions.html#map and the reference of each.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Sequence

from tfmemlint.facts.attribute_reads import reads_attribute
from tfmemlint.facts.names import canonical
from tfmemlint.facts.syntax import dotted
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.classes import class_member
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.program import NeverRun
from tfmemlint.interpreter.values import (
    Class,
    Const,
    Dict,
    Function,
    Instance,
    Lazy,
    Partial,
    Proto,
    Ref,
    Scope,
    Thread,
    Value,
)
from tfmemlint.knowledge.environment import ABOUT_GPUS, read_at
from tfmemlint.knowledge.functions import CONFIGURES_GPUS, SET_THREADS

_CONFIGURE = CONFIGURES_GPUS | {*SET_THREADS}
_LAST_NAMES = frozenset(name.rpartition(".")[2] for name in _CONFIGURE)
_MANAGERS = frozenset({"contextlib.contextmanager", "contextlib.asynccontextmanager"})
_PLAIN = _MANAGERS | {"staticmethod", "classmethod"}
"""Decorators with which calling a generator function still runs nothing of its body."""
_SHOWS = frozenset({"print", "type", "repr", "str", "id"})
"""Functions that run nothing of what they are given: ``print`` shows ``<map object at ...>``."""
_SET = frozenset({"allow_growth", "per_process_gpu_memory_fraction", "visible_device_list", "allocator_type"})
"""Options of a session about GPUs."""
_MAX_DEPTH = 3
"""Functions that call each other down to the one that configures: helpers of helpers are seldom deeper."""


def report_discarded(context: Context, statement: ast.Expr, value: Value) -> None:
    """Report the value of an expression statement that would configure a GPU if something ran it."""
    kind = _kind_of(statement.value, value)
    found = _found(context, value) if kind else None
    if found is not None:
        _report(context, statement.value, kind, found)


def report_unassigned(context: Context, node: ast.expr) -> None:
    """Report a statement that names an option, or compares it, and so does not set it."""
    compared = isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq) and len(node.ops) == 1
    named = node.left if isinstance(node, ast.Compare) and compared else node
    if context.state is None or not isinstance(named, (ast.Attribute, ast.Subscript)):
        return
    if not context.source.path.endswith(".py"):
        # A cell, and an example, show the value.
        return
    name = ""
    if isinstance(named, ast.Attribute):
        owner = context.evaluate(named.value) if named.attr in _SET and dotted(named) else None
        if isinstance(owner, Proto) and f"{owner.prefix}{named.attr}" not in owner.record.fields:
            name = named.attr
    elif compared and context.last_values.get(id(named.value)) == Ref("os.environ"):
        key = named.slice.value if isinstance(named.slice, ast.Constant) else None
        name = key if isinstance(key, str) and read_at(key) in ABOUT_GPUS else ""
    if name:
        kind = "comparison" if compared else "option"
        context.emit(NeverRun(kind=kind, called=name, text="", **event_fields(context, node)))


def report_missing_key(context: Context, table: Dict, values: Sequence[Value], node: ast.AST) -> None:
    """Report ``table.get(key, default)`` where the key is nearly one of a function that would configure a GPU."""
    key = values[0].value if values and isinstance(values[0], Const) else None
    default = values[1] if len(values) > 1 else None
    if not isinstance(key, str) or key in table.items or table.open or context.state is None:
        return
    if default is not None and next(_configuring(context, default, _MAX_DEPTH), None) is not None:
        return
    for name, value in table.items.items():
        found = next(_configuring(context, value, _MAX_DEPTH), None) if isinstance(value, Function) else None
        if found is not None and isinstance(name, str) and _is_nearly(key, name):
            context.visited.update(id(function.node) for function in found[1])
            context.emit(NeverRun(kind="key", called=found[0], text=key, stored_in=name, **event_fields(context, node)))
            return


def _is_nearly(written: str, name: str) -> bool:
    """True if a key says a part of another one, or is a slip of the pen away from it, and does not say the contrary."""
    words, others = (set(re.split(r"[^a-z0-9]+", text.lower())) - {""} for text in (written, name))
    if (words ^ others) & _CONTRARY:
        return False
    inside = bool(words - _OF_ANY_KEY) and (words <= others or others <= words)
    return inside or difflib.SequenceMatcher(None, written.lower(), name.lower()).ratio() > _NEAR


_NEAR = 0.8
_CONTRARY = frozenset({"no", "non", "not", "never", "none", "off", "disable", "disabled", "without", "skip", "cpu"})
_OF_ANY_KEY = frozenset({"auto", "default", "device", "devices", "gpu", "gpus", "memory", "setup", "tensorflow", "tf"})
"""Words that keys of different meanings have in common."""


def report_stored_for_nothing(context: Context, statement: ast.Assign, value: Value) -> None:
    """Report such a value that is bound to a name that nothing reads, or to an attribute."""
    match statement.targets:
        case [ast.Attribute(value=ast.Name(), attr=name)] if isinstance(value, Lazy):
            kind = _kind_of(statement.value, value)
            found = _found(context, value) if kind else None
            if found is not None and not reads_attribute(context.unit.tree, context.source.text, name):
                _report(context, statement.value, kind, found, stored_in=name, is_attribute=True)
        case [ast.Name(name)] if not context.scope.is_class and name not in context.scope.outer:
            kind = _kind_of(statement.value, value)
            found = _found(context, value) if kind else None
            if found is not None and not _is_read(context, name):
                _report(context, statement.value, kind, found, stored_in=name)
        case _:
            pass


def _is_read(context: Context, name: str) -> bool:
    """True if the module reads a name, or another module may: those that begin with ``_`` are its own."""
    if context.unit is not context.main and context.scope is context.module and not name.startswith("_"):
        return True
    words = ("__all__", "globals", "locals", "vars", "eval", "exec")
    shown: set[int] = set()
    for node in ast.walk(context.unit.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _SHOWS:
            shown.update(map(id, node.args))
    for node in ast.walk(context.unit.tree):
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            continue
        if node.id in words or (node.id == name and id(node) not in shown):
            return True
    return False


def _kind_of(node: ast.expr, value: Value) -> str:
    """Return what is made and not run (`NeverRun.kind`); "" if it may run all the same, or is not made here."""
    match node, value:
        case ast.GeneratorExp(), Lazy():
            return "generator expression"
        case ast.Lambda(), Function():
            return "lambda"
        case ((ast.Name() | ast.Attribute()), (Function() | Ref())):
            return "" if isinstance(value, Function) and not _is_plain(value) else "function"
        case ast.Call(), Thread():
            return "thread"
        case ast.Call(), Partial():
            return "partial"
        case ast.Call(), Lazy(code=Function() as code) if not isinstance(code.node, ast.Lambda):
            return _kind_of_call(node, value, code)
        case ast.Call(func), Lazy():
            name = dotted(func)
            return name if name in ("map", "filter") else "iterator"
        case _:
            return ""


def _kind_of_call(node: ast.Call, value: Lazy, code: Function) -> str:
    name = dotted(node.func)
    if name in ("map", "filter"):
        return name
    if not _is_plain(code):
        return ""
    if value.awaitable:
        return "coroutine"
    is_manager = any(isinstance(decorator, Ref) and decorator.name in _MANAGERS for decorator in code.decorators)
    return "context manager" if is_manager else "generator"


def _is_plain(function: Function) -> bool:
    """True if no decorator makes something else of a function."""
    return all(isinstance(decorator, Ref) and decorator.name in _PLAIN for decorator in function.decorators)


def _found(context: Context, value: Value) -> tuple[str, list[Function]] | None:
    """Return the function of TensorFlow that would configure a GPU, with the functions on the way to it."""
    if isinstance(value, Lazy) and (value.quiet or id(value) in context.started_generators):
        return None
    return next(_configuring(context, value.code if isinstance(value, Lazy) else value, _MAX_DEPTH), None)


def configured_by(context: Context, function: Function) -> str:
    """Return the function of TensorFlow by which one of the program configures a GPU; "" if it does not."""
    return next((name for name, _ in _configuring(context, function, _MAX_DEPTH)), "")


def _report(
    context: Context,
    node: ast.expr,
    kind: str,
    found: tuple[str, list[Function]],
    stored_in: str = "",
    *,
    is_attribute: bool = False,
) -> None:
    called, through = found
    for function in through:
        # It never runs: it is not judged as a function that somebody may call at any time.
        context.visited.add(id(function.node))
    name = next((function.node.name for function in through if not isinstance(function.node, ast.Lambda)), "")
    fields = event_fields(context, node)
    context.emit(
        NeverRun(kind=kind, called=called, text=name, stored_in=stored_in, is_attribute=is_attribute, **fields)
    )


def _configuring(context: Context, code: Value, depth: int) -> Iterator[tuple[str, list[Function]]]:
    """Yield the functions of TensorFlow that configure a GPU and that code calls, with the functions on the way."""
    match code:
        case Ref(name) if canonical(name) in _CONFIGURE:
            yield canonical(name), []
        case Partial(function) | Thread(function):
            yield from _configuring(context, function, depth)
        case Function(node, scope) if depth:
            for part in ast.walk(node.body) if isinstance(node, ast.Lambda) else _statements(node):
                if isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Load):
                    for name, through in _meant(context, part, scope, code, depth):
                        yield name, [code, *through]
        case _:
            return


def configuring_parts(context: Context, node: ast.AST) -> Iterator[tuple[str, list[Function]]]:
    """Yield the functions of TensorFlow that configure a GPU and that a piece of the code being interpreted calls, with
    the functions on the way."""
    nobody = ast.Lambda(ast.arguments([], [], None, [], [], None, []), ast.Constant(None))
    within = Function(nobody, context.scope, bound=context.frame.receiver)
    for part in ast.walk(node):
        if isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Load):
            yield from _meant(context, part, context.scope, within, _MAX_DEPTH)


def _statements(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    for statement in node.body:
        yield from ast.walk(statement)


def _meant(
    context: Context, part: ast.Name | ast.Attribute, scope: Scope, within: Function, depth: int
) -> Iterator[tuple[str, list[Function]]]:
    """Yield what `_configuring` does, for one name in a function."""
    text = dotted(part)
    root, _, rest = text.partition(".")
    value = scope.lookup(root) if root else None
    if rest:
        if rest.rpartition(".")[2] in _LAST_NAMES and (isinstance(value, Ref) or (value is None and root == "tf")):
            name = canonical(f"{value.name if isinstance(value, Ref) else root}.{rest}")
            if name in _CONFIGURE:
                yield name, []
        receiver = value if value is not None else within.bound if root in ("self", "cls") else None
        if "." not in rest and isinstance(receiver, (Instance, Class)):
            cls = receiver if isinstance(receiver, Class) else receiver.cls
            method = class_member(context, cls, rest)
            if isinstance(method, Function):
                yield from _configuring(context, method, depth - 1)
    elif isinstance(value, (Function, Ref)):
        yield from _configuring(context, value, depth - 1)
