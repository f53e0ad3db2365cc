"""The options of the sandbox in which programs run, and sentences about what it did."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfmemlint.verify.result import Result

PASSED = (
    "CONDA_PREFIX",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LD_LIBRARY_PATH",
    "LOGNAME",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "PATH",
    "PYTHONPATH",
    "PYTHONUSERBASE",
    "PYTHONUTF8",
    "PYTHONWARNINGS",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "VIRTUAL_ENV",
)
"""The caller's variables that a program gets, beside those that begin with ``LC_``. No other is inherited: it may be a
credential. docs/verify.md has this list.
"""
_PASSED_PREFIX = "LC_"
_NETWORK_WORDS = ("Network is unreachable", "name resolution", "Name or service not known", "getaddrinfo")
MAX_SHOWN_FILES = 5
"""The files that a note lists; a bound for readability."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The freedom of a program that runs.

    Attributes:
        network: it may use the network. write: folders in which its files are really written.
    """

    network: bool = False
    write: tuple[str, ...] = ()

    def as_request(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"network": self.network, "write": [str(Path(path).resolve()) for path in self.write]}


def passed_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of the caller that a program gets."""
    return {
        name: value
        for name, value in environment.items()
        if (name in PASSED or name.startswith(_PASSED_PREFIX)) and name == name.strip()
    }


def variables(given: Sequence[str]) -> dict[str, str]:
    """Return the variables of ``--env``: ``NAME=VALUE``, or ``NAME`` for the caller's own value.

    Raises:
        ValueError: a name is empty, or not set.
    """
    found: dict[str, str] = {}
    for text in given:
        name, equal, value = text.partition("=")
        if not name:
            raise ValueError(f"--env: {text!r} names no variable")
        if not equal and name not in os.environ:
            raise ValueError(f"--env: {name} is not set")
        found[name] = value if equal else os.environ[name]
    return found


def kept_apart(result: Result) -> str:
    """Return a sentence about the files that a program wrote or removed to no effect; "" if there are none."""
    files = result.sandbox["kept_apart"] if result.sandbox is not None else []
    if not files:
        return ""
    assert result.sandbox is not None
    more = ", and more" if len(files) > MAX_SHOWN_FILES or result.sandbox["more_kept_apart"] else ""
    return f"what it wrote or removed is not kept: {', '.join(files[:MAX_SHOWN_FILES])}{more}"


def lacking(result: Result, wanted: Sandbox | None) -> str:
    """Return a sentence about what a program could do on this machine although it should not; "" for nothing."""
    if wanted is None or result.sandbox is None:
        return ""
    words = {"writes": "writing to files", "secrets": "reading credentials in the home folder"}
    if not wanted.network:
        words = {"network": "using the network", **words}
    open_to_it = [what for name, what in words.items() if not result.sandbox.get(name)]
    return (
        f"this machine has no barrier against {_listed(open_to_it)}; `tfmemlint doctor` says why" if open_to_it else ""
    )


def hint(result: Result, wanted: Sandbox | None) -> str:
    """Return the option that would let a program do what it failed at; "" if the sandbox is not why."""
    if wanted is None or result.sandbox is None:
        return ""
    said = f"{result.exception} {result.message}"
    if not wanted.network and any(words in said for words in _NETWORK_WORDS):
        return "it has no network here: --network lets it have one"
    if result.exception in ("PermissionError", "OSError") and ("Read-only" in said or "Permission denied" in said):
        return "it may write only to private folders here: --write DIR names another one"
    return ""


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
