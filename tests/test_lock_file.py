"""The lock file for development has what the tests need, in versions that the package allows, and each with hashes."""

from __future__ import annotations

import re
import sys

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.checkout import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found]

_PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)(.*?) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE)
TEXT = (ROOT / "requirements" / "dev.lock").read_text(encoding="utf-8")


def _wanted() -> list[Requirement]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    return [Requirement(text) for text in (*project["dependencies"], *project["optional-dependencies"]["test"])]


@pytest.mark.parametrize("wanted", _wanted(), ids=str)
def test_each_dependency_is_locked(wanted: Requirement) -> None:
    locked = [
        match[2] for match in _PIN.finditer(TEXT) if canonicalize_name(match[1]) == canonicalize_name(wanted.name)
    ]
    assert locked
    assert all(wanted.specifier.contains(version, prereleases=True) for version in locked)


def test_each_version_has_hashes_and_no_place_of_its_own() -> None:
    pins = [line for line in TEXT.splitlines() if line[:1] not in ("#", " ", "")]
    assert len(pins) == len(list(_PIN.finditer(TEXT)))
    assert "://" not in TEXT
