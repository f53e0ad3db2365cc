"""The kind of a file, by its name."""

from __future__ import annotations

from collections.abc import Iterable

PYTHON, NOTEBOOK, DOCSTRING = "python", "notebook", "docstring"
MARKDOWN, RST, TEXT = "markdown", "rst", "text"
DOCKER, SHELL, ENV, YAML, MAKE = "docker", "shell", "env", "yaml", "make"

ALL = (PYTHON, NOTEBOOK, MARKDOWN, RST, DOCSTRING, TEXT, DOCKER, SHELL, ENV, YAML, MAKE)
"""Every kind, in the order of the documentation. `DOCSTRING` is not a file: the examples within Python files."""
DEFAULT = frozenset(ALL) - {TEXT}
"""The kinds to look for by default. Plain texts are mostly data: they are read only if they are named."""
SETTINGS = frozenset({DOCKER, SHELL, ENV, YAML, MAKE})
"""Kinds of configuration files: they set variables, or start programs."""
PROGRAMS = frozenset({PYTHON, NOTEBOOK})
"""Kinds that are programs: a person or a configuration file can run them."""
DOCUMENTS = frozenset({MARKDOWN, RST, TEXT}) | SETTINGS
"""Kinds that contain code of several languages, or none."""

_ENDINGS = {
    ".py": PYTHON, ".pyw": PYTHON, ".pyi": PYTHON,
    ".ipynb": NOTEBOOK,
    ".md": MARKDOWN, ".markdown": MARKDOWN, ".mdx": MARKDOWN, ".qmd": MARKDOWN, ".rmd": MARKDOWN, ".Rmd": MARKDOWN,
    ".rst": RST,
    ".txt": TEXT, ".text": TEXT, ".html": TEXT, ".htm": TEXT,
    ".dockerfile": DOCKER, ".Dockerfile": DOCKER, ".containerfile": DOCKER,
    ".sh": SHELL, ".bash": SHELL, ".zsh": SHELL, ".ksh": SHELL, ".sbatch": SHELL, ".slurm": SHELL, ".pbs": SHELL,
    ".env": ENV,
    ".yml": YAML, ".yaml": YAML,
    ".mk": MAKE,
}  # fmt: skip
_NAMES = {
    "Dockerfile": DOCKER,
    "dockerfile": DOCKER,
    "Containerfile": DOCKER,
    ".env": ENV,
    ".envrc": SHELL,
    "Makefile": MAKE,
    "makefile": MAKE,
    "GNUmakefile": MAKE,
}
_BEGINNINGS = (
    *((f"{name}{mark}", DOCKER) for name in ("Dockerfile", "Containerfile") for mark in "._-"),
    (".env.", ENV),
)
_SHELLS = (b"sh", b"bash", b"dash", b"zsh", b"ksh")


def kind_of(name: str) -> str | None:
    """Return the kind of a file of this name, without its directory; None for any other."""
    dot = name.rfind(".")
    if dot > 0:
        kind = _ENDINGS.get(name[dot:])
        if kind is not None:
            return kind
    if name[:1] in "DdC.MmG":
        kind = _NAMES.get(name)
        if kind is not None:
            return kind
        return next((kind for beginning, kind in _BEGINNINGS if name.startswith(beginning)), None)
    return None


def kind_of_text(data: bytes) -> str:
    """Return the kind of a file with an unknown name, by its first line: a shell script, else Python."""
    first = data[:200].partition(b"\n")[0]
    if first.startswith(b"#!"):
        words = first[2:].replace(b"/", b" ").split()
        if any(word in _SHELLS for word in words):
            return SHELL
    return PYTHON


def checked(names: Iterable[str]) -> tuple[str, ...]:
    """Return these names of kinds.

    Raises:
        ValueError: a name is not a kind.
    """
    found = tuple(names)
    for name in found:
        if name not in ALL:
            import difflib

            near = difflib.get_close_matches(name.lower(), ALL, n=1)
            others = f"did you mean {near[0]}?" if near else f"there are {', '.join(ALL)}"
            raise ValueError(f"{name!r} is no kind of file; {others}")
    return found
