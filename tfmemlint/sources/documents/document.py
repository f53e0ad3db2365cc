"""Documents: files that contain code among other text. Each program in them is a text of its own.

The text of a program has as many rows as the document, and each line in the row of the document. So rows need no
translation, and columns only that of the text before a block.
"""

from __future__ import annotations

import codecs
import importlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, replace
from typing import TYPE_CHECKING

from tfmemlint.model.records import dataclass
from tfmemlint.sources import kinds
from tfmemlint.sources.documents.blocks import DOCKERFILE, PYTHON, UNKNOWN, Block
from tfmemlint.sources.documents.names import Names
from tfmemlint.sources.documents.snippet import MARK, Snippet
from tfmemlint.sources.magics import Python, as_python
from tfmemlint.sources.text import MAX_TEXT_BYTES, Source, Unreadable, normalized

if TYPE_CHECKING:
    from tfmemlint.sources.documents.page import Page

_READERS = {
    kinds.MARKDOWN: "tfmemlint.sources.documents.markdown",
    kinds.RST: "tfmemlint.sources.documents.restructured",
    kinds.DOCSTRING: "tfmemlint.sources.documents.docstrings",
    kinds.TEXT: "tfmemlint.sources.documents.plain_text",
}
_WHOLE = {**{kind: kind for kind in kinds.SETTINGS}, kinds.DOCKER: DOCKERFILE}
"""Kinds whose files are written in one language, with that language."""
_LINES_BELOW = 2
"""Empty lines that a program keeps below it: what comes after it in a document has no part in it."""
_SIGNS = {kinds.MARKDOWN: r"(?:<!--|\{/\*|%)", kinds.RST: r"\.\.", kinds.TEXT: r"(?:<!--|#|//)"}
"""The beginning of a comment."""


@dataclass(frozen=True, slots=True, eq=False)
class Document(Source):
    """A file with code in it.

    Attributes:
        kind: one of `kinds.DOCUMENTS`, or `kinds.DOCSTRING` for the examples in a Python file.
        blocks: its code.
        skipped: True if a comment tells the tool to skip the file.
        page: the visible text of an HTML page, which then has the blocks.
        shown: rows that such a page shows as code.
    """

    kind: str = kinds.MARKDOWN
    blocks: tuple[Block, ...] = field(default=(), repr=False)
    skipped: bool = False
    page: Page | None = field(default=None, repr=False)
    shown: frozenset[int] = frozenset()

    @property
    def language(self) -> str:
        """None: each block has its own language."""
        return UNKNOWN

    def replace_text(self, text: str) -> Source:
        """Return the same file with another text, read again."""
        return _document(replace(self, text=text, is_ascii=text.isascii(), _lines=[]))

    def as_shown(self) -> Document:
        """Return the visible text of an HTML page as a plain text."""
        if self.page is None:
            return self
        page = self.page
        return replace(
            self,
            text=page.text,
            is_ascii=page.text.isascii(),
            _lines=[],
            blocks=page.blocks,
            page=None,
            shown=page.code,
        )

    def rows_of_code(self) -> frozenset[int]:
        """Return the rows that are known to be code, readable or not."""
        return self.shown | {row for block in self.blocks for row in block.rows}

    def snippets(self) -> Iterator[Snippet]:
        """Yield the programs, and each block of another known language, in the order of their first rows."""
        chains: dict[str, list[Block]] = {}
        for number, block in enumerate(self.blocks):
            if block.rows and block.language != UNKNOWN:
                chains.setdefault(block.chain or f"\0{number}", []).append(block)
        names = Names()
        for blocks in chains.values():
            names.learn("".join(block.text for block in blocks if block.language == PYTHON))
        for blocks in chains.values():
            if blocks[0].language == PYTHON:
                snippet = self._python([block for block in blocks if block.language == PYTHON], names)
                if snippet is not None:
                    yield snippet
            else:
                for block in blocks:
                    yield self._other(block)

    def _python(self, blocks: list[Block], names: Names) -> Snippet | None:
        """Return the program of these blocks; None if they are not Python."""
        lines = [""] * (self.text.count("\n") + 1)
        marks: list[int] = []
        read = []
        last = 0
        for block in blocks:
            python = as_python(block.text.removesuffix("\n"))
            if python.problem is not None and len(blocks) == 1:
                return None
            mark = block.rows[0] - 1 if block.rows[0] - 1 > last else 0
            marks.append(mark)
            read.append(python)
            for row, line in zip(block.rows, python.lines, strict=True):
                lines[row - 1] = line
            if mark:
                before = names.imports_for("\n".join(python.lines)) if len(marks) == 1 else []
                if len(before) < mark:
                    # Rows above the program are free: what they hold is none of it.
                    lines[mark - 1 - len(before) : mark - 1] = before
                    before = []
                lines[mark - 1] = "; ".join([*before, f"{MARK}{mark}"])
            last = block.rows[-1]
        return self._snippet(lines, PYTHON, blocks, tuple(marks), tuple(read))

    def _other(self, block: Block) -> Snippet:
        lines = [""] * (self.text.count("\n") + 1)
        for row, line in zip(block.rows, block.text.removesuffix("\n").split("\n"), strict=True):
            lines[row - 1] = line
        return self._snippet(lines, block.language, [block])

    def _snippet(
        self,
        lines: list[str],
        language: str,
        blocks: list[Block],
        marks: tuple[int, ...] = (),
        python: tuple[Python, ...] = (),
    ) -> Snippet:
        # The lines below a program would make a document of many programs cost the square of its length.
        del lines[max(block.rows[-1] for block in blocks) + _LINES_BELOW :]
        text = "\n".join(lines)
        return Snippet(
            self.path,
            text,
            is_ascii=text.isascii(),
            written=language,
            whole=self.text,
            blocks=tuple(blocks),
            marks=marks,
            python=python,
        )

    def prose(self, snippets: Iterable[Snippet]) -> str:
        """Return the text without ``snippets``, the programs and blocks that are understood; the other rows stay in
        place."""
        lines = self.text.split("\n")
        for snippet in snippets:
            for block in snippet.blocks:
                for row in block.rows:
                    lines[row - 1] = ""
        return "\n".join(lines)


def decode_document(path: str, data: bytes, kind: str) -> Document:
    """Decode a document. A file that is not UTF-8 is read as Latin-1, which keeps every byte.

    Raises:
        Unreadable: it is not text.
    """
    if len(data) > MAX_TEXT_BYTES:
        raise Unreadable(f"larger than {MAX_TEXT_BYTES // 2**20} MiB: this is data, not a document")
    bom = data.startswith(codecs.BOM_UTF8)
    body = data[3:] if bom else data
    zero = body.find(b"\0")
    if zero >= 0:
        raise Unreadable("contains null bytes: this is no text", body[:zero].count(b"\n") + 1)
    try:
        raw, encoding = body.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        raw, encoding = body.decode("latin-1"), "latin-1"
    text, ends = normalized(raw)
    return _document(Document(path, text, encoding, bom, ends, text.isascii(), kind=kind))


def examples(source: Source) -> Document:
    """Return the examples in the docstrings of a Python file."""
    return _document(
        Document(
            source.path, source.text, source.encoding, source.bom, source.ends, source.is_ascii, kind=kinds.DOCSTRING
        )
    )


def _document(document: Document) -> Document:
    """Return a document with the blocks of its text."""
    text, kind = document.text, document.kind
    if kind in _WHOLE:
        found = replace(document, blocks=(_all_of(text, _WHOLE[kind]),))
        return _unless_skipped(found, text.split("\n"), "#")
    if kind == kinds.TEXT and document.path.lower().endswith((".html", ".htm")):
        from tfmemlint.sources.documents.page import read as read_page

        return _unless_skipped(replace(document, blocks=(), page=read_page(text)), text.split("\n"), _SIGNS[kind])
    read: Callable[[str], list[Block]] = importlib.import_module(_READERS[kind]).blocks
    found = replace(document, blocks=tuple(read(text)))
    if kind == kinds.DOCSTRING:
        return found
    rows = {row for block in found.blocks for row in block.rows}
    return _unless_skipped(
        found, [line for row, line in enumerate(text.split("\n"), 1) if row not in rows], _SIGNS[kind]
    )


def _unless_skipped(document: Document, lines: Iterable[str], sign: str) -> Document:
    """Return a document, without its blocks if a line tells the tool to skip it."""
    if "tfmemlint:" not in document.text:
        return document
    skips = re.compile(rf"[ \t>]*{sign}\s*tfmemlint:\s*skip-file\b", re.IGNORECASE)
    if any(skips.match(line) for line in lines):
        return replace(document, blocks=(), page=None, skipped=True)
    return document


def _all_of(text: str, language: str) -> Block:
    rows = tuple(range(1, text.count("\n") + 2))
    return Block(language, f"{text}\n", rows, (0,) * len(rows))
