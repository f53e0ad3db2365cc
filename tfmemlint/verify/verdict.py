"""The verdict on one intent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from tfmemlint.intents import StatedIntent


class VerdictKind(str, Enum):
    """The effect of an intent."""

    HOLDS = "takes effect"
    NOTHING = "no effect"
    RAISES = "raises"
    UNPROVEN = "not provable here"
    REMOVED = "taken out"
    """After fixes: one of them has taken it out on purpose."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """An intent, and what TensorFlow made of it.

    Attributes:
        wanted: the intent. kind: its effect.
        configuration: TensorFlow's configuration of it, in words.
        observed: the memory that was seen to be taken, in words; "" if none was measured.
        reason: why, as a sentence without a full stop; "" if there is nothing to add.
    """

    stated: StatedIntent
    kind: VerdictKind
    configuration: str = ""
    observed: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class GroundFacts:
    """The facts about the ground that a program ran on.

    Attributes:
        ground: ``gpu``, ``driver`` or ``edge``.
        total_mib: the memory of each physical GPU in TensorFlow's order, in MiB, if it is known.
        overhead_mib: the memory of a GPU that a process takes before TensorFlow's allocator has any, in MiB, measured.
        has_all_gpus: True if the program gets no other GPUs where it is meant to run, as in its container.
    """

    ground: str
    total_mib: Sequence[float] = ()
    overhead_mib: Sequence[float] = field(default=())
    has_all_gpus: bool = False

    @property
    def allocates(self) -> bool:
        """True if memory is really allocated here."""
        return self.ground != "edge"
