"""The files of the projects that files belong to, by names and bytes alone.

Nothing that this module imports takes time: most runs over few files are done with what it finds out.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence

from tfmemlint.facts.prefilter import about_tensorflow, configures
from tfmemlint.project.imports import scan
from tfmemlint.project.kinds import Kind
from tfmemlint.project.listing import Listings
from tfmemlint.project.roots import LARGEST_PROJECT, is_project, package_root, project_root, search_path
from tfmemlint.project.search import locate_relative, prefixes
from tfmemlint.sources.kinds import NOTEBOOK as NOTEBOOKS
from tfmemlint.sources.kinds import PYTHON
from tfmemlint.sources.regular import NOTEBOOK, Unreadable
from tfmemlint.sources.walking import Choice, walk


class FileBytes:
    """The bytes of files, of which some were read already; None for what can't be read; of a notebook, its code.

    Args:
        known: the bytes of files, by their normalized paths.
        read: returns the bytes of a file; raises `Unreadable`.
    """

    __slots__ = ("_known", "_notebooks", "_read_file")

    def __init__(self, known: Mapping[str, bytes], read: Callable[[str], bytes]) -> None:
        self._known = known
        self._read_file = read
        self._notebooks: dict[str, bytes | None] = {}

    def __call__(self, path: str) -> bytes | None:
        if path.endswith(NOTEBOOK):
            if path not in self._notebooks:
                self._notebooks[path] = self._code(path)
            return self._notebooks[path]
        return self._read(path)

    def _read(self, path: str) -> bytes | None:
        data = self._known.get(path)
        try:
            return data if data is not None else self._read_file(path)
        except Unreadable:
            return None

    def _code(self, path: str) -> bytes | None:
        from tfmemlint.sources import decode

        data = self._read(path)
        try:
            return decode(path, data).text.encode("utf-8", "surrogatepass") if data is not None else None
        except Unreadable:
            return None


def files_around(
    given: set[str], read: FileBytes, known: dict[str, bool], listings: Listings, *, search_around: bool
) -> set[str]:
    """Return the given files, and all files of the projects whose configuration some of them may be part of.

    Fills ``known``: which of the given files configure anything.

    Args:
        given: normalized paths.
        read: the bytes of files.
        known: whether a file configures something by itself, by its path, where that is known.
        listings: the directories that were listed.
        search_around: also search the projects of files that configure nothing themselves.
    """
    found = set(given)
    roots: dict[str, set[str]] = {}
    for path in given:
        data = read(path)
        if data is None:
            continue
        if path not in known:
            known[path] = configures(data)
        if known[path] or (search_around and (about_tensorflow(data) or _imports_own(path, data, listings))):
            roots.setdefault(project_root(path, listings), set()).add(path)
    above: list[_Project] = []
    for root in sorted(roots, key=lambda root: os.path.join(root, "")):
        if not is_project(root, listings):
            found |= _nearby(root, read, listings)
            continue
        while above and not above[-1].holds(root):
            above.pop()
        project = above[-1].inner(root, roots[root]) if above else None
        if project is None:
            project = _Project(root, *_walked(root))
        if len(project.files) <= LARGEST_PROJECT:
            found.update(project.files)
        if not above or project is not above[-1]:
            above.append(project)
    return found


def files_of_project(root: str) -> list[str]:
    """Return the Python files and notebooks below the root of a project, sorted."""
    return _walked(root)[0]


def _walked(root: str) -> tuple[list[str], list[str]]:
    """Return the files below a directory, and the links to directories that are not followed."""
    walked = walk([os.path.relpath(root)], Choice(kinds=(PYTHON, NOTEBOOKS)))
    return sorted(map(os.path.normpath, walked.files)), sorted(map(os.path.normpath, walked.links))


def _below(place: str, paths: Sequence[str]) -> Sequence[str]:
    """Return those of some sorted paths that begin with ``place``."""
    return paths[bisect_left(paths, place) : bisect_left(paths, f"{place}\U0010ffff")]


class _Project:
    """A project that was walked through.

    Attributes:
        root: its directory. files: its files, sorted. links: links to directories that were not followed.
    """

    __slots__ = ("files", "links", "root")

    def __init__(self, root: str, files: Sequence[str], links: Sequence[str]) -> None:
        self.root = root
        self.files = files
        self.links = links

    def holds(self, root: str) -> bool:
        """Return True if a directory is below this one."""
        return root.startswith(os.path.join(self.root, ""))

    def inner(self, root: str, given: Iterable[str]) -> _Project | None:
        """Return the project within this one at ``root``; None if a walk from there may find other files.

        Each of a thousand projects within each other would else be walked through as often as there are some above it.

        Args:
            given: some files of that project.
        """
        place = os.path.join(os.path.relpath(root), "")
        if _below(place, self.links) or any(path not in _below(path, self.files) for path in given):
            return None
        if len(self.files) <= LARGEST_PROJECT:
            return self
        return _Project(root, _below(place, self.files), ())


def any_configures(paths: Iterable[str], read: FileBytes, known: dict[str, bool]) -> bool:
    """True if some file configures something. Fills ``known`` for those that were looked at."""
    for path in sorted(paths):
        if path not in known:
            data = read(path)
            known[path] = data is not None and configures(data)
        if known[path]:
            return True
    return False


def _nearby(directory: str, read: FileBytes, listings: Listings) -> set[str]:
    """Return the files right in a directory, and all that they import.

    Nothing says that the directory is a project: below it may be anything, a home directory's gigabytes for instance.
    """
    pending = [os.path.join(directory, name) for name in sorted(listings.of(directory).files) if name.endswith(".py")]
    if len(pending) > LARGEST_PROJECT:
        return set()
    found: dict[str, None] = {}
    while pending:
        path = os.path.normpath(os.path.relpath(pending.pop()))
        if path in found:
            continue
        found[path] = None
        data = read(path)
        if data is None or b"import" not in data:
            continue
        search = search_path(path, kind=Kind.SCRIPT, data=data, listings=listings)
        package = package_root(path, listings)[1].rpartition(".")[0]
        for each in scan(data):
            base = locate_relative(package, each.level, each.module) if each.level else each.module
            names = (base, *(f"{base}.{name}" for name in each.names)) if base else ()
            located = (search.locate(prefix) for name in names for prefix in prefixes(name))
            pending.extend(module.path for module in located if module is not None and module.path is not None)
    return set(found)


def _imports_own(path: str, data: bytes, listings: Listings) -> bool:
    """True if a file imports anything of its own project."""
    search = search_path(path, kind=Kind.SCRIPT, data=data, listings=listings)
    return any(each.level or search.locate(each.module.split(".")[0]) is not None for each in scan(data))
