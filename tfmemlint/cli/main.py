"""The command line: it finds the command that is meant, and runs it."""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from tfmemlint import __version__
from tfmemlint.cli import arguments, check
from tfmemlint.fixes import import_libcst
from tfmemlint.reporters.say import say

CLEAN, FOUND, FAILED, CRASHED = 0, 1, 2, 3
EVERY_COMMAND = "*"
_CHECKING = {
    "check": ("report what is wrong", arguments.add_check_arguments),
    "fix": ("fix what can be fixed, and report the rest", arguments.add_fix_arguments),
}
"""The help of each command that checks, and what adds its arguments."""
_ELSEWHERE = {
    "verify": (
        "tfmemlint.verify.command",
        "run the configuration of GPU memory on the real TensorFlow, and judge it",
    ),
    "plan": ("tfmemlint.plans.command", "predict what a program asks of each GPU, and what it gets"),
    "fit": ("tfmemlint.fit.command", "predict whether a training script fits into a GPU's memory, and what takes it"),
    "server": ("tfmemlint.server.command", "serve an editor: findings as you type, fixes, and the effect of a call"),
    "mcp": ("tfmemlint.mcp.command", "serve a program that writes code, over the Model Context Protocol"),
    "merge": ("tfmemlint.cli.merge", "join reports of check, such as those of several machines"),
    "estate": ("tfmemlint.estate.command", "check many repositories, and report on all of them"),
    "debug": ("tfmemlint.debug.command", "show what the analysis sees in a program"),
    "doctor": ("tfmemlint.doctor.command", "show what this machine has, and what is missing"),
    "rule": ("tfmemlint.cli.rule", "list the rules, or explain some"),
    "config": ("tfmemlint.cli.config", "show the options in force, and where each is set"),
    "completion": ("tfmemlint.cli.completion", "print the script by which a shell completes the command"),
}
"""The module and the help of each command that is imported only if it is run."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns:
        The exit code: 0 clean, 1 findings, 2 the tool could not do its work, 3 it has an error of its own.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    if "_ARGCOMPLETE" in os.environ:
        from tfmemlint.cli.completion import complete

        complete(_parser(EVERY_COMMAND))
    if not given:
        _parser("").print_help(sys.stderr)
        return FAILED
    own: list[str] = []
    if given[:1] in (["verify"], ["fit"]) and "--" in given:
        place = given.index("--")
        given, own = given[:place], given[place + 1 :]
    import_libcst.is_own_process = argv is None
    arguments = _parsed(given)
    arguments.program_arguments = own
    _choose_color(arguments.color)
    _choose_language(getattr(arguments, "lang", None))
    # Syntax trees are let go of in circles. To look for them after each 100,000 objects costs no more than after two
    # million, as what was there before is not looked at again, and keeps some 10 MB of them where that keeps 200.
    gc.set_threshold(100_000, 20, 20)
    # Python's warnings about the style of the code that is read are not about this tool.
    warnings.simplefilter("ignore", SyntaxWarning)
    warnings.simplefilter("ignore", DeprecationWarning)
    try:
        code = int(arguments.run(arguments))
        # The editor's server closes it when the editor goes.
        if not sys.stdout.closed:
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Whoever read the output has seen enough; Python must not fail again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FOUND
    except KeyboardInterrupt:
        say("interrupted" + ("; every file is as it was before, or fixed as a whole" if given[:1] == ["fix"] else ""))
        return FAILED
    except Exception as error:
        # Python's own exit code would be that of findings.
        _say_crash(error)
        return CRASHED


def _choose_language(language: str | None) -> None:
    """Make ``--lang`` hold for whatever prints."""
    if language:
        from tfmemlint.reporters.language import choose

        choose(language)


def _choose_color(color: str) -> None:
    """Make ``--color`` hold for whatever prints: what the user states comes before the environment."""
    if color == "auto":
        return
    stated, other = ("FORCE_COLOR", "NO_COLOR") if color == "always" else ("NO_COLOR", "FORCE_COLOR")
    os.environ.pop(other, None)
    os.environ[stated] = "1"


def _parsed(given: list[str]) -> argparse.Namespace:
    """Return the parsed command line. argparse leaves unknown options to the parser that knows no option: the one of
    the command names the nearest."""
    parser = _parser(given[0])
    arguments, unknown = parser.parse_known_args(given)
    if unknown:
        commands = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
        commands.choices[arguments.command].error(f"unrecognized arguments: {' '.join(unknown)}")
    return arguments


def _say_crash(error: Exception) -> None:
    """Print that the tool has an error of its own, with what a report of it needs."""
    import traceback

    from tfmemlint.engine.trouble import described

    say("this is an error in tfmemlint, not a finding; the lines below belong in a report of it")
    for line in "".join(traceback.format_tb(error.__traceback__)).splitlines():
        say(line)
    say(f"tfmemlint {__version__}: {described(error)}")


def _parser(chosen: str) -> argparse.ArgumentParser:
    """Return the parser: with the ``chosen`` command alone, or with all of them where none is named.

    Only `EVERY_COMMAND` gives the commands that are modules of their own their options.
    """
    parser = _Parser(
        prog="tfmemlint",
        description="Shows what TensorFlow will do with GPU memory, and rewrites the code to do what was intended.",
    )
    parser.add_argument("--version", action="version", version=f"tfmemlint {__version__}")
    commands = parser.add_subparsers(
        # Told its name, it need not format the usage, for which argparse asks for the width of the terminal.
        prog="tfmemlint",
        title="commands",
        required=True,
        metavar="COMMAND",
        dest="command",
    )
    # What comes after a command is parsed by the parser of that command: nothing asks for the others. To make all of
    # them takes a sixth of a check of one small file.
    alone = chosen in _CHECKING or chosen in _ELSEWHERE
    for name, (words, add_arguments) in _CHECKING.items():
        if not alone or chosen == name:
            checking = commands.add_parser(name, help=words)
            add_arguments(checking)
            checking.set_defaults(run=check.run)
    for name, (place, words) in _ELSEWHERE.items():
        if alone and chosen != name:
            continue
        other = commands.add_parser(name, help=words)
        if chosen in (name, EVERY_COMMAND):
            # The others are not even imported: `check` has to start fast.
            try:
                module = importlib.import_module(place)
            except ImportError:
                if chosen != EVERY_COMMAND:
                    raise
                continue  # a command whose packages are not installed
            module.add_arguments(other)
            other.set_defaults(run=module.run)
    for command in commands.choices.values():
        command.formatter_class = argparse.RawDescriptionHelpFormatter
        command.add_argument(
            "--color",
            choices=("auto", "always", "never"),
            default="auto",
            help="print in colour (default: on a terminal)",
        )
    return parser


class _Parser(argparse.ArgumentParser):
    """A parser that names the nearest command or option where one is unknown, and takes no option by its beginning."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **settings})

    def error(self, message: str) -> NoReturn:
        from tfmemlint.cli.nearest_words import corrected
        from tfmemlint.reporters.paint import printable

        options = [option for action in self._actions for option in action.option_strings]
        # A file whose name begins as an option does comes here where a shell wrote it for a pattern.
        super().error(printable(corrected(message, options, [*_CHECKING, *_ELSEWHERE])))
