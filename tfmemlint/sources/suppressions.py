"""Comments that silence findings: ``# noqa: TFM101``, ``# tfmemlint: ignore[TFM101]``, ``# tfmemlint: skip-file``."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from tfmemlint.model.finding import Finding, Span
from tfmemlint.sources.tokens import python_tokens

_PRESENT = re.compile(r"noqa|tfmemlint:", re.IGNORECASE)
_NOQA = re.compile(r"#\s*noqa(?P<codes>\s*:\s*[A-Z]+[0-9]+(?:[\s,]+[A-Z]+[0-9]+)*)?", re.IGNORECASE)
_IGNORE = re.compile(r"#\s*tfmemlint:\s*ignore(?:\[(?P<codes>[^\]]*)\])?", re.IGNORECASE)
_SKIP = re.compile(r"#\s*tfmemlint:\s*skip-file\b", re.IGNORECASE)
_CODE = re.compile(r"[A-Za-z]+[0-9]+")
_SIGN = re.compile(r"(?:^|(?<=\s))#")


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment: its row, the codes that it names with their places; without codes it silences everything."""

    row: int
    span: Span
    codes: tuple[tuple[str, Span], ...]

    def silences(self, code: str) -> bool:
        """Return True if the comment names ``code``: the full code, or a prefix (``TFM1``)."""
        return not self.codes or any(code.startswith(named) for named, _ in self.codes)


@dataclass(frozen=True, slots=True)
class Suppressions:
    """All such comments of a file."""

    skip_file: bool = False
    comments: tuple[Suppression, ...] = ()

    def for_finding(self, finding: Finding) -> Suppression | None:
        """Return the comment that silences a finding: on its first line, on its last, or on the last one of its
        statement."""
        rows = {finding.span.row, finding.span.end_row, finding.noqa_row}
        for comment in self.comments:
            if comment.row in rows and comment.silences(finding.code):
                return comment
        return None


def read_suppressions(text: str, *, python: bool = True) -> Suppressions:
    """Return the comments of a file; Python strings that look like comments are left out."""
    if not _PRESENT.search(text):
        return Suppressions()
    found: list[Suppression] = []
    for row, column, comment in _comments(text) if python else _after_signs(text):
        if _SKIP.search(comment):
            return Suppressions(skip_file=True)
        for pattern in (_IGNORE, _NOQA):
            match = pattern.search(comment)
            if match is not None:
                found.append(_suppression(row, column, match))
    return Suppressions(comments=tuple(found))


def _suppression(row: int, column: int, match: re.Match[str]) -> Suppression:
    def place(start: int, end: int) -> Span:
        return Span(row, column + start + 1, row, column + end + 1)

    codes: list[tuple[str, Span]] = []
    if match["codes"]:
        offset = match.start("codes")
        codes = [
            (code[0].upper(), place(offset + code.start(), offset + code.end()))
            for code in _CODE.finditer(match["codes"])
        ]
    return Suppression(row, place(match.start(), match.end()), tuple(codes))


def _comments(text: str) -> Iterator[tuple[int, int, str]]:
    for token in python_tokens(text):
        if token.type == tokenize.COMMENT:
            yield token.row, token.column, token.text


def _after_signs(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the comments of a text in any language in which a number sign at the beginning of a word begins a
    comment."""
    for row, line in enumerate(text.split("\n"), 1):
        for match in _SIGN.finditer(line):
            before = line[: match.start()]
            if before.count("'") % 2 == 0 and before.count('"') % 2 == 0:
                yield row, match.start(), line[match.start() :]
                break
