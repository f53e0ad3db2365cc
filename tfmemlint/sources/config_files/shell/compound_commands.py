"""The simple commands of a shell script, each with the compound commands that contain it.

Nothing is run, and no grammar is checked: a reserved word opens or closes a piece of the script, and each piece has a
number. A word that closes what nothing has opened is ignored.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import field, replace

from tfmemlint.model.records import dataclass
from tfmemlint.sources.config_files.shell.assignments import assignment
from tfmemlint.sources.config_files.shell.lexer import NEWLINE, OPERATOR, REDIRECTIONS, WORD, Lexer, Token, Word

_HARMLESS = frozenset(
    {
        "cd", "export", "source", ".", "set", "mkdir", "pip", "pip3", "apt-get", "apt", "conda", "module", "echo",
        "true", ":", "pushd", "ulimit", "umask", "cp", "mv", "ln", "rm", "touch", "chmod", "chown", "tar", "git",
        "date",
        "sleep",
    }
)  # fmt: skip
"""Commands that are assumed to succeed: the command after their ``&&`` runs."""


_PIPES = ("|", "|&")
_OPENING = frozenset({"if", "while", "until"})
_MAX_DEPTH = 100
"""Nested compound commands; deeper ones are treated as this deep. Scripts written by hand are never this deep."""


@dataclass(slots=True)
class _Open:
    """An open compound command: its closing word, its place, whether a pattern of ``case`` comes next, and the
    directory and ``set -a`` before it."""

    kind: str
    outer: tuple[int, ...]
    pattern: bool = False
    directory: str | None = None
    auto: bool = False


@dataclass(frozen=True, slots=True)
class Piped:
    """A compound command at the end of a pipe.

    Attributes:
        start: where it begins. directory: as of `CompoundCommands`.
        commands: those before it in the pipe, if all are simple ones: the texts of their words, and of the files that
            they are given by ``<``, each None if it is not known.
    """

    start: int
    directory: str | None
    commands: tuple[tuple[tuple[str | None, ...], tuple[str | None, ...]], ...]


@dataclass(slots=True)
class CompoundCommands:
    """Walk the tokens of a script and pass on each simple command.

    Attributes:
        on_command: takes the words of a simple command, the files that its output goes to, and True if it is a process
            of its own, as in a pipe.
        on_loop: takes what stands behind ``for``: the variable that the loop sets, and what it goes over.
        numbers: the source of the numbers of pieces.
        functions, loops: the numbers of the pieces whose commands run at another time (the bodies of functions), or
            again.
        opened, path: the compound commands that contain the current command; a negative number is a process of its own.
        chained: the same for the ``&&`` and ``||`` of the current line.
        directory: the directory in which commands run; None if it is unknown.
        auto: True if all variables are exported (``set -a``).
        last_apart: True if the last command of a pipe is a process of its own.
        piped: the compound commands at the end of pipes, by their numbers. names: those of functions, by the numbers of
            their bodies. chains: the numbers of conditions by ``&&`` and ``||``.
    """

    on_command: Callable[[list[Word], list[Word], bool], None]
    on_loop: Callable[[list[str]], None] = lambda words: None
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    functions: set[int] = field(default_factory=set)
    loops: set[int] = field(default_factory=set)
    opened: list[_Open] = field(default_factory=list)
    path: tuple[int, ...] = ()
    chained: tuple[int, ...] = ()
    directory: str | None = ""
    auto: bool = False
    last_apart: bool = True
    piped: dict[int, Piped] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    chains: set[int] = field(default_factory=set)
    _pipe: list[tuple[tuple[str | None, ...], tuple[str | None, ...]]] = field(default_factory=list, init=False)

    def walk(self, tokens: list[Token]) -> None:
        """Walk all commands."""
        words: list[Word] = []
        targets: list[Word] = []
        sources: list[Word] = []
        before = ""
        at = 0
        behind = _behind_groups(tokens)
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
                    elif token.text.startswith("<"):
                        sources.append(follows.word if token.text == "<" else replace(follows.word, value=None))
                    at += 1
            elif token.kind == WORD:
                piped = before in _PIPES and self.last_apart
                skip = self._keyword(tokens, at - 1, piped=piped) if not words else 0
                if skip and token.text == "{":
                    self._group(apart=piped or behind.get(at - 1) in (*_PIPES, "&"))
                    if piped:
                        self._note_piped(token.word.start)
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
            elif token.text == "(" and not words and self.opened and self.opened[-1].pattern:
                # ``case x in (a) ...``: it opens the pattern.
                continue
            elif token.text == "(" and not words:
                self._push("(", -next(self.numbers))
                if before in _PIPES:
                    self._note_piped(token.word.start)
            elif token.text == "(" and len(words) == 1 and follows is not None and follows.text == ")":
                words, at = [], self._function(tokens, at + 1, words[0].raw)
            else:
                after = token.text if token.kind == OPERATOR else "\n"
                if after in _PIPES:
                    self._add_to_pipe(words, sources, first=before not in _PIPES)
                if words:
                    self.on_command(words, targets, before in _PIPES or after in (*_PIPES, "&"))
                    if after == "||" or (after == "&&" and not _goes_well(words)):
                        self._chain()
                elif after in ("&&", "||"):
                    # How a compound command has gone is not known.
                    self._chain()
                if words or after != "\n":
                    before = after
                if after not in ("&&", "||") and (words or after != "\n"):
                    self.chained = ()
                words, targets, sources = [], [], []
                if after in (";;", ";&", ";;&"):
                    self._next_pattern()
                elif after == ")":
                    self._close("(")
        if words:
            self.on_command(words, targets, before in _PIPES)

    def _add_to_pipe(self, words: list[Word], sources: list[Word], *, first: bool) -> None:
        """Note a command of a pipe; of one that has a compound command in it nothing is known."""
        if first:
            self._pipe = []
        if words and (first or self._pipe):
            self._pipe.append((tuple(word.value for word in words), tuple(word.value for word in sources)))
        else:
            self._pipe = []

    def _note_piped(self, start: int) -> None:
        self.piped[self.path[-1]] = Piped(start, self.directory, tuple(self._pipe))

    def _keyword(self, tokens: list[Token], at: int, *, piped: bool = False) -> int:
        """Return how many tokens a reserved word takes here; 0 if there is none."""
        word = tokens[at].word
        sign = -1 if piped else 1
        if self.opened and self.opened[-1].pattern:
            if word.raw == "esac":
                self._close("esac")
                return 1
            stop = _find(tokens, at, ")")
            self.opened[-1].pattern = False
            self.path, self.chained = (*self.opened[-1].outer, next(self.numbers))[:_MAX_DEPTH], ()
            return stop - at + 1
        if not word.plain:
            return 0
        match word.raw:
            case "if" | "while" | "until":
                self._push("fi" if word.raw == "if" else "done", sign * next(self.numbers))
            case "else" | "elif":
                if self.opened and self.opened[-1].kind == "fi":
                    self.path, self.chained = (*self.opened[-1].outer, next(self.numbers))[:_MAX_DEPTH], ()
            case "for" | "select":
                stop = at
                while stop < len(tokens) and tokens[stop].kind != NEWLINE and tokens[stop].text != ";":
                    stop += 1
                self._push("done", sign * next(self.numbers))
                if at + 1 < len(tokens):
                    self.on_loop([token.text for token in tokens[at + 1 : stop]])
                if piped:
                    self._note_piped(word.start)
                return max(stop - at, 1)
            case "case":
                stop = _find(tokens, at, "in")
                self._push("esac", sign * next(self.numbers))
                self.opened[-1].pattern = True
                return stop - at + 1
            case "fi" | "done" | "esac" | "}":
                self._close(word.raw)
            case "{":
                # `walk` opens it.
                pass
            case "function":
                brackets = at + 2 < len(tokens) and tokens[at + 2].text == "("
                name = tokens[at + 1].text if at + 1 < len(tokens) else ""
                return self._function(tokens, at + (4 if brackets else 2), name) - at
            case "then" | "do" | "!" | "coproc":
                pass
            case _:
                return 0
        if piped and word.raw in _OPENING:
            self._note_piped(word.start)
        return 1

    def _function(self, tokens: list[Token], at: int, name: str) -> int:
        """Open the function whose body begins at ``at``, or after newlines there, and return the next token. The body
        runs when the function is called."""
        while at < len(tokens) and tokens[at].kind == NEWLINE:
            at += 1
        if at < len(tokens) and tokens[at].text in ("{", "("):
            self._push("}" if tokens[at].text == "{" else "(", next(self.numbers), function=True)
            self.names[self.path[-1]] = name
            at += 1
        return min(at, len(tokens))

    # Where we are

    def here(self) -> tuple[int, ...]:
        """The pieces that contain the current command, conditions of this line included."""
        return (*self.path, *self.chained)

    def _push(self, kind: str, number: int, *, function: bool = False) -> None:
        self.opened.append(_Open(kind, self.path, directory=self.directory, auto=self.auto))
        self.path, self.chained = (*self.path, *self.chained, number)[:_MAX_DEPTH], ()
        if function:
            self.functions.add(number)
        elif kind == "done":
            self.loops.add(number)

    def _chain(self) -> None:
        """Enter a condition: it decides if the rest of this line runs."""
        self.chained = (*self.chained, next(self.numbers))[:_MAX_DEPTH]
        self.chains.update(self.chained[-1:])

    def _group(self, *, apart: bool) -> None:
        """Open a group in braces.

        Args:
            apart: True if it is a process of its own, as in a pipe.
        """
        if apart or self.chained:
            self._push("}", next(self.numbers) * (-1 if apart else 1))
        else:
            self.opened.append(_Open("}", self.path, directory=self.directory))

    def _close(self, kind: str) -> None:
        if any(opened.kind == kind for opened in self.opened):
            opened = self.opened.pop()
            while opened.kind != kind:
                opened = self.opened.pop()
            self.path = opened.outer
            if kind == "(":
                self.directory, self.auto = opened.directory, opened.auto
        self.chained = ()

    def _next_pattern(self) -> None:
        while self.opened and self.opened[-1].kind != "esac":
            self.opened.pop()
        if self.opened:
            self.opened[-1].pattern = True
            self.path = self.opened[-1].outer


def simple_commands(text: str) -> list[list[Word]]:
    """Return the words of each simple command of a script, in order; redirections and here-documents are left out."""
    found: list[list[Word]] = []
    CompoundCommands(lambda words, targets, apart: found.append(words)).walk(Lexer(text).tokens())
    return found


def _goes_well(words: Sequence[Word]) -> bool:
    return words[0].value in _HARMLESS or assignment(words[0]) is not None


def _find(tokens: list[Token], at: int, text: str) -> int:
    while at < len(tokens) and tokens[at].text != text:
        at += 1
    return at


def _behind_groups(tokens: list[Token]) -> dict[int, str]:
    """Return the operator after each group in braces, or ``""``, by the number of the token that opens the group."""
    found: dict[int, str] = {}
    opened: list[int] = []
    for number, token in enumerate(tokens):
        if token.kind != WORD or token.text not in ("{", "}"):
            continue
        if token.text == "{":
            opened.append(number)
        elif opened:
            at = number + 1
            while at + 1 < len(tokens) and (tokens[at].text in REDIRECTIONS or tokens[at].text.isdigit()):
                at += 1 if tokens[at].kind == WORD else 2
            behind = tokens[at] if at < len(tokens) else None
            found[opened.pop()] = behind.text if behind is not None and behind.kind == OPERATOR else ""
    return found
