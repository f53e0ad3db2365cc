"""Blocks that a way may be caught in, and the ways out of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from tfmemlint.interpreter.context import Snapshot
    from tfmemlint.interpreter.program import Handler
    from tfmemlint.interpreter.state import State
    from tfmemlint.interpreter.values import Value


@dataclass(frozen=True, slots=True, eq=False)
class Catching:
    """The handlers of a ``try`` that we are in, or its ``finally``.

    Attributes:
        group: the handlers. depth, loops: how many frames and loops there are around the ``try``.
        exits: of a ``finally``: the ways that end in the ``try`` and go through it; None for handlers.
    """

    group: tuple[Handler, ...]
    depth: int
    loops: int = 0
    exits: list[Exit] | None = None


@dataclass(frozen=True, slots=True)
class Left:
    """An exception of one of these names is raised; ``certain`` where the program ends if nothing takes it."""

    state: State
    exceptions: tuple[str, ...]
    certain: bool


@dataclass(frozen=True, slots=True)
class Returned:
    """A function returns."""

    state: State
    value: Value


@dataclass(frozen=True, slots=True)
class Broken:
    """A loop is left by ``break``."""

    snapshot: Snapshot

    @property
    def state(self) -> State:
        """The state there."""
        assert self.snapshot.state is not None
        return self.snapshot.state


@dataclass(frozen=True, slots=True)
class Continued:
    """A pass of a loop ends by ``continue``."""

    snapshot: Snapshot

    @property
    def state(self) -> State:
        """The state there."""
        assert self.snapshot.state is not None
        return self.snapshot.state


Exit: TypeAlias = "Left | Returned | Broken | Continued"
