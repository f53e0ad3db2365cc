"""One Python text: decoded for reading, with everything that is needed to write it back byte for byte."""

from __future__ import annotations

import ast
import codecs
import io
import tokenize
from collections.abc import Iterator
from dataclasses import field, replace

from tfmemlint.model.finding import Span
from tfmemlint.model.patterns import late_pattern
from tfmemlint.model.records import dataclass
from tfmemlint.sources.line_changes import line_changes
from tfmemlint.sources.regular import MAX_NOTEBOOK_BYTES, MAX_TEXT_BYTES, NOTEBOOK, Unreadable, read_bytes

__all__ = [
    "MAX_NOTEBOOK_BYTES",
    "MAX_TEXT_BYTES",
    "NOTEBOOK",
    "Source",
    "Unreadable",
    "decode_python",
    "normalized",
    "read_bytes",
]

_ENDS = late_pattern(r"\r\n|\r|\n")
_COOKIE = late_pattern(rb"(?:\xef\xbb\xbf)?[ \t\f]*#.*?coding[:=]")


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One Python text.

    Attributes:
        path: as shown to the user.
        text: decoded, with ``\\n`` line ends and without a byte order mark.
        encoding: the encoding of the bytes (PEP 263).
        bom: True if they begin with a UTF-8 byte order mark.
        is_ascii: True if the text is known to be ASCII, where bytes and characters are the same.
        ends: the end of every line, in order, as in the file ("" for an unterminated last line).
    """

    path: str
    text: str
    encoding: str = "utf-8"
    bom: bool = False
    ends: tuple[str, ...] | str = "\n"
    is_ascii: bool = False
    _lines: list[str] = field(default_factory=list, repr=False)

    def as_file(self, text: str) -> str:
        """Return the content of the file with ``text`` in place of its own, for people to compare.

        Raises:
            ValueError: it can't be written there.
        """
        return text

    def check_can_be(self, text: str) -> None:
        """Do nothing if the file can have ``text`` in place of its own.

        Raises:
            ValueError: as for `as_file`.
        """
        self.as_file(text)

    @property
    def problems(self) -> Iterator[tuple[int, str]]:
        """The rows at which parts of the file stop being Python, each with the reason, if the rest can be
        read."""
        return iter(())

    @property
    def lines(self) -> list[str]:
        """The lines, without their ends; a text that ends in a newline has an empty last one."""
        if not self._lines:
            self._lines.extend(self.text.split("\n"))
        return self._lines

    def span(self, node: ast.AST) -> Span:
        """Return the place of a syntax node, in characters (`ast` counts UTF-8 bytes)."""
        if self.is_ascii and isinstance(node, (ast.expr, ast.stmt)) and node.end_lineno is not None:
            return Span(node.lineno, node.col_offset + 1, node.end_lineno, (node.end_col_offset or 0) + 1)
        row: int = getattr(node, "lineno", 1)
        end_row: int = getattr(node, "end_lineno", None) or row
        column: int = getattr(node, "col_offset", 0)
        end_column: int = getattr(node, "end_col_offset", None) or 0
        if self.is_ascii:
            return Span(row, column + 1, end_row, end_column + 1)
        return Span(row, self._column(row, column), end_row, self._column(end_row, end_column))

    def _column(self, row: int, offset: int) -> int:
        line = self.lines[row - 1] if row <= len(self.lines) else ""
        if not line.isascii():
            return len(line.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "ignore")) + 1
        return offset + 1

    def segment(self, span: Span) -> str:
        """Return the text of a span."""
        lines = self.lines[span.row - 1 : span.end_row]
        if not lines:
            return ""
        lines[-1] = lines[-1][: span.end_column - 1]
        lines[0] = lines[0][span.column - 1 :]
        return "\n".join(lines)

    def replace_text(self, text: str) -> Source:
        """Return the same file with another text."""
        ends = self.ends if isinstance(self.ends, str) else (*self._ends_of(text, self.ends), "")
        return replace(self, text=text, ends=ends, is_ascii=text.isascii(), _lines=[])

    def encode(self, text: str) -> bytes:
        """Return the bytes of the file with ``text`` in place of its own: with its encoding, byte order mark and line
        ends. New lines get the end that most lines have; in a file with mixed ends, unchanged lines keep theirs.

        Raises:
            UnicodeEncodeError: the file's encoding can't represent ``text``.
        """
        if isinstance(self.ends, str):
            data = text if self.ends == "\n" else text.replace("\n", self.ends)
        else:
            data = self._with_ends(text, self.ends)
        return (codecs.BOM_UTF8 if self.bom else b"") + data.encode(self.encoding)

    @property
    def language(self) -> str:
        """The language of the text: a name of `tfmemlint.sources.documents.blocks`."""
        return "python"

    def _with_ends(self, text: str, ends: tuple[str, ...]) -> str:
        lines = text.split("\n")
        return "".join(line + end for line, end in zip(lines, [*self._ends_of(text, ends), ""], strict=True))

    def _ends_of(self, text: str, ends: tuple[str, ...]) -> list[str]:
        """Return the end of each line of another text except its last one; new lines have the usual end."""
        usual = max(set(ends) - {""}, key=ends.count)
        old, new = self.text.split("\n"), text.split("\n")
        chosen = [usual] * (len(new) - 1)
        for kind, start, end, other, until in line_changes(old, new):
            for number in range(other, min(until, len(chosen)) if kind != "insert" else other):
                # A line that takes the place of another one ends as that did.
                chosen[number] = ends[min(start + number - other, end - 1, len(ends) - 1)] or usual
        return chosen


def decode_python(path: str, data: bytes) -> Source:
    """Decode a Python file, as Python itself does.

    Raises:
        Unreadable: it is binary, too large, or not in the encoding that it declares.
    """
    if len(data) > MAX_TEXT_BYTES:
        raise Unreadable(f"larger than {MAX_TEXT_BYTES // 2**20} MiB: this is data, not a program")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except (SyntaxError, UnicodeDecodeError, ValueError) as error:
        row = 1 if _COOKIE.match(data.partition(b"\n")[0]) else 2
        if "unknown encoding" in str(error):
            raise Unreadable(str(error).split(" for ")[0], row) from None
        if "encoding problem" in str(error):
            raise Unreadable("begins with a UTF-8 byte order mark, but declares another encoding", row) from None
        encoding = "utf-8"
    bom = data.startswith(codecs.BOM_UTF8)
    body = data[3:] if bom else data
    plain = "utf-8" if encoding == "utf-8-sig" else encoding
    zero = body.find(b"\0")
    if zero >= 0:
        if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise Unreadable("this is UTF-16: Python source has to be UTF-8, or declare its encoding", 1)
        raise Unreadable("contains null bytes: this is no Python source", body[:zero].count(b"\n") + 1)
    try:
        raw = body.decode(plain)
    except (UnicodeError, LookupError) as error:  # "undefined" and "punycode" raise a bare UnicodeError
        start = error.start if isinstance(error, UnicodeDecodeError) else 0
        row = body[:start].count(b"\n") + 1
        raise Unreadable(f"is not valid {plain}: {getattr(error, 'reason', error)}", row) from None
    return _source(path, raw, plain, bom)


def _source(path: str, raw: str, encoding: str, bom: bool) -> Source:
    text, ends = normalized(raw)
    return Source(path, text, encoding, bom, ends, is_ascii=text.isascii())


def normalized(raw: str) -> tuple[str, tuple[str, ...] | str]:
    """Return a text with ``\\n`` line ends, and its original ends, as `Source.ends` keeps them."""
    if "\r" not in raw:
        return raw, "\n"
    ends = _ENDS.findall(raw)
    return _ENDS.sub("\n", raw), ends[0] if len(set(ends)) == 1 else (*ends, "")
