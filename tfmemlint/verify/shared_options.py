"""What the commands have in common that run a user's code: their options, and a line that says what is going on."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

MOST_SECONDS = 1_000_000


def add_options(parser: argparse.ArgumentParser, *, timeout: float, cwd: str, json: str) -> None:
    """The limits of one run, where it takes place, and where the outcome goes; ``timeout`` is the default in seconds,
    ``cwd`` and ``json`` are words for the help."""
    add = parser.add_argument
    add(
        "--timeout",
        type=float,
        metavar="SECONDS",
        default=timeout,
        help=f"time limit of one run (default: {timeout:g})",
    )
    add(
        "--host-memory",
        metavar="SIZE",
        default="8GiB",
        help="limit on this machine's memory for one run (default: 8GiB)",
    )
    add("--cwd", metavar="DIR", help=f"run in this directory (default: {cwd})")
    add("--python", metavar="PATH", help="the interpreter that has TensorFlow (default: this one)")
    add("--json", metavar="FILE", help=f"write {json} to FILE as JSON; - is standard output")


def seconds(timeout: float) -> float:
    """Return the value of ``--timeout``.

    Raises:
        ValueError: it is none that can be waited for.
    """
    if not 0 < timeout <= MOST_SECONDS:
        raise ValueError(f"--timeout: more than 0 seconds, and no more than {MOST_SECONDS}")
    return timeout


def folder(name: str | None) -> str | None:
    """Return the value of ``--cwd``.

    Raises:
        ValueError: there is no such directory.
    """
    if name is not None and not Path(name).is_dir():
        raise ValueError(f"--cwd: {name} is no directory")
    return name


def size(option: str, text: str, *, zero: bool = False) -> float:
    """Return an amount of memory in MiB; ``zero``: it may be nothing.

    Raises:
        ValueError: it is none.
    """
    from tfmemlint.config.files import parse_memory

    if zero and text.strip().rstrip("bBgGiImMkK").strip() == "0":
        return 0.0
    try:
        return parse_memory(text)
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from None


@contextlib.contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """A line on a terminal that says what is going on; nothing where nobody watches."""
    if not sys.stderr.isatty():
        yield lambda words: None
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status("") as status:
        yield lambda words: status.update(escape(words))


def say(message: str) -> None:
    """A message on standard error."""
    print(f"tfmemlint: {message}", file=sys.stderr)
