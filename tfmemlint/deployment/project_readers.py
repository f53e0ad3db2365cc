"""Project code that may read a variable that a configuration file sets."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from tfmemlint.knowledge.variables import shows_owner
from tfmemlint.model.configuration import SHOWN
from tfmemlint.project.listing import MARKERS
from tfmemlint.project.roots import outermost, project_root
from tfmemlint.sources.regular import read_regular
from tfmemlint.sources.walking import LEFT_OUT

_CODE = frozenset(
    {
        ".py", ".pyi", ".pyx", ".ipynb", ".c", ".cc", ".cpp", ".cu", ".h", ".hpp", ".go", ".rs", ".js", ".mjs", ".ts",
        ".java", ".scala", ".r", ".R", ".jl", ".rb", ".pl", ".lua", ".toml", ".cfg", ".ini", ".sh", ".bash", ".zsh",
        ".tpl", ".j2",
    }
)  # fmt: skip
"""Suffixes of files that may read a variable."""
_SHELLS = frozenset({".sh", ".bash", ".zsh"})
_MAX_FILES = 5_000
"""Files of a project that are searched; a larger project is assumed to read the variable."""
_MAX_FILE_BYTES = 2 * 2**20


@lru_cache(maxsize=64)
def asks(path: str, name: str) -> bool:
    """Return True if code of the project of ``path`` may read the variable ``name``."""
    wanted = name.lower().encode("utf-8", "replace")
    sets = re.compile(
        rb"""(?:environ\[['"]%(n)s['"]\]\s*=[^=]|(?:setdefault|putenv)\(\s*['"]%(n)s['"]|(?:export|env|-e)\s+%(n)s=|(?m:^)\s*#.*)"""
        % {b"n": re.escape(wanted)}
    )
    for ending, data in _files(path):
        data = data.lower()
        if wanted not in data:
            continue
        if ending in _SHELLS:
            if re.search(r"\$\{?" + re.escape(name.lower()), SHOWN.sub("", data.decode("latin-1"))):
                return True
        elif wanted in sets.sub(b"", data):
            return True
    return _is_large(path)


@lru_cache(maxsize=16)
def uses(path: str, owner: str) -> bool:
    """Return True if the project of ``path`` uses the library of ``owner``."""
    found = any(shows_owner(data.decode("latin-1"), owner) for _, data in _files(path, texts=True))
    return found or _is_large(path)


@lru_cache(maxsize=64)
def others_mention(path: str, name: str) -> bool:
    """Return True if code of the project besides that at ``path`` mentions a name; False if there is no such file."""
    own = os.path.abspath(path)
    if not os.path.isfile(own):
        return False
    mention = re.compile(rb"\b%s\b" % re.escape(name.encode("utf-8", "replace")))
    others = (each for each in _paths(_root(path) or os.path.dirname(own)) if each != own)
    return _is_large(path) or any(mention.search(data) for _, data in _read(others))


def _root(path: str) -> str | None:
    root = project_root(path)
    return None if root in outermost() else root


def _is_large(path: str) -> bool:
    return len(_paths(_root(path) or os.path.dirname(os.path.abspath(path)))) > _MAX_FILES


def _files(path: str, *, texts: bool = False) -> list[tuple[str, bytes]]:
    return list(_read(_paths(_root(path) or os.path.dirname(os.path.abspath(path))), texts=texts))


def _read(paths: Iterable[str], *, texts: bool = False) -> Iterator[tuple[str, bytes]]:
    """Yield the code among some files, and other texts if asked for, each with its suffix."""
    for file_path in itertools.islice(paths, _MAX_FILES):
        ending = os.path.splitext(file_path)[1]
        if ending not in _CODE and not (texts and ending in (".txt", ".yml", ".yaml", "")):
            continue
        try:
            if os.path.getsize(file_path) <= _MAX_FILE_BYTES:
                yield ending, read_regular(file_path, _MAX_FILE_BYTES)
        except OSError:
            continue


@lru_cache(maxsize=4)
def _paths(root: str) -> tuple[str, ...]:
    found: list[str] = []
    if not any(os.path.lexists(os.path.join(root, name)) for name in MARKERS):
        # Without a project root, the directories below may not belong together.
        try:
            return tuple(sorted(entry.path for entry in os.scandir(root) if entry.is_file()))
        except OSError:
            return ()
    for directory, directories, names in os.walk(root):
        directories[:] = sorted(name for name in directories if name not in LEFT_OUT)
        found += [os.path.join(directory, name) for name in sorted(names)]
        if len(found) > _MAX_FILES:
            break
    return tuple(found)


def reset_cache() -> None:
    """Forget all answers: files may have changed."""
    for cached in (asks, uses, others_mention, _paths):
        cached.cache_clear()
