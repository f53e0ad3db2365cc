"""The plug-in for flake8, which shows the findings of each file by itself under their codes.

flake8 hands over one file at a time, so a program of several files is judged by `tfmemlint check` alone.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from tfmemlint import __version__

if TYPE_CHECKING:
    from tfmemlint.engine.context import RunContext
    from tfmemlint.engine.options_by_file import OptionsByFile


class Plugin:
    """Checks one file. The configuration is tfmemlint's own; flake8's ``noqa`` and ``select`` hold besides."""

    name: ClassVar[str] = "tfmemlint"
    version: ClassVar[str] = __version__
    _options: ClassVar[OptionsByFile | None] = None

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        self._path = "-" if filename in ("stdin", "-", "") else os.path.normpath(filename)
        self._text = "".join(lines)

    def run(self) -> Iterator[tuple[int, int, str, type[Plugin]]]:
        """Yield the row, the column from 0, and the code with the message of each finding."""
        from tfmemlint.engine.run import from_text

        for finding in from_text(self._text.encode("utf-8", "surrogatepass"), self._path, self._context()).findings:
            words = f"{finding.code} {finding.message}"
            yield finding.span.row, finding.span.column - 1, words, type(self)

    @classmethod
    def _context(cls) -> RunContext:
        from tfmemlint.config.nearest import Nearest
        from tfmemlint.engine.context import RunContext
        from tfmemlint.engine.options_by_file import OptionsByFile

        if cls._options is None:
            cls._options = OptionsByFile(Nearest.of())
        options = cls._options
        return RunContext(**options.options_of(options.nearest.top), by_file=options, explain_fixes="never")
