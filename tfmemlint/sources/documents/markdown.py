"""Code in Markdown: CommonMark, and what GitHub, MyST, Quarto, R Markdown, MkDocs, Docusaurus, Jekyll and Jupytext add.

markdown-it-py reads the blocks. The rules that find code stand in `markdown_rules`: they alone know, while a list or a
quote is being read, where its lines begin.
"""

from __future__ import annotations

import re
from dataclasses import replace

from tfmemlint.sources.documents import restructured
from tfmemlint.sources.documents.block_builder import codes_in, finished
from tfmemlint.sources.documents.blocks import PYTHON, UNKNOWN, Block
from tfmemlint.sources.documents.languages import named
from tfmemlint.sources.documents.markdown_rules import Found, code_of
from tfmemlint.sources.documents.prompts import Line
from tfmemlint.sources.documents.tf1_examples import marked

_ANY = re.compile(r"```|~~~|:::|<[pP][rR][eE]|\{%|\{\{[<%]|\t| {4}")
_FRONT = re.compile(
    r"---[ \t]*\n(?=(?:[ \t]*(?:#.*)?\n)*[\w\"'-]+[ \t]*:)(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)"
    r"|\+\+\+[ \t]*\n(?:.*\n)*?\+\+\+[ \t]*(?:\n|\Z)"
)
_KERNEL = re.compile(r"kernelspec:[ \t]*\n(?:[ \t].*\n){0,40}?[ \t]+name:[ \t]*['\"]?(?P<name>[\w.-]+)")
_OPTION = re.compile(r"[ \t]*:(?:[\w-]+:(?:[ \t].*)?$|[ \t]+\S)")
_RULE = re.compile(r"[ \t]*-{3,}[ \t]*$")
_SAID_FIRST = re.compile(r":{3,}(?P<word>[\w+-]+)[ \t]*$")
_NOT_RUN = re.compile(r"#\|[ \t]*eval:[ \t]*(?:false|FALSE)\b")
_SKIPPED = re.compile(r"(?:^:tags:|^tags:|^[ \t]*-)[^\n]*\bskip-execution\b", re.MULTILINE)
_FRONT_OF_LINE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?")
_COMMENT = re.compile(r"<!--.*-->|\{/\*.*\*/\}|%[ \t].*|\[//\]:.*")
"""Comments of HTML, MDX and MyST, and substitutes where a format has none."""
_OTHER_KERNELS = re.compile(
    r"(?:ir\d*|julia|octave|xeus-cling|xcpp|rust|java|bash|javascript|deno|sql)\b", re.IGNORECASE
)
_MAX_COMMENT_ROWS = 20
"""Rows."""


def blocks(text: str) -> list[Block]:
    """Return the code in a Markdown text, in order."""
    if _ANY.search(text) is None:
        return []
    front = _FRONT.match(text)
    settings = front[0] if front is not None else ""
    reader = _Reader(text.split("\n"), settings)
    made: list[Block] = []
    for found in code_of(text, settings.count("\n")):
        made += reader.read(found)
    return marked(reader.lines, sorted(made, key=lambda block: block.rows))


class _Reader:
    """Make blocks from the code in one document."""

    def __init__(self, lines: list[str], settings: str) -> None:
        self.lines = lines
        self.notebook = "jupytext:" in settings and re.search(r"format_name:\s*markdown\b", settings) is not None
        kernel = _KERNEL.search(settings)
        self.kernel = UNKNOWN if kernel is not None and _OTHER_KERNELS.match(kernel["name"]) else PYTHON

    def read(self, found: Found) -> list[Block]:
        info, lines = found.info, found.lines
        silenced = self._silenced(found.row)
        if info.directive == "eval-rst":
            return [self._as_written(block) for block in _within(lines, silenced)]
        language, chain = info.language, ""
        if not found.fenced:
            language, lines = _said_first(lines)
        elif info.directive:
            options, lines = _options(lines)
            if info.directive == "code-cell":
                language = language or self.kernel
                chain = "" if _SKIPPED.search(options) else "cells"
        elif info.chunk:
            chain = "" if info.quiet or any(_NOT_RUN.match(line.text.strip()) for line in lines) else "chunks"
        elif self.notebook and not info.quiet:
            chain = "cells"
        block = finished(language, lines, chain=chain, silenced=silenced)
        return [self._as_written(block)] if block is not None else []

    def _silenced(self, row: int) -> tuple[str, ...]:
        """Return the codes that the comments above a row silence."""
        codes: tuple[str, ...] = ()
        above = row - 1
        while above >= 1:
            line = self._bare(above)
            if line.endswith("-->") and "<!--" not in line:
                first = self._comment_above(above)
                if first is None:
                    break
                codes += codes_in("\n".join(self.lines[first - 1 : above]))
                above = first
            elif _COMMENT.fullmatch(line):
                codes += codes_in(line)
            elif line:
                break
            above -= 1
        return tuple(dict.fromkeys(codes))

    def _as_written(self, block: Block) -> Block:
        """Return the block; it is not fixable if the file has its lines in another form, because a tab is half
        indentation."""
        code = block.text.split("\n")
        places = zip(block.rows, block.starts, code, strict=False)
        if all(start >= 0 and self.lines[row - 1][start:] == line for row, start, line in places):
            return block
        return replace(block, starts=tuple(max(start, 0) for start in block.starts), fixable=False)

    def _comment_above(self, last: int) -> int | None:
        for row in range(last - 1, max(last - _MAX_COMMENT_ROWS, 0), -1):
            if "<!--" in self.lines[row - 1]:
                return row if self._bare(row).startswith("<!--") else None
        return None

    def _bare(self, row: int) -> str:
        """Return a row without the characters before its text."""
        line = self.lines[row - 1]
        match = _FRONT_OF_LINE.match(line)
        return line[match.end() if match is not None else 0 :].rstrip(" \t")


def _options(lines: list[Line]) -> tuple[str, list[Line]]:
    """Return the options of a directive, and its code."""
    first = next((place for place, line in enumerate(lines) if line.text.strip()), 0)
    if first < len(lines) and _RULE.match(lines[first].text):
        for place in range(first + 1, len(lines)):
            if _RULE.match(lines[place].text):
                return "\n".join(line.text for line in lines[: place + 1]), lines[place + 1 :]
        return "", lines
    last = first
    while last < len(lines) and _OPTION.match(lines[last].text):
        last += 1
    return "\n".join(line.text for line in lines[first:last]), lines[last:]


def _said_first(lines: list[Line]) -> tuple[str, list[Line]]:
    """Return the language that the first line of an indented block states, as in CodeHilite, and the other lines."""
    said = _SAID_FIRST.match(lines[0].text.strip()) if lines else None
    return (named(said["word"]), lines[1:]) if said is not None else (UNKNOWN, lines)


def _within(lines: list[Line], silenced: tuple[str, ...]) -> list[Block]:
    """Return the code in reStructuredText inside Markdown."""
    made: list[Block] = []
    for block in restructured.blocks("\n".join(line.text for line in lines)):
        outer = [lines[row - 1] for row in block.rows]
        made.append(
            Block(
                block.language,
                block.text,
                tuple(line.row for line in outer),
                tuple(line.start + start for line, start in zip(outer, block.starts, strict=True)),
                block.chain,
                block.silenced or silenced,
            )
        )
    return made
