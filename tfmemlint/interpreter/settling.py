"""From where on a program configures nothing any more, so that the rest of it need not be followed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tfmemlint.interpreter.state import State
from tfmemlint.interpreter.unit import EntrySetup
from tfmemlint.interpreter.values import ModuleInstance
from tfmemlint.knowledge.configuring import LATE_WORDS


class Settling:
    """Tells from where on a program configures nothing any more (`EntrySetup.settled_by`).

    Args:
        files: the files that have to be imported before.
    """

    def __init__(self, files: frozenset[str]) -> None:
        self.settled = False
        self._files = files
        self._units = 0

    @classmethod
    def of(cls, setup: EntrySetup | None) -> Settling | None:
        """Return what tells it of a program that is run in this way; None if nothing does."""
        return cls(setup.settled_by) if setup is not None and setup.settled_by else None

    def is_settled(self, state: State, units: Mapping[str, ModuleInstance], rest: Sequence[str]) -> bool:
        """True if nothing more need be followed.

        Args:
            state: that of the runtime here. units: the modules that were imported, by name.
            rest: the lines of the main module from here on.
        """
        if self.settled or self._units == len(units):
            return self.settled
        self._units = len(units)
        if state.growth or state.limits or state.visible or state.threading or state.cpu_split:
            return False
        loaded = {unit.source.path for name, unit in units.items() if state.imported.get(name) and not unit.running}
        self.settled = self._files <= loaded and re.search(LATE_WORDS, "\n".join(rest)) is None
        return self.settled
