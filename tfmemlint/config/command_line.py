"""Options of the command line that configuration files have as well."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any

from tfmemlint.config.files import ConfigError, Table
from tfmemlint.config.nearest import Nearest
from tfmemlint.config.options import FLAG, LIST, OPTIONS, TABLE, Option

_STORED_AS = {"exclude": "extend-exclude"}
"""Options of the command line that have another name in a configuration file: ``--exclude`` leaves out further
files."""


def add_config_arguments(parser: argparse._ActionsContainer) -> None:
    """Give ``parser`` the options that say where options come from."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        action="append",
        default=[],
        help="take options from this file instead of the nearest one; or KEY = VALUE: set one option",
    )
    parser.add_argument("--isolated", action="store_true", help="read no configuration file")


def nearest_of(arguments: argparse.Namespace, extra: Sequence[Table] = ()) -> Nearest:
    """Return the options that hold for each file, those of the command line among them; say what is wrong with the
    names of variables.

    Args:
        arguments: the parsed command line.
        extra: options that the command stands for.

    Raises:
        ConfigError: an option can't be followed.
    """
    from tfmemlint.config.files import from_environment

    tables, remarks = from_environment(os.environ)
    if remarks:
        from tfmemlint.reporters.say import say

        say(*remarks)
    return Nearest.of(
        config=getattr(arguments, "config", ()),
        isolated=getattr(arguments, "isolated", False),
        environment=([*tables, *extra], remarks),
        command_line=command_line(arguments),
    )


def command_line(arguments: argparse.Namespace) -> Table | None:
    """Return the options of a parsed command line; None if it gives none.

    Raises:
        ConfigError: an option can't be followed.
    """
    values: dict[str, Any] = {}
    for key, option in OPTIONS.items():
        given = getattr(arguments, key.replace("-", "_"), None)
        if given is None:
            continue
        try:
            values[_STORED_AS.get(key, key)] = _value(option, given)
        except ValueError as error:
            raise ConfigError("", f"--{key}: {error}") from None
    return Table("", os.getcwd(), values) if values else None


def _value(option: Option, given: object) -> Any:
    """Return the value of an option of the command line, which argparse may have collected from several.

    Raises:
        ValueError: it can't be followed.
    """
    if option.shape in (LIST, TABLE) and isinstance(given, list):
        given = ",".join(given)
    return option.convert(given) if option.shape == FLAG else option.from_text(str(given))
