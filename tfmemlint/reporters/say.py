"""Messages on standard error. Names and texts of a checked tree in them act on no terminal and begin no line."""

from __future__ import annotations

import sys


def say(*lines: str) -> None:
    """Print lines, each as a message of the tool, with what is not printable in them escaped."""
    from tfmemlint.reporters.paint import printable, write

    for line in lines:
        write(sys.stderr, f"tfmemlint: {printable(line)}\n")
