"""Distinguish lines of Python from prose, in texts that mark neither."""

from __future__ import annotations

import re

QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u201e": '"', "\xa0": " "})
"""Typographic characters of word processors and blogs, each with the character of the original code."""

_LONGEST_LINE = 1_000
"""Characters of a line that are looked at: a statement shows by its beginning."""
_STATEMENT = re.compile(
    r"""\s*(?:
    (?:import|from)\s+[A-Za-z_.][\w.]*(?:\s+(?:as|import)\s+[\w(*]|\s*[,;#]|\s*$|\s+\w+\s*=)
    |(?:async\s+)?(?:def|class)\s+\w+\s*[(:]
    |(?:async\s+)?(?:if|elif|while|for|with|except|match|case)\b.*:\s*(?:\#.*)?$
    |(?:try|else|finally|except)\s*:
    |@[A-Za-z_][\w.]*\s*(?:\(.*)?$
    |(?:return|yield|raise|del|assert|global|nonlocal|print)\s+[\w.]+\s*(?:[-+*/=<>,(\[.].*)?$
    |(?:pass|break|continue|return|raise)\s*(?:\#.*)?$
    |[*A-Za-z_][\w.]*(?:\[[^\]]*\])*(?:\s*:\s*[\w.\[\], ]+)?(?:\s*,\s*[*A-Za-z_][\w.]*(?:\[[^\]]*\])*)*
        \s*(?:[-+*/%@&|^]|//|\*\*|<<|>>)?=(?!=)\s*\S
    |[A-Za-z_][\w.]*(?:\([^()]*\)\.\w+)*\s?\(
    |[A-Za-z_][\w.]*(?:\[[^\]]*\])+\s*(?:$|[-.=(])
    |[)\]}]+[\s,:;)\]}.]*(?:\#.*)?$
    )""",
    re.VERBOSE,
)
_SETTING = re.compile(r"\s*[A-Z][A-Z0-9_]*=")
"""A shell variable; as Python it would be an assignment."""
_SENTENCE = re.compile(r"(?<![\w.'\"#(=,-])[a-z]{2,}(?: [a-z]{1,}[,.]?){3,}")
_KEYWORD = re.compile(
    r"\b(?:and|as|assert|async|await|del|elif|else|except|for|from|global|if|import|in|is|lambda|not|or"
    r"|raise|return|while|with|yield)\b"
)
_COMMENT = re.compile(r"\s*#")
_SIGN = re.compile(r"\'\'\'|\"\"\"|[\'\"()\[\]{}#]")


def looks_like_code(line: str) -> bool:
    """Return True if a line begins as a Python statement does and has no run of words as a sentence has."""
    if _STATEMENT.match(line[:_LONGEST_LINE]) is None or _SETTING.match(line) is not None:
        return False
    return _SENTENCE.search(_KEYWORD.sub(";", without_strings(line))) is None


def is_comment(line: str) -> bool:
    """Return True if a line of code would be a comment."""
    return _COMMENT.match(line) is not None


def without_strings(line: str) -> str:
    """Return a line of code without the words in its strings and its comment."""
    return re.sub(r"'[^'\n]*'|\"[^\"\n]*\"|#.*", "''", line)


class Nesting:
    """The brackets and multi-line strings that are open after the lines of code so far."""

    def __init__(self) -> None:
        self.brackets = 0
        self.string = ""

    @property
    def open(self) -> bool:
        """True if the next line continues the same statement."""
        return self.brackets > 0 or bool(self.string)

    def take(self, line: str) -> None:
        """Read one more line."""
        place = 0
        while True:
            if self.string:
                end = line.find(self.string, place)
                if end < 0:
                    return
                place, self.string = end + 3, ""
            sign = _SIGN.search(line, place)
            if sign is None or sign[0] == "#":
                return
            place = sign.end()
            if len(sign[0]) == 3:
                self.string = sign[0]
            elif sign[0] in "'\"":
                place = _end_of_string(line, sign.start())
            elif sign[0] in "([{":
                self.brackets += 1
            else:
                self.brackets = max(0, self.brackets - 1)


def _end_of_string(line: str, start: int) -> int:
    place = start + 1
    while place < len(line):
        if line[place] == "\\":
            place += 2
        elif line[place] == line[start]:
            return place + 1
        else:
            place += 1
    return len(line)
