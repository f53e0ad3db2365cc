"""Fill the interpreter's tables: every module of the packages below registers its handlers when it is imported.

A new module in one of them is found by itself.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil

from tfmemlint.interpreter import builtins, kinds, nodes, tensorflow


@functools.cache
def load() -> None:
    """Import all handlers, once."""
    for package in (nodes, kinds, builtins, tensorflow):
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")
