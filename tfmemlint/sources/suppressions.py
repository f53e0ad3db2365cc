"""Comments that silence findings: ``# noqa: TFM101``, ``# tfmemlint: ignore[TFM101] reason``, and for a whole file
``# tfmemlint: file-ignore[TFM101] reason`` and ``# tfmemlint: skip-file``."""

from __future__ import annotations

import dataclasses
import re
import tokenize
from collections.abc import Iterator, Mapping

from tfmemlint.model.finding import Finding, Span
from tfmemlint.model.patterns import late_pattern
from tfmemlint.model.records import dataclass
from tfmemlint.sources.tokens import python_tokens

NOQA, IGNORE, FILE_IGNORE, SKIP_FILE = "noqa", "ignore", "file-ignore", "skip-file"
WORDS = (IGNORE, FILE_IGNORE, SKIP_FILE)
"""The words after ``tfmemlint:``."""

_PRESENT = late_pattern(r"noqa|tfmemlint:", re.IGNORECASE)
_NOQA = late_pattern(r"#\s*noqa(?P<codes>\s*:\s*[A-Z]+[0-9]+(?:[\s,]+[A-Z]+[0-9]+)*)?(?P<reason>[^#]*)", re.IGNORECASE)
_OWN = late_pattern(
    r"#\s*tfmemlint:\s*(?P<word>[\w-]+)(?:\s*\[(?P<codes>[^\]\[#]*)\])?(?P<reason>[^#]*)", re.IGNORECASE
)
_CODE = late_pattern(r"[A-Za-z]+[0-9]+(?![\w-])")
_CODE_OR_NAME = late_pattern(r"[^\W\d_][\w-]*")
_LEAD = late_pattern(r"[^\w#\n]*")
_PLAIN_NAME = late_pattern(r"TFM\d*(?![\w-])|[A-Za-z]+[-_][\w-]+", re.IGNORECASE)
_OPEN = tuple("[{\u3010\u3014\u3016\u300c\u300e")
_OPEN_ASIDE = ("(", "<")
"""Brackets in which reasons stand, too."""
_CLOSE = frozenset("]})>\u3011\u3015\u3017\u300d\u300f")
_SIGN = late_pattern(r"(?:^|(?<=\s))#")


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment.

    Attributes:
        row: its row.
        span: the whole of it, without the reason.
        codes: the codes that it names with their places; without any it silences everything.
        word: ``noqa``, ``ignore`` or ``file-ignore``.
        reason: the reason that it gives, or "".
        end: the column behind the reason, exclusive.
        listed: it has a list of codes, or means to: where no code can be read in it, it silences nothing.
        broken: its list is not one in ``[`` and ``]``, or names nothing.
    """

    row: int
    span: Span
    codes: tuple[tuple[str, Span], ...]
    word: str = IGNORE
    reason: str = ""
    end: int = 0
    listed: bool = False
    broken: bool = False

    def silences(self, code: str) -> bool:
        """Return True if the comment names ``code``: the full code, or a prefix (``TFM1``)."""
        return not (self.codes or self.listed) or any(code.startswith(named) for named, _ in self.codes)


@dataclass(frozen=True, slots=True)
class Suppressions:
    """All such comments of a file.

    Attributes:
        skip_file: the file asks to be left out.
        comments: those that silence something.
        unknown: the places of words after ``tfmemlint:`` that have no meaning, with the words.
    """

    skip_file: bool = False
    comments: tuple[Suppression, ...] = ()
    unknown: tuple[tuple[str, Span], ...] = ()

    def for_finding(self, finding: Finding) -> Suppression | None:
        """Return the comment that silences a finding: on its first line, on its last, on the last one of its statement,
        or one for the whole file."""
        rows = {finding.span.row, finding.span.end_row, finding.noqa_row}
        for comment in self.comments:
            if comment.row in rows and comment.word != FILE_IGNORE and comment.silences(finding.code):
                return comment
        for comment in self.comments:
            if comment.word == FILE_IGNORE and comment.silences(finding.code):
                return comment
        return None

    @property
    def has_names(self) -> bool:
        """True if a comment names a rule by something else than its code."""
        return any(_CODE.fullmatch(code) is None for comment in self.comments for code, _ in comment.codes)

    def with_codes(self, code_of: Mapping[str, str]) -> Suppressions:
        """Return the same with the codes of rules in place of their names, as far as ``code_of`` has them."""

        def coded(comment: Suppression) -> Suppression:
            codes = tuple((code_of.get(code.lower().replace("_", "-"), code), span) for code, span in comment.codes)
            return dataclasses.replace(comment, codes=codes)

        return dataclasses.replace(self, comments=tuple(map(coded, self.comments)))


def read_suppressions(text: str, *, python: bool = True) -> Suppressions:
    """Return the comments of a file; Python strings that look like comments are left out."""
    if not _may_have_comments(text.strip("\n")):
        return Suppressions()
    found: list[Suppression] = []
    unknown: list[tuple[str, Span]] = []
    for row, column, comment in _comments(text) if python else _after_signs(text):
        for match in _OWN.finditer(comment):
            word = match["word"].lower()
            unclear = None if match["codes"] is not None else unclear_list(comment, match.end("word"))
            if word == SKIP_FILE or (word == FILE_IGNORE and match["codes"] is None and unclear is None):
                return Suppressions(skip_file=True)
            if word in WORDS and unclear is not None:
                found.append(_unclear(row, column, match, word, unclear))
            elif word in WORDS:
                found.append(_suppression(row, column, match, word))
            else:
                unknown.append((match["word"], _place(row, column, match.start("word"), match.end("word"))))
        noqa = _NOQA.search(comment)
        if noqa is not None:
            found.append(_suppression(row, column, noqa, NOQA))
    return Suppressions(comments=tuple(found), unknown=tuple(unknown))


def unclear_list(text: str, start: int) -> list[tuple[int, int]] | None:
    """Return where the codes and names are that can be read in a list that is not closed, or not in ``[`` and ``]``.

    Args:
        text: the text of a comment. start: the offset behind its word, ``ignore`` or ``file-ignore``.

    Returns:
        The offsets of each; None where the text begins no list: a reason, or nothing.
    """
    text = text if text.isascii() else _half_width(text)
    lead = _LEAD.match(text, start)
    end = lead.end() if lead is not None else start
    mark = text[start:end].strip(" \t:=")
    name = _PLAIN_NAME.match(text, end)
    named_by_code = name is not None and name[0][:3].upper() == "TFM"
    if not (mark.startswith(_OPEN) or named_by_code or (name is not None and mark in _OPEN_ASIDE)):
        return None
    found = []
    while name is not None:
        found.append(name.span())
        lead = _LEAD.match(text, name.end())
        end = lead.end() if lead is not None else name.end()
        if not _CLOSE.isdisjoint(text[name.end() : end]):
            break
        name = _PLAIN_NAME.match(text, end)
    return found


def _half_width(text: str) -> str:
    """Return a text with the plain letters, digits and brackets that its full-width ones stand for, at their places."""
    from unicodedata import normalize

    return "".join(plain if len(plain := normalize("NFKC", each)) == 1 else each for each in text)


def _unclear(row: int, column: int, match: re.Match[str], word: str, places: list[tuple[int, int]]) -> Suppression:
    codes = tuple((_as_code(match.string[start:end]), _place(row, column, start, end)) for start, end in places)
    last = places[-1][1] if places else match.end("word")
    reason = match.string[last : match.end()].strip(" \t-:\u2013\u2014[]{}()")
    end = column + len(match[0].rstrip()) + match.start() + 1
    whole = _place(row, column, match.start(), last)
    return Suppression(row, whole, codes, word, reason, end, listed=True, broken=True)


def _may_have_comments(text: str) -> bool:
    if not text.isascii():
        return _PRESENT.search(text) is not None
    lower = text.lower()
    return "noqa" in lower or "tfmemlint:" in lower


def _suppression(row: int, column: int, match: re.Match[str], word: str) -> Suppression:
    codes: list[tuple[str, Span]] = []
    if match["codes"]:
        offset = match.start("codes")
        for code in (_CODE if word == NOQA else _CODE_OR_NAME).finditer(match["codes"]):
            codes.append((_as_code(code[0]), _place(row, column, offset + code.start(), offset + code.end())))
    reason = match["reason"].strip(" \t-:\u2013\u2014")
    whole = _place(row, column, match.start(), match.start("reason"))
    end = column + len(match[0].rstrip()) + match.start() + 1
    listed = word != NOQA and match["codes"] is not None
    return Suppression(row, whole, tuple(codes), word, reason, end, listed=listed, broken=listed and not codes)


def _as_code(named: str) -> str:
    return named.upper() if _CODE.fullmatch(named) or named.upper() == "TFM" else named


def _place(row: int, column: int, start: int, end: int) -> Span:
    return Span(row, column + start + 1, row, column + end + 1)


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
