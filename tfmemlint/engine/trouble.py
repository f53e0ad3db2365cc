"""Findings about the run itself: a file that can't be read or parsed, a part of the tool that failed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tfmemlint.engine.results import PYTHON_2
from tfmemlint.model.codes import INTERNAL_ERROR, RUN_CODES, SYNTAX_ERROR, UNREADABLE
from tfmemlint.model.finding import Finding, Span
from tfmemlint.model.patterns import late_pattern

if TYPE_CHECKING:
    from tfmemlint.rulekit.rule import Rule
    from tfmemlint.sources import Source, Unreadable

MAX_ERROR_CHARACTERS = 500
"""The words of an error that are shown: some quote the whole text that they are about."""

_WORDS_ABOUT_PYTHON_2 = (
    "Missing parentheses in call to",
    "multiple exception types",
    "parameters cannot be parenthesized",
)
_LONGEST_LINE = 500
"""Characters of a line that are looked at for Python 2."""
_PRINT = late_pattern(r"\s*print\s+(?:[\w\"'%-]|>>)")
_LIBRARY_OF_PYTHON_2 = late_pattern(
    r"\s{0,40}(?:import|from)\s{1,9}(?:cPickle|cStringIO|StringIO|ConfigParser|Queue|urllib2|urlparse|__builtin__|httplib)\b"
    r"|.{0,200}(?<![\w.])(?:xrange|raw_input|unicode)\("
)
_PYTHON_2_LINE = late_pattern(
    r"^\s*(?:"
    r"print\s+(?:[\w\"'%-]|>>)|exec\s+[\w\"']|raise\s+[\w.]+\s*,|except\s{1,8}[\w.()\s,]{1,200},\s{0,8}\w{1,80}\s{0,8}:"
    r"|def\s+\w+\s*\((?:[^()=]*,)?\s*\("
    r")|\blambda\s*\(|\s<>\s|(?<![\w.])0[0-7]+(?![\w.:-])|(?<![\w.])\d+[lL]\b|(?<!\w)[uU][rR][\"']"
)
"""Matches what is Python 2 only: statements that are calls now, tuples as parameters, old operators and numbers."""


def unreadable(path: str, error: Unreadable, rules: Iterable[Rule]) -> list[Finding]:
    """Return the finding for a file that can't be read."""
    row = max(error.row, 1)
    return trouble(rules, UNREADABLE, path, Span(row, 1, row, 1), str(error))


def python_syntax_error(source: Source, error: SyntaxError | ValueError, rules: Iterable[Rule]) -> list[Finding]:
    """Return the finding for a text that is not valid Python 3, with a note where the reason shows."""
    row = getattr(error, "lineno", None) or 1
    column = max(getattr(error, "offset", None) or 1, 1)
    words = getattr(error, "msg", None) or str(error)
    notes = []
    line = source.lines[row - 1] if row <= len(source.lines) else ""
    if says_python_2(words, line, source.lines):
        notes.append(PYTHON_2)
    elif "***" in line:
        notes.append("The line looks damaged by masking (***).")
    elif line.count(" = ") + line.count("import ") > 1:
        notes.append("Several statements seem to have run together on this line.")
    span = Span(row, column, row, column + 1)
    return trouble(rules, SYNTAX_ERROR, source.path, span, f"Not valid Python: {words}", notes)


def says_python_2(words: str, line: str, lines: Sequence[str]) -> bool:
    """Return True if Python 2 could read a text, as far as is told by what Python 3 says of it.

    Args:
        words: the message of Python 3. line: the line that it is about. lines: all lines of the text.
    """
    if any(part in words for part in _WORDS_ABOUT_PYTHON_2) or _PYTHON_2_LINE.search(line[:_LONGEST_LINE]) is not None:
        return True
    # Python 2 takes a tab for eight spaces; so may a text that is just damaged.
    return "tabs" in words and any(_PRINT.match(line) or _LIBRARY_OF_PYTHON_2.match(line) for line in lines)


def too_deep(source: Source, rules: Iterable[Rule]) -> list[Finding]:
    """Return the finding for a text that Python's own parser, or the interpreter, gives up on."""
    return trouble(rules, SYNTAX_ERROR, source.path, Span(1, 1, 1, 1), "nested too deeply to be read")


def internal_error(path: str, who: str, error: Exception, rules: Iterable[Rule]) -> list[Finding]:
    """Return the finding for a part of the tool that failed on a file."""
    return trouble(rules, INTERNAL_ERROR, path, Span(1, 1, 1, 1), f"{who} failed on this file: {described(error)}")


def described(error: BaseException) -> str:
    """Return an error of the tool in one line: its kind, its words, and the line of code that raised it."""
    import traceback

    words = f"{type(error).__name__}: {error}"
    if len(words) > MAX_ERROR_CHARACTERS:
        words = f"{words[:MAX_ERROR_CHARACTERS]} ..."
    frames = traceback.extract_tb(error.__traceback__)
    return f"{words} ({frames[-1].filename.rsplit('/', 1)[-1]}:{frames[-1].lineno})" if frames else words


def trouble(
    rules: Iterable[Rule], code: str, path: str, span: Span, message: str, notes: Sequence[str] = ()
) -> list[Finding]:
    """Return the finding of the rule with this code; none if the rule isn't selected.

    A finding that says why the tool could not do its work is reported whatever is selected.
    """
    from tfmemlint.rulekit.rule import rules as all_rules

    rule = next((rule for rule in rules if rule.code == code), None)
    if rule is None:
        if code not in RUN_CODES:
            return []
        rule = next(rule for rule in all_rules() if rule.code == code)
    return [Finding(code, rule.name, rule.severity, path, span, message, notes=tuple(notes), noqa_row=span.row)]
