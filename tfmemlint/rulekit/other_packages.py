"""The modules with rules: those of the tool itself, and those that other installed packages bring."""

from __future__ import annotations

import os
import sys
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def files_of_rules() -> tuple[str, ...]:
    """Return the files of all modules with rules. The tool's own rules are not imported for that."""
    import importlib

    own = [
        os.path.join(place, name)
        for place in importlib.import_module("tfmemlint.rules").__path__
        for name in os.listdir(place)
    ]
    others = (getattr(module, "__file__", None) for module in modules_of_others())
    return (*sorted(path for path in own if path.endswith(".py")), *(path for path in others if path))


@lru_cache(maxsize=1)
def modules_of_others() -> tuple[Any, ...]:
    """Return the modules with rules that other installed packages bring."""
    if not _others_bring_rules():
        return ()
    from importlib.metadata import entry_points

    return tuple(entry.load() for entry in entry_points(group="tfmemlint.rules"))


def _others_bring_rules() -> bool:
    """Return True if some installed package has an entry point for rules.

    `importlib.metadata` could tell as well, but takes longer to import than checking a small file takes.
    """
    for directory in dict.fromkeys(sys.path):
        try:
            with os.scandir(directory or ".") as scan:
                names = [entry.name for entry in scan if entry.name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            if os.path.isfile(directory):
                # An archive: reading it takes longer.
                return True
            continue
        for name in names:
            try:
                with open(os.path.join(directory, name, "entry_points.txt"), "rb") as file:
                    if b"[tfmemlint.rules]" in file.read():
                        return True
            except OSError:
                continue
    return False
