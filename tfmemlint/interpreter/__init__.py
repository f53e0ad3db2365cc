"""The runtime's state through a program: `analyze` yields the events that rules read."""

from __future__ import annotations

import ast
import sys
import warnings
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Program
from tfmemlint.knowledge.releases import Target
from tfmemlint.sources import Source

if TYPE_CHECKING:
    from tfmemlint.interpreter.unit import EntrySetup, ParsedModule

__all__ = ["Program", "analyze", "parse"]

RECURSION_LIMIT = 6_000
"""Frames for interpreting calls within calls; nesting beyond it ends in a RecursionError that is reported."""


def parse(source: Source) -> ParsedModule:
    """Read a module, so that it can be interpreted, as part of any number of programs.

    Raises:
        SyntaxError, ValueError: the text isn't Python 3 (`ast.parse`).
        RecursionError: it is nested too deeply.
    """
    from tfmemlint.facts.reach import Reach
    from tfmemlint.facts.shapes import Shapes
    from tfmemlint.interpreter.unit import ParsedModule

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(source.text, filename=source.path)
    return ParsedModule(source, tree, Reach(tree, source.lines), Shapes(source))


def analyze(source: Source | ParsedModule, target: Target, run: EntrySetup | None = None) -> Program:
    """Interpret a program from its entry point on: a file on its own, or with all that it imports of its project.

    Args:
        source: the file that is run. run: how it is run, and where its imports are found; None for a file alone.

    Raises:
        SyntaxError, ValueError: the text isn't Python 3 (`ast.parse`).
        RecursionError: it is nested too deeply.
    """
    from tfmemlint.interpreter.interpreter import Interpreter

    limit = sys.getrecursionlimit()
    text = parse(source) if isinstance(source, Source) else source
    unit = text.unit(run.name if run is not None else "__main__", run.package if run is not None else None)
    try:
        sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
        return Interpreter(unit, target, run).run()
    finally:
        sys.setrecursionlimit(limit)
