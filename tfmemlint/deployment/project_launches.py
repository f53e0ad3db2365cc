"""The configuration files of a program's project: looked for once for each project, by their names and bytes alone, so
that nothing is imported where none of them has to do with GPUs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tfmemlint.project.listing import MARKERS
from tfmemlint.project.roots import outermost, project_root
from tfmemlint.sources.kinds import SETTINGS, kind_of
from tfmemlint.sources.walking import LEFT_OUT

if TYPE_CHECKING:
    from tfmemlint.deployment.launches import Launch

NAMES = ("TF_FORCE_GPU_ALLOW_GROWTH", "TF_GPU_ALLOCATOR", "CUDA_VISIBLE_DEVICES")
"""Variables of which one has to be set for a start to matter."""
_MOST = 20_000
"""Files of a project; of a larger one its configuration files are not looked for."""
LARGEST = 2**20
"""Bytes of a configuration file that is read."""

_known: dict[tuple[str, frozenset[str]], dict[str, tuple[Launch, ...]]] = {}


def launches_of(path: str, kinds: frozenset[str] = SETTINGS) -> tuple[Launch, ...]:
    """Return the environments in which its project's files of these kinds start a program (`launches_of`)."""
    kinds &= SETTINGS
    if not kinds:
        return ()
    place = os.path.normpath(os.path.abspath(path))
    root = project_root(place)
    if root in outermost():
        return ()
    key = root, kinds
    if key not in _known:
        files = configuring(root, kinds)
        if files:
            from tfmemlint.deployment.launches import launches_of as found

            _known[key] = found(files)
        else:
            _known[key] = {}
    return _known[key].get(place, ())


def reset_cache() -> None:
    """Forget what is known: files may have changed."""
    _known.clear()


def configuring(root: str, kinds: frozenset[str] = SETTINGS) -> list[str]:
    """The configuration files of these kinds below a directory; none where none of them has a variable that matters."""
    found: list[str] = []
    seen = 0
    marked = any(os.path.lexists(os.path.join(root, name)) for name in MARKERS)
    for directory, directories, names in os.walk(root):
        # Where nothing says that it is a project, what is below is another matter.
        directories[:] = sorted(one for one in directories if one not in LEFT_OUT) if marked else []
        found += [os.path.join(directory, name) for name in names if kind_of(name) in kinds]
        seen += len(names) + len(directories)
        if seen > _MOST:
            # What is there of such a project is not the whole of it.
            return []
    return found if any(_names_one(path) for path in found) else []


def _names_one(path: str) -> bool:
    try:
        if os.path.getsize(path) > LARGEST:
            return False
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return False
    return any(name.encode() in data for name in NAMES)
