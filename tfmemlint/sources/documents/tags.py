"""Walk the tags of an HTML page: its visible text, and the origin of each character."""

from __future__ import annotations

import dataclasses
import html
import re
from array import array
from collections.abc import Mapping

from tfmemlint.sources.documents.blocks import DOCKERFILE, ENV, PYTHON, SHELL, UNKNOWN, YAML

_TOKEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[|<[!?][^>]*>"
    r"|<(?P<end>/?)(?P<tag>[A-Za-z][^\s/>]*)(?=[\s/>])(?P<more>(?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>"
    r"|(?P<entity>&(?:\#\d{1,7}|\#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?)|(?P<data>[^<&]+|[<&])",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"(?<![^\s=\"'/])([^\s=\"'/]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"']+))")
_UNSEEN = frozenset(
    {"script", "style", "template", "noscript", "svg", "iframe", "button", "select", "math", "textarea"}
)
_EMPTY = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"})
_APART = frozenset({"p", "pre", "blockquote", "ul", "ol", "dl", "table", "figure", "section", "article", "hr", "title"})
_LINES = frozenset(
    {"address", "aside", "body", "dd", "details", "div", "dt", "figcaption", "footer", "form", "head", "header", "html"}
    | {"li", "main", "nav", "summary", "tbody", "thead", "tr"}
)
_HEADING = re.compile(r"h[1-6]\Z")
_GUTTERS = frozenset(
    {"lineno", "linenos", "linenodiv", "linenumber", "linenumbers", "line-number", "line-numbers-rows", "gutter"}
    | {"hljs-ln-numbers", "rouge-gutter", "blob-num", "linenr", "react-code-line-number", "copybtn", "headerlink"}
)
"""Classes of elements with line numbers or clickable signs."""
_VERBATIM = frozenset({"blob-code", "react-code-line-contents", "code-line"})
"""Classes of elements that keep their spaces although they are not ``pre``."""
_LANGUAGES: Mapping[str, str] = {
    **dict.fromkeys(("python", "python3", "py", "ipython", "ipython3", "pycon", "default"), PYTHON),
    **dict.fromkeys(("bash", "sh", "shell", "zsh"), SHELL),
    **dict.fromkeys(("dockerfile", "docker"), DOCKERFILE),
    **dict.fromkeys(("yaml", "yml"), YAML),
    **dict.fromkeys(("env", "dotenv"), ENV),
}
_LANGUAGE = re.compile(r"(?:(?:language|lang|highlight|highlight-source|source|brush)[-:]\s?)?([a-z0-9]+)\Z")


@dataclasses.dataclass(slots=True)
class _Element:
    tag: str
    unseen: bool
    verbatim: bool
    language: str


class Reader:
    """Walk the tags of a page and collect the visible text, each character with its origin."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.chars: list[str] = []
        self.starts = array("q")
        self.ends = array("q")
        self.code: list[tuple[int, int, str]] = []
        self._open: list[_Element] = []
        self._row = 1
        self._in_code = 0
        self._language = UNKNOWN
        self._space: tuple[int, int] | None = None

    def read(self) -> None:
        place = 0
        while True:
            match = _TOKEN.match(self.source, place)
            if match is None:
                return
            start, place = match.start(), match.end()
            if match["tag"]:
                tag = match["tag"].lower()
                if match["end"]:
                    self._close(tag, start, place)
                else:
                    place = self._enter(tag, match["more"], start, place)
            elif match["data"]:
                self._data(match["data"], start)
            elif match["entity"]:
                seen = html.unescape(match["entity"])
                for char in seen:
                    self._char(char, start, place)

    def _enter(self, tag: str, more: str, start: int, place: int) -> int:
        if tag in ("script", "style"):
            end = re.compile(rf"</{tag}\b[^>]*>", re.IGNORECASE).search(self.source, place)
            return end.end() if end is not None else len(self.source)
        attributes = {name.lower(): a or b or c for name, a, b, c in _ATTRIBUTE.findall(more)}
        classes = [word for word in attributes.get("class", "").lower().split() if word]
        unseen = tag in _UNSEEN or not _GUTTERS.isdisjoint(classes) or attributes.get("aria-hidden") == "true"
        outer = self._open[-1] if self._open else None
        verbatim = tag == "pre" or not _VERBATIM.isdisjoint(classes) or bool(outer and outer.verbatim)
        element = _Element(
            tag,
            unseen or bool(outer and outer.unseen),
            verbatim,
            _language(attributes) or (outer.language if outer else ""),
        )
        if not element.unseen:
            self._break_before(tag, element, outer, start, place)
        if tag in _EMPTY or more.endswith("/"):
            return place
        if tag in ("p", "li", "tr", "td", "th", "dt", "dd") and self._implied(tag):
            self._open.pop()
        self._open.append(element)
        return place

    def _implied(self, tag: str) -> bool:
        """Return True if an element of the same kind was not closed, as HTML allows."""
        return bool(self._open) and self._open[-1].tag == tag

    def _break_before(self, tag: str, element: _Element, outer: _Element | None, start: int, place: int) -> None:
        if element.verbatim and not (outer and outer.verbatim):
            self._line(start)
            if tag == "pre":
                self._blank(start)
            self._in_code = self._row
        if element.verbatim and element.language:
            self._language = element.language
        if tag == "br":
            self._newline(start, place)
        elif tag in _APART and not element.verbatim:
            self._blank(start)
        elif tag in _LINES or (tag in _APART and outer is not None and outer.verbatim):
            self._line(start)
        elif _HEADING.match(tag):
            self._blank(start)
            self._signs("# ", start, place)
        elif tag in ("td", "th") and not element.verbatim and self.chars and self.chars[-1] != "\n":
            self._signs(" | ", start, place)
        if tag == "li" and not element.verbatim:
            self._signs("- ", start, place)

    def _close(self, tag: str, start: int, place: int) -> None:
        depth = next((number for number in reversed(range(len(self._open))) if self._open[number].tag == tag), None)
        if depth is None:
            return
        element = self._open[depth]
        outer = self._open[depth - 1] if depth else None
        del self._open[depth:]
        if element.unseen:
            return
        if element.verbatim and not (outer and outer.verbatim):
            self._end_code(start)
            if tag == "pre":
                self._blank(start)
        elif (tag in _APART or _HEADING.match(tag)) and not element.verbatim:
            self._blank(start)
        elif tag in _LINES or tag in _APART:
            self._line(start)

    def _end_code(self, start: int) -> None:
        self._line(start)
        last = self._row - 1
        while last >= self._in_code and not self._row_text(last).strip():
            last -= 1
        if last >= self._in_code:
            before = self.code[-1] if self.code else None
            if before is not None and before[1] == self._in_code - 1 and before[2] == self._language:
                # A page that shows each line of code in an element of its own.
                self.code[-1] = (before[0], last, before[2])
            else:
                self.code.append((self._in_code, last, self._language))
        self._language = UNKNOWN

    def _row_text(self, row: int) -> str:
        # Only the last few rows are ever asked for.
        back = self._row - row
        end = len(self.chars)
        while back and end:
            end -= 1
            back -= self.chars[end] == "\n"
        start = end
        while start and self.chars[start - 1] != "\n":
            start -= 1
        return "".join(self.chars[start:end])

    def _data(self, data: str, start: int) -> None:
        if self._open and self._open[-1].unseen:
            return
        for number, char in enumerate(data, start):
            self._char(char, number, number + 1)

    def _char(self, char: str, start: int, end: int) -> None:
        element = self._open[-1] if self._open else None
        if element is not None and element.unseen:
            return
        if char in "\u200b\u00ad\ufeff":
            # Where a word may be broken; what is copied from the page doesn't show it.
            return
        if element is not None and element.verbatim:
            if char == "\n":
                self._newline(start, end)
            elif char != "\r":
                self._put(" " if char == "\xa0" else char, start, end)
        elif char.isspace() and char != "\xa0":
            if self.chars and self.chars[-1] != "\n" and self._space is None:
                self._space = (start, end)
        else:
            if self._space is not None:
                self._put(" ", *self._space)
            self._put(" " if char == "\xa0" else char, start, end)

    def _put(self, char: str, start: int, end: int) -> None:
        self._space = None
        self.chars.append(char)
        self.starts.append(start)
        self.ends.append(end)
        if char == "\n":
            self._row += 1

    def _newline(self, start: int, end: int) -> None:
        self._put("\n", start, end)

    def _line(self, start: int) -> None:
        """Begin a new line, unless one has just begun."""
        self._space = None
        if self.chars and self.chars[-1] != "\n":
            self._put("\n", start, start)

    def _blank(self, start: int) -> None:
        """Leave a line empty, unless one is."""
        self._line(start)
        if len(self.chars) > 1 and self.chars[-2] != "\n":
            self._put("\n", start, start)

    def _signs(self, signs: str, start: int, end: int) -> None:
        for char in signs:
            self._put(char, start, end)


def _language(attributes: Mapping[str, str]) -> str:
    """Return the language that an element states for its code."""
    words = attributes.get("class", "").lower().replace("brush: ", "brush:").replace(";", " ").split()
    words += [attributes.get("data-lang", "").lower(), attributes.get("data-language", "").lower()]
    for word in words:
        match = _LANGUAGE.match(word)
        if match is not None and match[1] in _LANGUAGES and (match[1] != "default" or word.startswith("highlight-")):
            return _LANGUAGES[match[1]]
    return UNKNOWN
