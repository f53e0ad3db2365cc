"""The shells of a notebook: each line that begins with ``!``, and each ``%%bash`` cell, is a process of its own.

Source: IPython's documentation of its shell escapes: ``!cmd`` runs in a subshell, whose variables end with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tfmemlint.deployment.events import program
from tfmemlint.deployment.shell.script import read_shell
from tfmemlint.model.configuration import EXPORT, Lost
from tfmemlint.sources import Source

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.sources.notebook import Notebook

_ESCAPE = re.compile(
    r"(?P<before>[ \t]*(?:[\w.,\[\]][\w.,\[\] ]*=[ \t]*)?!{1,2}[ \t]*|[ \t]*%(?:sx|system|bash)[ \t]+)(?P<command>\S.*)"
)
_CELL = re.compile(r"\s*%%(?:bash|sh|script[ \t]+(?:\S*/)?(?:ba|z|k|da)?sh|!|sx|system)\b")
_INSTALLS = re.compile(r"\b(?:jupyter|jupyter-lab|ipython|ipykernel)\b")


def programs(source: Notebook, target: Target, may_matter: Callable[[str], bool]) -> Iterator[Program]:
    """Yield, for each shell, a program that only sets its variables, in the rows of the notebook's text.

    Args:
        source: the notebook.
        target: the release that it runs on.
        may_matter: True for the commands of a shell in which a rule may find something; the others are left out.
    """
    shells = list(_shells(source))
    lines = [""] * (source.text.count("\n") + 2)
    for above, commands in shells:
        lines[above : above + len(commands)] = commands
    for above, commands in shells:
        text = "\n".join(commands) + "\n"
        if not may_matter(text):
            continue
        # Read by itself: with the rows above it, many shells would cost the square of their number.
        found = read_shell(text).moved(above)
        if found.idle and not _INSTALLS.search(text):
            exported = [setting for setting in found.settings if setting.how == EXPORT]
            found.lost += [Lost(setting, "kernel", setting.statement, "the notebook") for setting in exported]
            found.settings = [setting for setting in found.settings if setting.how != EXPORT]
        yield program(Source(source.path, text, _lines=lines), found, target)


def _shells(source: Notebook) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of rows of the notebook's text above each shell, and the lines of its commands."""
    for cell in source.cells:
        lines = source.cell_text(cell.number).split("\n")
        first = next((number for number, line in enumerate(lines) if line.strip()), None)
        if first is None:
            continue
        above = cell.row - 1
        if _CELL.match(lines[first]):
            yield above + first + 1, lines[first + 1 :]
            continue
        number = 0
        while number < len(lines):
            match = _ESCAPE.fullmatch(lines[number])
            first = number
            number += 1
            if match is None or not source.is_magic(cell.row + first):
                continue
            while lines[number - 1].endswith("\\") and number < len(lines):
                number += 1
            command = " " * len(match["before"]) + match["command"]
            yield above + first, [command, *lines[first + 1 : number]]
