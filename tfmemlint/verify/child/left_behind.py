"""Read what a program has left behind: its report, its notes, its output, and the files that it wrote.

The program could have put anything in their place.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from tfmemlint.verify.child.sandbox.mounts import written

MAX_NOTES = 100_000
"""The notes of a program that are read; a bound without a deeper reason."""
MAX_NOTE_BYTES = 1 << 20
"""The length of a note that is read; a bound without a deeper reason."""
MAX_REPORT_BYTES = 256 << 20
"""The size of a report that is read; a bound without a deeper reason."""
SHOWN_BYTES = 256 * 1024
"""The part of each output stream that is returned; a bound for readability."""
MAX_WRITTEN_LISTED = 50
"""The files that a program wrote that are listed; a bound for readability."""
_REPORT, _NOTES, _SANDBOX = "report", "notes", "sandbox"


def notes_file(folder: Path) -> str:
    """Return the file in which a program's notes are written."""
    return str(folder / _NOTES)


def write_report(folder: Path, report: dict[str, Any]) -> None:
    """Write the report of a run, at once."""
    _write(folder, _REPORT, report)


def write_barriers(folder: Path, barriers: dict[str, Any]) -> None:
    """Write what holds the program back, before its first line runs."""
    _write(folder, _SANDBOX, barriers)


def _write(folder: Path, name: str, data: dict[str, Any]) -> None:
    unfinished = folder / f"unfinished {name}"
    unfinished.write_text(json.dumps(data), encoding="utf-8")
    unfinished.rename(folder / name)


def report_in(folder: Path) -> dict[str, Any] | None:
    """Return the report of a run; None if there is none."""
    return _json(folder / _REPORT)


def barriers_in(folder: Path) -> dict[str, Any] | None:
    """Return what held the program back, and the files that it wrote; None if it was in no sandbox."""
    found = _json(folder / _SANDBOX)
    if found is None:
        return None
    told = found.pop("layers", None)
    # The program could have rewritten it.
    layers = (
        {number: str(layer) for number, layer in told.items() if number.isdigit()} if isinstance(told, dict) else {}
    )
    files = written(str(folder), layers, MAX_WRITTEN_LISTED)
    return {**found, "kept_apart": files[:MAX_WRITTEN_LISTED], "more_kept_apart": len(files) > MAX_WRITTEN_LISTED}


def _json(path: Path) -> dict[str, Any] | None:
    with _regular(path) as file:
        if file is None:
            return None
        with contextlib.suppress(ValueError, RecursionError):
            found = json.loads(file.read(MAX_REPORT_BYTES))
            return found if isinstance(found, dict) else None
    return None


def notes_in(folder: Path) -> list[dict[str, Any]]:
    """Return the notes of a program. The last one may have been cut off."""
    found: list[dict[str, Any]] = []
    with _regular(folder / _NOTES) as file:
        lines = iter(lambda: file.readline(MAX_NOTE_BYTES), b"") if file is not None else iter(())
        for line in itertools.islice(lines, MAX_NOTES):
            with contextlib.suppress(ValueError, RecursionError):
                found.append(json.loads(line))
    return found


@contextlib.contextmanager
def _regular(path: Path) -> Iterator[IO[bytes] | None]:
    """Open a file for reading; None if it isn't one, but a link, a pipe or the like, or absent."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        yield None
        return
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        yield None
        return
    with os.fdopen(descriptor, "rb") as file:
        yield file


def said(stream: IO[bytes]) -> str:
    """Return the output of a program; if there is too much, its beginning and its end."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    if size <= SHOWN_BYTES:
        return stream.read().decode("utf-8", "replace")
    start = stream.read(SHOWN_BYTES // 2)
    stream.seek(-SHOWN_BYTES // 2, os.SEEK_END)
    between = f"\n[{size - SHOWN_BYTES} bytes left out]\n"
    return start.decode("utf-8", "replace") + between + stream.read().decode("utf-8", "replace")


def remove(folder: Path) -> None:
    """Remove the private folder of a run, also what may not be entered."""

    def again(_function: Callable[..., Any], path: str, _error: Any) -> None:
        place = Path(path)
        with contextlib.suppress(OSError):
            place.parent.chmod(0o700)
            if place.is_dir() and not place.is_symlink():
                place.chmod(0o700)
                shutil.rmtree(place, ignore_errors=True)
            else:
                place.unlink()

    if sys.version_info >= (3, 12):
        shutil.rmtree(folder, onexc=again)
    else:
        shutil.rmtree(folder, onerror=again)
