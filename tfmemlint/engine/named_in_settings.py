"""The modules that files of settings may name, which a program imports by names that it reads there."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection

from tfmemlint.engine.config_files import named_config_files
from tfmemlint.project.imports import Imported, named_modules
from tfmemlint.project.roots import project_root
from tfmemlint.sources.config_files.values import MAX_CHARACTERS
from tfmemlint.sources.regular import read_regular

_MOST_FILES = 30
"""Files of settings of one project that are read."""


class NamedInSettings:
    """What the files of settings that any module of a project reads may name: a module that imports by such a name may
    be given it by another one."""

    def __init__(self, paths: Collection[str], read: Callable[[str], bytes | None]) -> None:
        self._paths = paths
        self._read = read
        self._known: dict[str, tuple[Imported, ...]] = {}

    def imports(self, path: str) -> tuple[Imported, ...]:
        """Return an import of each module that is named in a file of settings of the project of ``path``."""
        root = project_root(path)
        if root not in self._known:
            self._known[root] = self._found(root)
        return self._known[root]

    def _found(self, root: str) -> tuple[Imported, ...]:
        files: dict[str, None] = {}
        for path in sorted(self._paths):
            data = self._read(path)
            if data is not None and project_root(path) == root:
                files |= dict.fromkeys(sorted(named_config_files(path, data)))
        found: dict[Imported, None] = {}
        for file in list(files)[:_MOST_FILES]:
            with contextlib.suppress(OSError, ValueError):
                found |= dict.fromkeys(named_modules(read_regular(file, MAX_CHARACTERS + 1)))
        return tuple(found)
