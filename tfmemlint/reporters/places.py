"""Places of findings for other programs: paths below the working directory, and addresses."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote


def relative(path: str) -> str:
    """Return a path relative to the working directory, with ``/``; an absolute one where the file is not below it."""
    if path == "-":
        return path
    found = os.path.relpath(path).replace(os.sep, "/")
    return Path(path).absolute().as_posix() if found == ".." or found.startswith("../") else found


def address(path: str) -> str:
    """Return the address of a file: relative if it is below the working directory, else ``file:///...``."""
    found = relative(path)
    return Path(path).absolute().as_uri() if Path(found).is_absolute() else quote(os.fsencode(found), safe="/~")


def here() -> str:
    """Return the address of the working directory, with ``/`` at its end."""
    return Path.cwd().as_uri() + "/"
