"""The configuration files that a program may read, as far as its text names them: what is cached depends on them.

A program that reads a file that is not found here is not cached (`PythonFile.cacheable`, `is_covered_by_key`).
"""

from __future__ import annotations

import os
import re

from tfmemlint.engine.cache import digest
from tfmemlint.model.patterns import late_pattern
from tfmemlint.project.roots import project_root
from tfmemlint.sources.config_files.values import KINDS, MAX_CHARACTERS
from tfmemlint.sources.regular import read_regular

_ENDINGS = b"|".join(re.escape(ending).encode() for ending in KINDS)
_NAMES = late_pattern(rb"""["']([^"'\n\\]{0,200}(?:%s))["']""" % _ENDINGS)
_ends_name = re.compile(rb"""(?:%s)["']""" % _ENDINGS).search
_DOTENV = b"dotenv"
_MAX_NAMES = 30
_MAX_LEVELS = 6
"""Directories above that of a program, up to the root of its project, in which a file is looked for."""


def named_config_files(path: str, data: bytes) -> frozenset[str]:
    """Return the absolute paths of the configuration files that a program may mean by the names in its text."""
    # The whole expression tries each quote of a file; most files have no such ending.
    found = _NAMES.findall(data) if _ends_name(data) else ()
    names = list(dict.fromkeys(match.decode("utf-8", "replace") for match in found))[:_MAX_NAMES]
    if _DOTENV in data:
        names.append(".env")
    if not names:
        return frozenset()
    root = project_root(path)
    directory = os.path.dirname(os.path.abspath(path))
    bases = {root}
    for _ in range(_MAX_LEVELS):
        bases.add(directory)
        if directory == root:
            break
        directory = os.path.dirname(directory)
    places = (os.path.normpath(os.path.join(base, name)) for base in bases for name in names if not os.path.isabs(name))
    within = os.path.join(root, "")
    return frozenset(place for place in places if place.startswith(within))


def contents_of(paths: frozenset[str]) -> list[tuple[str, str]]:
    """Return the paths of configuration files, each with a name for its contents; "" for one that is not there."""
    return [(path, _content(path)) for path in sorted(paths)]


def content_of(path: str, data: bytes) -> str:
    """Return a name for the contents of a module, with those of the configuration files that it may read."""
    named = named_config_files(path, data)
    return digest(data, contents_of(named)) if named else digest(data)


def _content(path: str) -> str:
    try:
        return digest(read_regular(path, MAX_CHARACTERS + 1))
    except (OSError, ValueError):
        return ""
