"""The command ``tfmemlint mcp``: its options and its entry point."""

from __future__ import annotations

import argparse
import importlib.util
import os

from tfmemlint.reporters.say import say

CLEAN, FAILED = 0, 2
MISSING = "`tfmemlint mcp` needs the Model Context Protocol's SDK: pip install 'tfmemlint[mcp]'"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the options of ``mcp``."""
    parser.add_argument(
        "--root",
        metavar="DIR",
        default=os.curdir,
        help="files that a client names are read below this directory only (default: .)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve on standard input and output until the client closes them; return the exit code.

    0: the client has closed the connection. 2: the SDK is not installed, or the directory is not there.
    """
    if importlib.util.find_spec("mcp") is None:
        say(MISSING)
        return FAILED
    if not os.path.isdir(arguments.root):
        say(f"--root: {arguments.root} is no directory")
        return FAILED
    from tfmemlint.mcp.tools import make_server

    make_server(arguments.root).run("stdio")
    return CLEAN
