"""The command ``config``: the options that hold, and where they are from."""

from __future__ import annotations

import argparse
import json
import sys

from tfmemlint.cli.arguments import add_selecting_arguments
from tfmemlint.config.command_line import add_config_arguments
from tfmemlint.reporters.json_text import json_text
from tfmemlint.reporters.say import say

CLEAN, FAILED = 0, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the options of ``config``."""
    parser.description = (
        "Shows the options in force for a file or a directory: those of its nearest configuration file, of the"
        " TFMEMLINT_ variables, and of this command line, each with the place that sets it."
    )
    add = parser.add_argument
    add("path", nargs="?", default=".", metavar="PATH", help="a file or a directory (default: .)")
    add("--schema", action="store_true", help="print the JSON schema of configuration files, for editors")
    add_selecting_arguments(parser)
    add_config_arguments(parser)
    add("--output-format", choices=("text", "json"), default="text", help="text or json (default: text)", dest="form")


def run(arguments: argparse.Namespace) -> int:
    """Print the options; return 0, or 2 if they can't be followed."""
    import os

    from tfmemlint.config.command_line import nearest_of
    from tfmemlint.config.describe import as_data, as_lines, schema
    from tfmemlint.config.files import ConfigError
    from tfmemlint.reporters.paint import printable, write
    from tfmemlint.rulekit.rule import rules

    if arguments.schema:
        write(sys.stdout, json.dumps(schema(rules()), indent=2) + "\n")
        return CLEAN
    path = arguments.path
    if not os.path.lexists(path):
        say(f"{path}: no such file or directory")
        return FAILED
    try:
        nearest = nearest_of(arguments)
        config = nearest.of_directory(path) if os.path.isdir(path) else nearest.of_file(path)
        config.selection(rules())
        config.severities(rules())
    except ConfigError as error:
        say(str(error))
        return FAILED
    if arguments.form == "json":
        write(sys.stdout, json_text(as_data(config)) + "\n")
        return CLEAN
    file = printable(config.path) if config.path is not None else "none"
    write(sys.stdout, f"# configuration file: {file}\n")
    for line in as_lines(config):
        write(sys.stdout, f"{printable(line)}\n")
    return CLEAN
