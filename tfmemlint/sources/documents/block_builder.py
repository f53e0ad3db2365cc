"""What the readers of documents do with the lines that they found: the last steps to a block."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tfmemlint.sources.documents.blocks import CONSOLE, PYCON, PYTHON, SHELL, UNKNOWN, Block
from tfmemlint.sources.documents.languages import error, guessed, named
from tfmemlint.sources.documents.prompts import PYTHON as PYTHON_PROMPT
from tfmemlint.sources.documents.prompts import SHELL as SHELL_PROMPT
from tfmemlint.sources.documents.prompts import Line, typed_python, typed_shell

_IGNORE = re.compile(r"tfmemlint:\s*ignore(?:\[(?P<codes>[^\]]*)\])?", re.IGNORECASE)
_CODE = re.compile(r"[A-Za-z]+[0-9]*")


def finished(
    said: str,
    lines: Iterable[Line],
    *,
    chain: str = "",
    silenced: tuple[str, ...] = (),
) -> Block | None:
    """The block of these lines, without what they are all indented by, and without prompts; None where nothing is left.

    Args:
        said: the language as the document names it, ``""`` where it does not.
    """
    code = dedented(trimmed(list(lines)))
    language, code = _typed(named(said), code)
    code = trimmed(code)
    if not code:
        return None
    texts = [line.text for line in code]
    if language == UNKNOWN or (language == PYTHON and error("\n".join(texts)) is not None and guessed(texts) == SHELL):
        # Commands in a block that is said to be Python are common.
        language = guessed(texts)
    return Block(
        language,
        "".join(f"{line.text}\n" for line in code),
        tuple(line.row for line in code),
        tuple(line.start for line in code),
        chain if language == PYTHON else "",
        silenced,
    )


def trimmed(lines: list[Line]) -> list[Line]:
    """The lines without blank ones at the beginning and the end."""
    first, last = 0, len(lines)
    while first < last and not lines[first].text.strip():
        first += 1
    while last > first and not lines[last - 1].text.strip():
        last -= 1
    return lines[first:last]


def dedented(lines: list[Line]) -> list[Line]:
    """The lines without the space that all of them begin with."""
    margins = [line.text[: len(line.text) - len(line.text.lstrip(" \t"))] for line in lines if line.text.strip()]
    width = 0
    if margins:
        low, high = min(margins), max(margins)
        width = next((place for place, width in enumerate(low) if high[place] != width), len(low))
    if not width:
        return lines
    return [line.cut(min(width, len(line.text))) for line in lines]


def codes_in(comment: str) -> tuple[str, ...]:
    """The codes that a comment of a document silences, ``"*"`` for all of them."""
    found: list[str] = []
    for match in _IGNORE.finditer(comment):
        codes = match["codes"]
        found += ["*"] if codes is None else [code.upper() for code in _CODE.findall(codes)]
    return tuple(found)


def _typed(language: str, lines: list[Line]) -> tuple[str, list[Line]]:
    """The language and the lines of what was typed, where this is a session."""
    if language in (PYTHON, PYCON, UNKNOWN, CONSOLE) and _is_session(lines, language):
        return PYTHON, typed_python(lines)
    if language == PYCON:
        # No prompts: what was typed is all there is.
        return PYTHON, lines
    if language in (SHELL, CONSOLE, UNKNOWN, PYTHON) and _is_shell_session(lines, language):
        return SHELL, typed_shell(lines, said=language == CONSOLE)
    if language == CONSOLE:
        commands = typed_shell(lines, said=True)
        return SHELL, commands or lines
    return language, lines


def _is_session(lines: Sequence[Line], language: str) -> bool:
    prompts = [match[0] for line in lines if (match := PYTHON_PROMPT.match(line.text)) is not None]
    if not prompts or language != PYTHON:
        return bool(prompts)
    # A string of a program may hold an example. ("In [1]: x" can be read as Python.)
    return prompts[0].startswith("In") or error("\n".join(line.text for line in lines)) is not None


def _is_shell_session(lines: Sequence[Line], language: str) -> bool:
    if language in (UNKNOWN, PYTHON):
        first = next((line.text for line in lines if not line.text.startswith("#")), "")
        return SHELL_PROMPT.match(first) is not None
    return any(SHELL_PROMPT.match(line.text) for line in lines)
