"""The launches of a program by the configuration files of its project, read once for each project."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tfmemlint.deployment.launch_files import configuration_files
from tfmemlint.deployment.launch_files import reset_cache as forget_files
from tfmemlint.project.roots import outermost, project_root
from tfmemlint.sources.kinds import SETTINGS

if TYPE_CHECKING:
    from tfmemlint.deployment.launches import Launch

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
        files = configuration_files(root, kinds)
        if files:
            from tfmemlint.deployment.launches import launches_of as found

            _known[key] = found(files)
        else:
            _known[key] = {}
    return _known[key].get(place, ())


def reset_cache() -> None:
    """Forget all launches: files may have changed."""
    _known.clear()
    forget_files()
