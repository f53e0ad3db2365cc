"""The limits of a running program: memory, output, processes, and files."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import IO

from tfmemlint.verify.child.process_tree import FamilyWatch
from tfmemlint.verify.child.sandbox.enter import used_mib

MIB = 1024 * 1024
MAX_OUTPUT_MIB = 256
"""A program that prints more is killed; a bound without a deeper reason."""
MAX_PROCESSES = 256
"""A program that has more processes at a time is killed. A training has one for each reader of its data."""
MAX_WRITTEN_MIB = 16384
"""A program that writes more to its private folders is killed; a bound without a deeper reason."""
MAX_COUNTED_FILES = 20_000
"""The files of the private folders whose sizes are summed up; a bound on the time."""
DISK_SECONDS = 1.0
"""The interval at which these files are looked at: there may be many."""


class Limits:
    """Watches one program."""

    def __init__(self, host_mib: float | None, output: Sequence[IO[bytes]], scratch: str) -> None:
        """Prepare to watch.

        Args:
            host_mib: MiB of the machine's own memory that the program may take; None for any.
            output: the files of its output. scratch: its private folder.
        """
        self._host_mib, self._output, self._scratch = host_mib, output, scratch
        self._family: FamilyWatch | None = None
        self._next_disk = time.monotonic() + DISK_SECONDS

    def exceeded(self, child: int) -> str:
        """Return how a program exceeds its limits; "" if it doesn't. ``child`` is its first process."""
        if self._family is None:
            self._family = FamilyWatch(child)
        used = self._family.usage()
        if self._host_mib is not None and used.mib > self._host_mib:
            return f"took {used.mib:.0f} MiB of the machine's memory, more than the {self._host_mib:.0f} MiB allowed"
        if used.processes > MAX_PROCESSES:
            return f"started more than {MAX_PROCESSES} processes"
        printed = sum(os.fstat(stream.fileno()).st_size for stream in self._output) / MIB
        if printed > MAX_OUTPUT_MIB:
            return f"printed more than {MAX_OUTPUT_MIB} MiB"
        now = time.monotonic()
        if now > self._next_disk:
            self._next_disk = now + DISK_SECONDS
            if used_mib(self._scratch, MAX_COUNTED_FILES) > MAX_WRITTEN_MIB:
                return f"wrote more than {MAX_WRITTEN_MIB} MiB of files"
        return ""
