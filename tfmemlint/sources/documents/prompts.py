"""Sessions of interpreters and shells in documents: the typed lines, and their first columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple


class Line(NamedTuple):
    """A line of code in a document: its row, from 1; the number of characters before it; and its text."""

    row: int
    start: int
    text: str

    def cut(self, width: int) -> Line:
        """Return the line without its first characters."""
        return Line(self.row, self.start + width, self.text[width:])


PYTHON = re.compile(r">>>(?: |$)|In ?\[[\d ]*\]: ?")
"""The prompts of the Python interpreter and of IPython."""
_FIRST = re.compile(r">>> ?|In ?\[[\d ]*\]: ?")
_NEXT = re.compile(r"\.\.\.(?: |$)|[ \t]*\.{3,}: ?")
_TRACEBACK = "Traceback (most recent call last)"
SHELL = re.compile(r"(?:\([\w.@/-]+\) ?)?(?:\[?[\w.-]+@[\w.-]+(?::| )[\w~./ -]*\]?)?\$ +(?=\S)")
"""The prompts of a shell: ``$``, ``(venv) $``, ``user@host:~/dir$``."""
_OTHER_SHELL = re.compile(r"(?:\([\w.@/-]+\) ?)?(?:\[?[\w.-]+@[\w.-]+(?::| )[\w~./ -]*\]?)?(?:%|#) +(?=[a-z./])")
_QUIET_SHELL = re.compile(r"> ?")
_HERE = re.compile(r"<<-?\s*(['\"]?)(\w+)\1")


def typed_python(lines: Sequence[Line]) -> list[Line]:
    """Return the lines that were typed into an interpreter, without their prompts.

    Input that raised a traceback is left out: it shows on purpose what does not work.
    """
    typed: list[Line] = []
    statement: list[Line] = []
    printed = False
    for line in lines:
        first = _FIRST.match(line.text)
        more = _NEXT.match(line.text) if first is None and statement and not printed else None
        if first is not None:
            typed += statement
            statement, printed = [line.cut(first.end())], False
        elif more is not None:
            statement.append(line.cut(more.end()))
        elif line.text.strip():
            if _TRACEBACK in line.text:
                statement = []
            printed = True
    return typed + statement


def typed_shell(lines: Sequence[Line], *, said: bool = False) -> list[Line]:
    """Return the commands that were typed into a shell, without its prompts; none if there are no prompts.

    Args:
        said: True if the document calls this a session, so that ``%`` and ``#`` are prompts too.
    """
    prompt = SHELL
    if said and not any(SHELL.match(line.text) for line in lines):
        prompt = _OTHER_SHELL
    typed: list[Line] = []
    goes_on, until = False, ""
    for line in lines:
        match = prompt.match(line.text)
        if until:
            typed.append(line)
            if line.text.strip() == until:
                until = ""
            continue
        if goes_on:
            # The second prompt of a shell, where the author has copied that too.
            quiet = _QUIET_SHELL.match(line.text)
            typed.append(line.cut(quiet.end()) if quiet is not None else line)
        elif match is not None:
            typed.append(line.cut(match.end()))
        else:
            continue
        text = typed[-1].text
        goes_on = text.rstrip().endswith("\\")
        here = _HERE.search(text)
        until = here[2] if here is not None and "<<<" not in text else ""
    return typed
