"""The place in a program at which the interpreter is: the module, the frames, and the texts around it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfmemlint.interpreter.frames import Catching, Consumer, Frame, Loop
from tfmemlint.interpreter.state import State
from tfmemlint.interpreter.values import ModuleInstance, Scope

if TYPE_CHECKING:
    from tfmemlint.facts.reach import Reach
    from tfmemlint.model.finding import Span
    from tfmemlint.sources import Source


class Place:
    """The place at which a program is being interpreted (`tfmemlint.interpreter.context.Context`).

    Attributes:
        unit: the module. frames: the calls and imports that have led there. statement: the statement there.
        loops, handlers: those around it. state: the runtime's there; None if no path leads there.
        site: the place in the program's own code that has led into a model of Python's library.
    """

    unit: ModuleInstance
    frames: list[Frame]
    statement: ast.stmt | None
    loops: list[Loop]
    handlers: list[Catching]
    state: State | None
    site: tuple[Source, ast.AST, ast.stmt | None] | None

    @property
    def source(self) -> Source:
        """The text that is being interpreted; in a model of Python's library, that of the program that calls it."""
        return self.site[0] if self.unit.library and self.site is not None else self.unit.source

    @property
    def module(self) -> Scope:
        """The names of the module that is being interpreted."""
        return self.unit.scope

    @property
    def reach(self) -> Reach:
        """The reach of the functions of the module that is being interpreted."""
        return self.unit.reach

    @property
    def stars(self) -> list[str]:
        """The modules of others that it star-imports from."""
        return self.unit.stars

    @property
    def frame(self) -> Frame:
        """The innermost frame."""
        return self.frames[-1]

    @property
    def scope(self) -> Scope:
        """The innermost scope."""
        return self.frames[-1].scope

    @property
    def here(self) -> State:
        """The state here, for code that only runs if there is one."""
        assert self.state is not None
        return self.state

    def consumer(self) -> Consumer:
        """Return this place, to come back to while a generator runs, whose own loops and handlers are not around it."""
        return Consumer(tuple(self.frames), self.unit, self.statement, list(self.loops), list(self.handlers))

    def span(self, node: ast.AST) -> Span:
        """Return the place of a node in the text that is being interpreted."""
        if self.unit.library and self.site is not None:
            return self.site[0].span(self.site[1])
        return self.unit.source.span(node)

    def text(self, node: ast.AST) -> str:
        """Return the source of a node."""
        if self.unit.library and self.site is not None:
            node = self.site[1].func if isinstance(self.site[1], ast.Call) else self.site[1]
            return self.site[0].segment(self.site[0].span(node))
        return self.unit.source.segment(self.unit.source.span(node))

    def bound_names(self, body: Sequence[ast.AST]) -> frozenset[str]:
        """Return the plain names that statements bind."""
        return self.unit.shapes.bound_names(body)
