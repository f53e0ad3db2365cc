"""A text and the context of each place in it: its line, its sentence, the heading and the words above a list."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection
from functools import cached_property

from tfmemlint.model.finding import Span
from tfmemlint.sources.documents.python_lines import looks_like_code
from tfmemlint.text_checks.names import BINDS

_ABOUT = re.compile(r"tensorflow|\bkeras\b", re.IGNORECASE)
_JAVASCRIPT = re.compile(r"@tensorflow/|\btfjs\b|tensorflow\.js\b", re.IGNORECASE)
_ESCAPED = re.compile(r"\\(?=[_*\[\]])")
_ITEM = re.compile(r"\s*(?:[-*+\u2022\u2013]|\(?\d{1,3}[.)]|\[[ x]\])\s|\s*\||\s*>")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(\S.*)")
_RULE = re.compile(r"\s*(?:=+|-{3,}|~{3,}|\^{3,}|\*{3,}|#{3,})\s*$")
_COMMAND = re.compile(r"\s*(?:\$ |(?:export|ENV|RUN|docker|python3?|sudo|setenv)\s+\S*[=/.\w]|[A-Z][A-Z0-9_]+=\S)")
_FENCE = re.compile(r"\s*(?:```|~~~|\.\.\s|:::)")
_SENTENCE = re.compile(r"[.!?](?=[\s\"')*`]+(?:[A-Z`*\"'(\[¿]|$))|[.!?]$|[。！？]")

_STRONG = re.compile(
    r"\b(?:made[- ]up|invent\w*|hallucinat\w*|fictional|imaginary|non-?exist\w*|hypothetical|fabricat\w*|bogus|fake"
    r"|no such|removed|renamed|replaced|deprecat\w*|dropped|obsolete|proposed?|propos\w+|feature request"
    r"|AttributeError|ModuleNotFoundError|ImportError|has no attribute|undefined symbol"
    r"|(?:is|are|was|were)(?:n[\u2019']t| not| never)\s+(?:\w+\s+)?(?:an?|any|real|there|part|valid|known|read|in"
    r"|available|recogni[sz]\w*)"
    r"|(?:has|have|had|does|do|did|will)(?:n[\u2019']t| not| never)\s+(?:\w+\s+)?"
    r"(?:exist\w*|read|know|recogni[sz]\w*|accept\w*|work|ever)"
    r"|never (?:had|existed|read|was|reads)|ignored|no (?:effect|release|version|function|meaning|longer)"
    r"|could not be parsed|not (?:a|an) (?:function|name|variable|option|valid\w*|method|part|attribute)"
    r"|nothing|used to (?:be|say|use|recommend)|chat ?bots?|language models?|ChatGPT|Copilot|LLMs?|linters?|alpha\w*"
    r"|(?:if|when|where) you (?:see|find|read)|search\w* for|often (?:show\w*|seen|recommend\w*|suggest\w*|cited)"
    r"|many (?:posts|articles|answers|tutorials|people)|widely (?:copied|shared|shown)"
    r"|wrong(?:ly)?|incorrect(?:ly)?|invalid|mistake\w*|typos?|misspel\w*|unlike|myths?|nonsense)\b",
    re.IGNORECASE,
)
"""Words that say that a name in the same sentence does not exist, wherever they are in it."""
_WEAK = re.compile(
    r"\b(?:no|not|never|none|nor|without|neither|gone|missing|lacks?|used to be|called|named|own|custom|future)\b"
    r"|n[\u2019']t\b",
    re.IGNORECASE,
)
"""Words that say so only if they are close to the name."""
_CLAUSE = re.compile(
    r"[,;:()\u2014\u2013]|\b(?:so|to|in order|for|if|when|while|because|and|but|then|use|using|call)\b", re.IGNORECASE
)
_BEFORE = re.compile(
    r"(?:\b(?:instead of|rather than|in place of|not|never|than|replac\w+|unlike|avoid|like|from|stop"
    r"|chang(?:e|ed|es|ing)|convert\w*|rewr\w+|migrat\w+|fix(?:ed|es)?|turn\w*)|n[\u2019']t)"
    r"(?:\s+(?:the|a|an|old|us(?:e|ing)|call(?:ing)?|set(?:ting)?|writ(?:e|ing)|try(?:ing)?|copy(?:ing)?))*[\s`'\"*(]*$",
    re.IGNORECASE,
)
_BECOMES = re.compile(r"(?:\s?\([^()]*\))?[\s`'\"*|)]*(?:->|=>|-->|\u2192|\u21d2|becomes?\b|is now\b|turns into\b)")
_ABOVE = re.compile(
    r"(?:does|do|did|will|would|can)(?:n[\u2019']t| not) (?:work|exist|run|compile|do this)|not (?:do|what|exist)"
    r"|wrong|made[- ]up|invalid|incorrect|broken|AttributeError|no such|hallucinat|invent|bad (?:example|advice|code)"
    r"|instead of|fails|raises|removed|renamed|deprecat|never existed|don[\u2019']t (?:use|do|copy|write)"
    r"|do not (?:use|copy|write)|myth|mistake|pitfall|breaking change|change\s?log|release notes|typo",
    re.IGNORECASE,
)
"""Words above a list, a table or a piece of code which say that it shows something wrong or removed."""
_AFTER = re.compile(
    r"\s*(?:It|This|That|These|They|Those|Neither|None|Both|But|No|However|Unfortunately|In fact|Here|The (?:first|last"
    r"|second|code|line|call|function|name|above))\b",
)
_ERROR = re.compile(r"\s*(?:[\w.]+\.)?\w*(?:Error|Exception|Warning)\b\s*:|.*has no attribute")
_FRAME = re.compile(r"\s*File \"|\s*-+>\s*\d+|Traceback |\s*\^+\s*$")
_HISTORY = re.compile(
    r"(?im)^\W*(?:change\s?log|release notes|release history|history|what.?s new|news|migration guide)\b.*$"
)
_DESIGN = re.compile(r"\bRFC\b|design (?:doc|proposal)|\|\s*\*{0,2}Status\*{0,2}\s*\|", re.IGNORECASE)


_MAX_CONTEXT_CHARACTERS = 600
"""Characters before and after a place that are searched for statements about it."""


class Reading:
    """A text, with questions about the context of its parts.

    Args:
        text: the text.
        whole: the text that contains it.
        code: rows that are known to be code.
    """

    def __init__(self, text: str, whole: str, code: Collection[int] = ()) -> None:
        self.whole = whole
        # The places of removed backslashes, in the text without them.
        self._cuts = [match.start() - number for number, match in enumerate(_ESCAPED.finditer(text))]
        self.text = _ESCAPED.sub("", text) if self._cuts else text
        self.lines = self.text.split("\n")
        self._code = code
        self._is_code: dict[int, bool] = {}
        self._has: dict[re.Pattern[str], bool] = {}

    @cached_property
    def about_tensorflow(self) -> bool:
        """Return True if the whole text mentions TensorFlow."""
        return _ABOUT.search(self.whole) is not None

    @cached_property
    def short(self) -> bool:
        """Return True if ``tf`` means TensorFlow."""
        return BINDS.search(self.whole) is None

    @cached_property
    def about_javascript(self) -> bool:
        """Return True if ``tf`` may also mean TensorFlow.js, which has other names."""
        return _JAVASCRIPT.search(self.whole) is not None

    @cached_property
    def is_of_another_time(self) -> bool:
        """Return True if the text proposes future changes, or describes past ones."""
        return _DESIGN.search(self.whole, 0, 3000) is not None or _HISTORY.search(self.whole, 0, 400) is not None

    @cached_property
    def starts(self) -> list[int]:
        """Return the offsets at which the rows begin."""
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line) + 1)
        return starts

    def row(self, offset: int) -> int:
        """Return the row, from 1, of an offset."""
        return bisect_right(self.starts, offset)

    def line(self, offset: int) -> str:
        """Return the line of an offset."""
        return self.lines[self.row(offset) - 1]

    def span(self, start: int, end: int) -> Span:
        """Return the span of a stretch of the text, in rows and columns of the original text."""
        return Span(*self._written(start), *self._written(end))

    def _written(self, offset: int) -> tuple[int, int]:
        row = self.row(offset)
        column = offset - self.starts[row - 1] + 1
        if not self._cuts:
            return row, column
        # Escaped characters are one column further right for each backslash before them.
        before = bisect_right(self._cuts, offset) - bisect_left(self._cuts, self.starts[row - 1])
        return row, column + before

    def is_code(self, row: int) -> bool:
        """Return True if a row is code, as far as the text shows."""
        known = self._is_code.get(row)
        if known is None:
            line = self.lines[row - 1]
            known = row in self._code or _COMMAND.match(line) is not None or looks_like_code(line)
            self._is_code[row] = known
        return known

    def mentions(self, pattern: re.Pattern[str]) -> bool:
        """Return True if a pattern matches in the whole text."""
        known = self._has.get(pattern)
        if known is None:
            known = self._has[pattern] = pattern.search(self.whole) is not None
        return known

    def in_comment(self, offset: int) -> bool:
        """Return True if an offset is behind the number sign of a line of code."""
        row = self.row(offset)
        before = self.text[max(self.starts[row - 1], offset - _MAX_CONTEXT_CHARACTERS) : offset]
        bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", before)
        return "#" in bare and _HEADING.match(self.lines[row - 1]) is None

    def denied(self, start: int, end: int) -> bool:
        """Return True if the words around a name say that it does not exist, that it is gone, or that it is only
        proposed."""
        # Its patterns take 30 ms to compile, which most documents can do without.
        from tfmemlint.text_checks import other_languages

        row = self.row(start)
        if self.is_of_another_time or self._in_traceback(row):
            return True
        before, after, following = self._sentence(start, end)
        if after.rstrip(" \t`'\"*)").endswith("?"):
            return True
        if _STRONG.search(before) or _STRONG.search(after) or _BEFORE.search(before):
            return True
        if _BECOMES.match(after) or self._is_taken_out(row):
            return True
        if other_languages.denies(before, after, following):
            return True
        near = (
            other_languages.without_harmless(_CLAUSE.split(words)[place]) for words, place in ((before, -1), (after, 0))
        )
        if any(_WEAK.search(words) for words in near):
            return True
        if _AFTER.match(following) and _STRONG.search(following):
            return True
        return self.denied_above(row) or (self._apart(row) and self._denied_below(row))

    def _apart(self, row: int) -> bool:
        line = self.lines[row - 1]
        return self.is_code(row) or _ITEM.match(line) is not None

    def denied_above(self, row: int) -> bool:
        """Return True if the heading above a row, or the words above the list, table or code there, say that it shows
        something wrong or removed."""
        heading = self._heading(row)
        if heading and _ABOVE.search(heading):
            return True
        if not self._apart(row):
            return False
        words = self._words_above(row)
        return bool(words) and _ABOVE.search(words) is not None

    def _heading(self, row: int) -> str:
        for number in range(row - 1, max(row - 80, 0), -1):
            line = self.lines[number - 1]
            match = _HEADING.match(line)
            if match is not None and not (self.is_code(number + 1) if number < len(self.lines) else False):
                return match[1]
            if number > 1 and _RULE.match(line) and self.lines[number - 2].strip() and not _ITEM.match(line):
                return self.lines[number - 2]
        return ""

    def _words_above(self, row: int) -> str:
        """Return the last sentence above a list, a table or a piece of code; for a table, with its header."""
        head: list[str] = []
        looked = 0
        for number in range(row - 1, 0, -1):
            line = self.lines[number - 1]
            looked += 1
            if looked > 60:
                return ""
            if line.lstrip().startswith("|"):
                head = [line]
                continue
            if not line.strip() or _FENCE.match(line) or self.is_code(number) or _ITEM.match(line):
                continue
            if line[:1] in " \t":
                # It continues the line above, or is code.
                continue
            paragraph = [line]
            while number > 1 and self.lines[number - 2].strip() and not self.is_code(number - 1) and len(paragraph) < 8:
                number -= 1
                paragraph.append(self.lines[number - 1])
            words = " ".join(reversed(paragraph)).strip()
            return " ".join([_sentences(words)[-1], *head])
        return " ".join(head)

    def _denied_below(self, row: int) -> bool:
        """Return True if the first sentence below a piece of code or a list says that it is wrong."""
        for number, line in enumerate(self.lines[row : row + 12], row + 1):
            if not line.strip() or _FENCE.match(line) or self.is_code(number) or _ITEM.match(line):
                continue
            first = _sentences(line)[0]
            return _AFTER.match(first) is not None and _STRONG.search(first) is not None
        return False

    def _is_taken_out(self, row: int) -> bool:
        """Return True if a row is one that a patch removes."""
        if not self.lines[row - 1][:40].lstrip().startswith("-"):
            return False
        below = [line.lstrip() for line in self.lines[row : row + 20] if not line.lstrip().startswith("-")]
        return bool(below) and below[0].startswith("+")

    def _in_traceback(self, row: int) -> bool:
        """Return True if an error quotes the row, or if the row is an error."""
        line = self.lines[row - 1][:_MAX_CONTEXT_CHARACTERS]
        if _ERROR.match(line) or _FRAME.match(line):
            return True
        if row > 1 and _FRAME.match(self.lines[row - 2][:_MAX_CONTEXT_CHARACTERS]):
            return True
        below = [line[:_MAX_CONTEXT_CHARACTERS] for line in self.lines[row : row + 4] if line.strip()]
        return any(_ERROR.match(line) or _FRAME.match(line) for line in below[:2])

    def _sentence(self, start: int, end: int) -> tuple[str, str, str]:
        """Return the text before and after a place in its sentence, and the sentence that follows."""
        row = self.row(start)
        first = last = row
        if not self._apart(row):
            while first > 1 and row - first < 12 and self._goes_on(first - 1, first):
                first -= 1
        while last < len(self.lines) and self._goes_on(last, last + 1) and last - row < 12:
            last += 1
        top, bottom = self.starts[first - 1], self.starts[last] - 1
        before = self.text[max(top, start - _MAX_CONTEXT_CHARACTERS) : start]
        after = self.text[end : min(bottom, end + _MAX_CONTEXT_CHARACTERS)]
        ends = [match.end() for match in _SENTENCE.finditer(before)]
        before = before[ends[-1] :] if ends else before
        parts = _sentences(after.lstrip("`'\"*)")) if after else [""]
        return before, parts[0], parts[1] if len(parts) > 1 else ""

    def _goes_on(self, row: int, following: int) -> bool:
        """Return True if a paragraph continues from one row to the next."""
        upper, lower = self.lines[row - 1], self.lines[following - 1]
        if not upper.strip() or not lower.strip():
            return False
        if _ITEM.match(lower) or _HEADING.match(lower) or _HEADING.match(upper) or _FENCE.match(lower):
            return False
        return not (self.is_code(following) or self.is_code(row))


def _sentences(words: str) -> list[str]:
    """Return a stretch of text, divided into sentences; each keeps its punctuation."""
    parts: list[str] = []
    place = 0
    for match in _SENTENCE.finditer(words):
        parts.append(words[place : match.end()])
        place = match.end()
    parts.append(words[place:])
    return [part for part in parts if part.strip()] or [""]
