"""The modules that files of settings may name, which a program imports by names that it reads there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection
from functools import cached_property

from tfmemlint.engine.config_files import named_config_files
from tfmemlint.project.imports import Imported, named_modules
from tfmemlint.project.listing import Listings
from tfmemlint.project.roots import project_root
from tfmemlint.sources.config_files.values import MAX_CHARACTERS
from tfmemlint.sources.regular import read_regular

_MOST_FILES = 30
"""Files of settings of one project that are read."""


class NamedInSettings:
    """The names in the files of settings that any module of a project reads: what imports a module by such a name may
    have it from another module."""

    def __init__(self, paths: Collection[str], read: Callable[[str], bytes | None], listings: Listings) -> None:
        self._paths = paths
        self._read = read
        self._listings = listings
        self._roots: dict[str, str] = {}
        self._known: dict[str, tuple[Imported, ...]] = {}

    def imports(self, path: str) -> tuple[Imported, ...]:
        """Return an import of each module that is named in a file of settings of the project of ``path``."""
        root = self._root(path)
        if root not in self._known:
            self._known[root] = self._found(root)
        return self._known[root]

    def _root(self, path: str) -> str:
        """Return the root of the project of a file: all files of a directory have the same one."""
        directory = os.path.dirname(path)
        if directory not in self._roots:
            self._roots[directory] = project_root(path, self._listings)
        return self._roots[directory]

    @cached_property
    def _by_root(self) -> dict[str, list[str]]:
        """The files of each project."""
        found: dict[str, list[str]] = {}
        for path in sorted(self._paths):
            found.setdefault(self._root(path), []).append(path)
        return found

    def _found(self, root: str) -> tuple[Imported, ...]:
        files: dict[str, None] = {}
        for path in self._by_root.get(root, ()):
            data = self._read(path)
            if data is not None:
                files |= dict.fromkeys(sorted(named_config_files(path, data)))
        found: dict[Imported, None] = {}
        for file in list(files)[:_MOST_FILES]:
            with contextlib.suppress(OSError, ValueError):
                found |= dict.fromkeys(named_modules(read_regular(file, MAX_CHARACTERS + 1)))
        return tuple(found)
