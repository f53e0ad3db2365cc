"""From where on a program configures nothing any more, so that the rest of it need not be followed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tfmemlint.interpreter.state import State
from tfmemlint.interpreter.unit import EntrySetup
from tfmemlint.interpreter.values import ModuleInstance
from tfmemlint.knowledge.configuring import LATE_WORDS


class Settled(Exception):
    """The program is settled while it imports a module: what is left of that import is not followed either."""


class Settling:
    """Tells from where on a program configures nothing any more (`EntrySetup.settled_by`).

    Args:
        files: the files that have to be imported before. main: the text of the module that is run.
    """

    def __init__(self, files: frozenset[str], main: str) -> None:
        self.settled = False
        self._files = files
        self._known = (0, 0)
        last = max((match.start() for match in re.finditer(LATE_WORDS, main)), default=-1)
        self._last_late_row = main.count("\n", 0, last) + 1 if last >= 0 else 0

    @classmethod
    def of(cls, setup: EntrySetup | None, main: str) -> Settling | None:
        """Return what tells it of a program that is run in this way; None if nothing does."""
        return cls(setup.settled_by, main) if setup is not None and setup.settled_by else None

    def is_settled(self, state: State, units: Mapping[str, ModuleInstance], depth: int, row: int) -> bool:
        """True if nothing more need be followed.

        Args:
            state: that of the runtime here. units: the modules that were imported, by name.
            depth: the modules that are being imported, and the main module. row: the first row of the main module that
            is left; 1 within an import.
        """
        if self.settled or self._known == (len(units), depth):
            return self.settled
        self._known = len(units), depth
        if state.growth or state.limits or state.visible or state.threading or state.cpu_split:
            return False
        if row <= self._last_late_row:
            return False
        loaded = {unit.source.path for name, unit in units.items() if state.imported.get(name) and not unit.running}
        self.settled = self._files <= loaded
        return self.settled
