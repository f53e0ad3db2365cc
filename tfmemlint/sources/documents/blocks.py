"""Code within a file of another kind: a fenced block of Markdown, a literal block, a docstring's example."""

from __future__ import annotations

from tfmemlint.model.records import dataclass

PYTHON, PYCON, SHELL, CONSOLE = "python", "pycon", "shell", "console"
DOCKERFILE, YAML, ENV, MAKEFILE, UNKNOWN = "dockerfile", "yaml", "env", "make", ""
OUTPUT = "output"
"""The text that a program has printed: it is no code, and no prose either."""


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of code within a file of another kind.

    Attributes:
        language: one of the names above; ``""`` where nothing says what it is.
        text: its code, without what the document puts in front of each line (indentation, ``>``, prompts); every line
            ends in a newline.
        rows: for each line of ``text``, the row of the file that it stands in, from 1, strictly rising.
        starts: for each line of ``text``, how many characters of that row stand in front of it.
        chain: ``""`` for code on its own; blocks of one file with the same chain are one program, in their order.
        silenced: codes that a comment of the document silences for this block, or their beginnings; ``"*"`` for all.
        fixable: its lines may be changed where they stand.
        legacy: the document says that it is for TensorFlow 1.
    """

    language: str
    text: str
    rows: tuple[int, ...]
    starts: tuple[int, ...]
    chain: str = ""
    silenced: tuple[str, ...] = ()
    fixable: bool = True
    legacy: bool = False
