"""Ask which barriers this machine has around the programs that `verify` and `fit` run."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

SECONDS = 20
"""The time limit for trying them; a bound without a deeper reason."""
# The current folder may hold anything.
_ENTER = """
import sys
sys.path[:] = [place for place in sys.path if place]
import json
from tfmemlint.verify.child.sandbox.abilities import abilities
print(json.dumps(abilities()))
"""
_TROUBLE = "no namespaces can be made"
_HOW = {
    "network": {"namespace": "a network namespace", "seccomp": "a filter of system calls; it has no loopback either"},
    "writes": {"mounts": "a mount namespace", "landlock": "Landlock"},
    "secrets": {"mounts": "a mount namespace", "landlock": "Landlock"},
    "kept_apart": {"layer": "an overlay"},
    "others": {"landlock": "Landlock"},
    "tasks": {"kernel": "the kernel's limit"},
}


@dataclass(frozen=True, slots=True)
class Barrier:
    """A barrier, and what makes it here.

    Attributes:
        what: what it brings about. how: what makes it, or "" if nothing does. instead: what holds then.
    """

    name: str
    what: str
    how: str
    instead: str = ""


@dataclass(frozen=True, slots=True)
class SandboxStatus:
    """The barriers of this machine, and why some lack ("" if none does, or it isn't known)."""

    barriers: tuple[Barrier, ...]
    trouble: str = ""


_WHAT = {
    "network": ("no network", "programs can use it"),
    "writes": ("no writing outside of private folders", "programs can write wherever you can"),
    "kept_apart": ("writing to the working directory isn't kept", "it is refused, if other writes are"),
    "secrets": ("no reading of hidden files in the home folder", "programs can read what you can"),
    "others": ("no signals to your other processes", "programs can send them"),
    "tasks": ("no more processes than a limit", "they are counted ten times a second"),
}


def look() -> SandboxStatus | None:
    """Try the barriers in a process of their own; None if this system can't say."""
    try:
        done = subprocess.run([sys.executable, "-c", _ENTER], capture_output=True, text=True, timeout=SECONDS)
        found = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    if not isinstance(found, dict):
        return None
    found["kept_apart"] = "layer" if found.get("layer") else ""
    barriers = tuple(
        Barrier(name, what, _HOW[name].get(found.get(name, ""), ""), instead) for name, (what, instead) in _WHAT.items()
    )
    reason = str(found.get("trouble", ""))
    return SandboxStatus(barriers, f"{_TROUBLE}: {reason}" if reason else "")
