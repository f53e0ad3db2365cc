"""The command ``tfmemlint server``: its options and its entry point."""

from __future__ import annotations

import argparse
import gc
import importlib.util

from tfmemlint.reporters.say import say

CLEAN, FAILED = 0, 2
MISSING = "`tfmemlint server` needs pygls: pip install 'tfmemlint[server]'"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the options of ``server``."""
    parser.description = (
        "Speaks the Language Server Protocol on standard input and output; docs/editors.md has set-ups."
    )
    parser.add_argument("--stdio", action="store_true", help="accepted because editors pass it; it changes nothing")


def run(arguments: argparse.Namespace) -> int:
    """Serve until the editor closes the connection; return the exit code.

    0: the editor has closed it. 2: pygls is not installed.
    """
    if importlib.util.find_spec("pygls") is None:
        say(MISSING)
        return FAILED
    from tfmemlint.rulekit.rule import rules
    from tfmemlint.server.app import make_server

    rules()
    # What is imported by now stays: looking for garbage in it takes time from every key.
    gc.freeze()
    make_server().start_io()
    return CLEAN
