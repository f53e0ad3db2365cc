"""The command ``tfmemlint debug``: its options and its entry point."""

from __future__ import annotations

import argparse
import sys

from tfmemlint.reporters.destination import FULL, JSON

CLEAN, FAILED = 0, 2
_ABOUT = """\
Prints what the analysis sees in a program, step by step: each line that it interprets, what it then knows of
TensorFlow's runtime, each branch and why it is taken to be possible, each event that rules read, and what it gives up
on. It analyzes the program as `check` does: for the same release, with the same modules, started in the same ways.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the options of ``debug``."""
    commands = parser.add_subparsers(title="what to show", required=True, dest="what", metavar="{events}")
    words = "show what the analysis sees in a program, step by step"
    events = commands.add_parser("events", help=words, description=_ABOUT)
    add = events.add_argument
    add("file", metavar="FILE", help="a program: a file of Python, or a notebook")
    add("--row", type=int, metavar="N", help="show the steps at this line only")
    add("--function", metavar="NAME", default="", help="show the steps in this function only")
    add("--imports", action="store_true", help="show the steps in imported modules, too, and how imports are resolved")
    add(
        "--target-version",
        metavar="X.Y",
        help="the TensorFlow release that the code runs on (default: the one that the project requires)",
    )
    add("--output-format", choices=(FULL, JSON), default=FULL, help="full, or json (default: full)")


def run(arguments: argparse.Namespace) -> int:
    """Show the steps of one program; return 0, or 2 if it could not be analyzed."""
    from tfmemlint.config.command_line import nearest_of
    from tfmemlint.config.files import ConfigError
    from tfmemlint.debug.events import record_runs
    from tfmemlint.debug.report import as_data, show
    from tfmemlint.debug.selecting import Selection
    from tfmemlint.engine.context import RunContext
    from tfmemlint.engine.front_end import find_files, read_items
    from tfmemlint.engine.options_by_file import OptionsByFile
    from tfmemlint.sources import Unreadable
    from tfmemlint.sources.kinds import DOCUMENTS

    try:
        options = OptionsByFile(nearest_of(arguments))
        walk, files = find_files([arguments.file], options.nearest)
        context = RunContext(**options.options_of(options.nearest.of_file(arguments.file)))
    except ConfigError as error:
        return _failed(str(error))
    for path, problem in walk.problems:
        return _failed(f"{path}: {problem}")
    items = read_items([file for file in files if file[1]], context, lambda item: item.named)
    item = next((item for item in items.wanted if item.named), None)
    if item is None:
        return _failed(f"{arguments.file}: not a file to read: name one program")
    if item.data is None:
        return _failed(f"{item.path}: {item.error}")
    if item.kind in DOCUMENTS:
        return _failed(f"{item.path}: not a file of Python, nor a notebook")
    try:
        runs = list(record_runs(item, context))
    except (Unreadable, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return _failed(f"{item.path}: {getattr(error, 'msg', None) or error or 'nested too deeply to be read'}")
    selection = Selection(arguments.row, arguments.function, arguments.imports)
    if arguments.output_format == JSON:
        from tfmemlint.reporters.json_text import json_text

        print(json_text(as_data(runs, selection)))
    else:
        for found in runs:
            show(found, selection, sys.stdout)
    return CLEAN


def _failed(message: str) -> int:
    from tfmemlint.reporters.say import say

    say(message)
    return FAILED
