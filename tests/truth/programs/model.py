"""A small tree of Python programs: as much of the syntax as generating, printing and shrinking need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Line:
    """A statement of one line."""

    text: str


@dataclass(frozen=True, slots=True)
class Clause:
    """A head with its suite: ``if x:``, ``except ValueError:``, ``def f():`` with its decorators above it."""

    head: str
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """A compound statement."""

    clauses: tuple[Clause, ...]


Statement = Line | Block


@dataclass(frozen=True, slots=True)
class Module:
    """One file: its path below the program's folder."""

    path: str
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A program and the machine that it is for.

    Attributes:
        modules: the files; ``main.py`` is run.
        gpus: the number of GPUs that it counts on.
        switches: what it reads from outside and nobody can know by reading: variables and arguments.
    """

    modules: tuple[Module, ...]
    gpus: int = 2
    switches: tuple[str, ...] = ()

    def size(self) -> int:
        """The number of statements."""
        return sum(_size(module.body) for module in self.modules)


def block(head: str, body: Sequence[Statement]) -> Block:
    """A compound statement of one clause."""
    return Block((Clause(head, tuple(body)),))


def _size(body: tuple[Statement, ...]) -> int:
    return sum(1 if isinstance(one, Line) else 1 + sum(_size(clause.body) for clause in one.clauses) for one in body)


def smaller(program: Program) -> Iterator[Program]:
    """Programs with a little less than ``program``, the boldest cuts first."""
    for index, module in enumerate(program.modules):
        if module.path != "main.py":
            yield replace(program, modules=program.modules[:index] + program.modules[index + 1 :])
    for index, module in enumerate(program.modules):
        for body in _smaller(module.body):
            changed = replace(module, body=body)
            yield replace(program, modules=(*program.modules[:index], changed, *program.modules[index + 1 :]))
    if program.gpus > 1:
        yield replace(program, gpus=program.gpus - 1)


def _smaller(body: tuple[Statement, ...]) -> Iterator[tuple[Statement, ...]]:
    length = len(body) // 2
    while length > 1:
        for start in range(0, len(body) - length + 1, length):
            yield body[:start] + body[start + length :]
        length //= 2
    for index in range(len(body)):
        yield body[:index] + body[index + 1 :]
    for index, statement in enumerate(body):
        if isinstance(statement, Line):
            continue
        for clause in statement.clauses:
            yield (*body[:index], *clause.body, *body[index + 1 :])
        for less in _less(statement):
            yield (*body[:index], less, *body[index + 1 :])


def _less(statement: Block) -> Iterator[Block]:
    clauses = statement.clauses
    if len(clauses) > 1:
        for index in range(len(clauses)):
            yield Block(clauses[:index] + clauses[index + 1 :])
    for index, clause in enumerate(clauses):
        for body in _smaller(clause.body):
            yield Block((*clauses[:index], replace(clause, body=body), *clauses[index + 1 :]))
