"""The release that the files of a directory are for: what its project says, the nearest directory first."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from tfmemlint.model.records import dataclass
from tfmemlint.project.listing import Listings, Probes, called
from tfmemlint.project.roots import outermost, project_root
from tfmemlint.project.targets.found import FoundTarget
from tfmemlint.project.targets.places import manifests_in, texts_in
from tfmemlint.sources.regular import read_regular

if TYPE_CHECKING:
    from tfmemlint.project.infer import Inference
    from tfmemlint.project.targets.stated import Stated
    from tfmemlint.project.targets.versions import Releases

_DEEPEST = 64
_LARGEST = 16 * 2**20
_INSTALLS = re.compile(rb"pip3?\s+install|%tensorflow_version")
"""Without this, no notebook says anything."""
_VERSION_OUTPUTS = (b"__version__", b"VERSION")
"""Without one of these, no notebook has printed TensorFlow's version."""
_RELEASE_IN_HEADER = re.compile(rb"(?i)(?:tensor[ -]?flow|\btf)[^\n]{0,24}?[0-3](?:\.\d|\.x|\b)")
_RELEASE_IN_COMMENT = re.compile(rb"(?i)#[^\n]{0,120}?(?:tensor[ -]?flow|tf)[^\n]{0,24}?[0-3]\.\d")
_RELEASE_IN_PATH = re.compile(r"(?i)(?:flow|tf)[-_. ]?v?[12]")
"""Without this, no folder above a file is called after a release."""
_HEADER_BYTES = 4096
"""The bytes of a Python file in which a comment above its code is looked for."""


@dataclass(slots=True)
class Finder:
    """Reads the files of projects, each once.

    Attributes:
        open_texts: the contents of Python files, by their absolute paths, that are read in place of those on disk.
        notes: what could not be read, and why, in words for people.
        known_answers: what earlier runs have answered of single files to infer a release.
    """

    open_texts: Mapping[str, bytes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _read: dict[str, bytes | None] = field(default_factory=dict)
    _of: dict[str, FoundTarget] = field(default_factory=dict)
    _own: dict[str, FoundTarget | None] = field(default_factory=dict)
    _tells: dict[str, FoundTarget | None] = field(default_factory=dict)
    _prose: dict[str, FoundTarget] = field(default_factory=dict)
    _judged: dict[str, FoundTarget] = field(default_factory=dict)
    _listings: Listings = field(default_factory=Probes)
    _inference: Inference | None = None
    known_answers: dict[str, Any] = field(default_factory=dict)

    def of_file(self, path: str) -> FoundTarget:
        """Return the release that a file is judged for: what its project states, else what its names tell."""
        known = self._judged.get(path)
        if known is None:
            from tfmemlint.project.targets.claims import with_inference

            known = self._judged[path] = with_inference(self.stated_for(path), path, lambda: self.inference)
        return known

    def stated_for(self, path: str) -> FoundTarget:
        """Return what the project of a file says; nothing for one that has no project. A notebook may say it itself, by
        what it installs or has printed."""
        if path.endswith(".ipynb"):
            if path not in self._own:
                self._own[path] = self._said_by(path)
            own = self._own[path]
            if own is not None and not self._is_of_another_time(path, own):
                return own
        directory = os.path.dirname(os.path.abspath(path))
        found = self.of_directory(directory)
        told = self._told_by(path)
        if told is not None and self._names_prefer(path, told, found):
            return told
        if _is_of_one_major(found):
            return found
        # A range that has releases of TensorFlow 1 and of 2 leaves open what a README says.
        return _narrowed(found, told or self._prose_of(directory))

    def _is_of_another_time(self, path: str, printed: FoundTarget) -> bool:
        """Return True if a notebook was last run with another major release than that which the manifests state, and
        its names are not of that: its outputs are older or newer than its code."""
        if not any(statement.prose for statement in printed.used):
            return False
        found = self.of_directory(os.path.dirname(os.path.abspath(path)))
        if not _is_of_one_major(found) or _majors(found, printed) == 1:
            return False
        return not self._names_prefer(path, printed, found)

    def _names_prefer(self, path: str, told: FoundTarget, found: FoundTarget) -> bool:
        """Return True if the names of a file are those of the release that it tells itself, and not the project's."""
        if not _is_of_one_major(told) or not _is_of_one_major(found):
            return False
        own, others = _releases_of(told), _releases_of(found)
        uses = list(self.inference.names_in_file(path)) if not own & others else []
        return any(not use.mask & others for use in uses) and all(use.mask & own for use in uses)

    @property
    def inference(self) -> Inference:
        """The inference of releases from names."""
        if self._inference is None:
            from tfmemlint.project.infer import Inference
            from tfmemlint.project.name_answers import NameAnswers

            self._inference = Inference(self.source, NameAnswers(self.known_answers))
        return self._inference

    def answers(self) -> dict[str, Any] | None:
        """Return what is known of single files to infer a release, as plain data; None if this run has found nothing
        new."""
        return None if self._inference is None else self._inference.answers.kept()

    def found(self) -> list[FoundTarget]:
        """Return all that was found so far, each once."""
        return list(dict.fromkeys(self._judged.values()))

    def of_directory(self, directory: str) -> FoundTarget:
        """Return what the nearest directory with a manifest says, from ``directory`` up to the repository's root, or,
        where there is none, the project's."""
        return self._nearest(directory, self._of, self._said_in)

    def _prose_of(self, directory: str) -> FoundTarget:
        return self._nearest(directory, self._prose, self._told_in)

    def _nearest(
        self, directory: str, known: dict[str, FoundTarget], said_in: Callable[[str], FoundTarget | None]
    ) -> FoundTarget:
        passed: list[str] = []
        found: FoundTarget | None = None
        top = ""
        for _ in range(_DEEPEST):
            found = known.get(directory)
            if found is not None or directory in outermost():
                break
            passed.append(directory)
            found = said_in(directory)
            if found is not None or self._listings.has(directory, ".git"):
                break
            top = top or self._top(directory)
            if directory == top:
                break
            directory = os.path.dirname(directory)
        found = found or FoundTarget()
        for inner in passed:
            known[inner] = found
        return found

    def _top(self, directory: str) -> str:
        """Return the directory to stop at: a repository's root, if there is one above."""
        above = directory
        for _ in range(_DEEPEST):
            if above in outermost():
                break
            if self._listings.has(above, ".git"):
                return above
            above = os.path.dirname(above)
        return project_root(os.path.join(directory, "_"), self._listings)

    def _said_by(self, path: str) -> FoundTarget | None:
        from tfmemlint.project.targets.notebooks import of_notebook

        shown = called(path)
        data = self._bytes(shown)
        # Most notebooks are large and have neither word: a search for words is many times faster than for patterns.
        may_say = data is not None and (b"install" in data or b"%tensorflow_version" in data)
        stated = list(of_notebook(shown, data)) if data is not None and may_say and _INSTALLS.search(data) else []
        if not stated and data is not None:
            stated = self._printed_by(path, data)
        if not stated:
            return None
        # What comes last holds.
        return _settled(os.path.dirname(os.path.abspath(path)), stated[-1:])

    def _printed_by(self, path: str, data: bytes) -> list[Stated]:
        """Return the release that a notebook printed when it was run last; none if it printed several."""
        if not any(word in data for word in _VERSION_OUTPUTS):
            return []
        from tfmemlint.project.targets.notebooks import printed_by_notebook

        printed = list(printed_by_notebook(called(path), data))
        return printed if len({statement.releases for statement in printed}) == 1 else []

    def _commented_in(self, path: str, data: bytes) -> list[Stated]:
        """Return the releases that comments of a file name: above its code, or beside an import of TensorFlow."""
        if path.endswith(".ipynb"):
            if _RELEASE_IN_COMMENT.search(data) is None:
                return []
            from tfmemlint.project.targets.notebooks import of_comments

            return list(of_comments(called(path), data))
        from tfmemlint.project.targets.prose import of_header, of_import
        from tfmemlint.project.targets.requirement_files import decoded

        stated: list[Stated] = []
        if _RELEASE_IN_HEADER.search(data, 0, _HEADER_BYTES):
            stated = list(of_header(called(path), decoded(data[:_HEADER_BYTES])))
        if not stated and _RELEASE_IN_COMMENT.search(data):
            stated = list(of_import(called(path), decoded(data)))
        return stated

    def _told_by(self, path: str) -> FoundTarget | None:
        """Return the release that a file tells itself; None where it tells none, or several.

        It names it in a comment above its code, or beside an import of TensorFlow. Where it does not, the nearest
        folder tells it that is called after a release which has the file's names.
        """
        if path not in self._tells:
            stated: list[Stated] = []
            is_code = path.endswith((".py", ".pyw", ".ipynb"))
            if is_code:
                stated = self._commented_in(path, self.source(path) or b"")
            directory = os.path.dirname(os.path.abspath(path))
            if not stated and is_code:
                stated = [found for found in self._called_after(directory) if self._names_admit(path, found)]
            alike = len({statement.releases for statement in stated}) == 1
            self._tells[path] = _settled(directory, stated[:1]) if alike else None
        return self._tells[path]

    def _names_admit(self, path: str, stated: Stated) -> bool:
        """Return True if a release of a statement has each name of a file."""
        told = _settled(os.path.dirname(path), [stated])
        return told is not None and all(use.mask & _releases_of(told) for use in self.inference.names_in_file(path))

    def _called_after(self, directory: str) -> Iterator[Stated]:
        """Yield the release that the nearest folder of the repository is called after, if one is: ``tf1.14``."""
        if _RELEASE_IN_PATH.search(directory) is None:
            return
        from tfmemlint.project.targets.prose import of_folder

        top = self._top(directory)
        while directory != top and directory != os.path.dirname(directory):
            stated = of_folder(called(directory), os.path.basename(directory))
            if stated is not None:
                yield stated
                return
            directory = os.path.dirname(directory)

    def _said_in(self, directory: str) -> FoundTarget | None:
        stated = list(
            dict.fromkeys(statement for name in manifests_in(directory) for statement in self._stated(directory, name))
        )
        return _settled(directory, stated) if stated else None

    def _told_in(self, directory: str) -> FoundTarget | None:
        """Return what the texts for people in a directory tell, if they name a release."""
        stated: dict[Stated, None] = {}
        for name in texts_in(directory):
            path = called(os.path.join(directory, name))
            data = self._bytes(path)
            if data is not None:
                from tfmemlint.project.targets.prose import of_prose
                from tfmemlint.project.targets.requirement_files import decoded

                stated.update(dict.fromkeys(of_prose(path, decoded(data))))
        return _settled(directory, list(stated)) if stated else None

    def _stated(self, directory: str, name: str) -> Iterator[Stated]:
        from tfmemlint.project.targets.files import concerns, read_as

        path = called(os.path.join(directory, name))
        data = self._bytes(path)
        if data is None or not concerns(name, data):
            return
        try:
            yield from read_as(name, path, data, self._bytes)
        except ValueError as error:
            self.notes.append(f"{path}: not read for the release of TensorFlow: {error}")

    def _bytes(self, path: str) -> bytes | None:
        """Return what is in a regular file of limited size; a pipe or a device is never opened."""
        if path not in self._read:
            try:
                self._read[path] = _regular(path)
            except (OSError, ValueError) as error:
                self._read[path] = None
                if not isinstance(error, FileNotFoundError):
                    reason = getattr(error, "strerror", None) or error
                    self.notes.append(f"{path}: not read for the release of TensorFlow: {reason}")
        return self._read[path]

    def source(self, path: str) -> bytes | None:
        """Return what is in a file of Python, which is not kept."""
        if self.open_texts and (data := self.open_texts.get(os.path.abspath(path))) is not None:
            return data
        try:
            return _regular(path)
        except (OSError, ValueError):
            return None


def _regular(path: str) -> bytes | None:
    data = read_regular(path, _LARGEST + 1)
    return data if len(data) <= _LARGEST else None


def _releases_of(found: FoundTarget) -> int:
    """Return the known releases from the first to the last that are admitted, a bit each, the oldest first."""
    if found.first is None or found.last is None:
        return 0
    return sum(1 << place for place in range(found.first.index, found.last.index + 1))


def _is_of_one_major(found: FoundTarget) -> bool:
    return found.first is not None and found.last is not None and found.first.major == found.last.major


def _majors(*found: FoundTarget) -> int:
    return len({target.last.major for target in found if target.last is not None})


def _narrowed(found: FoundTarget, told: FoundTarget) -> FoundTarget:
    """Return what a manifest admits of that which a text tells; the manifest, if that is nothing."""
    if told.first is None or told.last is None:
        return found
    if found.first is None or found.last is None:
        return replace(told, stated=(*found.stated, *told.stated))
    first, last = max(found.first, told.first), min(found.last, told.last)
    if first > last:
        return found
    used = (*found.used, *told.used)
    return FoundTarget(found.directory, (*found.stated, *told.stated), used, first, last)


def _settled(directory: str, stated: list[Stated]) -> FoundTarget:
    """Return what all statements of a directory come to.

    Those of one file are alternatives (extras, platforms, packages): any of their releases will do. Files speak of one
    and the same program, so that all of them hold; where they contradict each other, any will do. What limits others
    (``constraints.txt``) holds besides, unless nothing is left.
    """
    used = _exact([statement for statement in stated if not statement.weak] or stated)
    from tfmemlint.project.targets.versions import ANY, known

    asked: dict[str, Releases] = {}
    limits: Releases = ANY
    for statement in used:
        if statement.releases is None:
            continue
        if statement.constraint:
            limits = (limits & statement.releases) or limits
        else:
            asked[statement.path] = asked.get(statement.path, frozenset()) | statement.releases
    readable = [statement for statement in used if statement.releases is not None]
    if not readable:
        return FoundTarget(directory, tuple(stated), tuple(used))
    together = ANY.intersection(*asked.values()) if asked else ANY
    if known(together) is None:
        together = frozenset().union(*asked.values())
    together = (together & limits) or together
    span = known(together)
    if span is None:
        return FoundTarget(directory, tuple(stated), tuple(used))
    return FoundTarget(directory, tuple(stated), tuple(used), *span)


def _exact(stated: list[Stated]) -> list[Stated]:
    """Return statements without what a text for people says in passing ("tf2") where it names a release of these
    ("pip install tensorflow==2.9")."""
    told = [statement for statement in stated if statement.prose and statement.releases is not None]
    return [
        statement
        for statement in stated
        if not any(
            statement.prose and statement.path == other.path and statement.releases > other.releases
            for other in told
            if statement.releases is not None and other.releases is not None
        )
    ]


_finder = Finder()


def reset_cache(open_texts: Mapping[str, bytes] | None = None) -> Finder:
    """Begin a run: files are read anew."""
    global _finder
    _finder = Finder(open_texts or {})
    return _finder


def current() -> Finder:
    """Return the finder of the run that is going on."""
    return _finder
