"""The compound commands of a shell script: which commands there are, and on which ways through the script they are run.

Nothing is run, and no grammar is checked: reserved words open and close pieces, each with a number. What is closed
without having been opened is passed over.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from tfmemlint.settings.commands import assignment
from tfmemlint.settings.environments import Event, Surroundings
from tfmemlint.settings.words import NEWLINE, OPERATOR, REDIRECTIONS, WORD, Token, Word

_HARMLESS = frozenset(
    {
        "cd", "export", "source", ".", "set", "mkdir", "pip", "pip3", "apt-get", "apt", "conda", "module", "echo",
        "true", ":", "pushd", "ulimit", "umask", "cp", "mv", "ln", "rm", "touch", "chmod", "chown", "tar", "git",
        "date",
        "sleep",
    }
)  # fmt: skip
"""Commands that are taken to go well: what follows ``&&`` behind them is run."""


@dataclass(slots=True)
class _Open:
    """A compound command that is open: what ends it, where it stands, and whether a pattern of ``case`` comes next."""

    kind: str
    outer: tuple[int, ...]
    pattern: bool = False
    directory: str | None = None


@dataclass(slots=True)
class Compounds:
    """Where we are in a script.

    Attributes:
        numbers: where the numbers of pieces come from. known: the environment.
        opened, path: the compound commands that we are in; a negative number is a process of its own. chained: the
        same of the ``&&`` and ``||`` of this line.
        directory: where commands are run; None where that can't be told.
    """

    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    known: Surroundings = field(default_factory=Surroundings)
    opened: list[_Open] = field(default_factory=list)
    path: tuple[int, ...] = ()
    chained: tuple[int, ...] = ()
    directory: str | None = ""

    def command(self, words: list[Word], targets: list[Word], *, apart: bool) -> None:
        """Take in a simple command: its words, the files that its output goes to, and whether it is a process of its
        own, as in a pipe."""
        raise NotImplementedError

    def walk(self, tokens: list[Token]) -> None:
        """Go through all commands."""
        words: list[Word] = []
        targets: list[Word] = []
        before = ""
        at = 0
        while at < len(tokens):
            token = tokens[at]
            follows = tokens[at + 1] if at + 1 < len(tokens) else None
            at += 1
            if token.kind == OPERATOR and token.text in REDIRECTIONS:
                if words and words[-1].raw.isdigit() and words[-1].end == token.word.start:
                    words.pop()
                if follows is not None and follows.kind == WORD:
                    if token.text in (">>", ">"):
                        targets.append(follows.word)
                    at += 1
            elif token.kind == WORD:
                skip = self._keyword(tokens, at - 1) if not words else 0
                if skip:
                    at += skip - 1
                    before = ""
                    self.chained = ()
                elif token.text == "[[" and not words:
                    words.append(token.word)
                    while at < len(tokens) and tokens[at].text != "]]":
                        at += 1
                    at += 1
                else:
                    words.append(token.word)
            elif token.text == "(" and not words:
                if follows is not None and follows.text == "(" and follows.word.start == token.word.end:
                    at = _past_arithmetic(tokens, at - 1)
                    words = [token.word]
                else:
                    self._push("(", -next(self.numbers))
            elif token.text == "(" and len(words) == 1 and follows is not None and follows.text == ")":
                # A function: what it does, it does when it is called.
                words, at = [], at + 1
                while at < len(tokens) and tokens[at].kind == NEWLINE:
                    at += 1
                if at < len(tokens) and tokens[at].text in ("{", "("):
                    self._push("}" if tokens[at].text == "{" else "(", next(self.numbers), function=True)
                    at += 1
            else:
                after = token.text if token.kind == OPERATOR else "\n"
                if words:
                    self.command(words, targets, apart=before in ("|", "|&") or after in ("|", "|&", "&"))
                    if after == "||" or (after == "&&" and not _goes_well(words)):
                        self.chained = (*self.chained, next(self.numbers))
                if words or after != "\n":
                    before = after
                if after not in ("&&", "||") and (words or after != "\n"):
                    self.chained = ()
                words, targets = [], []
                if after in (";;", ";&", ";;&"):
                    self._next_pattern()
                elif after == ")":
                    self._close("(")
        if words:
            self.command(words, targets, apart=before in ("|", "|&"))

    def _keyword(self, tokens: list[Token], at: int) -> int:
        """How many tokens a reserved word takes here; 0 where there is none."""
        word = tokens[at].word
        if self.opened and self.opened[-1].pattern:
            if word.raw == "esac":
                self._close("esac")
                return 1
            stop = _find(tokens, at, ")")
            self.opened[-1].pattern = False
            self.path, self.chained = (*self.opened[-1].outer, next(self.numbers)), ()
            return stop - at + 1
        if not word.plain:
            return 0
        match word.raw:
            case "if" | "while" | "until":
                self._push("fi" if word.raw == "if" else "done", next(self.numbers))
            case "else" | "elif":
                if self.opened and self.opened[-1].kind == "fi":
                    self.path, self.chained = (*self.opened[-1].outer, next(self.numbers)), ()
            case "for" | "select":
                stop = at
                while stop < len(tokens) and tokens[stop].kind != NEWLINE and tokens[stop].text != ";":
                    stop += 1
                self._push("done", next(self.numbers))
                if at + 1 < len(tokens):
                    self.known.events.append(Event("unknown", tokens[at + 1].text, self.here()))
                return max(stop - at, 1)
            case "case":
                stop = _find(tokens, at, "in")
                self._push("esac", next(self.numbers))
                self.opened[-1].pattern = True
                return stop - at + 1
            case "fi" | "done" | "esac" | "}":
                self._close(word.raw)
            case "{":
                self.opened.append(_Open("}", self.path, directory=self.directory))
            case "function":
                stop = at + 1
                while stop < len(tokens) and tokens[stop].text not in ("{", "(") and stop - at < 4:
                    stop += 1
                if stop < len(tokens) and tokens[stop].text == "(":
                    stop = _find(tokens, stop, "{")
                self._push("}", next(self.numbers), function=True)
                return stop - at + 1
            case "then" | "do" | "!" | "coproc":
                pass
            case _:
                return 0
        return 1

    # Where we are

    def here(self) -> tuple[int, ...]:
        """The pieces that we are in, conditions of this line among them."""
        return (*self.path, *self.chained)

    def _push(self, kind: str, number: int, *, function: bool = False) -> None:
        self.opened.append(_Open(kind, self.path, directory=self.directory))
        self.path, self.chained = (*self.path, *self.chained, number), ()
        if function:
            self.known.functions |= {number}
        elif kind == "done":
            self.known.loops |= {number}

    def _close(self, kind: str) -> None:
        if any(one.kind == kind for one in self.opened):
            one = self.opened.pop()
            while one.kind != kind:
                one = self.opened.pop()
            self.path = one.outer
            if kind == "(":
                self.directory = one.directory
        self.chained = ()

    def _next_pattern(self) -> None:
        while self.opened and self.opened[-1].kind != "esac":
            self.opened.pop()
        if self.opened:
            self.opened[-1].pattern = True
            self.path = self.opened[-1].outer


def _goes_well(words: Sequence[Word]) -> bool:
    return words[0].value in _HARMLESS or assignment(words[0]) is not None


def _find(tokens: list[Token], at: int, text: str) -> int:
    while at < len(tokens) and tokens[at].text != text:
        at += 1
    return at


def _past_arithmetic(tokens: list[Token], at: int) -> int:
    """Behind the ``((...))`` that begins at ``at``."""
    depth = 0
    while at < len(tokens):
        depth += {"(": 1, ")": -1}.get(tokens[at].text, 0) if tokens[at].kind == OPERATOR else 0
        at += 1
        if not depth:
            break
    return at
