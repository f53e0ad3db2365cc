"""The files of a project that may set GPU variables for what they launch: configuration files, and Python files that
start processes.

They are found by their names and bytes alone, so that nothing else is imported for a project in which no such file is
about GPUs.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache

from tfmemlint.model.records import dataclass
from tfmemlint.project.listing import MARKERS
from tfmemlint.sources.kinds import PYTHON, SETTINGS, kind_of
from tfmemlint.sources.regular import read_regular
from tfmemlint.sources.walking import LEFT_OUT, leads_outside

OPTIMIZE = "PYTHONOPTIMIZE"
"""The variable by which Python drops assertions."""
LAUNCH_VARIABLES = ("TF_FORCE_GPU_ALLOW_GROWTH", "TF_GPU_ALLOCATOR", "CUDA_VISIBLE_DEVICES")
"""A launch matters only if it sets one of these variables, names the GPUs of a container, or gives the program an
option about GPUs."""
_WORDS = tuple(word.encode() for word in (*LAUNCH_VARIABLES, "NVIDIA_VISIBLE_DEVICES", "device_ids", OPTIMIZE))
GPU_OPTION = re.compile(
    rb"(?<![\w-])--?[a-z_-]{0,30}(?:gpu|mem(?:ory)?(?![a-z])|cuda|device|vram|growth|frac)", re.IGNORECASE
)
"""An option of a command line that is about GPUs or their memory, by its name."""
_OPTIMIZED = re.compile(rb"(?i:python)[\w.]{0,6}[}\"', \t]{1,4}(?:-[a-zA-Z]{1,6}[\"', \t]{1,4}){0,4}-[a-zA-Z]{0,6}O")
"""Python is started with ``-O``."""
STARTING = re.compile(rb"\bsubprocess\b|\bos\s{0,9}\.\s{0,9}(?:system|popen)\b")
"""A Python file without one of these words starts no process."""
_SET = re.compile(rb"(?:CUDA_VISIBLE_DEVICES|TF_FORCE_GPU_ALLOW_GROWTH|TF_GPU_ALLOCATOR)['\"]?\s{0,9}[]=:]")
"""A Python file sets one of the variables, by an index, a key, a keyword, or in a command."""
_MAX_PYTHON_FILES = 1_000
"""In a project with more of them, the Python files are not looked through for what starts programs."""
_MAX_PROJECT_FILES = 20_000
"""A walk stops after this many files and finds nothing: it would see only part of the configuration files."""
MAX_CONFIGURATION_BYTES = 2**20
"""A larger configuration file is not read: it was not written by hand."""


def configuration_files(root: str, kinds: frozenset[str] = SETTINGS) -> list[str]:
    """Return the configuration files of these kinds below a directory; none if none is about GPUs.

    Links that lead out of the directory are left out.
    """
    return [*_walked(root, kinds), *_starting_files(root)]


def _starting_files(root: str) -> list[str]:
    """Return the Python files of a project that may start programs in a way that matters."""
    found: list[str] = []
    pending = [root]
    while pending:
        listed = _listed(pending.pop())
        found += listed.python
        if len(found) > _MAX_PYTHON_FILES:
            return []
        pending += reversed(listed.directories) if _is_marked(root) else ()
    return [path for path in found if _starts_programs(path)]


def _is_marked(root: str) -> bool:
    return any(os.path.lexists(os.path.join(root, name)) for name in MARKERS)


def _walked(root: str, kinds: frozenset[str]) -> list[str]:
    found: list[str] = []
    seen = 0
    # Without a project marker, the directories below may not belong together.
    marked = _is_marked(root)
    pending = [root]
    while pending:
        listed = _listed(pending.pop())
        found += [
            path
            for path, kind in listed.configurations
            if kind in kinds and not (os.path.islink(path) and leads_outside(path, [root]))
        ]
        seen += listed.files + (listed.below if marked else 0)
        if seen > _MAX_PROJECT_FILES:
            # The files found so far are only some of the project's.
            return []
        below = listed.directories if marked else tuple(each for each in listed.directories if _holds_scripts(each))
        pending += reversed(below)
    return found if any(_is_about_gpus(path) for path in found) else []


def _holds_scripts(directory: str) -> bool:
    """True if a directory is named like one of those in which projects keep what starts their programs."""
    return os.path.basename(directory) in _OF_SCRIPTS


_OF_SCRIPTS = frozenset({"bin", "docker", "jobs", "launch", "run", "scripts", "sh", "slurm"})


@dataclass(frozen=True, slots=True)
class _Listed:
    """The facts about one directory that matter for launches.

    Attributes:
        directories: the paths of those in it that may hold configuration files, sorted.
        configurations: the paths of configuration files, each with its kind. python: those of Python files.
        files: the number of its files. below: the number of directories in it that are not left out, links among them.
    """

    directories: tuple[str, ...]
    configurations: tuple[tuple[str, str], ...]
    python: tuple[str, ...]
    files: int
    below: int


@lru_cache(maxsize=_MAX_PROJECT_FILES)
def _listed(directory: str) -> _Listed:
    """Return what is in a directory. It is asked for again by each project that it is in, and they may be nested."""
    _, below, names = next(os.walk(directory), ("", [], []))
    kinds = [(os.path.join(directory, name), kind_of(name)) for name in sorted(names)]
    return _Listed(
        tuple(
            path
            for name in sorted(below)
            if name not in LEFT_OUT and not os.path.islink(path := os.path.join(directory, name))
        ),
        tuple((path, kind) for path, kind in kinds if kind in SETTINGS),
        tuple(path for path, kind in kinds if kind == PYTHON),
        len(names),
        sum(name not in LEFT_OUT for name in below),
    )


@lru_cache(maxsize=_MAX_PROJECT_FILES)
def _is_about_gpus(path: str) -> bool:
    return is_about_gpus(_content(path))


@lru_cache(maxsize=_MAX_PROJECT_FILES)
def _starts_programs(path: str) -> bool:
    data = _content(path)
    return b".py" in data and STARTING.search(data) is not None and _SET.search(data) is not None


def _content(path: str) -> bytes:
    """Return the bytes of a file; none of one that is too large, or cannot be read."""
    try:
        if os.path.getsize(path) > MAX_CONFIGURATION_BYTES:
            return b""
        return read_regular(path, MAX_CONFIGURATION_BYTES)
    except OSError:
        return b""


def is_about_gpus(data: bytes) -> bool:
    """Return True if a configuration file may launch something in a way that matters."""
    return any(word in data for word in _WORDS) or any(each.search(data) for each in (GPU_OPTION, _OPTIMIZED))


def reset_cache() -> None:
    """Forget all answers: files may have changed."""
    for cached in (_listed, _is_about_gpus, _starts_programs):
        cached.cache_clear()
