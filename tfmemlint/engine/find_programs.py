"""Find the programs of several files that may configure GPU memory: by names and bytes alone."""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from tfmemlint.engine.cache import digest
from tfmemlint.engine.entry_points import console_entry, library_entry
from tfmemlint.engine.settled_programs import SettledPrograms
from tfmemlint.facts.mentions import CONFIGURES, Leading
from tfmemlint.facts.prefilter import about_tensorflow, configures
from tfmemlint.interpreter.modules import ModuleStore
from tfmemlint.project.entries import Entry, entry_of, is_test, says_so
from tfmemlint.project.imports import scan
from tfmemlint.project.kinds import Kind
from tfmemlint.project.listing import Listings, graph_name
from tfmemlint.project.reaching import LARGEST_PROJECT, Graph, graph
from tfmemlint.project.roots import conftests, is_project, package_root, project_root, search_path
from tfmemlint.project.search import locate_relative, prefixes
from tfmemlint.sources import Unreadable, decode
from tfmemlint.sources.kinds import NOTEBOOK as NOTEBOOKS
from tfmemlint.sources.kinds import PYTHON
from tfmemlint.sources.text import NOTEBOOK


def find_programs(
    store: ModuleStore,
    paths: Sequence[str],
    read: Mapping[str, bytes],
    configuring: Mapping[str, bool],
    *,
    search_around: bool,
) -> list[Entry]:
    """Return the entry points of programs of several files that have to do with ``paths`` and may configure something.

    These are the programs that start in one of these files, or import one of them; and such a file itself, if it
    configures GPU memory and no program is known that starts there.

    Args:
        store: the modules; gets the files of each program, and what leads to code that configures GPUs.
        paths: the files.
        read: files that were read already, by their normalized paths.
        configuring: whether a file configures something by itself, by its normalized path, where that is known.
        search_around: also search the projects of files that configure nothing themselves.
    """
    given = {graph_name(path) for path in paths}
    data = _Bytes(read, store.read)
    known = dict(configuring)
    universe = _universe(given, data, known, store.listings, search_around=search_around)
    made = graph(universe | _opened(given, store), data, known)
    configuring_paths = {path for path, module in made.modules.items() if module.configures}
    tests = {path: _conftests(path, made, store) for path in made.modules if is_test(os.path.basename(path))}
    near = made.reaching(configuring_paths)
    near |= {path for path, before in tests.items() if not near.isdisjoint(before)}
    hot = store.leading = _leading(CONFIGURES, near, made, store)
    found = []
    contents: dict[str, str] = {}
    acting = frozenset(path for path in near if hot.on_import(path))
    settled = SettledPrograms(store, data, configuring_paths, acting)
    for path in sorted(near):
        closure = made.closure(path).union(*(made.closure(conftest) for conftest in tests.get(path, ())))
        if len(closure) == 1 or not any(made.modules[module].uses for module in closure) or given.isdisjoint(closure):
            continue
        imported = bool(made.importers.get(path))
        entry = _entry(path, data, store.listings, configures=path in configuring_paths, imported=imported)
        if entry is not None and (path in configuring_paths or _may_configure(path, closure & acting, hot, store)):
            found.append(entry)
            files = closure.union(*map(made.closure, _packages((path, *tests.get(path, ())), made)))
            for module in files - contents.keys():
                contents[module] = digest(data(module) or b"")
            store.contents[path] = {module: contents[module] for module in files}
            store.settled_by[path] = settled.files(path, closure, hot)
    # From here on the texts of thousands of modules would only take memory.
    store.forget_mentions()
    hot.forget()
    return found


def _conftests(path: str, made: Graph, store: ModuleStore) -> list[str]:
    """Return the ``conftest.py`` files that are read before a test, by their names in the graph."""
    names = (graph_name(store.name_of(conftest)) for conftest in conftests(path, store.listings))
    return [name for name in names if name in made.modules]


def _packages(paths: Iterable[str], made: Graph) -> set[str]:
    """Return the ``__init__.py`` files of the packages that files are in: they may be run before these."""
    found = set()
    for path in paths:
        directory = os.path.dirname(path)
        while (package := os.path.join(directory, "__init__.py")) in made.modules:
            found.add(package)
            if not directory:
                break
            directory = os.path.dirname(directory)
    return found


def _leading(about: re.Pattern[str], paths: set[str], made: Graph, store: ModuleStore) -> Leading:
    found = Leading(about)
    for path in sorted(paths):
        mentions = store.mentions(path)
        if mentions is not None:
            found.add(path, mentions, made.modules[path].leads_to & paths)
    found.settle()
    return found


def _universe(
    given: set[str], read: _Bytes, known: dict[str, bool], listings: Listings, *, search_around: bool
) -> set[str]:
    """Return the given files, and all files of the projects whose configuration some of them may be part of.

    Fills ``known``: which of the given files configure anything.
    """
    from tfmemlint.sources import walk
    from tfmemlint.sources.walking import Choice

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
            walked = walk([os.path.relpath(root)], Choice(kinds=(PYTHON, NOTEBOOKS)))
            files = sorted(map(os.path.normpath, walked.files))
            project = _Project(root, files, sorted(map(os.path.normpath, walked.links)))
        if len(project.files) <= LARGEST_PROJECT:
            found.update(project.files)
        if not above or project is not above[-1]:
            above.append(project)
    return found


def _below(place: str, paths: Sequence[str]) -> Sequence[str]:
    """Return those of some sorted paths that begin with ``place``."""
    return paths[bisect_left(paths, place) : bisect_left(paths, f"{place}\U0010ffff")]


@dataclass(frozen=True, slots=True)
class _Project:
    """A project that was walked through.

    Attributes:
        root: its directory. files: its files, sorted. links: links to directories that were not followed.
    """

    root: str
    files: Sequence[str]
    links: Sequence[str]

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


def _opened(given: set[str], store: ModuleStore) -> set[str]:
    """Return the files of the projects of given files that are open, which need not be on disk yet."""
    if not store.open_texts:
        return set()
    roots = {project_root(path, store.listings) for path in given}
    opened = (path for path in store.open_texts if project_root(path, store.listings) in roots)
    return {graph_name(path) for path in opened}


def _nearby(directory: str, read: _Bytes, listings: Listings) -> set[str]:
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


def _entry(path: str, read: _Bytes, listings: Listings, *, configures: bool, imported: bool) -> Entry | None:
    data = read(path)
    entry = entry_of(path, data, listings) if data is not None else None
    if entry is not None and entry.kind is Kind.SCRIPT and imported and data is not None and not says_so(data):
        # It does some work at its top, but others import it: nobody runs it by itself.
        entry = None
    return entry or console_entry(path) or (library_entry(path) if configures else None)


def _may_configure(path: str, acting: AbstractSet[str], hot: Leading, store: ModuleStore) -> bool:
    """True if code in ``path`` mentions a name by which configuring code is reached, or if some module that it imports
    configures something when it is imported: one of ``acting``."""
    module = store.mentions(path)
    if module is not None and hot.mentioned(module.whole, path):
        return True
    return not acting <= {path}


@dataclass(frozen=True, slots=True)
class _Bytes:
    """The bytes of files, of which some were read already; None for what can't be read."""

    known: Mapping[str, bytes]
    read: Callable[[str], bytes]
    notebooks: dict[str, bytes | None] = field(default_factory=dict)
    """Of notebooks, their code."""

    def __call__(self, path: str) -> bytes | None:
        if path.endswith(NOTEBOOK):
            if path not in self.notebooks:
                self.notebooks[path] = self._code(path)
            return self.notebooks[path]
        return self._read(path)

    def _read(self, path: str) -> bytes | None:
        data = self.known.get(path)
        try:
            return data if data is not None else self.read(path)
        except Unreadable:
            return None

    def _code(self, path: str) -> bytes | None:
        data = self._read(path)
        try:
            return decode(path, data).text.encode("utf-8", "surrogatepass") if data is not None else None
        except Unreadable:
            return None
