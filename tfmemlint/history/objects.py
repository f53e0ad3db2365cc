"""Commits and files of a git repository, read as data by dulwich (the extra ``since``).

git is never run. Of dulwich, only its readers of objects and references are used, which read the files below ``.git``:
not its `Repo`, so that no configuration of the repository is looked at, and with it no hook, filter, alias, helper,
included file or promised remote. An object that is not there is an error, never a reason to ask for it.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

from tfmemlint.fixes.git import repository_of
from tfmemlint.history.errors import LIMIT_BYTES, HistoryError, TooLargeError
from tfmemlint.sources.kinds import kind_of

__all__ = ["History", "HistoryError", "PastFile", "is_read"]
if TYPE_CHECKING:
    from dulwich.repo import BaseRepo

MISSING = "needs the package dulwich: pip install 'tfmemlint[since]'"
_STEPS = re.compile(r"([^~^]*)((?:[~^]\d{0,6})*)")
_STEP = re.compile(r"([~^])(\d*)")
"""Find the way from a commit to one of those before it: ``~2``, ``^``."""
_READ = frozenset({".cfg", ".ini", ".lock", ".toml", ".txt", ""})
"""The endings of configurations and requirements; that of scripts without one."""
MAX_FILES = 1_000_000
"""Files of a commit. A few trees that name each other ten times each are any number of files."""
MAX_WRITTEN_BYTES = 4 * 2**30
"""Bytes of all files of a commit that are written: one content can be that of many files."""
_NEVER = frozenset({"", ".", "..", ".git"})
"""Parts of names that no commit of git's own making has, and that would lead out of a folder, or into ``.git``."""


@dataclass(frozen=True, slots=True)
class PastFile:
    """One file of a commit.

    Attributes:
        path: relative to the top of the working tree, with ``/``.
        mode: as git has it: a regular file, a link, or a commit of a submodule.
        content: the name of its content.
    """

    path: str
    mode: int
    content: Any


class History:
    """The commits of the repository whose working tree a path is in.

    Attributes:
        root: the top of the working tree, without links.
    """

    def __init__(self, path: str) -> None:
        """Open the repository.

        Raises:
            HistoryError: the path is in no repository, or dulwich is not installed.
        """
        found = repository_of(os.path.join(os.path.realpath(path), "x"))
        if found is None:
            raise HistoryError(f"{path}: is in no git repository")
        self.root = os.path.realpath(found.root)
        self._repo = _open(found.directory, found.common, found.digest_name)

    @classmethod
    def of_bare(cls, directory: str) -> History:
        """Open a repository without a working tree.

        Raises:
            HistoryError: dulwich is not installed.
        """
        made = cls.__new__(cls)
        made.root, made._repo = "", _open(directory, directory, "sha1")
        return made

    def commit(self, revision: str) -> str:
        """Return the name of the commit that a revision means: a branch, a tag, ``HEAD~2``, a digest.

        Raises:
            HistoryError: it means none, or its commit is not there.
        """
        from dulwich.objectspec import parse_commit

        with _errors(f"{revision}: no such commit here"):
            parts = _STEPS.fullmatch(revision)
            name, steps = parts.groups() if parts is not None else (revision, "")
            found = parse_commit(self._repo, name or "HEAD" if steps else name)
            for kind, number in _STEP.findall(steps):
                count = int(number or 1)
                for index in [count - 1] if kind == "^" and count else [0] * (count if kind == "~" else 0):
                    found = parse_commit(self._repo, found.parents[index])
            return found.id.decode()

    def base(self, revision: str) -> str:
        """Return the commit from which the checked-out branch and a revision went their own ways.

        It is the commit of the revision itself where none is known: in a clone without its past.

        Raises:
            HistoryError: the revision means no commit.
        """
        from dulwich.graph import find_merge_base

        other = self.commit(revision)
        try:
            own = self.commit("HEAD")
            bases = find_merge_base(self._repo, [own.encode(), other.encode()])  # type: ignore[list-item]
        except Exception:  # a commit that a shallow clone lacks, in whatever way that is said
            return other
        return bases[0].decode() if bases else other

    def files(self, commit: str) -> list[PastFile]:
        """Return the files of a commit.

        Raises:
            HistoryError: a part of it is not there.
        """
        from dulwich.object_store import iter_tree_contents

        with _errors(f"{commit}: not all of it is here"):
            tree = self._repo[commit.encode()].tree  # type: ignore[attr-defined]
            store = self._repo.object_store
            found = islice(iter_tree_contents(store, tree), MAX_FILES + 1)
            entries = [(entry.path, entry.mode, entry.sha) for entry in found]
            if len(entries) > MAX_FILES:
                raise HistoryError(f"{commit}: has more than {MAX_FILES} files")
            return [PastFile(os.fsdecode(path), mode, sha) for path, mode, sha in entries if path and mode]

    def read(self, file: PastFile) -> bytes:
        """Return the content of a file.

        Raises:
            HistoryError: it is not there.
        """
        with _errors(f"{file.path}: its content is not here"):
            data = self._repo.object_store[file.content].as_raw_string()
            assert isinstance(data, bytes)
            return data

    def write(self, files: list[PastFile], directory: str, wanted: Callable[[str], bool]) -> None:
        """Write files into a new directory: bytes as they are, without what git would do on a checkout.

        Files that are not wanted are written empty: that they are there may matter. Links are made where they lead to
        something in the directory; submodules are left out.

        Args:
            files: of one commit.
            directory: an empty directory, which nobody else writes to.
            wanted: True for a path whose content is needed.

        Raises:
            HistoryError: a content is not there, or all are larger than `MAX_WRITTEN_BYTES`.
            OSError: a file can't be written.
        """
        top = os.path.join(os.path.realpath(directory), "")
        links = []
        written = 0
        for file in files:
            path = _place(top, file.path)
            if path is None:
                continue
            if stat.S_ISLNK(file.mode):
                links.append((file, path))
            elif stat.S_ISREG(file.mode):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                try:
                    data, size = self.read(file) if wanted(file.path) else b"", 0
                except TooLargeError:
                    # No check reads as much, and each says so.
                    data, size = b"", LIMIT_BYTES + 1
                written += len(data)
                if written > MAX_WRITTEN_BYTES:
                    raise HistoryError(f"its files are larger than {MAX_WRITTEN_BYTES // 2**30} GiB")
                handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
                with open(handle, "wb") as stream:
                    stream.write(data)
                    if size:
                        stream.truncate(size)
        # The last to be made: nothing is written through a link.
        for file, path in links:
            _link(os.fsdecode(self.read(file)), path, top)


def is_read(path: str) -> bool:
    """True if a check may read more of a file than its name."""
    name = os.path.basename(path)
    ending = os.path.splitext(name)[1]
    return kind_of(name) is not None or name.startswith(".") or ending in _READ


def _place(top: str, name: str) -> str | None:
    """Return where a file is written; None for a name that leads elsewhere."""
    parts = name.split("/")
    if any(part.lower() in _NEVER or os.sep in part or "\0" in part or ":" in part for part in parts):
        return None
    return os.path.join(top, *parts)


def _link(target: str, path: str, top: str) -> None:
    if os.path.isabs(target) or "\0" in target:
        return
    directory = os.path.realpath(os.path.dirname(path))
    leads_to = os.path.realpath(os.path.join(directory, target))
    if os.path.join(directory, "").startswith(top) and leads_to.startswith(top) and not os.path.lexists(path):
        try:
            os.makedirs(directory, exist_ok=True)
            os.symlink(target, path)
        except OSError:
            return


def _open(directory: str, common: str, digest_name: str) -> BaseRepo:
    try:
        from dulwich.repo import BaseRepo

        from tfmemlint.history.store import Objects, References
    except ImportError:
        raise HistoryError(MISSING) from None
    if digest_name != "sha1":
        raise HistoryError("names its contents by SHA-256, which is not read here")

    class Data(BaseRepo):
        """A repository of objects and references alone."""

        def get_named_file(self, path: str | bytes, basedir: str | None = None) -> IO[bytes] | None:  # type: ignore[override]
            place = os.path.join(common, os.fsdecode(path))
            return open(place, "rb") if os.path.isfile(place) else None

    return Data(Objects(os.path.join(common, "objects")), References(common, directory))


@contextmanager
def _errors(words: str) -> Iterator[None]:
    """Enter with the message of a `HistoryError`, which whatever a reader of broken files raises becomes."""
    try:
        yield
    except (HistoryError, MemoryError):
        raise
    except Exception:
        raise HistoryError(words) from None
