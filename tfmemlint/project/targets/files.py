"""The reader for each kind of file that states requirements."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from tfmemlint.model.patterns import late_pattern
from tfmemlint.project.targets import tables
from tfmemlint.project.targets.requirement_files import Reader, decoded, of_pip
from tfmemlint.project.targets.stated import CONCERNS, Stated

_PIP = late_pattern(
    r"(?:.{0,200}[-_.])?(?:requirements|requires|constraints)(?:[-_.].{0,200})?\.(?:txt|in)", re.IGNORECASE
)
_CONDA = late_pattern(r"(?:conda[-_.])?(?:environment|env|conda|requirements)(?:[-_.].*)?\.ya?ml", re.IGNORECASE)
_DOCKER = late_pattern(r"(?:Dockerfile|Containerfile)(?:[-_.].*)?|.+\.(?:Dockerfile|Containerfile)", re.IGNORECASE)
_LOCKS = frozenset({"poetry.lock", "uv.lock", "pdm.lock", "pylock.toml", "conda-lock.yml", "conda-lock.yaml"})
_FOLDER = "requirements" + os.sep
_INCLUDES = late_pattern(rb"^[ \t]*-", re.MULTILINE)
_INCLUDES_IN_CONDA = late_pattern(rb"-[rc]\s|--(?:requirement|constraint)\b")


def concerns(name: str, data: bytes) -> bool:
    """Return True if a file may state something of TensorFlow's release, by itself or by what it includes."""
    if CONCERNS.search(data) is not None:
        return True
    if _is_pip(name):
        return _INCLUDES.search(data) is not None
    return _CONDA.fullmatch(os.path.basename(name)) is not None and _INCLUDES_IN_CONDA.search(data) is not None


def read_as(name: str, path: str, data: bytes, read: Reader) -> Iterator[Stated]:
    """Yield what a file states.

    Args:
        name: its name in its directory, or below the folder ``requirements`` there.

    Raises:
        ValueError: the file is broken.
    """
    text = decoded(data)
    folder, name = os.path.split(name)
    if folder.lower() in ("requirements", "requirement") and name.endswith((".txt", ".in")):
        name = _FOLDER + name
    match name:
        case "pyproject.toml":
            return tables.of_pyproject(path, text)
        case "setup.cfg":
            return tables.of_setup_cfg(path, text)
        case "setup.py":
            from tfmemlint.project.targets.setup import of_setup

            return of_setup(path, text, read)
        case "Pipfile":
            return tables.of_pipfile(path, text)
        case "Pipfile.lock":
            return tables.of_pipfile_lock(path, text)
    if name in _LOCKS:
        from tfmemlint.project.targets.locks import of_lock

        return of_lock(path, text)
    stem = re.sub(r"\.(?:txt|in|ya?ml)$", "", name.removeprefix(_FOLDER))
    if tables.DOCS.search(stem):
        return iter(())
    weak = tables.WEAK.search(stem) is not None
    if _is_pip(name):
        return of_pip(path, text, read, weak=weak, constraint="constraint" in stem.lower())
    if _CONDA.fullmatch(name):
        from tfmemlint.project.targets.conda import of_conda

        return of_conda(path, text, read, weak=weak)
    if _DOCKER.fullmatch(name):
        from tfmemlint.project.targets.dockerfile import of_docker

        return of_docker(path, text, weak=weak)
    return iter(())


def _is_pip(name: str) -> bool:
    return _PIP.fullmatch(os.path.basename(name)) is not None or name.startswith(_FOLDER)
