"""The claims in the comments of a fixture, and the code without them.

A line that a rule must report ends in ``# expect: TFM101``; ``# expect: TFM101,TFM406`` names several. The first lines
of a file are its header, one ``# key: value`` each; CONTRIBUTING.md describes the keys.
"""

from __future__ import annotations

import difflib
import re

KEYS = (
    *("gpus", "raises", "lacks", "fixed", "target", "since", "memory", "ground", "observed", "computes"),
    *("entry", "env", "has", "severity", "known", "withheld"),
)
"""The keys of headers. `tfmemlint.testing.check_fixture` follows ``target`` and ``memory``; the others say what
TensorFlow makes of the file, for tests that run it."""

_HEADER = re.compile(r"#[ \t]*([a-z]+):[ \t]*(.*?)[ \t]*\r?$")
_EXPECT = re.compile(r"[ \t]*#[ \t]*expect:[ \t]*(.*?)[ \t]*(\r?)$")
_CODES = re.compile(r"[A-Z]+\d+(?:[ \t]*,[ \t]*[A-Z]+\d+)*")


def strip_markers(text: str) -> tuple[str, dict[int, list[str]], dict[str, str]]:
    """Take the claims out of a fixture.

    Returns:
        The text as a user would have it: without the header's lines and without the ``# expect:`` comments; the
        expected codes by the 1-based rows of that text; the header.

    Raises:
        ValueError: a claim can't be read.
    """
    lines = text.split("\n")
    header = _header(lines)
    expectations: dict[int, list[str]] = {}
    kept: list[str] = []
    for line in lines[len(header) :]:
        clean, codes = _expected(line)
        kept.append(clean)
        if codes:
            expectations[len(kept)] = codes
    return "\n".join(kept), expectations, header


def blank_markers(text: str) -> str:
    """The text with the claims emptied but every line in its place, so that line numbers stay those of the file."""
    lines = text.split("\n")
    length = len(_header(lines))
    return "\n".join(["" if row < length else _expected(line)[0] for row, line in enumerate(lines)])


def _header(lines: list[str]) -> dict[str, str]:
    header: dict[str, str] = {}
    for line in lines:
        match = _HEADER.match(line)
        if match is None:
            break
        key, value = match.groups()
        if key not in KEYS:
            meant = difflib.get_close_matches(key, KEYS, 1, 0.75)
            if meant:
                raise ValueError(f"header line {line.strip()!r}: did you mean {meant[0]!r}?")
            break
        if key in header:
            raise ValueError(f"header line {line.strip()!r}: {key!r} is there twice")
        if not value:
            raise ValueError(f"header line {line.strip()!r} says nothing")
        header[key] = value
    return header


def _expected(line: str) -> tuple[str, list[str]]:
    match = _EXPECT.search(line)
    if match is None:
        return line, []
    if _CODES.fullmatch(match[1]) is None:
        raise ValueError(f"not a list of rules: {line.strip()!r}")
    return line[: match.start()] + match[2], re.split(r"[ \t]*,[ \t]*", match[1])
