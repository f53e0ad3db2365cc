"""The runtime's state through a program: `analyze` yields the events that rules read."""

from __future__ import annotations

import ast
import sys
import warnings

from tfmemlint.flow.program import Program
from tfmemlint.knowledge.releases import Target
from tfmemlint.sources import Source

__all__ = ["Program", "analyze"]

RECURSION_LIMIT = 6_000
"""Frames for interpreting calls within calls; nesting beyond it ends in a RecursionError that is reported."""


def analyze(source: Source, target: Target) -> Program:
    """Interpret one file on its own.

    Raises:
        SyntaxError, ValueError: the text isn't Python 3 (`ast.parse`).
        RecursionError: it is nested too deeply.
    """
    from tfmemlint.flow.interpreter import Interpreter

    limit = sys.getrecursionlimit()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source.text, filename=source.path)
        sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
        return Interpreter(source, tree, target).run()
    finally:
        sys.setrecursionlimit(limit)
