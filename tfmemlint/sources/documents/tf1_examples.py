"""Examples that a document gives for TensorFlow 1: "For TensorFlow 1.x:" is above them, or in their heading."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tfmemlint.sources.documents.blocks import PYTHON, Block

_ANY = re.compile(r"(?:tensorflow|tf)[^\n]{0,16}?1", re.IGNORECASE)
_RELEASE = re.compile(
    r"(?<![A-Za-z0-9_./])(?:tensorflow|tf)(?:[-\s]?keras)?[\s*_`=~(-]{0,6}(?:version|ver\.?|v\.?)?[\s*_`]{0,3}"
    r"(?P<major>[12])(?:\.(?:x|\d+)[\w.]*)?(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_NOT_SAID = re.compile(r"[\s>]*(?:\.\.(?:\s|$)|:[\w-]+:|::$|<!--|\{/\*|<pre|\{%|\{\{|%\s|$)")
"""Text that may separate an example from the sentence that introduces it: directives, options, comments."""
_FENCE = re.compile(r"[\s>]*(?:[-*+]\s+|\d+[.)]\s+)*(?:`{3,}|~{3,}|:{3,})")
_HEADING = re.compile(r" {0,3}(?P<level>#{1,6})[ \t]+(?P<title>.+)")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}[ \t]*$")
_BOX = re.compile(r"\s*(?:\.\. (?P<name>[\w:-]+)::|!!!|\?\?\?\+?)(?P<title>.*)")
"""The first line of a box with text and code in it: ``.. hint::``, ``!!! note``."""
_MAX_BOX_ROWS = 80
"""Rows above an example in which the box that it is in must begin."""
_MAX_ROWS_BETWEEN, _MAX_SENTENCE_ROWS = 12, 6
"""Rows: at most this many between an example and its introduction, and at most this many of the introduction."""


def marked(lines: Sequence[str], blocks: list[Block]) -> list[Block]:
    """Return the blocks of a document, in order; those that the document introduces as TensorFlow 1 are marked."""
    python = [block for block in blocks if block.language == PYTHON]
    if not python or not any(_ANY.search(line) for line in lines):
        return blocks
    code = {row for block in blocks for row in range(block.rows[0], block.rows[-1] + 1)}
    headings = _headings(lines, code)
    made: list[Block] = []
    above: list[tuple[int, set[str]]] = []
    number = 0
    for block in blocks:
        while number < len(headings) and headings[number][0] < block.rows[0]:
            _, level, said = headings[number]
            above = [line for line in above if line[0] < level] + [(level, said)]
            number += 1
        if block.language == PYTHON:
            inside = _said("\n".join(line for line in block.text.split("\n") if line.startswith("#")))
            said = inside or _said(_introduction(lines, block.rows[0], code))
            said = said or _said(_box_around(lines, block.rows[0], code))
            said = said or next((line for _, line in reversed(above) if line), set())
            made.append(replace(block, legacy=said == {"1"}))
        else:
            made.append(block)
    return made


def _said(text: str) -> set[str]:
    """Return the major versions of TensorFlow that a text mentions."""
    return {match["major"] for match in _RELEASE.finditer(text)}


def _introduction(lines: Sequence[str], row: int, code: set[int]) -> str:
    """Return the sentence above the example that begins in a row; ``""`` if another example is above it."""
    above, fences = row - 1, 0
    while above >= 1 and row - above <= _MAX_ROWS_BETWEEN:
        line = lines[above - 1]
        if _FENCE.match(line):
            fences += 1
        elif not _NOT_SAID.match(line):
            break
        above -= 1
    if fences > 1 or above in code:
        return ""
    last = above
    while above >= 1 and last - above < _MAX_SENTENCE_ROWS and lines[above - 1].strip() and above not in code:
        above -= 1
    return " ".join(lines[above:last])


def _box_around(lines: Sequence[str], row: int, code: set[int]) -> str:
    """Return the title and the first paragraph of the boxes that the example is in which begins in a row."""
    found: list[str] = []
    width = _indent(lines[row - 1])
    for above in range(row - 1, max(0, row - 1 - _MAX_BOX_ROWS), -1):
        line = lines[above - 1]
        if not line.strip() or _indent(line) >= width:
            continue
        width = _indent(line)
        box = _BOX.match(line)
        if box is not None:
            found += [box["title"], *_first_paragraph(lines, above, code)]
        if not width:
            break
    return " ".join(found)


def _first_paragraph(lines: Sequence[str], row: int, code: set[int]) -> Iterator[str]:
    """Yield the lines of the first paragraph below a row."""
    begun = False
    for below in range(row + 1, min(row + _MAX_SENTENCE_ROWS, len(lines)) + 1):
        line = lines[below - 1]
        if below in code or (begun and not line.strip()):
            return
        begun = begun or bool(line.strip())
        yield line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _headings(lines: Sequence[str], code: set[int]) -> list[tuple[int, int, set[str]]]:
    """Return the row of each heading, its level, and the major versions in it."""
    found: list[tuple[int, int, set[str]]] = []
    signs: list[str] = []
    for row, line in enumerate(lines, 1):
        if row in code or not line.strip():
            continue
        match = _HEADING.match(line)
        if match is not None:
            found.append((row, len(match["level"]), _said(match["title"])))
        elif row > 1 and (under := _UNDERLINE.match(line)) is not None:
            title = lines[row - 2].rstrip()
            # Only Markdown takes a shorter line, and of these signs; others may be a fence.
            long_enough = under[1] in "=-" or len(line.rstrip()) >= len(title)
            plain = title and not title.startswith((" ", "\t")) and _UNDERLINE.match(title) is None
            if plain and long_enough and row - 1 not in code:
                # A sign is the mark of one level; the first that is used is that of the highest.
                if under[1] not in signs:
                    signs.append(under[1])
                found.append((row, signs.index(under[1]) + 1, _said(title)))
    return found
