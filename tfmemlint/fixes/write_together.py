"""Several files are replaced together: an interrupted run leaves all of them old, or the next run completes them.

First all new texts are written beside their files, then a journal that names them, then each is renamed onto its file,
and the journal is removed. A run that is killed before the journal is there has changed nothing; one that is killed
later leaves a journal, by which the next run in that place finishes the renaming, unless somebody has changed a file.

A journal may be a part of a tree that a stranger made. It is followed only within its project, and for files with the
names that this tool gives: nothing else is replaced, removed or read.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tfmemlint.fixes.write import ChangedError, is_litter, prepare_file, replace_file, sweep, this_machine
from tfmemlint.project.roots import project_root
from tfmemlint.sources.regular import Unreadable, read_bytes, read_regular
from tfmemlint.sources.walking import LITTER

_MAX_JOURNAL_BYTES = 4 * 2**20
"""Some 10,000 files; each takes the bytes of two paths."""
JOURNAL = ".tfmemlint-journal.json"


def replace_together(changes: Sequence[tuple[str, bytes, bytes]]) -> None:
    """Replace the content of files, all of them or none.

    Args:
        changes: each file with the content that is expected in it, and the new one.

    Raises:
        ChangedError: a file has another content by now; its text is the path.
        OSError: a file can't be replaced. In either case all files are as they were.
    """
    # A file that stays as it is would count as one that could not be replaced.
    changes = [change for change in changes if change[1] != change[2]]
    if not changes:
        return
    if len(changes) == 1:
        ((path, old, new),) = changes
        try:
            replace_file(path, new, expected=old)
        except ChangedError as error:
            raise ChangedError(path) from error
        return
    for directory in {Path(path).resolve().parent for path, _, _ in changes}:
        complete_journal(directory)
    prepared: list[tuple[str, Path]] = []
    journal: Path | None = None
    try:
        prepared.extend((prepare_file(path, new, expected=old), Path(path).resolve()) for path, old, new in changes)
        journal = _write_journal(prepared, changes)
    except BaseException:
        for name, _ in prepared:
            with contextlib.suppress(OSError):
                Path(name).unlink()
        raise
    outcome = _complete(journal)
    if len(outcome.done) < len(changes):
        _take_back(outcome, prepared, changes, journal)


def _take_back(
    outcome: _Outcome,
    prepared: Sequence[tuple[str, Path]],
    changes: Sequence[tuple[str, bytes, bytes]],
    journal: Path,
) -> None:
    """Give the files that were replaced their old content again, because another file could not be replaced.

    Raises:
        ChangedError: somebody has changed a file while the new texts were written.
        OSError: a file could not be replaced.
    """
    for (name, target), (path, old, new) in zip(prepared, changes, strict=True):
        with contextlib.suppress(OSError, ChangedError):
            if str(target) in outcome.done:
                replace_file(path, old, expected=new)
            Path(name).unlink(missing_ok=True)
    journal.unlink(missing_ok=True)
    if outcome.failed is not None:
        raise outcome.failed
    for path, old, _ in changes:
        try:
            same = read_bytes(Path(path)) == old
        except Unreadable:
            same = False
        if not same:
            raise ChangedError(path)
    raise OSError(errno.EIO, "the files could not be replaced")


def finish_interrupted(litter: Sequence[str]) -> None:
    """Complete what a killed run has begun, and remove what it has left; ``litter``: the files that a walk found."""
    # The journals come first: they need the files that are swept then.
    for path in litter:
        directory, _, name = path.rpartition("/")
        if name == JOURNAL:
            complete_journal(directory or ".")
    for path in litter:
        sweep(path)


def _write_journal(prepared: Sequence[tuple[str, Path]], changes: Sequence[tuple[str, bytes, bytes]]) -> Path:
    """Write down what is to be renamed, in the directory that all files are in: it is within their project."""
    entries = [
        {"new": name, "file": str(target), "old_digest": _digest(old), "new_digest": _digest(new)}
        for (name, target), (_, old, new) in zip(prepared, changes, strict=True)
    ]
    journal = Path(os.path.commonpath([str(target.parent) for _, target in prepared])) / JOURNAL
    handle, name = tempfile.mkstemp(
        prefix=f"{LITTER}{this_machine()}-{os.getpid()}-", suffix=".tmp", dir=journal.parent
    )
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"machine": this_machine(), "files": entries}, file)
            file.flush()
            os.fsync(file.fileno())
        # Fails if another run's journal is there: it has to be completed first.
        os.link(name, journal)
    finally:
        Path(name).unlink(missing_ok=True)
    return journal


def complete_journal(directory: str | os.PathLike[str]) -> list[str]:
    """Complete what a killed run has begun in a directory, and return the files that were replaced by it now."""
    journal = Path(os.path.realpath(directory)) / JOURNAL
    return _complete(journal).done if journal.is_file() and not journal.is_symlink() else []


class _Outcome(NamedTuple):
    """The files that were replaced, and the first error of one that was not."""

    done: list[str]
    failed: OSError | None = None


def _complete(journal: Path) -> _Outcome:
    """Rename the new files onto the old ones, and remove the journal. A file that somebody has changed is left.

    Where a file can't be replaced, the journal stays for another try.
    """
    try:
        data = json.loads(read_regular(journal, _MAX_JOURNAL_BYTES))
        entries = [(Path(e["new"]), Path(e["file"]), e["old_digest"], e["new_digest"]) for e in data["files"]]
        if data["machine"] != this_machine():
            return _Outcome([])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return _Outcome([])
    root = os.path.realpath(project_root(str(journal)))
    entries = [entry for entry in entries if _is_own(entry[0], entry[1], root)]
    states = [_state(new, file, old, digest) for new, file, old, digest in entries]
    # Somebody has changed a file since: if nothing was replaced yet, nothing is.
    given_up = "changed" in states and "done" not in states
    done: list[str] = []
    failed: OSError | None = None
    for (new, file, _, _), state in zip(entries, states, strict=True):
        if state != "ready" or given_up:
            with contextlib.suppress(OSError):
                new.unlink()
            continue
        try:
            new.replace(file)
        except OSError as error:
            failed = failed or error
        else:
            done.append(str(file))
    if failed is None:
        journal.unlink(missing_ok=True)
    return _Outcome(done, failed)


def _is_own(new: Path, file: Path, root: str) -> bool:
    """True if this tool may have written a new text beside a file of a project; neither may be a link to elsewhere."""
    try:
        plain = os.path.realpath(new) == str(new) and os.path.realpath(file) == str(file)
        return plain and new.parent == file.parent and file.is_relative_to(root) and is_litter(new)
    except ValueError:
        return False  # no name of a file


def _state(new: Path, file: Path, old_digest: str, new_digest: str) -> str:
    """Return how far one file is: ``ready`` to be replaced, ``done``, or ``changed`` by somebody since."""
    try:
        content = _digest(read_bytes(file))
        if content == new_digest:
            return "done"
        ready = content == old_digest and _digest(read_bytes(new)) == new_digest
    except Unreadable:
        return "changed"
    return "ready" if ready else "changed"


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
