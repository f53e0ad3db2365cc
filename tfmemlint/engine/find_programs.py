"""Where the programs of several files start that may configure GPU memory: by names and bytes alone."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tfmemlint.engine.cache import digest
from tfmemlint.engine.run import FEW_FILES
from tfmemlint.facts.mentions import CONFIGURES, Leading
from tfmemlint.facts.prefilter import about_tensorflow, configures
from tfmemlint.interpreter.modules import Texts
from tfmemlint.project.entries import Entry, console_scripts, entry_of, is_test, says_so
from tfmemlint.project.imports import scan
from tfmemlint.project.kinds import Kind
from tfmemlint.project.listing import Listings
from tfmemlint.project.reaching import LARGEST_PROJECT, Graph, graph
from tfmemlint.project.roots import conftests, package_root, project_root, search_path
from tfmemlint.sources import Unreadable, decode, read_bytes
from tfmemlint.sources.kinds import NOTEBOOK as NOTEBOOKS
from tfmemlint.sources.kinds import PYTHON
from tfmemlint.sources.text import NOTEBOOK


def starting(
    texts: Texts, paths: Sequence[str], read: Mapping[str, bytes] | None = None, sets: Mapping[str, bool] | None = None
) -> list[Entry]:
    """The programs of several files that have to do with ``paths`` and may configure something; ``read`` are files that
    were read already, and ``sets`` which of them configure something by themselves.

    Those that start in one of these files, or import one of them; such a file itself, if it configures GPU memory and
    no program is known that starts there.
    """
    given = {os.path.normpath(path) for path in paths}
    data = _Bytes(read or {})
    known = dict(sets or {})
    made = graph(_universe(given, data, known, texts.listings), data, known)
    configuring = {path for path, module in made.modules.items() if module.configures}
    tests = {path: _conftests(path, made, texts) for path in made.modules if is_test(os.path.basename(path))}
    near = made.reaching(configuring)
    near |= {path for path, before in tests.items() if not near.isdisjoint(before)}
    scripts = _console_scripts(near)
    hot = texts.setting = _leading(CONFIGURES, near, made, texts)
    found = []
    contents: dict[str, str] = {}
    for path in sorted(near):
        closure = made.closure(path).union(*(made.closure(one) for one in tests.get(path, ())))
        if len(closure) == 1 or not any(made.modules[one].uses for one in closure) or given.isdisjoint(closure):
            continue
        imported = bool(made.importers.get(path))
        entry = _entry(path, data, scripts, texts.listings, configures=path in configuring, imported=imported)
        if entry is not None and (path in configuring or _may_configure(path, closure & near, hot, texts)):
            found.append(entry)
            for one in closure - contents.keys():
                contents[one] = digest(data(one) or b"")
            texts.contents[path] = {one: contents[one] for one in closure}
    # From here on the texts of thousands of modules would only lie there.
    texts.forget_mentions()
    hot.forget()
    return found


def _conftests(path: str, made: Graph, texts: Texts) -> list[str]:
    """The ``conftest.py`` files that are read before a test, as the graph has them."""
    here = (os.path.normpath(texts.called(one)) for one in conftests(path, texts.listings))
    return [one for one in here if one in made.modules]


def _leading(about: re.Pattern[str], paths: set[str], made: Graph, texts: Texts) -> Leading:
    found = Leading(about)
    for path in sorted(paths):
        mentions = texts.mentions(path)
        if mentions is not None:
            found.add(path, mentions, made.modules[path].leads_to & paths)
    found.settle()
    return found


def _universe(given: set[str], read: _Bytes, known: dict[str, bool], listings: Listings) -> set[str]:
    """All that is given, and all files of the projects that some of it may be part of the configuration of; tells
    which of what is given configures anything."""
    from tfmemlint.sources import walk

    found = set(given)
    few = len(given) <= FEW_FILES
    roots: set[str] = set()
    for path in given:
        data = read(path)
        if data is None:
            continue
        if path not in known:
            known[path] = configures(data)
        if known[path] or (few and (about_tensorflow(data) or _imports_own(path, data, listings))):
            roots.add(project_root(path, listings))
    for root in sorted(roots):
        files = walk([os.path.relpath(root)], kinds=(PYTHON, NOTEBOOKS)).files
        if len(files) <= LARGEST_PROJECT:
            found.update(os.path.normpath(file) for file in files)
    return found


def _imports_own(path: str, data: bytes, listings: Listings) -> bool:
    """Whether a file imports anything of its own project."""
    search = search_path(path, kind=Kind.SCRIPT, data=data, listings=listings)
    return any(one.level or search.locate(one.module.split(".")[0]) is not None for one in scan(data))


def _entry(
    path: str, read: _Bytes, scripts: Mapping[str, str], listings: Listings, *, configures: bool, imported: bool
) -> Entry | None:
    data = read(path)
    entry = entry_of(path, data, listings) if data is not None else None
    if entry is not None and entry.kind is Kind.SCRIPT and imported and data is not None and not says_so(data):
        # It does some work at its top, but others import it: nobody runs it by itself.
        entry = None
    module = package_root(path)[1]
    if entry is None and path in scripts:
        return Entry(Kind.CONSOLE, path, module, scripts[path])
    if entry is None and configures:
        return Entry(Kind.LIBRARY, path, module)
    return entry


def _console_scripts(paths: Iterable[str]) -> dict[str, str]:
    """The functions that console scripts call, by the files that they are in."""
    found: dict[str, str] = {}
    for path in paths:
        name = package_root(path)[1]
        for module, function in console_scripts(project_root(path)):
            if module == name:
                found.setdefault(path, function)
    return found


def _may_configure(path: str, near: Iterable[str], hot: Leading, texts: Texts) -> bool:
    """Whether code in ``path`` mentions a name by which configuring code is reached, or some module that it imports
    configures something when it is imported."""
    module = texts.mentions(path)
    if module is not None and hot.mentioned(module.whole, path):
        return True
    return any(hot.on_import(one) for one in near if one != path)


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
