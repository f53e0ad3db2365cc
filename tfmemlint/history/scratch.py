"""Temporary folders that are removed in any case: by the run that makes them, or by the next one if that was killed."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator

from tfmemlint.fixes.write import may_run, this_machine


@contextlib.contextmanager
def scratch_folder(purpose: str) -> Iterator[str]:
    """Enter with a new temporary folder, and remove those that killed runs of the same purpose have left.

    Args:
        purpose: a word for the folder's name.
    """
    prefix = f"tfmemlint-{purpose}-{this_machine()}-"
    _sweep(prefix)
    with tempfile.TemporaryDirectory(prefix=f"{prefix}{os.getpid()}-") as directory:
        yield directory


def _sweep(prefix: str) -> None:
    """Remove the folders with a prefix that this user's processes have made which are gone."""
    name = re.compile(rf"{re.escape(prefix)}(?P<process>\d{{1,10}})-[^-]+")
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            match = name.fullmatch(entry.name)
            if match is None:
                continue
            with contextlib.suppress(OSError):
                found = os.lstat(entry.path)
                own = not hasattr(os, "getuid") or found.st_uid == os.getuid()
                if own and stat.S_ISDIR(found.st_mode) and not may_run(int(match["process"]), found.st_mtime):
                    shutil.rmtree(entry.path, ignore_errors=True)
