"""Split a text for a shell into words and operators.

Source: POSIX, Shell Command Language, 2.2 (quoting) and 2.3 (token recognition), with bash's ``$'...'``, ``<<<``,
``<(...)`` and arrays. The value of an expansion is never known. Nothing here raises: an unclosed quote extends to the
end of the text.
"""

from __future__ import annotations

import re
from dataclasses import field

from tfmemlint.model.records import dataclass
from tfmemlint.sources.config_files.shell.heredocs import BEGIN, Ends, begun
from tfmemlint.sources.config_files.templates import HIDDEN

WORD, OPERATOR, NEWLINE = "word", "operator", "newline"

_BREAKS = frozenset(" \t\r\n;&|<>()")
_OPERATORS = ("<<<", "<<-", "&>>", ";;&", "&&", "||", ";;", ";&", "<<", ">>", "<&", ">&", "<>", ">|", "|&", "&>")
REDIRECTIONS = frozenset({"<", ">", ">>", "<<", "<<-", "<<<", "<&", ">&", "<>", ">|", "&>", "&>>"})
_PARAMETER = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_MAX_EXPANSION_DEPTH = 40
"""Nested expansions; deeper ones are not followed."""
_BRACKET = re.compile(r"[()]")
_MAX_ARITHMETIC_CHARS = 2_000
"""Characters of ``((...))`` that are searched for its end."""
_MAX_UNCLOSED_ARITHMETIC = 100
"""``((`` in one text that begin no arithmetic, after which no end is searched any more."""
_ARRAY = re.compile(r"[A-Za-z_]\w*(?:\[[^\]\n]*\])?\+?=\Z")
_CASE = re.compile(r"case[ \t][^\n;]{1,200}?[ \t]in(?=\s)")
_ESAC = re.compile(r"esac(?![\w-])")


@dataclass(frozen=True, slots=True)
class Word:
    """A word: its place (``start`` to ``end``), its text without quotes (None if it contains an expansion), and its raw
    text."""

    start: int
    end: int
    value: str | None
    raw: str

    @property
    def plain(self) -> bool:
        """True if the word has no quotes, escapes or expansions."""
        return self.value == self.raw


@dataclass(frozen=True, slots=True)
class Token:
    """A word, an operator, or the end of a line."""

    kind: str
    word: Word

    @property
    def text(self) -> str:
        return self.word.raw


@dataclass(slots=True)
class Lexer:
    """Split ``text`` into tokens.

    Attributes:
        comments: the places of comments.
        open: the offset of a quote that is never closed.
    """

    text: str
    comments: list[tuple[int, int]] = field(default_factory=list)
    open: int | None = None
    _at: int = 0
    _depth: int = 0
    _heredocs: list[tuple[str, bool]] = field(default_factory=list)
    _no_sums: int = 0
    _ends: Ends = field(init=False)

    def __post_init__(self) -> None:
        self._ends = Ends(self.text)

    def tokens(self) -> list[Token]:
        """Return all tokens, in order, without the bodies of here-documents."""
        found: list[Token] = []
        text, end = self.text, len(self.text)
        while self._at < end:
            at = self._at
            char = text[at]
            if char in " \t\r":
                self._at += 1
            elif char == "\n":
                self._at += 1
                found.append(Token(NEWLINE, Word(at, at + 1, None, "\n")))
                self._skip_heredocs()
            elif char == "\\" and text[at + 1 : at + 2] in ("\n", "\r"):
                self._at += 3 if text.startswith("\r\n", at + 1) else 2
            elif char == "#":
                stop = text.find("\n", at)
                self._at = stop if stop >= 0 else end
                self.comments.append((at, self._at))
            elif char in "<>" and text[at + 1 : at + 2] == "(":
                self._at = self._balanced(at + 1)
                found.append(Token(WORD, Word(at, self._at, None, text[at : self._at])))
            elif char == "(" and text.startswith("((", at) and (behind := self._arithmetic(at)) is not None:
                self._at = behind
                found.append(Token(WORD, Word(at, behind, None, text[at:behind])))
            elif char in ";&|<>()":
                operator = next((candidate for candidate in _OPERATORS if text.startswith(candidate, at)), char)
                self._at += len(operator)
                found.append(Token(OPERATOR, Word(at, self._at, None, operator)))
            else:
                word = self._word()
                if found and found[-1].text in ("<<", "<<-") and found[-1].kind == OPERATOR:
                    delimiter = word.value if word.value is not None else word.raw
                    self._heredocs.append((delimiter, found[-1].text == "<<-"))
                found.append(Token(WORD, word))
        return found

    def _skip_heredocs(self) -> None:
        for delimiter, tabs in self._heredocs:
            behind = self._ends.behind(self._at, delimiter, tabs)
            self._at = len(self.text) if behind is None else behind
        self._heredocs.clear()

    def _arithmetic(self, at: int) -> int | None:
        """Return the offset after the ``((...))`` at ``at``, on one line; None if there is none."""
        stop = self.text.find("\n", at)
        stop = stop if stop >= 0 else len(self.text)
        depth = 0
        for found in _BRACKET.finditer(
            self.text,
            at,
            min(stop, at + _MAX_ARITHMETIC_CHARS) if self._no_sums < _MAX_UNCLOSED_ARITHMETIC else at,
        ):
            depth += 1 if found[0] == "(" else -1
            if depth == 0 and self.text[found.start() - 1] == ")":
                return found.end()
            if depth == 0:
                break
        self._no_sums += 1
        return None

    def _word(self) -> Word:
        text, start, end = self.text, self._at, len(self.text)
        parts: list[str] = []
        known = True
        at = start
        while at < end:
            char = text[at]
            if char in _BREAKS:
                if char == "(" and _ARRAY.fullmatch(text, start, at):
                    at, known = self._balanced(at), False
                    continue
                break
            if char == "\\":
                if text.startswith("\r\n", at + 1):
                    at += 3
                elif text.startswith("\n", at + 1):
                    at += 2
                else:
                    parts.append(text[at + 1 : at + 2])
                    at += 2
            elif char == "'":
                stop = self._closing(at + 1, "'")
                parts.append(text[at + 1 : stop])
                at = stop + 1
            elif char == '"':
                at, part = self._double(at + 1)
                known = known and part is not None
                parts.append(part or "")
            else:
                at, part = self._part(at)
                known = known and part is not None
                parts.append(part or "")
        self._at = min(at, end)
        if HIDDEN in "".join(parts):
            known = False
        return Word(start, self._at, "".join(parts) if known else None, text[start : self._at])

    def _closing(self, at: int, mark: str, *, escapes: bool = False) -> int:
        """Return the end of a quote that began just before ``at``; the end of the text if it is not closed."""
        begun = at - 1
        while at < len(self.text):
            if self.text[at] == mark:
                return at
            at += 2 if escapes and self.text[at] == "\\" else 1
        if self.open is None:
            self.open = begun
        return len(self.text)

    def _double(self, at: int) -> tuple[int, str | None]:
        """Return the text between double quotes, the first of them just before ``at``, and its end."""
        text, end, begun = self.text, len(self.text), at - 1
        parts: list[str] = []
        known = True
        while at < end:
            char = text[at]
            if char == '"':
                return at + 1, "".join(parts) if known else None
            if char == "\\":
                follows = text[at + 1 : at + 2]
                if follows == "\n":
                    pass
                elif follows and follows in '$`"\\':
                    parts.append(follows)
                else:
                    parts.append(f"\\{follows}")
                at += 2
            else:
                at, part = self._part(at, quoted=True)
                known = known and part is not None
                parts.append(part or "")
        if self.open is None:
            self.open = begun
        return end, None

    def _part(self, at: int, *, quoted: bool = False) -> tuple[int, str | None]:
        """Return the end of an expansion or a plain character, and its text if known."""
        char = self.text[at]
        if char == "$":
            return self._dollar(at, quoted=quoted)
        if char == "`":
            return self._closing(at + 1, "`", escapes=True) + 1, None
        return at + 1, char if char != HIDDEN else None

    def _dollar(self, at: int, *, quoted: bool = False) -> tuple[int, str | None]:
        """Return the end of an expansion that begins with a dollar sign, and its text if it is not an expansion."""
        text = self.text
        follows = text[at + 1 : at + 2]
        if follows == "(":
            if self._depth > _MAX_EXPANSION_DEPTH:
                return len(text), None
            self._depth += 1
            end = self._balanced(at + 1)
            self._depth -= 1
            return end, None
        if follows == "{":
            return self._braces(at + 2, quoted=quoted), None
        if follows == "[":
            stop = text.find("]", at, at + _MAX_ARITHMETIC_CHARS)
            return (stop + 1 if stop >= 0 else at + 2), None
        if follows == "'" and not quoted:
            stop = self._closing(at + 2, "'", escapes=True)
            inner = text[at + 2 : stop]
            return stop + 1, None if "\\" in inner else inner
        if follows == '"' and not quoted:
            return self._double(at + 2)
        name = _PARAMETER.match(text, at + 1)
        return (name.end(), None) if name is not None else (at + 1, "$")

    def _braces(self, at: int, *, quoted: bool) -> int:
        """Return the offset after the brace that closes the ``${`` just before ``at``.

        Args:
            quoted: True if it is in double quotes.
        """
        text, end = self.text, len(self.text)
        if self._depth > _MAX_EXPANSION_DEPTH:
            return end
        self._depth += 1
        while at < end and text[at] != "}":
            char = text[at]
            if char == "\\":
                at += 2
            elif char == "'" and not (quoted and self._last_of_line(at)):
                at = self._closing(at + 1, "'") + 1
            elif char == '"':
                at = self._double(at + 1)[0]
            elif char == "`":
                at = self._closing(at + 1, "`", escapes=True) + 1
            elif char == "$":
                at = self._dollar(at, quoted=quoted)[0]
            else:
                at += 1
        self._depth -= 1
        return min(at + 1, end)

    def _last_of_line(self, at: int) -> bool:
        """Return True if no other single quote follows in the line: to ``sh``, that of ``"${x:-don't}"`` is not a
        quote."""
        other = self.text.find("'", at + 1)
        return other < 0 or "\n" in self.text[at:other]

    def _balanced(self, at: int) -> int:
        """Return the end of the parenthesis at ``at``, with regard to quotes, comments, here-documents and patterns of
        ``case``."""
        text, end, first = self.text, len(self.text), at
        opened: list[str] = []
        heredocs: list[tuple[str, bool]] = []
        while at < end:
            char = text[at]
            if char == "\\":
                at += 2
                continue
            if char == "'":
                at = self._closing(at + 1, "'")
            elif char == '"':
                at = self._double(at + 1)[0]
                continue
            elif char == "$" and text[at + 1 : at + 2] == "{":
                at = self._braces(at + 2, quoted=False)
                continue
            elif char == "#" and text[at - 1] in " \t\n":
                stop = text.find("\n", at)
                at = stop if stop >= 0 else end
                continue
            elif char == "<" and (found := BEGIN.match(text, at)) is not None:
                heredocs.append(begun(found))
                at = found.end()
                continue
            elif char == "\n":
                for delimiter, tabs in heredocs:
                    behind = self._ends.behind(at + 1, delimiter, tabs)
                    at = at if behind is None else behind - 1
                heredocs.clear()
            elif char == "c" and text[at - 1] in " \t\n;(" and (found := _CASE.match(text, at)) is not None:
                opened.append("case")
                at = found.end()
                continue
            elif char == "e" and opened[-1:] == ["case"] and text[at - 1] in " \t\n;" and _ESAC.match(text, at):
                opened.pop()
            elif char == "(":
                opened.append(char)
            elif char == ")" and opened[-1:] == ["("]:
                opened.pop()
                if not opened:
                    return at + 1
            at += 1
        if self.open is None:
            self.open = first
        return end
