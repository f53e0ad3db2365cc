"""The release that a file is judged for, and on what grounds."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING

from tfmemlint.knowledge.releases import Target
from tfmemlint.model.records import dataclass

if TYPE_CHECKING:
    from tfmemlint.project.name_uses import NameUse
    from tfmemlint.project.targets.stated import Stated


class Claim(str, Enum):
    """On what grounds a file is judged for a release.

    ``FOUND``: the project states it. ``INFERRED``: no other release has the names that the program uses.
    ``NOT_CLAIMED``: neither; what differs between TensorFlow 1 and 2 is said as such. ``CONTRADICTORY``: no release has
    all names that the program uses.
    """

    FOUND = "found"
    INFERRED = "inferred"
    NOT_CLAIMED = "not claimed"
    CONTRADICTORY = "contradictory"


@dataclass(frozen=True, slots=True)
class FoundTarget:
    """The TensorFlow that a file is judged for, and the statements or names that say so.

    Attributes:
        directory: the directory of the statements; "" without any. stated: all statements there.
        used: those that count: what is run with, where that is said; else what is tested with.
        first, last: the known releases that they admit; None where nothing is said, or it can't be read.
        claim: on what grounds. inferred: the release that the names tell. deciding: the names that rule others out.
    """

    directory: str = ""
    stated: tuple[Stated, ...] = ()
    used: tuple[Stated, ...] = ()
    first: Target | None = None
    last: Target | None = None
    claim: Claim = Claim.NOT_CLAIMED
    inferred: Target | None = None
    deciding: tuple[NameUse, ...] = ()

    @property
    def target(self) -> Target | None:
        """The release to judge for: the newest that is admitted, which is what pip installs; with the oldest. None
        where neither statements nor names tell one."""
        if self.inferred is not None:
            return self.inferred
        if self.first is None or self.last is None or self.first == self.last:
            return self.last
        return replace(self.last, oldest=self.first)

    @property
    def judged(self) -> Target:
        """The release to judge for, in any case: the newest known where nothing tells one."""
        return self.target or replace(Target.newest(), claimed=self.claim is Claim.FOUND)

    @property
    def asked(self) -> Target:
        """The release to judge for where the user asks for the names that it lacks: the newest that is admitted."""
        if self.first is None or self.last is None:
            return Target.newest()
        return self.last if self.first == self.last else replace(self.last, oldest=self.first)
