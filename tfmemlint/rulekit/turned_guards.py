"""Conditions that are the wrong way round: GPUs are configured where a listing has found none.

Read off the syntax: the interpreter takes it that there is a GPU, and does not follow such a branch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import dotted, leaves_block
from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.interpreter.program import NeverRun
from tfmemlint.interpreter.state import State
from tfmemlint.knowledge.functions import CONFIGURES_GPUS
from tfmemlint.rulekit.gpu_listings import listings_of

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.model.finding import Span

KIND = "no GPUs"
CONFIGURING = {name.rpartition(".")[2]: name for name in sorted(CONFIGURES_GPUS, reverse=True)}


def turned_guards(program: Program) -> Iterator[tuple[NeverRun, Span, bool]]:
    """Yield each call that configures GPUs where there are none: with its condition, and whether that may be turned."""
    if program.configuration is not None:
        return
    listings = listings_of(program)
    if not listings:
        return
    for node in all_nodes(program.tree):
        for test, body, may_turn in _branches(node, listings):
            for call in _configuring(body, listings):
                yield never_run(program, call, KIND, test), program.source.span(test), may_turn


def _branches(node: ast.AST, listings: frozenset[str]) -> Iterator[tuple[ast.expr, Sequence[ast.AST], bool]]:
    """Yield conditions with what runs only if there are no GPUs, and whether nothing else depends on them."""
    if isinstance(node, ast.If):
        found = _says_there_are(node.test, listings)
        if found is not None:
            yield node.test, node.orelse if found else node.body, not node.orelse
    elif isinstance(node, ast.IfExp):
        found = _says_there_are(node.test, listings)
        if found is not None:
            other = node.body if found else node.orelse
            yield node.test, [node.orelse if found else node.body], isinstance(other, ast.Constant)
    for block in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
        if isinstance(block, list):
            for number, statement in enumerate(block):
                if (
                    isinstance(statement, ast.If)
                    and not statement.orelse
                    and leaves_block(statement.body)
                    and _says_there_are(statement.test, listings)
                ):
                    yield statement.test, block[number + 1 :], True


def _says_there_are(test: ast.expr, listings: frozenset[str]) -> bool | None:
    """Return True if a test holds only where there are GPUs, False if only where there are none; else None."""
    match test:
        case ast.UnaryOp(ast.Not(), operand):
            inner = _says_there_are(operand, listings)
            return None if inner is None else not inner
        case ast.Name(name) if name in listings:
            return True
        case ast.Call(ast.Name("len"), [ast.Name(name)]) if name in listings:
            return True
        case ast.Compare(ast.Call(ast.Name("len"), [ast.Name(name)]), [op], [ast.Constant(number)]) if name in listings:
            return _of_count(op, number)
        case ast.Compare(ast.Name(name), [op], [ast.List([]) | ast.Constant(None)]) if name in listings:
            return False if isinstance(op, (ast.Eq, ast.Is)) else None
        case _:
            return None


def _of_count(op: ast.cmpop, number: object) -> bool | None:
    match op, number:
        case (ast.Gt(), 0) | (ast.GtE(), 1) | (ast.NotEq(), 0):
            return True
        case (ast.Eq(), 0) | (ast.Lt(), 0 | 1) | (ast.LtE(), 0):
            return False
        case _:
            return None


def _configuring(body: Sequence[ast.AST], listings: frozenset[str]) -> Iterator[ast.Call]:
    """Yield the calls in a branch that configure GPUs of a listing, unless the branch lists them again."""
    nodes = [node for part in body for node in ast.walk(part)]
    if any(isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in listings for node in nodes):
        return
    loops = {
        node.target.id
        for node in nodes
        if isinstance(node, (ast.For, ast.comprehension))
        and isinstance(node.target, ast.Name)
        and isinstance(node.iter, ast.Name)
        and node.iter.id in listings
    }
    for call in configuring_calls(body):
        device = call.args[0] if call.args else None
        if isinstance(device, ast.Subscript):
            device = device.value
        if isinstance(device, ast.Name) and (device.id in loops or device.id in listings):
            yield call


def configuring_calls(body: Iterable[ast.AST]) -> Iterator[ast.Call]:
    """Yield the calls in a piece of code that configure GPUs, by their last names."""
    for part in body:
        for node in ast.walk(part):
            if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in CONFIGURING:
                yield node


def never_run(program: Program, call: ast.Call, kind: str, test: ast.expr | None = None) -> NeverRun:
    """Return the event of a call that configures GPUs and is not run, by its last name; ``test`` is the condition."""
    source = program.source
    return NeverRun(
        path=source.path,
        span=source.span(call),
        statement=source.span(call),
        state=State(),
        kind=kind,
        called=CONFIGURING[dotted(call.func).rpartition(".")[2]],
        text=source.segment(source.span(test)) if test is not None else "",
    )
