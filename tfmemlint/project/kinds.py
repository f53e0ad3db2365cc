"""The ways to start a program."""

from __future__ import annotations

from enum import Enum


class Kind(str, Enum):
    """The reason why a file starts a program. ``SCRIPT``: it is run itself. ``MAIN_MODULE``: a ``__main__.py``.
    ``CONSOLE``: an installed command calls a function of it. ``TEST``: pytest imports it. ``LIBRARY``: nothing that is
    known; programs that nobody knows import it."""

    SCRIPT = "script"
    MAIN_MODULE = "main"
    CONSOLE = "console"
    TEST = "test"
    LIBRARY = "library"
