"""The release that a program is written for, where nothing states one: that which has the names it uses."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from functools import partial

from tfmemlint.model.records import dataclass
from tfmemlint.project.name_answers import NameAnswers
from tfmemlint.project.name_uses import EVERY_RELEASE, FileNames, NameUse, storing
from tfmemlint.project.reaching import Graph, graph
from tfmemlint.project.roots import project_root

ReleaseMask = int
"""One bit for each known release, the oldest first."""

MAX_FILES = 3_000
"""Python files of a project beyond which only the file itself is asked: a repository of that size is many programs."""
MAX_BYTES = 2**20
"""Bytes of a file beyond which it is data, unless it is a notebook."""
MAX_PROGRAM_FILES = 400
"""Files of one program whose names are read; more only cost time, since a few hundred tell its release."""
_LEFT_OUT = frozenset({".git", "__pycache__", "node_modules", "venv", ".venv", "build", "dist", "site-packages"})


@dataclass(frozen=True, slots=True)
class Inferred:
    """The releases that have every name of a program.

    Attributes:
        mask: these releases; 0 if there are none, and the names contradict each other.
        deciding: the names that rule out the others: first that which needs an old release, then a new one.
    """

    mask: ReleaseMask
    deciding: tuple[NameUse, ...] = ()


@dataclass(slots=True)
class Inference:
    """Infers the releases of programs; each file is read once.

    Attributes:
        read: returns the bytes of a regular file of limited size, or None.
        answers: what is asked of single files, as far as it is known.
    """

    read: Callable[[str], bytes | None]
    answers: NameAnswers = field(default_factory=NameAnswers)
    _names: dict[str, FileNames] = field(default_factory=dict)
    _hints: dict[str, frozenset[int] | None] = field(default_factory=dict)
    _stored: dict[str, frozenset[str]] = field(default_factory=dict)
    _first_with_all: dict[tuple[frozenset[str], ReleaseMask, int], tuple[ReleaseMask, tuple[NameUse, ...]]] = field(
        default_factory=dict
    )
    _roots: dict[str, str] = field(default_factory=dict)
    _graphs: dict[str, Graph | None] = field(default_factory=dict)
    _inferred: dict[tuple[str, ReleaseMask], Inferred] = field(default_factory=dict)
    _components: dict[str, frozenset[str]] = field(default_factory=dict)
    _around: dict[str, list[NameUse]] = field(default_factory=dict)

    def of_file(self, path: str, admitted: ReleaseMask) -> Inferred:
        """Return the releases among ``admitted`` that have every name of the program that a file belongs to.

        The program is all that is connected with the file by imports. If no release has all of its names, it is what
        the file imports; if there is none either, the file alone.
        """
        path = os.path.abspath(path)
        known = self._inferred.get((path, admitted))
        if known is not None:
            return known
        for files in self._programs(path):
            found = self._of_files(files, admitted)
            if found.mask:
                break
        if found.mask and len(files) > 1:
            # All files of a program have one release.
            for other in files:
                if self._components.get(other) is files:
                    self._inferred.setdefault((other, admitted), found)
        self._inferred[path, admitted] = found
        return found

    def names_in_program(self, path: str) -> Iterable[NameUse]:
        """Yield the names of TensorFlow that some releases lack, of all files of a program."""
        for file in sorted(self._connected(os.path.abspath(path))):
            yield from self._names_of(file).uses

    def with_all_names(self, path: str, candidates: ReleaseMask, lower: int) -> tuple[ReleaseMask, tuple[NameUse, ...]]:
        """Return the releases among ``candidates`` that have every name of a file's program, those about GPU memory
        included, and the last two names that release number ``lower`` lacks while some of them still have it."""
        files = self._connected(os.path.abspath(path))
        known = self._first_with_all.get((files, candidates, lower))
        if known is None:
            known = self._first_with_all[files, candidates, lower] = self._having_all(files, candidates, lower)
        return known

    def _having_all(
        self, files: Iterable[str], candidates: ReleaseMask, lower: int
    ) -> tuple[ReleaseMask, tuple[NameUse, ...]]:
        deciding: list[NameUse] = []
        for file in sorted(files):
            if not candidates:
                break
            if not self._may_tell(file, partial(_excludes_or_lacks, candidates, lower)):
                continue
            names = self._names_of(file)
            for use in (*names.uses, *names.memory_uses):
                if candidates & use.mask and not use.mask >> lower & 1:
                    deciding.append(use)
                candidates &= use.mask
        return candidates, tuple(deciding[-2:])

    def stored_in_program(self, path: str, names: Iterable[str]) -> frozenset[str]:
        """Return the ``names`` that the files of a program put into TensorFlow."""
        asked = frozenset(names)
        may_store = storing(asked)
        found: set[str] = set()
        for file in self._connected(os.path.abspath(path)):
            data = self._read(file)
            if data is not None and (file in self._stored or may_store(data)):
                if file not in self._stored:
                    self._stored[file] = self.answers.stored_in(file, data)
                found |= self._stored[file]
        return asked & found

    def names_in_file(self, path: str) -> Iterable[NameUse]:
        """Yield the names that some releases lack, those about GPU memory included, of one file."""
        names = self._names_of(os.path.abspath(path))
        yield from (*names.uses, *names.memory_uses)

    def uses_in_file(self, path: str, telling: Callable[[ReleaseMask], bool]) -> tuple[NameUse, ...]:
        """Return the names that some releases lack, those about GPU memory aside, of one file; none if ``telling`` is
        true of the releases of no name in it."""
        path = os.path.abspath(path)
        return self._names_of(path).uses if self._may_tell(path, telling) else ()

    def names_around(self, path: str) -> Iterator[list[NameUse]]:
        """Yield the names, those about GPU memory aside, that some releases lack: of the files in the directory of a
        file and below, then of each directory above, up to the project's root."""
        root = self._root_of(os.path.abspath(path))
        directory = os.path.dirname(os.path.abspath(path))
        while True:
            if directory not in self._around:
                uses: list[NameUse] = []
                for names in self._telling(python_files(directory), EVERY_RELEASE):
                    uses += names.uses
                self._around[directory] = uses
            yield self._around[directory]
            if directory == root or directory == os.path.dirname(directory) or not directory.startswith(root):
                return
            directory = os.path.dirname(directory)

    def of_keras_2_beside(self, path: str) -> NameUse | None:
        """Return what Keras 3 lacks, of the files in the directory of a file and below; None if they have nothing."""
        files = python_files(os.path.dirname(os.path.abspath(path)))
        return next((names.of_keras_2[0] for names in self._telling(files, EVERY_RELEASE) if names.of_keras_2), None)

    def is_imported(self, path: str) -> bool:
        """Return True if another file of the project may import this one."""
        path = os.path.abspath(path)
        made = self._graph_of(path)
        return made is not None and bool(made.importers.get(path, set()) - {path})

    def importers_of(self, path: str) -> frozenset[str]:
        """Return the files from which a file may be imported, directly or through others, itself not included."""
        path = os.path.abspath(path)
        made = self._graph_of(path)
        return frozenset(made.reaching([path]) - {path}) if made is not None else frozenset()

    def _programs(self, path: str) -> list[frozenset[str]]:
        connected = self._connected(path)
        if len(connected) == 1:
            return [connected]
        made = self._graph_of(path)
        imported = made.closure(path) if made is not None and path in made.modules else frozenset({path})
        return list(dict.fromkeys((connected, imported, frozenset({path}))))

    def _connected(self, path: str) -> frozenset[str]:
        """Return the files that a file is connected with by imports, in either direction, itself included."""
        if path in self._components:
            return self._components[path]
        made = self._graph_of(path)
        if made is None or path not in made.modules:
            return frozenset({path})
        found, level = {path}, [path]
        while level and len(found) < MAX_PROGRAM_FILES:
            # In order: which files of a larger program are near must not depend on that of a set.
            around = [(*made.modules[file].leads_to, *made.importers.get(file, ())) for file in level]
            level = sorted(set().union(*around) - found)[: MAX_PROGRAM_FILES - len(found)]
            found.update(level)
        connected = frozenset(found)
        # All files of a program are connected with the same ones; of a larger one, each is with those near to it.
        # Files of a project within this one are connected with the files of that, whichever is asked about first.
        root = self._root_of(path)
        alike = (path,) if level else (other for other in connected if self._root_of(other) == root)
        self._components.update(dict.fromkeys(alike, connected))
        return connected

    def _of_files(self, files: Iterable[str], admitted: ReleaseMask) -> Inferred:
        """Return the releases among ``admitted`` that have every name of some files.

        Names about GPU memory are what is judged, and so no evidence; but where others rule the newest of these
        releases out, the code is old, and they tell how old.
        """
        files = sorted(files)
        newest = 1 << (admitted.bit_length() - 1)
        found = self._of_names(files, admitted)
        of_keras_2 = (use for names in self._telling(files, newest) for use in names.of_keras_2)
        old = next((use for use in of_keras_2 if not use.mask & newest), None)
        if not found.mask or (old is None and found.mask & newest):
            return found
        mask = found.mask & (old.mask if old is not None else found.mask)
        memory_uses = (use for names in self._telling(files, found.mask) for use in names.memory_uses)
        about_memory = [use for use in memory_uses if found.mask & ~use.mask]
        for use in about_memory:
            mask &= use.mask
        if not mask or not about_memory:
            return found
        return Inferred(mask, (*((old,) if old is not None else found.deciding[-1:]), about_memory[0]))

    def _of_names(self, files: Iterable[str], admitted: ReleaseMask) -> Inferred:
        mask = admitted
        deciding: list[NameUse] = []
        for file in files:
            if not self._may_tell(file, partial(_excludes, mask)):
                continue
            for use in self._names_of(file).uses:
                if mask & ~use.mask:
                    mask &= use.mask
                    deciding.append(use)
                    if not mask:
                        return Inferred(0, tuple(deciding[-2:]))
        return Inferred(mask, tuple(deciding[-2:]))

    def _telling(self, files: Iterable[str], candidates: ReleaseMask) -> Iterator[FileNames]:
        """Yield the names of those files that may leave out some of the candidates."""
        for file in files:
            if self._may_tell(file, partial(_excludes, candidates)):
                yield self._names_of(file)

    def _names_of(self, path: str) -> FileNames:
        found = self._names.get(path)
        if found is None:
            data = self._read(path)
            found = self._names[path] = self.answers.names_in(path, data) if data is not None else FileNames()
        return found

    def _read(self, path: str) -> bytes | None:
        data = self.read(path)
        # Most of a large notebook is output.
        known = data is not None and (len(data) <= MAX_BYTES or path.endswith(".ipynb"))
        return data if known else None

    def _may_tell(self, path: str, tells: Callable[[ReleaseMask], bool]) -> bool:
        """Return True if a file may use a name with such releases that ``tells`` is true of them: only then is it
        parsed."""
        if path in self._names:
            return True
        if path not in self._hints:
            data = self._read(path)
            self._hints[path] = self.answers.telling_masks(path, data) if data is not None else frozenset()
        masks = self._hints[path]
        return masks is None or any(map(tells, masks))

    def _root_of(self, path: str) -> str:
        """Return the root of a file's project, which is that of all files in its directory."""
        directory = os.path.dirname(path)
        if directory not in self._roots:
            self._roots[directory] = project_root(path)
        return self._roots[directory]

    def _graph_of(self, path: str) -> Graph | None:
        root = self._root_of(path)
        if root not in self._graphs:
            files = python_files(root)
            nothing: Mapping[str, bool] = dict.fromkeys(files, False)
            self._graphs[root] = graph(files, self.read, nothing) if len(files) < MAX_FILES else None
        return self._graphs[root]


def python_files(root: str) -> list[str]:
    """Return the Python files below a directory, `MAX_FILES` at most."""
    found: list[str] = []
    for directory, below, names in os.walk(root):
        below[:] = sorted(name for name in below if name not in _LEFT_OUT and not name.startswith("."))
        found += (os.path.join(directory, name) for name in sorted(names) if name.endswith(".py"))
        if len(found) >= MAX_FILES:
            return found[:MAX_FILES]
    return found


def _excludes(candidates: ReleaseMask, having: ReleaseMask) -> bool:
    """Return True if a name that the releases ``having`` have leaves out some of the candidates."""
    return bool(candidates & ~having)


def _excludes_or_lacks(candidates: ReleaseMask, lower: int, having: ReleaseMask) -> bool:
    """Return True if a name leaves out some of the candidates, or release number ``lower`` lacks it."""
    return bool(candidates & ~having) or not having >> lower & 1
