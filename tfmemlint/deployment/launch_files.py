"""The configuration files of a project that may set GPU variables for what they launch.

They are found by their names and bytes alone, so that nothing else is imported for a project in which no configuration
file is about GPUs.
"""

from __future__ import annotations

import os

from tfmemlint.project.listing import MARKERS
from tfmemlint.sources.kinds import SETTINGS, kind_of
from tfmemlint.sources.regular import read_regular
from tfmemlint.sources.walking import LEFT_OUT

LAUNCH_VARIABLES = ("TF_FORCE_GPU_ALLOW_GROWTH", "TF_GPU_ALLOCATOR", "CUDA_VISIBLE_DEVICES")
"""A launch matters only if it sets one of these variables."""
_MAX_PROJECT_FILES = 20_000
"""A walk stops after this many files and finds nothing: it would see only part of the configuration files."""
MAX_CONFIGURATION_BYTES = 2**20
"""A larger configuration file is not read: it was not written by hand."""


def configuration_files(root: str, kinds: frozenset[str] = SETTINGS) -> list[str]:
    """Return the configuration files of these kinds below a directory; none if none names one of `LAUNCH_VARIABLES`."""
    found: list[str] = []
    seen = 0
    marked = any(os.path.lexists(os.path.join(root, name)) for name in MARKERS)
    for directory, directories, names in os.walk(root):
        # Without a project marker, the directories below may not belong together.
        directories[:] = sorted(name for name in directories if name not in LEFT_OUT) if marked else []
        found += [os.path.join(directory, name) for name in names if kind_of(name) in kinds]
        seen += len(names) + len(directories)
        if seen > _MAX_PROJECT_FILES:
            # The files found so far are only some of the project's.
            return []
    return found if any(_names_launch_variable(path) for path in found) else []


def _names_launch_variable(path: str) -> bool:
    try:
        if os.path.getsize(path) > MAX_CONFIGURATION_BYTES:
            return False
        data = read_regular(path, MAX_CONFIGURATION_BYTES)
    except OSError:
        return False
    return any(name.encode() in data for name in LAUNCH_VARIABLES)
