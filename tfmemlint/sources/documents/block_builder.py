"""Build blocks from the lines that the readers of documents have found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tfmemlint.sources.documents.blocks import CONSOLE, OUTPUT, PYCON, PYTHON, SHELL, UNKNOWN, Block
from tfmemlint.sources.documents.languages import error, guessed, named
from tfmemlint.sources.documents.prompts import PYTHON as PYTHON_PROMPT
from tfmemlint.sources.documents.prompts import SHELL as SHELL_PROMPT
from tfmemlint.sources.documents.prompts import Line, typed_python, typed_shell
from tfmemlint.sources.suppressions import unclear_list

_IGNORE = re.compile(r"tfmemlint:\s*ignore(?![\w-])(?:\[(?P<codes>[^\]\[#]{0,2000})\])?", re.IGNORECASE)
_PRINTED = re.compile(r"<?tf\.(?:Tensor|Variable|RaggedTensor|SparseTensor)[( :]")
"""The beginning of a value as TensorFlow prints it: no program begins so."""
_CODE = re.compile(r"[A-Za-z]+[0-9]*")


def finished(
    said: str,
    lines: Iterable[Line],
    *,
    chain: str = "",
    silenced: tuple[str, ...] = (),
) -> Block | None:
    """Return the block of these lines, without common indentation and prompts; None if nothing is left.

    Args:
        said: the language that the document states, ``""`` if it states none.
    """
    code = dedented(trimmed(list(lines)))
    language, code = _typed(named(said), code)
    code = trimmed(code)
    if not code:
        return None
    texts = [line.text for line in code]
    if language in (UNKNOWN, PYTHON) and _PRINTED.match(texts[0]) is not None:
        language = OUTPUT
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
    """Return the lines without blank ones at the beginning and the end."""
    first, last = 0, len(lines)
    while first < last and not lines[first].text.strip():
        first += 1
    while last > first and not lines[last - 1].text.strip():
        last -= 1
    return lines[first:last]


def dedented(lines: list[Line]) -> list[Line]:
    """Return the lines without their common indentation."""
    margins = [line.text[: len(line.text) - len(line.text.lstrip(" \t"))] for line in lines if line.text.strip()]
    width = 0
    if margins:
        low, high = min(margins), max(margins)
        width = next((place for place, width in enumerate(low) if high[place] != width), len(low))
    if not width:
        return lines
    return [line.cut(min(width, len(line.text))) for line in lines]


def codes_in(comment: str) -> tuple[str, ...]:
    """Return the codes that a comment of a document silences, ``"*"`` for all of them."""
    found: list[str] = []
    for match in _IGNORE.finditer(comment):
        codes = match["codes"]
        unclear = unclear_list(comment, match.end()) if codes is None else None
        if unclear is not None:
            found += [comment[start:end].upper() for start, end in unclear]
        else:
            found += ["*"] if codes is None else [code.upper() for code in _CODE.findall(codes)]
    return tuple(found)


def _typed(language: str, lines: list[Line]) -> tuple[str, list[Line]]:
    """Return the language and the typed lines of a session."""
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
