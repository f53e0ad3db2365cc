"""The files of a directory that may state a release of TensorFlow: manifests, and texts for people."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

MAX_ENTRIES = 5_000
"""Entries of a directory that are looked at; one with more holds data."""

_MANIFESTS = frozenset({"pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "Pipfile.lock", "pdm.lock"})
_MANIFESTS |= {"poetry.lock", "uv.lock", "conda-lock.yml", "conda-lock.yaml", "pylock.toml"}
_PARTS = ("require", "constraint", "env", "conda", "dockerfile", "containerfile")
"""Parts of the names of other manifests."""
_FOLDERS = frozenset(
    {
        "requirements", "requirement", "setup", "docker", "dockerfiles", "dockerfile", "container", "containers",
        "install", "installation", "env", "envs", "environment", "environments", "conda", "build_env",
        ".devcontainer", "deploy",
    }
)  # fmt: skip
"""Folders in which people keep manifests of the program beside them."""

_TEXTS = ("readme", "install", "requirements", "prerequisites", "getting_started", "usage", "setup")
_TEXT_ENDS = (".md", ".rst", ".txt", ".markdown", ".adoc", ".org", "")
_CI = frozenset({"tox.ini", ".travis.yml", ".gitlab-ci.yml", "azure-pipelines.yml", "appveyor.yml", "noxfile.py"})
_CI_FOLDERS = (os.path.join(".github", "workflows"), ".circleci", "ci", ".ci")
_CI_ENDS = (".yml", ".yaml")
_SCRIPTS = ("install", "setup", "requirements", "build_env", "env")


def manifests_in(directory: str) -> list[str]:
    """Return the manifests in a directory and in the folders for them, by their paths from there, in a fixed order."""
    found: list[str] = []
    for name, is_directory in _entries(directory):
        if is_directory and name.lower() in _FOLDERS:
            of_pip = name.lower() in ("requirements", "requirement")
            inner = [each for each, is_folder in _entries(os.path.join(directory, name)) if not is_folder]
            found += (
                os.path.join(name, each)
                for each in inner
                if each != "setup.py" and (_is_manifest(each) or (of_pip and each.endswith((".txt", ".in"))))
            )
        elif not is_directory and _is_manifest(name):
            found.append(name)
    return sorted(found)


def texts_in(directory: str) -> list[str]:
    """Return the texts for people in a directory, its configurations of CI, and its scripts that install packages."""
    found = [name for name, is_directory in _entries(directory) if not is_directory and _is_text(name)]
    for folder in _CI_FOLDERS:
        path = os.path.join(directory, folder)
        if os.path.isdir(path):
            found += (
                os.path.join(folder, name)
                for name, is_directory in _entries(path)
                if not is_directory and name.endswith(_CI_ENDS)
            )
    return sorted(found)


def _is_manifest(name: str) -> bool:
    lower = name.lower()
    return name in _MANIFESTS or (not lower.endswith(".py") and any(part in lower for part in _PARTS))


def _is_text(name: str) -> bool:
    stem, end = os.path.splitext(name.lower())
    if name in _CI:
        return True
    if end in (".sh", ".bash"):
        return stem.startswith(_SCRIPTS)
    if end in (".txt", ".in") and _is_manifest(name):
        return False
    return end in _TEXT_ENDS and any(stem.startswith(each) for each in _TEXTS)


def _entries(directory: str) -> Iterator[tuple[str, bool]]:
    """Yield the names in a directory, each with whether it is a directory; links count as what they lead to."""
    try:
        with os.scandir(directory) as scan:
            for count, entry in enumerate(scan):
                if count >= MAX_ENTRIES:
                    return
                if _holds(entry.is_file):
                    yield entry.name, False
                elif _holds(entry.is_dir):
                    yield entry.name, True
    except (OSError, ValueError):
        return


def _holds(question: Callable[[], bool]) -> bool:
    try:
        return question()
    except OSError:  # a loop of links
        return False
