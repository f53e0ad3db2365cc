"""True or not: a file can be written over without losing anything that git doesn't have.

git is never run, and neither is a filter, a hook or anything else that a repository's configuration names: the index
is read as data, and the file's own bytes are compared with what the index says of them. Where only a filter could tell
that a file is unchanged, and the index does not vouch for it by its time and size either, it counts as changed.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from typing import Any

from tfmemlint.fixes.git_index import Index, IndexEntry, UnknownIndexError, read_index
from tfmemlint.model.records import dataclass
from tfmemlint.sources.regular import read_regular, read_text
from tfmemlint.sources.text import MAX_NOTEBOOK_BYTES

UNCOMMITTED = "has uncommitted changes and was left unchanged: commit or stage them, or use --allow-dirty"
UNTRACKED = "is not in git yet and was left unchanged: add it, or use --allow-dirty"
UNKNOWN = "may have uncommitted changes (its index cannot be read here) and was left unchanged: use --allow-dirty"
_SHA256 = re.compile(r"(?im)^[ \t]*objectformat[ \t]*=[ \t]*\"?sha256")
_EXCLUDES_FILE = re.compile(r"(?im)^[ \t]*excludesfile[ \t]*=[ \t]*\"?([^\"\n#;]+)")


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository.

    Attributes:
        root: the top of its working tree. directory: where its index is. common: where what all its working trees
            share is; the same but for linked ones.
    """

    root: str
    directory: str
    common: str

    @property
    def digest_name(self) -> str:
        """The hash function that names contents."""
        return "sha256" if _SHA256.search(read_text(os.path.join(self.common, "config"))) else "sha1"


def objection(path: str) -> str:
    """Return why a file had better not be written over; "" for no reason, also outside of git.

    What is staged can be had back from git's index, so that a hook, which sees what is about to be committed, meets no
    objection. Nor does a file that git is told to ignore.
    """
    real = os.path.realpath(path)
    repository = repository_of(real)
    if repository is None:
        return ""
    relative = os.path.relpath(real, repository.root).replace(os.sep, "/")
    try:
        kept = [_is_kept(real, relative, repository, index) for index in _indexes(repository)]
    except UnknownIndexError:
        return UNKNOWN
    if any(kept):
        return ""
    if all(state is None for state in kept):
        return "" if _is_ignored(relative, repository) else UNTRACKED
    return UNCOMMITTED


def _is_kept(path: str, relative: str, repository: Repository, index: Index) -> bool | None:
    """True if the index has the file as it is; None if it doesn't have it at all."""
    entries = index.entries.get(os.fsencode(relative))
    if entries is None:
        return None
    if any(entry.stage for entry in entries):
        return False
    try:
        return _has_content(path, entries[0], repository.digest_name, index.mtime_ns)
    except OSError:
        return False


def _has_content(path: str, entry: IndexEntry, digest_name: str, index_mtime_ns: int) -> bool:
    """True if the entry is that of the file's content, if need be with the line ends that git would store.

    Raises:
        OSError: the file can't be read.
    """
    found = os.stat(path)
    data = read_regular(path, MAX_NOTEBOOK_BYTES + 1)
    if entry.digest == _blob(data, digest_name):
        return True
    if b"\r\n" in data and entry.digest == _blob(data.replace(b"\r\n", b"\n"), digest_name):
        return True
    return entry.vouches_for(found, index_mtime_ns)


def _blob(data: bytes, digest_name: str) -> bytes:
    """Return the name that git gives a content."""
    return hashlib.new(digest_name, b"blob %d\0" % len(data) + data, usedforsecurity=False).digest()


def _indexes(repository: Repository) -> Iterator[Index]:
    """The indexes that a file may be kept in: a hook is told of one of its own (``GIT_INDEX_FILE``)."""
    size = hashlib.new(repository.digest_name, usedforsecurity=False).digest_size
    own = os.environ.get("GIT_INDEX_FILE")
    if own:
        yield read_index(os.path.abspath(own), size)
    yield read_index(os.path.join(repository.directory, "index"), size)


def repository_of(path: str) -> Repository | None:
    """Return the repository whose working tree a file is in; None for none.

    A directory that merely looks like a repository (``HEAD``, ``objects`` and ``refs`` without ``.git``) is none: that
    is how one comes hidden in a clone.
    """
    told = os.environ.get("GIT_DIR")
    if told and _is_repository(os.path.abspath(told)):
        # Set by the person or the hook that runs this, not by the tree.
        root = os.path.realpath(os.environ.get("GIT_WORK_TREE") or ".")
        if path.startswith(os.path.join(root, "")):
            return _repository(root, os.path.abspath(told))
    root = os.path.dirname(path)
    while True:
        place = os.path.join(root, ".git")
        directory = _pointed_to(place) if os.path.isfile(place) else place
        if directory and _is_repository(directory):
            return _repository(root, directory)
        parent = os.path.dirname(root)
        if parent == root:
            return None
        root = parent


def _repository(root: str, directory: str) -> Repository:
    shared = read_text(os.path.join(directory, "commondir"), 2**16).strip()
    return Repository(root, directory, os.path.join(directory, shared) if shared else directory)


def _is_repository(directory: str) -> bool:
    """True if git would take the directory for a repository's."""
    repository = _repository("", directory)
    return os.path.lexists(os.path.join(directory, "HEAD")) and os.path.isdir(
        os.path.join(repository.common, "objects")
    )


def _pointed_to(file: str) -> str:
    """Return the directory that a ``.git`` file of a linked working tree, or of a submodule, names; "" for none."""
    line = read_text(file, 2**16).partition("\n")[0]
    place = line.removeprefix("gitdir:").strip()
    return os.path.join(os.path.dirname(file), place) if place and line.startswith("gitdir:") else ""


def _is_ignored(relative: str, repository: Repository) -> bool:
    """True if git is told to ignore the file, or a directory that it is in."""
    parts = relative.split("/")
    rules = [
        ("", _user_ignore_file()),
        ("", os.path.join(repository.common, "info", "exclude")),
        *(
            (base, os.path.join(repository.root, *parts[:depth], ".gitignore"))
            for depth in range(len(parts))
            for base in ["".join(f"{part}/" for part in parts[:depth])]
        ),
    ]
    specs = [(base, spec) for base, file in rules for spec in _specs(file)]
    for depth in range(1, len(parts) + 1):
        path = "/".join(parts[:depth]) + ("/" if depth < len(parts) else "")
        said = (spec.check_file(path[len(base) :]).include for base, spec in reversed(specs) if path.startswith(base))
        if next((include for include in said if include is not None), False):
            return True
    return False


def _specs(file: str) -> Iterator[Any]:
    """The patterns of an ignore file, where it has any."""
    lines = [line for line in read_text(file).splitlines() if line.strip() and not line.startswith("#")]
    if lines:
        from pathspec import GitIgnoreSpec

        yield GitIgnoreSpec.from_lines(lines)


def _user_ignore_file() -> str:
    """Return the ignore file that holds for all of this user's repositories."""
    home = os.path.expanduser("~")
    place = os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git")
    for file in (os.path.join(home, ".gitconfig"), os.path.join(place, "config")):
        found = _EXCLUDES_FILE.findall(read_text(file))
        if found:
            return os.path.expanduser(str(found[-1]).rstrip())
    return os.path.join(place, "ignore")
