"""Variables that a program sets for a process which it has started already: a child gets a copy when it starts.

Measured with Python 3.8, 3.11 and 3.13: by ``fork`` and by ``spawn`` a process has what is set when it starts; by
``forkserver`` it has what was set when the first one started, so that no place is right for the second.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import dotted
from tfmemlint.facts.tree_walk import all_nodes, nodes
from tfmemlint.interpreter.program import EnvWrite
from tfmemlint.knowledge.environment import read_at

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.model.finding import Span

KIND = "child"
"""The kind of a finding about such a variable."""
_FIELDS = ("body", "orelse", "finalbody")


@dataclass(frozen=True)
class SetAfterChild:
    """A variable that is set too late.

    Attributes:
        write: where it is set. start: the place of the statement that starts the process.
        may_move: the process has what is set above its start.
    """

    write: EnvWrite
    start: Span
    may_move: bool


def set_after_child(program: Program) -> Iterator[SetAfterChild]:
    """Yield the variables that are set from what a process gets as an argument, below its start in the same block.

    What is computed from that (``rank + 1``) may be for the process after it.
    """
    text = program.source.text
    if ".start()" not in text or "Process" not in text or program.configuration is not None:
        return
    writes = {
        write.span.row: write
        for write in program.of(EnvWrite)
        if write.path == program.source.path and read_at(write.name) is not None
    }
    for node in all_nodes(program.tree) if writes else ():
        for name in _FIELDS:
            block = getattr(node, name, None)
            if isinstance(block, list) and any(statement.lineno in writes for statement in block):
                yield from _in_block(program, block, writes)


def _in_block(program: Program, block: Sequence[ast.stmt], writes: dict[int, EnvWrite]) -> Iterator[SetAfterChild]:
    given: dict[str, frozenset[str]] = {}
    started: tuple[ast.stmt, frozenset[str]] | None = None
    found: list[SetAfterChild] = []
    set_before: set[str] = set()
    bound: set[str] = set()
    may_move = "forkserver" not in program.source.text
    for statement in block:
        match statement:
            case ast.Assign([ast.Name(id=name)], ast.Call() as made) if _makes_process(made):
                given[name] = _names(made)
                continue
            case ast.Expr(ast.Call(ast.Attribute(value=child, attr="start"), [], [])):
                names = given.get(child.id) if isinstance(child, ast.Name) else None
                if isinstance(child, ast.Call) and _makes_process(child):
                    names = _names(child)
                # Below the start of another process it may be for that one.
                started, found, bound = (statement, names) if names else None, [], set()
                continue
            case _:
                pass
        bound |= {
            each.id for each in nodes(statement) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        write = writes.get(statement.lineno)
        if write is None:
            continue
        value = statement.value if isinstance(statement, ast.Assign) else None
        names = _names(value) if value is not None and not _computes(value) else frozenset()
        if started is not None and names & started[1] and not names & bound and write.name not in set_before:
            found.append(SetAfterChild(write, program.source.span(started[0]), may_move))
        set_before.add(write.name)
    yield from found


def _makes_process(call: ast.Call) -> bool:
    return dotted(call.func).rpartition(".")[2] == "Process"


def _computes(value: ast.expr) -> bool:
    return any(isinstance(node, (ast.BinOp, ast.IfExp)) for node in nodes(value))


def _names(value: ast.expr) -> frozenset[str]:
    return frozenset(node.id for node in nodes(value) if isinstance(node, ast.Name))
