"""Comments that silence findings: ``# noqa: TFM101``, ``# tfmemlint: ignore[TFM101]``, ``# tfmemlint: skip-file``."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from tfmemlint.model.finding import Finding, Span

_PRESENT = re.compile(r"noqa|tfmemlint:", re.IGNORECASE)
_NOQA = re.compile(r"#\s*noqa(?P<codes>\s*:\s*[A-Z]+[0-9]+(?:[\s,]+[A-Z]+[0-9]+)*)?", re.IGNORECASE)
_IGNORE = re.compile(r"#\s*tfmemlint:\s*ignore(?:\[(?P<codes>[^\]]*)\])?", re.IGNORECASE)
_SKIP = re.compile(r"#\s*tfmemlint:\s*skip-file\b", re.IGNORECASE)
_CODE = re.compile(r"[A-Za-z]+[0-9]+")
_SIGN = re.compile(r"(?:^|(?<=\s))#")


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment: its row, the codes that it names with their places; no codes silence everything."""

    row: int
    span: Span
    codes: tuple[tuple[str, Span], ...]

    def silences(self, code: str) -> bool:
        """Whether the comment speaks of ``code``: by its full code, or by a prefix (``TFM1``)."""
        return not self.codes or any(code.startswith(named) for named, _ in self.codes)


@dataclass(frozen=True, slots=True)
class Suppressions:
    """All such comments of a file."""

    skip_file: bool = False
    comments: tuple[Suppression, ...] = ()

    def for_finding(self, finding: Finding) -> Suppression | None:
        """The comment that silences a finding: on its first line, on its last, or on the last one of its statement."""
        rows = {finding.span.row, finding.span.end_row, finding.noqa_row}
        for comment in self.comments:
            if comment.row in rows and comment.silences(finding.code):
                return comment
        return None


def read_suppressions(text: str, *, python: bool = True) -> Suppressions:
    """The comments of a file; strings of Python that look like comments are none."""
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
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.start[1], token.string
    except (tokenize.TokenError, SyntaxError):
        return


def _after_signs(text: str) -> Iterator[tuple[int, int, str]]:
    """The comments of a text in any language whose comments begin with a number sign, at the beginning of a word."""
    for row, line in enumerate(text.split("\n"), 1):
        for match in _SIGN.finditer(line):
            before = line[: match.start()]
            if before.count("'") % 2 == 0 and before.count('"') % 2 == 0:
                yield row, match.start(), line[match.start() :]
                break
