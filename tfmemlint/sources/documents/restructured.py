"""Code in reStructuredText: directives, literal blocks, doctest blocks.

The reader goes by indentation alone, as the language does: it knows no directive but those that hold code, or that hold
none, so that those of Sphinx and its many extensions need no list. (docutils refuses what it doesn't know, and says of
a literal block only where it ends.)
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tfmemlint.sources.documents.block_builder import codes_in, finished
from tfmemlint.sources.documents.blocks import OUTPUT, PYCON, PYTHON, UNKNOWN, Block
from tfmemlint.sources.documents.fence_info import understood
from tfmemlint.sources.documents.languages import named
from tfmemlint.sources.documents.prompts import Line
from tfmemlint.sources.documents.tf1_examples import marked

_CODE = frozenset(("code", "code-block", "sourcecode", "code-cell", "code-tab", "prompt"))
_OF_PYTHON = {
    "ipython": PYTHON, "ipython3": PYTHON, "jupyter-execute": PYTHON, "jupyter-input": PYTHON, "testcode": PYTHON,
    "testsetup": PYTHON, "testcleanup": PYTHON, "doctest": PYCON, "plot": PYTHON, "runpython": PYTHON,
    "exec_code": PYTHON, "pyexec": PYTHON,
}  # fmt: skip
_TESTS = frozenset(("testcode", "testsetup", "testcleanup", "doctest"))
_NO_CODE = frozenset({
    "parsed-literal", "math", "raw", "include", "literalinclude", "graphviz", "digraph", "inheritance-diagram",
    "csv-table", "image", "toctree", "mermaid", "uml", "plantuml", "productionlist", "testoutput", "bibliography",
    "highlightlang", "role", "default-role", "contents", "meta", "jupyter-output", "command-output",
    "program-output",
})  # fmt: skip
_MARKER = re.compile(r"(?:[-*+\u2022\u2023\u2043]|\(?(?:\d+|#|[a-zA-Z]|[ivxlcdm]{2,})[.)])[ \t]+(?=\S)")
_EXPLICIT = re.compile(r"\.\.(?:[ \t]+(?P<rest>.*))?$")
_DIRECTIVE = re.compile(r"(?P<name>[A-Za-z][\w:.+-]*?) ?::(?:[ \t]+(?P<told>.*))?$")
_GOES_ON = re.compile(r"\[[^\]]+\](?:[ \t]|$)|_|\|")
"""Footnotes, targets, substitutions: no comments."""
_OPTION = re.compile(r"[ \t]*:[\w-]+:(?:[ \t].*)?$")
_PROMPT = re.compile(r">>>(?: |$)")
_DECORATOR = re.compile(r"@(?:suppress|supress|verbatim|okexcept|okwarning|savefig|doctest)\b")
"""Options of IPython's directive inside its code."""
_FENCE = re.compile(r"(?P<marks>`{3,}|~{3,})(?P<info>[^`]*)$")
_SECTION = re.compile(r"(?:(?:code |usage |typical )?examples?|(?:example |sample |typical )?usage):$", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*-->$")
_SAYS_OUTPUT = re.compile(
    r"\A(?:(?:the|this|its|which|and|will|following|program|sample|example|expected|console|terminal|typical|code|script|you(?:'ll)?"
    r"|should|will|see|get|execution|final)\s+)*(?:outputs?|results?|prints?|printed)"
    r"(?:\s+(?:is|are|will be|would be|should be|looks?|like|this|as|follows|following|below|shown|something|similar|to"
    r"|of this (?:code|program|script)|of the (?:code|program|script)|(?:the )?(?:output|result|lines)))*",
    re.IGNORECASE,
)
_SAYS_OUTPUT_IN_CHINESE = re.compile(
    r"\A(?![^\n]{0,40}(?:以下|下面的?|如下)代码)[^\n]{0,40}?(?:输出|運行結果|輸出|结果|結果)(?:结果|結果|内容)?"
    r"(?:如下|为|是|如下所示|為)?"
)
_LONGEST_SENTENCE = 200
"""Characters of a line that are asked whether output follows."""
_TAB = 8


def blocks(text: str) -> list[Block]:
    """Return the code in a reStructuredText text, in order."""
    lines = text.split("\n")
    return marked(lines, Reader([Line(row, 0, line) for row, line in enumerate(lines, 1)]).read())


class Reader:
    """Read lines of reStructuredText; those of a docstring may have fences and sections in Google's style."""

    def __init__(self, lines: Sequence[Line], *, docstring: bool = False) -> None:
        self.lines = lines
        self.docstring = docstring
        self.found: list[Block] = []
        self._widths = [_width(line.text) for line in lines]
        self._highlighted = UNKNOWN
        self._kernel = 0
        self._silenced: tuple[str, ...] = ()
        self._in_paragraph = False

    def read(self) -> list[Block]:
        """Return the code in them."""
        place = 0
        while place < len(self.lines):
            place = self._step(place)
        return self.found

    def _step(self, place: int) -> int:
        """Read one line, and return the place of the next one."""
        text = self.lines[place].text
        bare = text.strip()
        if not bare:
            if self._in_paragraph:
                self._silenced, self._in_paragraph = (), False
            return place + 1
        column, body = _body(text)
        explicit = _EXPLICIT.match(body)
        if explicit is not None:
            return self._explicit(place, column, (explicit["rest"] or "").strip())
        if _PROMPT.match(body):
            return self._doctest(place, column)
        if self.docstring:
            if (fence := _FENCE.match(body)) is not None:
                return self._fenced(place, fence["marks"], fence["info"])
            if _COMMENT.match(body):
                self._silenced += codes_in(body)
                return place + 1
            end = self._section(place, column, body)
            if end is not None:
                return end
        self._in_paragraph = True
        if bare.endswith("::") and (bare == "::" or bare.strip(":")):
            return self._literal(place, column)
        return place + 1

    def _explicit(self, place: int, column: int, rest: str) -> int:
        directive = _DIRECTIVE.match(rest)
        if directive is not None:
            return self._directive(place, column, directive["name"].lower(), (directive["told"] or "").strip())
        if _GOES_ON.match(rest):
            return self._indented(place + 1, column) if rest.startswith("|") else place + 1
        below = self.lines[place + 1].text.strip() if place + 1 < len(self.lines) else ""
        if not rest and not below:
            # An empty comment ends what is above; what is below is not in it.
            return place + 1
        end = self._indented(place + 1, column)
        self._silenced += codes_in("\n".join([rest, *(line.text for line in self.lines[place + 1 : end])]))
        self._in_paragraph = False
        return end

    def _directive(self, place: int, column: int, name: str, told: str) -> int:
        if name == "highlight":
            self._highlighted = named(told.split(" ")[0])
            return self._indented(place + 1, column)
        if name == "jupyter-kernel":
            self._kernel += 1
            return self._indented(place + 1, column)
        if name not in _CODE and name not in _OF_PYTHON:
            self._silenced = ()
            return self._indented(place + 1, column) if name in _NO_CODE else place + 1
        end = self._indented(place + 1, column)
        first = self._behind_options(place + 1, end)
        lines = list(self.lines[first:end])
        word = told.split(" ")[0]
        chain = ""
        if name in _CODE:
            language = named(word) if word else self._highlighted
        else:
            language = _OF_PYTHON[name]
        if name in _TESTS:
            chain = f"tests {word if word not in ('', '*') else 'default'}"
        elif name.startswith("ipython"):
            lines = [line for line in lines if not _DECORATOR.match(line.text.lstrip())]
            chain = "ipython"
        elif name == "jupyter-execute":
            chain = f"jupyter {self._kernel}"
        self._add(language, lines, chain)
        return end

    def _behind_options(self, place: int, end: int) -> int:
        """Return the place after the options of a directive, each with its continuation lines."""
        width = -1
        while place < end and self.lines[place].text.strip():
            if _OPTION.match(self.lines[place].text):
                width = self._widths[place]
            elif width < 0 or self._widths[place] <= width:
                break
            place += 1
        return place

    def _doctest(self, place: int, column: int) -> int:
        """Read examples of an interactive session; only empty lines separate the parts of one session."""
        end = last = place
        while end < len(self.lines):
            text = self.lines[end].text
            if text.strip():
                outside = self._widths[end] < column or (end > last and not _PROMPT.match(text.lstrip()))
                if outside and end != place:
                    break
                last = end + 1
            end += 1
        cut = len(self.lines[place].text) - len(_body(self.lines[place].text)[1])
        lines = [line.cut(min(cut, len(line.text))) for line in self.lines[place:last]]
        self._add(PYCON, lines)
        return last

    def _fenced(self, place: int, marks: str, told: str) -> int:
        info = understood(told)
        end = place + 1
        while end < len(self.lines):
            text = self.lines[end].text.strip()
            if len(text) >= len(marks) and not text.strip(marks[0]):
                break
            end += 1
        if info.nested:
            return place + 1
        self._add(info.language, list(self.lines[place + 1 : end]))
        return end + 1

    def _section(self, place: int, column: int, body: str) -> int | None:
        """Return the code below "Example:", or below a colon and an empty line; None if there is none."""
        named_so = _SECTION.match(body.strip()) is not None
        if not body.rstrip().endswith(":") or body.rstrip().endswith("::"):
            return None
        if not named_so and (place + 1 >= len(self.lines) or self.lines[place + 1].text.strip()):
            return None
        end = self._indented(place + 1, column)
        lines = list(self.lines[place + 1 : end])
        if any(_PROMPT.match(bare) or _FENCE.match(bare) for bare in (line.text.strip() for line in lines)):
            return None
        made = finished(UNKNOWN, lines, silenced=self._silenced)
        if made is None or made.language != PYTHON:
            return None
        self.found.append(made)
        self._silenced, self._in_paragraph = (), False
        return end

    def _literal(self, place: int, column: int) -> int:
        """Read the block below a paragraph that ends in two colons."""
        first = place + 1
        while first < len(self.lines) and not self.lines[first].text.strip():
            first += 1
        if first == len(self.lines):
            return first
        if self._widths[first] > column:
            end = self._indented(first, column)
        elif first > place + 1 and self._widths[first] == column and _quote(self.lines[first].text):
            # A quoted literal block: each line begins with the same sign, which belongs to it.
            mark, end = _quote(self.lines[first].text), first
            while end < len(self.lines) and _quote(self.lines[end].text) == mark:
                end += 1
        else:
            return place + 1
        self._add(OUTPUT if self._introduces_output(place) else self._highlighted, list(self.lines[first:end]))
        return end

    def _introduces_output(self, place: int) -> bool:
        """Return True if the sentence that ends in two colons, or is above those, says that output follows."""
        above = place
        while above > 0 and self.lines[above].text.strip() in ("::", ""):
            above -= 1
        sentence = re.split(r"[.。!！;；]\s*", self.lines[above].text[-_LONGEST_SENTENCE:].strip().rstrip(": ：*`"))[-1]
        return any(pattern.fullmatch(sentence.strip("*` ")) for pattern in (_SAYS_OUTPUT, _SAYS_OUTPUT_IN_CHINESE))

    def _indented(self, place: int, column: int) -> int:
        """Return the end of the lines that are indented more than a column."""
        end = place
        while place < len(self.lines):
            if self.lines[place].text.strip():
                if self._widths[place] <= column:
                    break
                end = place + 1
            place += 1
        return end

    def _add(self, language: str, lines: list[Line], chain: str = "") -> None:
        made = finished(language, lines, chain=chain, silenced=tuple(dict.fromkeys(self._silenced)))
        if made is not None:
            self.found.append(made)
        self._silenced, self._in_paragraph = (), False


def _body(text: str) -> tuple[int, str]:
    """Return the column in which the text of a line begins after the marks of lists, and that text."""
    at = len(text) - len(text.lstrip())
    while (match := _MARKER.match(text, at)) is not None:
        at = match.end()
    return len(text[:at].expandtabs(_TAB)), text[at:]


def _width(text: str) -> int:
    return len(text[: len(text) - len(text.lstrip())].expandtabs(_TAB))


def _quote(text: str) -> str:
    bare = text.lstrip()
    return bare[0] if bare and not bare[0].isalnum() and bare[0].isascii() else ""
