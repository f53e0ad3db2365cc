"""A baseline: the findings that a project has already, which are left out of reports.

It is a file of JSON that people can read and compare: each finding with its fingerprint, its rule, its file and its
message.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from tfmemlint.model.finding import Finding
from tfmemlint.model.records import dataclass
from tfmemlint.reporters.fingerprints import fingerprints
from tfmemlint.sources import Source
from tfmemlint.sources.regular import read_regular

VERSION = 1
USUAL_NAME = "tfmemlint-baseline.json"
MAX_BYTES = 64 * 2**20
"""Bytes of a baseline: some 250,000 findings."""


class BaselineError(Exception):
    """A baseline can't be read or written; the text is a message."""


@dataclass(slots=True)
class Baseline:
    """A baseline.

    Attributes:
        path: its file; the paths in it are relative to the file's directory.
        entries: by fingerprint, what the file has of each finding.
    """

    path: str
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str) -> Baseline:
        """Return the baseline in a file.

        Raises:
            BaselineError: it can't be read, or is none.
        """
        try:
            data = json.loads(read_regular(path, MAX_BYTES).decode("utf-8"))
        except OSError as error:
            raise BaselineError(f"{path}: {error.strerror or error}") from None
        except (ValueError, RecursionError) as error:
            raise BaselineError(f"{path}: is no baseline: {error}") from None
        if not isinstance(data, dict) or data.get("version") != VERSION or not isinstance(data.get("findings"), list):
            raise BaselineError(f"{path}: is no baseline of version {VERSION}")
        entries = {}
        for entry in data["findings"]:
            if not isinstance(entry, dict) or not isinstance(entry.get("fingerprint"), str):
                raise BaselineError(f"{path}: has a finding without a fingerprint")
            entries[entry["fingerprint"]] = entry
        return cls(path, entries)

    @property
    def root(self) -> str:
        """The directory that paths are relative to."""
        return str(Path(self.path).absolute().parent)

    def fingerprints(self, findings: Sequence[Finding], sources: Mapping[str, Source]) -> list[str]:
        """Return the fingerprints of findings as this baseline has them."""
        return fingerprints(findings, sources, self.root)

    def gone(self, found: Iterable[str], paths: Iterable[str]) -> list[str]:
        """Return the fingerprints of findings that are no longer found in files that were checked, or that are gone.

        Args:
            found: the fingerprints of all findings of the run.
            paths: the files that were checked.
        """
        there = set(found)
        checked = {self._shown(path) for path in paths}
        return [
            fingerprint
            for fingerprint, entry in self.entries.items()
            if fingerprint not in there
            and (str(entry.get("path")) in checked or not os.path.lexists(Path(self.root, str(entry.get("path")))))
        ]

    def update(self, findings: Sequence[Finding], names: Sequence[str], paths: Iterable[str]) -> None:
        """Take in what is found, take out what is gone, and write the file.

        Args:
            findings: all findings of the run.
            names: their fingerprints.
            paths: the files that were checked: what is known of others stays.

        Raises:
            BaselineError: the file can't be written.
        """
        for fingerprint in self.gone(names, paths):
            del self.entries[fingerprint]
        for finding, name in zip(findings, names, strict=True):
            self.entries[name] = {
                "fingerprint": name,
                "code": finding.code,
                "path": self._shown(finding.path),
                "message": finding.message,
            }
        entries = sorted(self.entries.values(), key=lambda entry: (str(entry.get("path")), str(entry.get("code"))))
        text = json.dumps({"version": VERSION, "findings": entries}, indent=1, ensure_ascii=False) + "\n"
        try:
            _write_whole(Path(os.path.realpath(self.path)), text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise BaselineError(f"{self.path}: {error.strerror or error}") from None

    def _shown(self, path: str) -> str:
        return os.path.relpath(path, self.root).replace(os.sep, "/")


def _write_whole(target: Path, data: bytes) -> None:
    """Write a file, whole or not at all, and with the mode that it has."""
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666
    beside = target.with_name(f".{target.name}.new")
    try:
        # In a checked tree there may be anything by this name: it is removed, and never written through.
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
