"""The repositories of an estate: the lines of a list, or the folders in a folder of clones."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass

from tfmemlint.sources.regular import read_regular

_URL = re.compile(r"(?:https?|ssh|git|file)://[^\s\0]+|[\w.-]+@[\w.-]+:[^\s\0]+")
"""Matches what is cloned. Other transports (``ext::``) run commands, and are refused."""

_MAX_LIST_BYTES = 64 * 2**20
"""Bytes of a list that are read: more than half a million repositories."""
_MAX_NAME_CHARACTERS = 50
"""Characters of a repository's name; one of UTF-8 takes four bytes, and names of files may have 255."""


class ListError(Exception):
    """The list can't be followed; the text is a message."""


@dataclass(frozen=True, slots=True)
class Repository:
    """One repository.

    Attributes:
        name: its name in reports; no other one has it.
        source: its absolute path, or its URL.
    """

    name: str
    source: str

    @property
    def is_url(self) -> bool:
        """True if it has to be cloned."""
        return _URL.fullmatch(self.source) is not None

    @property
    def key(self) -> str:
        """A name for files and tasks."""
        plain = re.sub(r"[^A-Za-z0-9._-]", "_", self.name)[:60]
        return f"{plain}-{hashlib.blake2b(self.name.encode('utf-8', 'surrogatepass'), digest_size=6).hexdigest()}"


def repositories(place: str) -> list[Repository]:
    """Return the repositories of a list, or of a folder of clones, in the order of their names.

    Raises:
        ListError: it can't be read, or names none.
    """
    if os.path.isdir(place):
        inner = [os.path.join(place, name) for name in sorted(os.listdir(place)) if not name.startswith(".")]
        folders = [path for path in inner if os.path.isdir(path)]
        # Beside clones there may be other folders; where there is no clone, each is taken.
        sources = [path for path in folders if os.path.lexists(os.path.join(path, ".git"))] or folders
    else:
        try:
            lines = [line.strip() for line in read_regular(place, _MAX_LIST_BYTES).decode("utf-8").splitlines()]
        except (OSError, ValueError) as error:
            raise ListError(f"{place}: {getattr(error, 'strerror', None) or 'is no list: not UTF-8'}") from None
        sources = [line for line in lines if line and not line.startswith("#")]
    if not sources:
        raise ListError(f"{place}: names no repository")
    above = os.path.dirname(os.path.abspath(place))
    base = os.getcwd() if os.path.isdir(place) else above
    found: dict[str, Repository] = {}
    numbers: dict[str, int] = {}
    for source in dict.fromkeys(sources):
        if "::" in source.partition("/")[0] or (re.match(r"[a-z+-]+://", source) and not _URL.fullmatch(source)):
            raise ListError(f"{place}: {source}: only https, http, ssh, git and file are cloned")
        full = source if _URL.fullmatch(source) else os.path.abspath(os.path.join(base, os.path.expanduser(source)))
        name = plain = _name(full)
        while name in found:
            numbers[plain] = numbers.get(plain, 1) + 1
            name = f"{plain}~{numbers[plain]}"
        found[name] = Repository(name, full)
    return [found[name] for name in sorted(found)]


def _name(source: str) -> str:
    """Return a name for a repository, which is that of the folder that it is cloned into, too."""
    last = re.split(r"[/:\\]", source.rstrip("/\\"))[-1].removesuffix(".git")
    # Neither a way out of that folder, nor longer than a name of a folder may be with the number of a second one.
    return "root" if last in ("", ".", "..") else last[:_MAX_NAME_CHARACTERS]
