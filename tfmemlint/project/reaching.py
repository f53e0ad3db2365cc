"""The imports between modules, as far as names tell: the programs that may reach those that configure GPU memory.

Nothing is run and nothing is parsed: a module counts as imported wherever an import *may* mean it, so that too much is
looked at later rather than too little. Where an import really leads is for `SearchPath` to say.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field

from tfmemlint.facts.prefilter import configures
from tfmemlint.model.patterns import late_pattern
from tfmemlint.model.records import dataclass
from tfmemlint.project.imports import Imported, computes_imports, scan

_ABOUT = (b"tensorflow", b"keras")
_IMPORTS = late_pattern(
    rb"\b(?:import|from)[ \t]+[\w.]{0,99}(?:tensorflow|keras)"
    rb"|\b(?:import|from)\b[^\n]{0,200},[ \t]*(?:tensorflow|keras)"
    rb"|[\"'](?:tensorflow|keras|tf_keras)[\"'.]|^[ \t]+(?:tensorflow|keras)\b",
    re.MULTILINE,
)
"""Finds what may import TensorFlow or Keras, by name, by a text, or in brackets over several lines. A project that only
mentions them, since it is written for another library, has no program that starts the runtime."""


@dataclass(slots=True)
class Module:
    """One file of a project: what it may import, whether it configures anything, whether it uses TensorFlow."""

    path: str
    imports: tuple[Imported, ...]
    configures: bool
    uses: bool
    leads_to: frozenset[str] = frozenset()


@dataclass(slots=True)
class Graph:
    """The modules of some files, by path; edges go from what imports to what is imported."""

    modules: Mapping[str, Module]
    importers: dict[str, set[str]] = field(default_factory=dict)
    _closures: dict[str, frozenset[str]] = field(default_factory=dict)

    def reaching(self, paths: Iterable[str]) -> set[str]:
        """The files from which some of ``paths`` may be imported, directly or through others, these included."""
        found = set(paths)
        pending = list(found)
        while pending:
            for other in self.importers.get(pending.pop(), ()):
                if other not in found:
                    found.add(other)
                    pending.append(other)
        return found

    def closure(self, path: str) -> frozenset[str]:
        """All that a program which starts in ``path`` may import, itself included."""
        if path not in self._closures:
            self._find_closures(path)
        return self._closures[path]

    def _find_closures(self, start: str) -> None:
        """Find the closure of a file, and of all that it leads to.

        Files that import each other have the same one, which is found once (Tarjan's strongly connected components).
        """
        index: dict[str, int] = {}
        low: dict[str, int] = {}
        open_: list[str] = []
        waiting: set[str] = set()
        stack = [(start, iter(self.modules[start].leads_to))]
        index[start] = low[start] = 0
        open_.append(start)
        waiting.add(start)
        while stack:
            path, others = stack[-1]
            inner = next((other for other in others if other not in self._closures), None)
            if inner is None:
                stack.pop()
                if stack:
                    outer = stack[-1][0]
                    low[outer] = min(low[outer], low[path])
                if low[path] == index[path]:
                    self._close(open_, waiting, path)
            elif inner not in index:
                index[inner] = low[inner] = len(index)
                open_.append(inner)
                waiting.add(inner)
                stack.append((inner, iter(self.modules[inner].leads_to)))
            elif inner in waiting:
                low[path] = min(low[path], index[inner])

    def _close(self, open_: list[str], waiting: set[str], root: str) -> None:
        """Give all files that import each other, of which ``root`` was found first, their closure."""
        members: list[str] = []
        while not members or members[-1] != root:
            members.append(open_.pop())
        waiting.difference_update(members)
        found = set(members)
        for member in members:
            for other in self.modules[member].leads_to:
                if other not in found:
                    found |= self._closures[other]
        closure = frozenset(found)
        for member in members:
            self._closures[member] = closure


def graph(
    paths: Iterable[str],
    read: Callable[[str], bytes | None],
    known: Mapping[str, bool] | None = None,
    in_settings: Callable[[str], Iterable[Imported]] | None = None,
) -> Graph:
    """The graph of these files.

    Args:
        known: which of them configure anything, as far as that was found out before.
        in_settings: yields the modules that files of settings may name, for a file that imports by a computed name.
    """
    known = known or {}
    modules: dict[str, Module] = {}
    for path in paths:
        data = read(path)
        if data is not None:
            uses = any(word in data for word in _ABOUT) and _IMPORTS.search(data) is not None
            sets = known[path] if path in known else configures(data)
            imports = scan(data)
            if in_settings is not None and computes_imports(data):
                imports = (*imports, *in_settings(path))
            modules[path] = Module(path, imports, sets, uses)
    by_name: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for path in modules:
        parts = _parts(path)
        # Nothing imports a notebook.
        if parts and not path.endswith(".ipynb"):
            by_name.setdefault(parts[-1], []).append((parts, path))
    made = Graph(modules)
    for path, module in modules.items():
        module.leads_to = frozenset(_targets(path, module.imports, by_name)) - {path}
        for other in module.leads_to:
            made.importers.setdefault(other, set()).add(path)
    return made


def _parts(path: str) -> tuple[str, ...]:
    """``core/model.py`` as ``("core", "model")``, a package by its directory."""
    stem, _ = os.path.splitext(path)
    parts = [part for part in stem.replace(os.sep, "/").split("/") if part not in ("", ".")]
    return tuple(parts[:-1] if parts[-1:] == ["__init__"] else parts)


def _targets(
    path: str, imports: tuple[Imported, ...], by_name: Mapping[str, list[tuple[tuple[str, ...], str]]]
) -> Iterable[str]:
    here = _parts(path)
    package = here if path.endswith("__init__.py") else here[:-1]
    for imported in imports:
        module = tuple(imported.module.split(".")) if imported.module else ()
        if imported.level:
            if imported.level - 1 > len(package):
                continue
            base = package[: len(package) - imported.level + 1] + module
            names = [base, *((*base, name) for name in imported.names if name != "*")]
            for name in names:
                yield from _at(name, by_name)
            continue
        for length in range(1, len(module) + 1):
            yield from _ending_in(module[:length], package, by_name)
        for inner in imported.names:
            if inner != "*":
                yield from _ending_in((*module, inner), package, by_name)


def _at(parts: tuple[str, ...], by_name: Mapping[str, list[tuple[tuple[str, ...], str]]]) -> Iterable[str]:
    """The file of exactly this place."""
    for known, path in by_name.get(parts[-1], ()) if parts else ():
        if known == parts:
            yield path


def _ending_in(
    module: tuple[str, ...], package: tuple[str, ...], by_name: Mapping[str, list[tuple[tuple[str, ...], str]]]
) -> Iterable[str]:
    """The files that an absolute import of this name may mean: below a directory above the importing file, or below
    one beside such a directory (``src``, or that of the script that is run)."""
    size = len(module)
    for known, path in by_name.get(module[-1], ()):
        if known[-size:] == module:
            above = known[:-size]
            if above == package[: len(above)] or above[:-1] == package[: len(above) - 1]:
                yield path
