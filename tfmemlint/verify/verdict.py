"""What a run proves about one intent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from tfmemlint.intents import Wanted


class VerdictKind(str, Enum):
    """What became of an intent."""

    HOLDS = "takes effect"
    NOTHING = "no effect"
    RAISES = "raises"
    UNPROVEN = "not provable here"


@dataclass(frozen=True, slots=True)
class Verdict:
    """An intent, and what a running TensorFlow reports back.

    Attributes:
        wanted: the intent. kind: what became of it.
        configuration: what TensorFlow's configuration says of it, in words.
        observed: the memory that was seen to be taken, in words; "" where none was looked at.
        reason: why, as a sentence without a full stop; "" where there is nothing to add.
    """

    wanted: Wanted
    kind: VerdictKind
    configuration: str = ""
    observed: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class GroundFacts:
    """What is known of the ground that a program ran on.

    Attributes:
        ground: ``gpu``, ``driver`` or ``edge``.
        total_mib: the memory of each physical GPU in TensorFlow's order, in MiB, as far as it is known.
        overhead_mib: what a process takes of a GPU before TensorFlow's allocator has anything, in MiB, measured.
    """

    ground: str
    total_mib: Sequence[float] = ()
    overhead_mib: Sequence[float] = field(default=())

    @property
    def allocates(self) -> bool:
        """True if memory is really taken here."""
        return self.ground != "edge"
