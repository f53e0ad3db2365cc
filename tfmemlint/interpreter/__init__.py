"""The runtime's state through a program: `analyze` yields the events that rules read."""

from __future__ import annotations

import ast
import sys
import warnings
from typing import TYPE_CHECKING

from tfmemlint.sources import Source

if TYPE_CHECKING:
    # Whoever asks which programs there are imports this package, too: it has to start fast.
    from tfmemlint.interpreter.observer import Observer
    from tfmemlint.interpreter.program import Program
    from tfmemlint.interpreter.unit import EntrySetup, ParsedModule
    from tfmemlint.knowledge.releases import Target

__all__ = ["analyze", "parse"]

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


def analyze(
    source: Source | ParsedModule,
    target: Target,
    setup: EntrySetup | None = None,
    observer: Observer | None = None,
) -> Program:
    """Interpret a program from its entry point on: a file on its own, or with all that it imports of its project.

    Args:
        source: the file that is run. target: the release of TensorFlow that it runs on.
        setup: how it is run, and where its imports are found; None for a file alone.
        observer: gets told of each statement, branch and event, and of what is given up on; see `Observer`.

    Raises:
        SyntaxError, ValueError: the text isn't Python 3 (`ast.parse`).
        RecursionError: it is nested too deeply.
    """
    from tfmemlint.interpreter.interpreter import interpret

    limit = sys.getrecursionlimit()
    text = parse(source) if isinstance(source, Source) else source
    unit = text.unit(setup.name if setup is not None else "__main__", setup.package if setup is not None else None)
    try:
        sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
        return interpret(unit, target, setup, observer)
    finally:
        sys.setrecursionlimit(limit)
