"""The place that a report is written to: standard output, or a file that is written as a whole."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO


class OutputError(Exception):
    """The file can't be written; the text is a message."""


@contextmanager
def destination(path: str | None) -> Iterator[IO[str]]:
    """Enter with the stream to write a report to.

    Args:
        path: the file, which is written when the block ends; None for standard output.

    Raises:
        OutputError: the file can't be written.
    """
    if path is None:
        yield sys.stdout
        return
    import io
    from pathlib import Path

    made = io.StringIO()
    yield made
    try:
        Path(path).write_bytes(made.getvalue().encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise OutputError(f"--output-file: {path}: {error.strerror or error}") from None


FULL, JSON = "full", "json"


def add_output_arguments(parser: argparse._ActionsContainer, *, json: str) -> None:
    """Give ``parser`` the options of a command whose report has two formats.

    Args:
        parser: the parser.
        json: words for what the JSON holds.
    """
    add = parser.add_argument
    add("--output-format", choices=(FULL, JSON), default=FULL, help=f"full, or json for {json} (default: full)")
    add("-o", "--output-file", metavar="FILE", help="write the report to FILE instead of standard output")
    add("--lang", choices=("en", "zh"), help="the language of the report (default: that of the environment)")
