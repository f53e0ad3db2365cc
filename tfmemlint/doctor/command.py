"""The command ``tfmemlint doctor``: report what this machine has, and what is missing."""

from __future__ import annotations

import argparse
import contextlib
import math
import sys

from tfmemlint.doctor.tensorflow import SECONDS
from tfmemlint.reporters.destination import JSON, OutputError, add_output_arguments, destination

POSSIBLE, IMPOSSIBLE, FAILED = 0, 1, 2
_ABOUT = """\
Reports the interpreter, its TensorFlow, the CUDA libraries, the NVIDIA driver, the GPUs and the environment variables
of this machine, the grounds on which `verify` can run, and what is missing for the others. TensorFlow is imported in a
child process. No GPU memory is taken.
"""
_AFTER = """\
Exit code: 0 if there is a ground to verify on, 1 if there is none, 2 if the interpreter can't be run.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``doctor`` to ``parser``."""
    parser.description, parser.epilog = _ABOUT, _AFTER
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)  # as it was called before
    add_output_arguments(parser, json="the report as one object")
    parser.add_argument(
        "--python", metavar="PATH", help="the interpreter whose TensorFlow is examined (default: this one)"
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=_seconds,
        default=SECONDS,
        help="time limit for the start of TensorFlow, in seconds (default: %(default)g)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Examine the machine, and print the report.

    Returns:
        0 if a fix can be verified here on one ground at least, 1 if on none, 2 if the interpreter can't be run.
    """
    from tfmemlint.doctor.diagnosis import diagnose
    from tfmemlint.doctor.report import as_json, show
    from tfmemlint.doctor.tensorflow import InterpreterError
    from tfmemlint.reporters.paint import write
    from tfmemlint.reporters.say import say

    try:
        with _waiting():
            found = diagnose(arguments.python, seconds=arguments.timeout)
    except InterpreterError as error:
        say(str(error))
        return FAILED
    try:
        with destination(arguments.output_file) as stream:
            if arguments.json or arguments.output_format == JSON:
                write(stream, as_json(found))
            else:
                show(found, stream)
    except OutputError as error:
        say(str(error))
        return FAILED
    return POSSIBLE if found.best is not None else IMPOSSIBLE


def _waiting() -> contextlib.AbstractContextManager[object]:
    """Return a context that shows a terminal's user why nothing happens: TensorFlow takes seconds to start."""
    if not sys.stderr.isatty():
        return contextlib.nullcontext()
    from rich.console import Console

    return Console(stderr=True).status("Examining the machine and its TensorFlow")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError("must be a number of seconds greater than 0")
    return seconds
