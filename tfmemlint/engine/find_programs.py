"""Find the programs of several files that may configure GPU memory: by names and bytes alone."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tfmemlint.engine.cache import digest
from tfmemlint.engine.entry_points import console_entry, library_entry
from tfmemlint.facts.mentions import CONFIGURES, Leading
from tfmemlint.facts.prefilter import about_tensorflow, configures
from tfmemlint.interpreter.modules import ModuleStore
from tfmemlint.project.entries import Entry, entry_of, is_test, says_so
from tfmemlint.project.imports import scan
from tfmemlint.project.kinds import Kind
from tfmemlint.project.listing import Listings
from tfmemlint.project.reaching import LARGEST_PROJECT, Graph, graph
from tfmemlint.project.roots import conftests, project_root, search_path
from tfmemlint.sources import Unreadable, decode, read_bytes
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
    given = {os.path.normpath(path) for path in paths}
    data = _Bytes(read)
    known = dict(configuring)
    made = graph(_universe(given, data, known, store.listings, search_around=search_around), data, known)
    configuring_paths = {path for path, module in made.modules.items() if module.configures}
    tests = {path: _conftests(path, made, store) for path in made.modules if is_test(os.path.basename(path))}
    near = made.reaching(configuring_paths)
    near |= {path for path, before in tests.items() if not near.isdisjoint(before)}
    hot = store.leading = _leading(CONFIGURES, near, made, store)
    found = []
    contents: dict[str, str] = {}
    for path in sorted(near):
        closure = made.closure(path).union(*(made.closure(conftest) for conftest in tests.get(path, ())))
        if len(closure) == 1 or not any(made.modules[module].uses for module in closure) or given.isdisjoint(closure):
            continue
        imported = bool(made.importers.get(path))
        entry = _entry(path, data, store.listings, configures=path in configuring_paths, imported=imported)
        if entry is not None and (path in configuring_paths or _may_configure(path, closure & near, hot, store)):
            found.append(entry)
            for module in closure - contents.keys():
                contents[module] = digest(data(module) or b"")
            store.contents[path] = {module: contents[module] for module in closure}
    # From here on the texts of thousands of modules would only take memory.
    store.forget_mentions()
    hot.forget()
    return found


def _conftests(path: str, made: Graph, store: ModuleStore) -> list[str]:
    """Return the ``conftest.py`` files that are read before a test, by their names in the graph."""
    names = (os.path.normpath(store.name_of(conftest)) for conftest in conftests(path, store.listings))
    return [name for name in names if name in made.modules]


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

    found = set(given)
    roots: set[str] = set()
    for path in given:
        data = read(path)
        if data is None:
            continue
        if path not in known:
            known[path] = configures(data)
        if known[path] or (search_around and (about_tensorflow(data) or _imports_own(path, data, listings))):
            roots.add(project_root(path, listings))
    for root in sorted(roots):
        files = walk([os.path.relpath(root)], kinds=(PYTHON, NOTEBOOKS)).files
        if len(files) <= LARGEST_PROJECT:
            found.update(os.path.normpath(file) for file in files)
    return found


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


def _may_configure(path: str, near: Iterable[str], hot: Leading, store: ModuleStore) -> bool:
    """True if code in ``path`` mentions a name by which configuring code is reached, or if some module that it imports
    configures something when it is imported."""
    module = store.mentions(path)
    if module is not None and hot.mentioned(module.whole, path):
        return True
    return any(hot.on_import(other) for other in near if other != path)


@dataclass(frozen=True, slots=True)
class _Bytes:
    """The bytes of files, of which some were read already; None for what can't be read."""

    known: Mapping[str, bytes]
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
            return data if data is not None else read_bytes(path)
        except Unreadable:
            return None

    def _code(self, path: str) -> bytes | None:
        data = self._read(path)
        try:
            return decode(path, data).text.encode("utf-8", "surrogatepass") if data is not None else None
        except Unreadable:
            return None
