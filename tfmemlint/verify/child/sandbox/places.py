"""The places of this machine that a sandbox hides, keeps, or replaces."""

from __future__ import annotations

import contextlib
import os
import pwd
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

MOUNTS_FILE = "/proc/self/mountinfo"
_SYSTEM_SECRETS = (
    "/run/credentials",
    "/run/secrets",
    "/run/user",
    "/run/dbus",
    "/run/docker.sock",
    "/run/containerd",
    "/run/podman",
)
"""Credentials that orchestrators put into a container, and sockets through which other programs can be told to act."""
_DATA = (
    ".keras",
    "keras",
    "tensorflow_datasets",
    ".cache/huggingface/datasets",
    ".cache/huggingface/hub",
    ".cache/kagglehub",
    ".cache/tensorflow_datasets",
)
"""Folders of a home in which libraries keep data and models. The private home has links to them."""


def homes() -> list[str]:
    """Return the user's home folders, by the environment and by the system's list of users, as real paths."""
    found = [os.environ.get("HOME", "")]
    with contextlib.suppress(KeyError):
        found.append(pwd.getpwuid(os.getuid()).pw_dir)
    real = [os.path.realpath(home) for home in found if home]
    return [home for home in dict.fromkeys(real) if home != "/" and Path(home).is_dir()]


def needed() -> list[str]:
    """Return the folders that Python and the simulated driver need, as real paths."""
    libraries = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    own = [str(Path(sys.executable).parent), str(Path(__file__).parents[4])]
    places = [sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path, *libraries, *own]
    return list(dict.fromkeys(os.path.realpath(place) for place in places if place.startswith("/")))


def hidden(kept: Collection[str]) -> list[str]:
    """Return the folders and files to hide, as real paths.

    They are what begins with a dot in the home folders, and the system's places for credentials.

    Args:
        kept: folders that stay, as real paths, with all that is in them.
    """
    found: list[str] = []
    # A program in the home folder itself is no reason to show all of it.
    kept = [place for place in kept if not any(f"{home}/".startswith(f"{place.rstrip('/')}/") for home in homes())]
    for home in homes():
        with contextlib.suppress(OSError):
            found += [
                path
                for entry in os.scandir(home)
                if entry.name.startswith(".") and not entry.is_symlink()
                for path in _without(entry.path, kept)
            ]
    for place in _SYSTEM_SECRETS:
        real = os.path.realpath(place)
        if Path(real).exists():
            found += _without(real, kept)
    return list(dict.fromkeys(found))


def _without(path: str, kept: Collection[str]) -> Iterator[str]:
    """Yield ``path``, or what is in it other than ``kept``."""
    if any(path == place or path.startswith(f"{place}/") for place in kept):
        return
    if not any(place.startswith(f"{path}/") for place in kept):
        yield path
        return
    with contextlib.suppress(OSError):
        for entry in os.scandir(path):
            if not entry.is_symlink():
                yield from _without(entry.path, kept)


def data_folders() -> list[str]:
    """Return the folders of libraries' data in the user's homes, as real paths."""
    return [os.path.realpath(path) for home in homes() for path in _data_of(home)]


def _data_of(home: str) -> list[str]:
    return [str(path) for name in _DATA if (path := Path(home, name)).is_dir()]


def furnish(private: Path) -> None:
    """Put links to libraries' data into a private home."""
    for home in homes():
        for path in _data_of(home):
            link = Path(private, os.path.relpath(path, home))
            link.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                link.symlink_to(os.path.realpath(path))


def variables(private: str, temporary: str) -> Mapping[str, str]:
    """Return the variables that lead a program to its private folders."""
    import site

    return {
        "HOME": private,
        "TMPDIR": temporary,
        # Python looks for the user's packages in the home folder.
        "PYTHONUSERBASE": os.environ.get("PYTHONUSERBASE") or site.getuserbase(),
    }


def mounts_below(folder: str) -> list[str]:
    """Return the mounts inside a folder, outer ones first; empty if the system doesn't say."""
    with contextlib.suppress(OSError):
        lines = Path(MOUNTS_FILE).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        # Blanks and the like are written in octal.
        points = [_unescaped(line.split(" ")[4]) for line in lines]
        below = sorted({point for point in points if point.startswith(f"{folder.rstrip('/')}/")})
        return [point for point in below if not any(point.startswith(f"{outer}/") for outer in below)]
    return []


def _unescaped(text: str) -> str:
    for blank in " \t\n\\":
        text = text.replace(f"\\{ord(blank):03o}", blank)
    return text
