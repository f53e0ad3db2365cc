"""Errors of the command line, with the nearest command or option that there is."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence

_UNKNOWN_COMMAND = re.compile(r"argument COMMAND: invalid choice: '(.*?)' \(choose from")
_UNKNOWN_OPTIONS = re.compile(r"unrecognized arguments: (.*)", re.DOTALL)


def corrected(message: str, options: Sequence[str], commands: Sequence[str]) -> str:
    """Return a message of argparse with the nearest command or option, where it is about an unknown one.

    Args:
        message: the message.
        options: the options of the parser that it is from.
        commands: the names of all commands.
    """
    found = _UNKNOWN_COMMAND.match(message)
    if found is not None:
        return f"there is no command {found[1]!r}{_near_command(found[1], commands)}"
    found = _UNKNOWN_OPTIONS.match(message)
    if found is None:
        return message
    unknown = found[1].split()[0]
    if not unknown.startswith("-"):
        return message
    near = difflib.get_close_matches(unknown.partition("=")[0], options, n=1, cutoff=0.6)
    return f"there is no option {unknown}{f'; did you mean {near[0]}?' if near else ''}"


def _near_command(word: str, commands: Sequence[str]) -> str:
    if os.path.exists(word):
        return f"; did you mean `tfmemlint check {word}`?"
    near = difflib.get_close_matches(word.lower(), commands, n=1)
    return f"; did you mean {near[0]}?" if near else f"; there are {', '.join(commands)}"
