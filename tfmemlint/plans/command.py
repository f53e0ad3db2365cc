"""The command ``tfmemlint plan``: its options and its entry point."""

from __future__ import annotations

import argparse
from typing import IO, TYPE_CHECKING

from tfmemlint.config.command_line import add_config_arguments
from tfmemlint.reporters.destination import JSON, OutputError, add_output_arguments, destination
from tfmemlint.reporters.say import say

if TYPE_CHECKING:
    from tfmemlint.plans.model import Plan

AS_ASKED, DIFFERS, FAILED = 0, 1, 2

MAX_GPUS = 64
_ABOUT = """\
Predicts from the code alone what starts TensorFlow's runtime, what each GPU gets, and which intents take effect.
Neither TensorFlow nor a GPU is needed, and no code of the program is run.
"""
_EXIT_CODES = """\
Exit code: 0 if every intent takes effect, as far as the code tells; 1 if one does not; 2 if a path could not be read.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the options of ``plan``."""
    parser.description, parser.epilog = _ABOUT, _EXIT_CODES
    add = parser.add_argument
    add("paths", nargs="*", metavar="PATH", help="files or directories (default: .)")
    add_config_arguments(parser)
    add("--json", action="store_true", help=argparse.SUPPRESS)  # as it was called before
    add("--html", metavar="FILE", help="write the plan as a page with pictures, too (needs matplotlib)")
    add_output_arguments(parser, json="the plan as plain data")
    add(
        "--target-version",
        metavar="X.Y",
        help="the TensorFlow release that the code runs on (default: the one that the project requires)",
    )
    add("--gpu-memory", metavar="SIZE", help="the memory of one GPU, such as 16GiB: fractions are shown in MiB")
    add(
        "--gpus",
        type=_gpus,
        metavar="N",
        help="the number of GPUs (default: those that the program names)",
    )


def _gpus(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= number <= MAX_GPUS:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of GPUs from 1 to {MAX_GPUS}")
    return number


def run(arguments: argparse.Namespace) -> int:
    """Plan the given paths and return the exit code.

    0: every intent takes effect, as far as the analysis can tell. 1: an intent and its prediction differ. 2: a path
    could not be read.
    """
    from tfmemlint.config.command_line import nearest_of
    from tfmemlint.config.files import ConfigError
    from tfmemlint.engine.context import RunContext
    from tfmemlint.engine.options_by_file import OptionsByFile
    from tfmemlint.plans.make import plan_paths

    if arguments.html and _lacks_pictures():
        return FAILED
    try:
        options = OptionsByFile(nearest_of(arguments))
        context = RunContext(**options.options_of(options.nearest.top), by_file=options)
        plan = plan_paths(arguments.paths, options.nearest, context, arguments.gpus)
    except ConfigError as error:
        say(str(error))
        return FAILED
    for path in plan.empty:
        say(f"{path}: no Python files here")
    try:
        with destination(arguments.output_file) as stream:
            _show(plan, stream, as_json=arguments.json or arguments.output_format == JSON)
    except OutputError as error:
        say(str(error))
        return FAILED
    if arguments.html and not _draw(plan, arguments.html):
        return FAILED
    if context.target is None and _is_old(plan):
        say("some of this is code for an older TensorFlow; say which one it runs on: --target-version 1.15")
    if plan.problems:
        return FAILED
    return DIFFERS if plan.differs else AS_ASKED


def _is_old(plan: Plan) -> bool:
    """Return True if a program without a stated release ends because a name of TensorFlow's is gone, or does not exist
    yet."""
    from tfmemlint.rulekit.rule import codes_where

    of_another_release = codes_where(lambda rule: rule.of_another_release)
    stops = (entry.stop for file in plan.files for entry in file.entries if not file.target_is_stated)
    return any(stop is not None and not of_another_release.isdisjoint(stop.rules) for stop in stops)


def _lacks_pictures() -> bool:
    """Return True, and say what to install, if pictures can't be drawn."""
    from tfmemlint.reporters.pictures.charts import MISSING, is_missing

    if is_missing():
        say(MISSING)
        return True
    return False


def _draw(plan: Plan, path: str) -> bool:
    """Write the page with pictures, and return whether that worked."""
    from tfmemlint.plans.data import as_data
    from tfmemlint.plans.pictures import as_page
    from tfmemlint.reporters.pictures.page import write

    problem = write(path, as_page(as_data(plan)))
    if problem:
        say(problem)
    return not problem


def _show(plan: Plan, stream: IO[str], *, as_json: bool) -> None:
    for problem in plan.problems:
        place = problem.path if problem.row is None else f"{problem.path}:{problem.row}"
        say(f"{place}: {problem.message}")
    if as_json:
        from tfmemlint.plans.data import as_data
        from tfmemlint.reporters.json_text import json_text

        stream.write(json_text(as_data(plan)) + "\n")
        return
    from tfmemlint.plans.report import show

    show(plan, stream)
