"""The options and messages that `verify` and `fit` share, as both run a user's code."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tfmemlint.reporters.destination import JSON, OutputError, add_output_arguments, destination

if TYPE_CHECKING:
    from tfmemlint.verify.sandbox_options import Sandbox

MAX_SECONDS = 1_000_000
"""A longer time limit is taken for a mistake; a bound without a deeper reason."""


def add_options(parser: argparse.ArgumentParser, *, timeout: float, cwd: str, json: str) -> None:
    """Add the options for the limits of one run, its folder, its interpreter and its JSON.

    ``timeout`` is the default in seconds; ``cwd`` and ``json`` are words for the help.
    """
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
    add("--network", action="store_true", help="let the program use the network")
    add(
        "--write",
        metavar="DIR",
        action="append",
        default=[],
        help="let the program write to this directory; what it writes elsewhere is refused, or not kept (repeatable)",
    )
    add(
        "--env",
        metavar="NAME[=VALUE]",
        action="append",
        default=[],
        help="give the program this variable; most of yours are not passed to it (repeatable)",
    )
    add("--no-sandbox", action="store_true", help="run without the sandbox: the program may do what you may do")
    add("--json", metavar="FILE", help=argparse.SUPPRESS)  # as it was called before: both reports are written
    add_output_arguments(parser, json=f"{json} as plain data")


def missing_for_pictures(html: str | None) -> str:
    """Return why ``--html FILE`` can't be followed; "" if it can, or isn't asked for."""
    from tfmemlint.reporters.pictures.charts import MISSING, is_missing

    return MISSING if html and is_missing() else ""


def print_report(arguments: argparse.Namespace, as_json: Callable[[], str], show: Callable[[IO[str]], None]) -> bool:
    """Print a report in the format, and to the place, that the options name; return whether that worked.

    ``--json FILE`` writes the JSON to a file besides, or instead where the file is ``-``.
    """
    from tfmemlint.reporters.say import say

    if arguments.json == "-":
        arguments.output_format = JSON
    elif arguments.json:
        try:
            Path(arguments.json).write_text(as_json(), encoding="utf-8")
        except OSError as error:
            say(f"{arguments.json}: {error.strerror or error}")
            return False
    try:
        with destination(arguments.output_file) as stream:
            if arguments.output_format == JSON:
                stream.write(as_json())
            else:
                show(stream)
    except OutputError as error:
        say(str(error))
        return False
    return True


def seconds(timeout: float) -> float:
    """Return the value of ``--timeout``.

    Raises:
        ValueError: it is not positive, or too large.
    """
    if not 0 < timeout <= MAX_SECONDS:
        raise ValueError(f"--timeout: more than 0 seconds, and no more than {MAX_SECONDS}")
    return timeout


def folder(name: str | None) -> str | None:
    """Return the value of ``--cwd``.

    Raises:
        ValueError: there is no such directory.
    """
    if name is not None and not Path(name).is_dir():
        raise ValueError(f"--cwd: {name} is no directory")
    return name


def sandbox(arguments: argparse.Namespace) -> Sandbox | None:
    """Return what the program may reach of this machine; None for everything.

    Raises:
        ValueError: a directory doesn't exist, or the options contradict each other.
    """
    from tfmemlint.verify.sandbox_options import Sandbox

    for name in arguments.write:
        if not Path(name).is_dir():
            raise ValueError(f"--write: {name} is no directory")
    if arguments.no_sandbox:
        if arguments.network or arguments.write:
            raise ValueError("--no-sandbox: --network and --write are about the sandbox")
        return None
    return Sandbox(arguments.network, tuple(arguments.write))


def size(option: str, text: str, *, zero: bool = False) -> float:
    """Return an amount of memory in MiB; ``zero``: 0 is allowed.

    Raises:
        ValueError: it can't be parsed.
    """
    from tfmemlint.config.files import parse_memory

    if zero and text.strip().rstrip("bBgGiImMkK").strip() == "0":
        return 0.0
    try:
        return parse_memory(text)
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from None


SECONDS_BETWEEN_LINES = 5.0
"""A log is to show that something happens, and not to be filled."""


def _every_few_seconds() -> Callable[[str], None]:
    """Return a function that prints what it is told, if the last line is long enough ago."""
    import time

    from tfmemlint.reporters.say import say

    last = time.monotonic()

    def tell(words: str) -> None:
        nonlocal last
        if time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            say(words)

    return tell


@contextlib.contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Show a line with the progress on a terminal; elsewhere, print a line every few seconds."""
    if not sys.stderr.isatty():
        yield _every_few_seconds()
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status("") as status:
        yield lambda words: status.update(escape(words))
