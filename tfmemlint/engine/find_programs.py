"""Find the programs of several files that may configure GPU memory: by names and bytes alone."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from tfmemlint.engine.config_files import content_of
from tfmemlint.engine.entry_points import console_entry, library_entry
from tfmemlint.engine.named_in_settings import NamedInSettings
from tfmemlint.engine.project_files import FileBytes, any_configures, files_around
from tfmemlint.engine.settled_programs import SettledPrograms
from tfmemlint.facts.leading import Leading
from tfmemlint.facts.mentions import may_configure
from tfmemlint.interpreter.modules import ModuleStore
from tfmemlint.knowledge.configuring import SESSION_OPTIONS, WORDS
from tfmemlint.model.patterns import late_pattern
from tfmemlint.project.entries import Entry, entry_of, is_test, says_so
from tfmemlint.project.kinds import Kind
from tfmemlint.project.listing import Listings, graph_name
from tfmemlint.project.reaching import Graph, graph
from tfmemlint.project.roots import conftests, project_root

MAX_IMPORTS_IN_CIRCLE = 20_000
"""Imports within one circle of modules that are followed for the modules in it that configure GPUs: 140 modules that
all do, some seconds of processor time."""

_CALLED = re.compile(rb"fixture|\bdef pytest_")
"""Marks of a ``conftest.py`` with functions that pytest calls."""
_OF_ALL = late_pattern(b"|".join(re.escape(word.encode()) for word in WORDS if word not in SESSION_OPTIONS))
"""Finds code that configures the GPUs of the whole process, not only those of a session."""


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
    data = FileBytes(read, store.read)
    known = dict(configuring)
    universe = files_around(given, data, known, store.listings, search_around=search_around)
    universe |= _opened(given, store)
    # Where nothing configures anything, no program does, and nobody needs to know what imports what.
    settings = NamedInSettings(universe, data, store.listings)
    made = graph(universe, data, known, settings.imports) if any_configures(universe, data, known) else Graph({})
    configuring_paths = {path for path, module in made.modules.items() if module.configures}
    tests = {path: _conftests(path, made, store) for path in made.modules if is_test(os.path.basename(path))}
    near = made.reaching(configuring_paths)
    near |= {path for path, before in tests.items() if not near.isdisjoint(before)}
    hot = store.leading = _leading(may_configure, near, made, store)
    found: dict[str, Entry] = {}
    only_sessions = {path for path in configuring_paths if not _OF_ALL.search(data(path) or b"")}
    acting = frozenset(path for path in near if hot.on_import(path))
    befores = set().union(*tests.values())
    with_fixtures = {path for path in befores if path in configuring_paths and _CALLED.search(data(path) or b"")}
    for path in sorted(near):
        closure = made.closure(path).union(*(made.closure(conftest) for conftest in tests.get(path, ())))
        if len(closure) == 1 or not any(made.modules[module].uses for module in closure) or given.isdisjoint(closure):
            continue
        imported = bool(made.importers.get(path))
        entry = _entry(path, data, store.listings, configures=path in configuring_paths, imported=imported)
        if entry is not None and entry.kind is Kind.TEST and not (closure & configuring_paths) - only_sessions:
            # Tests make sessions one after the other; what is said of those of their own file is said without them.
            continue
        called = any(conftest in with_fixtures for conftest in tests.get(path, ()))
        if entry is not None and (
            called or path in configuring_paths or _may_configure(path, closure & acting, hot, store)
        ):
            found[path] = entry
    store.universe = made.modules.keys()
    store.circles = _large_circles(found, made)
    contents: dict[str, str] = {}
    settled = SettledPrograms(store, data, configuring_paths, acting)
    for path in (path for path in found if path not in store.circles):
        starts = (path, *tests.get(path, ()))
        closure = made.closure(path).union(*map(made.closure, starts))
        files = closure.union(*map(made.closure, _packages(starts, made)))
        for module in files - contents.keys():
            contents[module] = content_of(module, data(module) or b"")
        store.contents[path] = {module: contents[module] for module in files}
        if with_fixtures.isdisjoint(starts):
            store.settled_by[path] = settled.files(path, closure, hot)
    # From here on the texts of thousands of modules would only take memory.
    store.forget_mentions()
    hot.forget()
    return list(found.values())


def _large_circles(entries: Mapping[str, Entry], made: Graph) -> dict[str, int]:
    """Return the modules among ``entries``, run by nobody, that import each other in a circle which is too large.

    Each is given with the number of modules in its circle. To follow the imports of all from each of them takes the
    square of that number: what one program did in a circle is not what the next one does, which enters it elsewhere.
    """
    libraries: dict[frozenset[str], list[str]] = {}
    for path, entry in entries.items():
        if entry.kind is Kind.LIBRARY:
            libraries.setdefault(made.closure(path), []).append(path)
    found = {}
    for closure, paths in libraries.items():
        if len(paths) * len(closure) > MAX_IMPORTS_IN_CIRCLE:
            size = sum(made.closure(module) is closure for module in closure)
            if len(paths) * size > MAX_IMPORTS_IN_CIRCLE:
                found.update(dict.fromkeys(paths, size))
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


def _leading(about: Callable[[str], object], paths: set[str], made: Graph, store: ModuleStore) -> Leading:
    found = Leading(about)
    for path in sorted(paths):
        mentions = store.mentions(path)
        if mentions is not None:
            found.add(path, mentions, made.modules[path].leads_to & paths)
    found.settle()
    return found


def _opened(given: set[str], store: ModuleStore) -> set[str]:
    """Return the files of the projects of given files that are open, which need not be on disk yet."""
    if not store.open_texts:
        return set()
    roots = {project_root(path, store.listings) for path in given}
    opened = (path for path in store.open_texts if project_root(path, store.listings) in roots)
    return {graph_name(path) for path in opened}


def _entry(path: str, read: FileBytes, listings: Listings, *, configures: bool, imported: bool) -> Entry | None:
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
