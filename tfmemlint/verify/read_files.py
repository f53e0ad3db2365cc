"""The configuration files that a program reads, laid out for a run: its working directory has nothing else in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tfmemlint.engine.whole_program import Whole
from tfmemlint.project.roots import project_root
from tfmemlint.sources.config_files.values import MAX_CHARACTERS
from tfmemlint.sources.regular import read_regular


@dataclass(frozen=True, slots=True)
class ReadFiles:
    """Files that a run finds, as copies.

    Attributes:
        contents: what is in each, by its place: a path without ``..`` in a folder that stands for the project.
        folder: the folder in there in which the program runs: it lies in it as the program's own lies in the project.
    """

    contents: dict[str, bytes] = field(default_factory=dict)
    folder: str = ""


def read_files(whole: Whole) -> ReadFiles:
    """Return the configuration files that a program asks for by paths that are known.

    A relative path starts where somebody runs the program: in the program's folder, or in the project's root. A file in
    the root is found from either.
    """
    main = Path(whole.program.source.path).absolute()
    root = Path(project_root(str(main)))
    if not main.is_relative_to(root):
        return ReadFiles()
    folder = main.parent.relative_to(root)
    contents: dict[str, bytes] = {}
    for path in map(Path, sorted(whole.program.config_files)):
        if not path.is_relative_to(root):
            continue
        try:
            data = read_regular(path, MAX_CHARACTERS + 1)
        except (OSError, ValueError):
            continue
        place = path.relative_to(root)
        contents.setdefault(str(folder / place), data)
        contents[str(place)] = data
    return ReadFiles(contents, str(folder)) if contents else ReadFiles()
