"""Loops over sizes or models whose passes each tell a peak of the GPU memory.

Read off the syntax: a loop counts if the values that it goes through are written out, as they say what is compared.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import dotted
from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.model.records import dataclass
from tfmemlint.rulekit.callback_peaks import (
    PeakCallback,
    callbacks_given,
    peak_callbacks,
    returns_peak,
    tells_peak,
)
from tfmemlint.rulekit.told_devices import TELLING

if TYPE_CHECKING:
    from tfmemlint.model.finding import Span
    from tfmemlint.sources import Source

_MOST_CALLS = 3
"""Functions that call each other, from the loop to the one that reads the peak."""
_SAY = TELLING | {"get_memory_info"}
_DEVICE = re.compile(r"(?i)\b[gc]pu:?\d*$")


@dataclass(frozen=True, slots=True)
class MeasuredPasses:
    """A loop whose passes tell a peak.

    Attributes:
        loop: it. read: the call of ``get_memory_info``. home: the loop, or the function that it calls, with the read;
        of a callback, its method at the beginning of a training, or the class, if that has none. run: of a
        callback, what begins there: ``train``, ``test`` or ``predict``.
    """

    loop: ast.For
    read: ast.Call
    home: ast.For | ast.FunctionDef | ast.ClassDef
    run: str = ""


@dataclass(frozen=True, slots=True)
class _Read:
    """A read of a peak, its home, and the call in the loop's own body that leads to it: itself, if it is there; and the
    callback that reads it, with its name in the home."""

    home: ast.For | ast.FunctionDef
    read: ast.Call
    entry: ast.Call
    callback: PeakCallback | None = None
    name: str = ""


def measured_passes(tree: ast.Module, reads: Collection[int]) -> Iterator[MeasuredPasses]:
    """Yield the loops in which each pass reads one of some peaks, given by the ids of their calls.

    The caller has made sure that nothing in the file resets a peak.
    """
    functions = {node.name: node for node in all_nodes(tree) if isinstance(node, ast.FunctionDef)}
    lists = _lists_of(tree)
    callbacks = peak_callbacks(tree, functions, reads)
    told: set[int] = set()
    for loop in (node for node in all_nodes(tree) if isinstance(node, ast.For)):
        if not _compares(loop, lists) or _resets(loop, functions, _MOST_CALLS):
            continue
        names = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
        read = [*_reads_in(loop, functions, reads, _MOST_CALLS)]
        if callbacks:
            read += _reads_of_callbacks(tree, loop, functions, callbacks, _MOST_CALLS)
        for found in read:
            if id(found.read) not in told and _works_with(loop, names) and _is_told(tree, loop, found):
                told.add(id(found.read))
                callback = found.callback
                home = found.home if callback is None else callback.begins or callback.cls
                yield MeasuredPasses(loop, found.read, home, callback.run if callback is not None else "")


def _lists_of(tree: ast.Module) -> dict[str, ast.expr]:
    """Return the lists that names are bound to once, and those that are defaults of options, by ``.name``."""
    found: dict[str, list[ast.expr]] = {}
    for node in all_nodes(tree):
        match node:
            case ast.Assign([ast.Name(name)], value):
                found.setdefault(name, []).append(value)
            case ast.Call(ast.Attribute(attr="add_argument"), [*_, ast.Constant(str(flag))], keywords):
                default = next((keyword.value for keyword in keywords if keyword.arg == "default"), None)
                if default is not None:
                    found.setdefault("." + flag.lstrip("-").replace("-", "_"), []).append(default)
            case ast.Name(name, ast.Store()):
                found.setdefault(name, [])
            case _:
                pass
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def _compares(loop: ast.For, lists: Mapping[str, ast.expr]) -> bool:
    """True if a loop goes through several different constants, rows of them, or names of functions, which do not rise
    from pass to pass."""
    iterated: ast.expr | None = loop.iter
    match iterated:
        case ast.Call(ast.Name("enumerate"), [inner, *_]) | ast.Call(ast.Attribute(inner, "items" | "values"), []):
            iterated = inner
        case _:
            pass
    if isinstance(iterated, ast.Name):
        iterated = lists.get(iterated.id)
    elif isinstance(iterated, ast.Attribute):
        iterated = lists.get(f".{iterated.attr}")
    rows: list[Sequence[ast.expr | None]]
    match iterated:
        case ast.Tuple(elements) | ast.List(elements):
            rows = [each.elts if isinstance(each, (ast.Tuple, ast.List)) else [each] for each in elements]
        case ast.Dict(keys, values):
            rows = [[key, value] for key, value in zip(keys, values, strict=True)]
        case _:
            return False
    columns = [[*map(_said, column)] for column in zip_longest(*rows)]
    known = [column for column in columns if None not in column]
    if len(rows) < 2 or not known or all(len(set(column)) != len(column) for column in known):
        return False
    if any(all(isinstance(value, str) and _DEVICE.search(value) for value in column) for column in known):
        return False
    numbers = [[value for value in column if isinstance(value, (int, float))] for column in known]
    sizes = [column for column in numbers if len(column) == len(rows) and len(set(column)) > 1]
    return not sizes or not all(all(first < then for first, then in pairwise(column)) for column in sizes)


def _said(node: ast.expr | None) -> str | float | None:
    """Return a constant, or a name; None for anything else."""
    match node:
        case ast.Constant(str() | int() | float() as value):
            return value
        case ast.Name(name) | ast.Attribute(attr=name):
            return name
        case _:
            return None


def _reads_in(
    home: ast.For | ast.FunctionDef, functions: Mapping[str, ast.FunctionDef], reads: Collection[int], left: int
) -> Iterator[_Read]:
    for node in (node for part in home.body for node in ast.walk(part)):
        if not isinstance(node, ast.Call):
            continue
        if id(node) in reads:
            yield _Read(home, node, node)
        elif isinstance(node.func, ast.Name) and node.func.id in functions and left:
            for found in _reads_in(functions[node.func.id], functions, reads, left - 1):
                yield _Read(found.home, found.read, node)


def _reads_of_callbacks(
    tree: ast.Module,
    home: ast.For | ast.FunctionDef,
    functions: Mapping[str, ast.FunctionDef],
    callbacks: Mapping[str, PeakCallback],
    left: int,
) -> Iterator[_Read]:
    """Yield the peaks that callbacks read in trainings that a loop, or a function that it calls, starts."""
    for node in (node for part in home.body for node in ast.walk(part)):
        if not isinstance(node, ast.Call):
            continue
        for callback, name in callbacks_given(node, home, tree, callbacks):
            yield _Read(home, callback.read, node, callback, name)
        if isinstance(node.func, ast.Name) and node.func.id in functions and left:
            for found in _reads_of_callbacks(tree, functions[node.func.id], functions, callbacks, left - 1):
                yield replace(found, entry=node)


def _resets(home: ast.For | ast.FunctionDef, functions: Mapping[str, ast.FunctionDef], left: int) -> bool:
    """True if a loop, or a function that it calls, calls what has "reset" in its name, wherever that is defined."""
    for node in (node for part in home.body for node in ast.walk(part)):
        if not isinstance(node, ast.Call):
            continue
        if "reset" in dotted(node.func).lower():
            return True
        called = functions.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if called is not None and left and _resets(called, functions, left - 1):
            return True
    return False


def _works_with(loop: ast.For, names: Collection[str]) -> bool:
    """True if a call that does more than tell something is given what a pass is about."""
    for node in (node for part in loop.body for node in ast.walk(part)):
        if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] not in _SAY:
            given = (node.func, *node.args, *(keyword.value for keyword in node.keywords))
            if any(isinstance(part, ast.Name) and part.id in names for each in given for part in ast.walk(each)):
                return True
    return False


def _is_told(tree: ast.Module, loop: ast.For, found: _Read) -> bool:
    """True if what a pass reads is told for that pass, and not only kept for what comes after the loop, or as the
    largest of all."""
    if found.callback is not None:
        if tells_peak(found.home, found.callback, found.name):
            return True
        if not isinstance(found.home, ast.FunctionDef) or not returns_peak(found.home, found.callback, found.name):
            return False
    inside = [node for part in loop.body for node in ast.walk(part)]
    holding = (node for node in inside if isinstance(node, ast.stmt) and _has(node, found.entry))
    # The innermost statement comes last: ast.walk goes from the outside to the inside.
    statement = list(holding)[-1]
    if _within_max(statement, found.entry):
        return False
    match statement:
        case ast.Assign(targets) if all(isinstance(target, ast.Name) for target in targets):
            names = {target.id for target in targets if isinstance(target, ast.Name)}
            later = [node for node in inside if isinstance(node, ast.stmt) and node.lineno > statement.lineno]
            return any(_is_used(part, names) for part in later)
        case ast.Assign([ast.Subscript(ast.Name(kept))]) | ast.Expr(
            ast.Call(ast.Attribute(ast.Name(kept), "append" | "add"))
        ):
            if any(_tells(node) and _is_used(node, {kept}) for node in inside if isinstance(node, ast.Expr)):
                return True
            others = [node for node in all_nodes(tree) if isinstance(node, ast.stmt) and not _has(node, loop)]
            inner = [node for node in others if not _has(loop, node)]
            return not _asks_for_largest(inner, kept)
        case ast.Expr(ast.Call() as call) if call is found.entry and isinstance(found.home, ast.FunctionDef):
            return found.callback is None and not any(
                isinstance(node, ast.Return) and _has(node, found.read) for node in ast.walk(found.home)
            )
        case _:
            return True


def _tells(statement: ast.Expr) -> bool:
    called = dotted(statement.value.func) if isinstance(statement.value, ast.Call) else ""
    return called.rpartition(".")[2] in TELLING - {"append"}


def _has(outer: ast.AST, inner: ast.AST) -> bool:
    return any(node is inner for node in ast.walk(outer))


def _within_max(statement: ast.AST, inner: ast.AST) -> bool:
    """True if a node is an argument of ``max``, in a statement."""
    calls = (node for node in ast.walk(statement) if isinstance(node, ast.Call) and dotted(node.func) == "max")
    return any(_has(call, inner) for call in calls)


def _is_used(statement: ast.AST, names: Collection[str]) -> bool:
    """True if one of some names is read in a statement, other than as an argument of ``max``."""
    uses = [node for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    return any(node.id in names and not _within_max(statement, node) for node in uses)


def _asks_for_largest(statements: Collection[ast.stmt], kept: str) -> bool:
    """True if nothing but ``max`` reads what a loop has collected."""
    uses = [
        (statement, node)
        for statement in statements
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return))
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and node.id == kept and isinstance(node.ctx, ast.Load)
    ]
    return bool(uses) and all(_within_max(statement, node) for statement, node in uses)


_PASS = r"epoch|step|batch"
"""Passes that one process goes through one after the other; a trial, or a fold, may be all that a process does."""
_OF_ONE_PASS = re.compile(
    rf"(?i)(?:^|_)(?:{_PASS})_?(?:gpu_?)?(?:mem(?:ory)?_?)?peak|peak_?(?:mem(?:ory)?_?)?(?:per|of|by)_?(?:{_PASS})(?:_|$)"
)
"""A name that says of which pass a peak is: ``epoch_peak_mib``, ``peak_per_step``."""


def name_of_one_pass(tree: ast.Module, source: Source, place: Span) -> str:
    """Return the name that says that what is read at a place is the peak of one epoch, step or the like; "" for none.

    It is that of a key, a variable, an attribute, or a keyword of a call, which gets the value.
    """
    found = ""
    for node in all_nodes(tree):
        named: list[tuple[str, ast.expr]] = []
        match node:
            case ast.Dict(keys, values):
                pairs = zip(keys, values, strict=True)
                named = [
                    (key.value, value)
                    for key, value in pairs
                    if isinstance(key, ast.Constant) and isinstance(key.value, str)
                ]
            case ast.Assign([ast.Name(name) | ast.Attribute(attr=name)], value):
                named = [(name, value)]
            case ast.Assign([ast.Subscript(slice=ast.Constant(str(name)))], value):
                named = [(name, value)]
            case ast.keyword(arg=str(name), value=value):
                named = [(name, value)]
            case _:
                pass
        for name, value in named:
            if _OF_ONE_PASS.search(name) and source.span(value).contains(place):
                found = name
    return found
