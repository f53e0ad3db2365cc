"""The command line: it finds the command that is meant, and runs ``rule`` itself."""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
import warnings
from collections.abc import Sequence

from tfmemlint import __version__
from tfmemlint.cli import arguments, check
from tfmemlint.reporters.say import say

CLEAN, FOUND, FAILED, CRASHED = 0, 1, 2, 3
_ELSEWHERE = {
    "verify": ("tfmemlint.verify.command", "run what configures GPU memory on the real TensorFlow, and judge it"),
    "plan": ("tfmemlint.plans.command", "predict what a program asks of each GPU, and what it gets"),
    "fit": ("tfmemlint.fit.command", "predict whether a training script fits a GPU's memory, and what takes it"),
    "server": ("tfmemlint.server.command", "serve an editor: findings as you type, fixes, and what becomes of a call"),
    "mcp": ("tfmemlint.mcp.command", "serve a program that writes code, by the Model Context Protocol"),
    "debug": ("tfmemlint.debug.command", "show what the analysis sees in a program"),
    "doctor": ("tfmemlint.doctor.command", "show what this machine has, and what is missing"),
}
"""The module and the help of each command that is imported only if it is run."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns:
        The exit code: 0 clean, 1 findings, 2 the tool could not do its work, 3 it has an error of its own.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    own: list[str] = []
    if given[:1] in (["verify"], ["fit"]) and "--" in given:
        place = given.index("--")
        given, own = given[:place], given[place + 1 :]
    arguments = _parser(given[0] if given else "").parse_args(given)
    arguments.program_arguments = own
    # The syntax trees that are read are all needed, and short-lived: looking for garbage in them is time lost. A
    # million objects are some 100 MB: what is let go of in circles has to be found before it is much more than that.
    gc.set_threshold(1_000_000, 20, 20)
    # Python's warnings about the style of the code that is read are not about this tool.
    warnings.simplefilter("ignore", SyntaxWarning)
    warnings.simplefilter("ignore", DeprecationWarning)
    try:
        code = int(arguments.run(arguments))
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


def _say_crash(error: Exception) -> None:
    """Print that the tool has an error of its own, with what a report of it needs."""
    import traceback

    from tfmemlint.engine.trouble import described

    say("this is an error in tfmemlint, not a finding; the lines below belong in a report of it")
    for line in "".join(traceback.format_tb(error.__traceback__)).splitlines():
        say(line)
    say(f"tfmemlint {__version__}: {described(error)}")


def _parser(chosen: str) -> argparse.ArgumentParser:
    """Return the parser. Of the commands that are modules of their own, only the ``chosen`` one has its options."""
    parser = argparse.ArgumentParser(
        prog="tfmemlint",
        description="Says what TensorFlow will really do with GPU memory, and rewrites the code to do what was wanted.",
    )
    parser.add_argument("--version", action="version", version=f"tfmemlint {__version__}")
    commands = parser.add_subparsers(
        # Told its name, it need not format the usage, for which argparse asks for the width of the terminal.
        prog="tfmemlint",
        title="commands",
        required=True,
        metavar="{check,fix,verify,plan,fit,server,mcp,debug,doctor,rule}",
    )
    checking = commands.add_parser("check", help="report what is wrong")
    arguments.add_check_arguments(checking)
    checking.set_defaults(run=check.run)
    fix = commands.add_parser("fix", help="fix what can be fixed, and report the rest")
    arguments.add_fix_arguments(fix)
    fix.set_defaults(run=check.run)
    for name, (place, words) in _ELSEWHERE.items():
        other = commands.add_parser(name, help=words)
        if name == chosen:
            # The others are not even imported: `check` has to start fast.
            module = importlib.import_module(place)
            module.add_arguments(other)
            other.set_defaults(run=module.run)
    rule = commands.add_parser("rule", help="explain a rule")
    rule.add_argument("code", nargs="?", help="the rule's code, such as TFM101, or its name")
    rule.add_argument("--all", action="store_true", help="explain all rules")
    rule.add_argument("--output-format", choices=("text", "json"), default="text")
    rule.set_defaults(run=_rule)
    return parser


def _rule(arguments: argparse.Namespace) -> int:
    from tfmemlint.reporters import page
    from tfmemlint.rulekit.rule import rules

    if arguments.all:
        page.show_all(rules(), sys.stdout, output_format=arguments.output_format)
        return CLEAN
    if arguments.code is None:
        say("which rule? give its code, or --all")
        return FAILED
    wanted = arguments.code.strip()
    found = next((rule for rule in rules() if wanted.upper() == rule.code or wanted == rule.name), None)
    if found is None:
        from difflib import get_close_matches

        near = get_close_matches(wanted.upper(), [rule.code for rule in rules()], n=1, cutoff=0.5)
        say(f"there is no rule {wanted!r}" + (f"; did you mean {near[0]}?" if near else ""))
        return FAILED
    page.show(found, sys.stdout, output_format=arguments.output_format)
    return CLEAN
