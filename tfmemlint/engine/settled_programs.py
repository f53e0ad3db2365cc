"""When a program is settled: from where on nothing in it can configure a GPU, so that the rest need not be followed.

Most programs of a project configure nothing themselves: a module that they import does, when it is imported. Once all
such modules have been imported, what is left of the program may start the runtime, and no more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from collections.abc import Set as AbstractSet
from dataclasses import field

from tfmemlint.facts.leading import Leading
from tfmemlint.interpreter.modules import ModuleStore
from tfmemlint.knowledge.configuring import LATE_PARTS, LATE_WORDS, OTHER_PARTS, OTHER_WORDS
from tfmemlint.model.records import dataclass

_LATE = re.compile(LATE_WORDS.encode()).search
_LATE_IN_TEXT = re.compile(LATE_WORDS).search
_OTHER = re.compile(OTHER_WORDS.encode()).search
_PARTS_OF_LATE = tuple(part.encode() for part in LATE_PARTS)
_PARTS_OF_OTHERS = tuple(part.encode() for part in OTHER_PARTS)


@dataclass(slots=True)
class SettledPrograms:
    """The files with which programs are settled.

    Attributes:
        store: the modules. read: the bytes of a file. configuring: the files that have a word that configures.
        acting: the files that may configure something when they are imported.
    """

    store: ModuleStore
    read: Callable[[str], bytes | None]
    configuring: Collection[str]
    acting: AbstractSet[str]
    _read: set[str] = field(default_factory=set)
    _late: set[str] = field(default_factory=set)
    _others: set[str] = field(default_factory=set)
    _later: dict[str, bool] = field(default_factory=dict)

    def files(self, path: str, closure: AbstractSet[str], hot: Leading) -> frozenset[str]:
        """Return the files after whose import nothing in the program that starts in ``path`` configures anything.

        Empty where that is not known: the file itself may configure something.
        """
        module = self.store.mentions(path)
        if path in self.configuring or module is None or hot.mentioned(module.whole, path):
            return frozenset()
        self._search(closure)
        found = (closure & self.acting) - {path}
        if closure & self._others or not closure & self._late <= {*found, path}:
            return frozenset()
        if any(self._may_act_later(each, hot) for each in found):
            return frozenset()
        return frozenset(map(self.store.name_of, found))

    def _may_act_later(self, path: str, hot: Leading) -> bool:
        """True if a function of this file that may run after its import without a mention may configure something."""
        known = self._later.get(path)
        if known is None:
            module = self.store.mentions(path)
            known = module is None or any(
                hot.is_about(piece) or hot.mentioned(piece, path) or _LATE_IN_TEXT(piece.text)
                for piece in module.unmentioned
            )
            self._later[path] = known
        return known

    def _search(self, paths: AbstractSet[str]) -> None:
        """Find out which files do something that is looked at even where nothing is configured any more."""
        for path in paths - self._read:
            data = self.read(path) or b""
            if any(part in data for part in _PARTS_OF_OTHERS) and _OTHER(data):
                self._others.add(path)
            if any(part in data for part in _PARTS_OF_LATE) and _LATE(data):
                self._late.add(path)
        self._read |= paths
