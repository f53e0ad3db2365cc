"""Variables that a loop behind a pipe exports: ``grep -v '^#' settings.env | while read -r l; do export "$l"; done``.

bash and sh run such a loop in a process of its own, and its exports end with it. zsh and ksh run it in the shell
itself, as bash does after ``shopt -s lastpipe``. Source: POSIX, Shell Command Language, 2.12 (Shell Execution
Environment).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

from tfmemlint.deployment.shell.environments import ShellEnvironment, StartedProgram
from tfmemlint.model.configuration import Lost, PipedFile
from tfmemlint.model.finding import Span
from tfmemlint.model.records import dataclass
from tfmemlint.sources.config_files.shell.compound_commands import CompoundCommands
from tfmemlint.sources.config_files.shell.lexer import Word

IN_SHELL_ITSELF = re.compile(r"\blastpipe\b|\A#![^\n]*\b(?:zsh|ksh|ksh93|mksh)\b")
"""Finds scripts in which the last command of a pipe is run by the shell itself."""
_INNER = frozenset(
    {
        "read", "export", "declare", "typeset", "local", "readonly", "test", "[", "[[", "echo", "printf", ":", "true",
        "continue", "break", "let", "shift",
    }
)  # fmt: skip
"""Commands of a loop that pass no variable on to anything."""
_LOOP_WORDS = frozenset(
    {
        "while", "until", "do", "if", "then", "else", "fi", "case", "in", "esac", "read", "r", "IFS", "n", "z",
        "continue", "export", "declare", "x", "test",
    }
)  # fmt: skip
"""Words of a loop that exports each line that is not empty, or no comment, besides its variables."""
_REFERENCE = re.compile(r"\$\{?(\w+)\}?")
_ALL_OF_IT = re.compile(r"\"?\$\{?\w+\}?\"?(?:=\"?\$\{?\w+\}?\"?)?")
"""A line, or the name and the value that it was split into."""
_WORDS = re.compile(r"[A-Za-z_]\w*")
_READ = re.compile(r"\bread((?:[ \t]+[\w-]+)+)")


@dataclass(slots=True)
class Piece:
    """A compound command behind a pipe: where its last command ends, and whether one of its commands uses variables."""

    end: int = 0
    busy: bool = False


@dataclass(slots=True)
class PipedLoops:
    """The compound commands behind pipes, as far as they are known.

    Attributes:
        exports: the exports of unknown variables in them: the way there, the place, the word and the number of events
            before it.
        pieces: these commands, by number. calls: the number of events before the last call of each command, by name.
    """

    exports: list[tuple[tuple[int, ...], Span, str, int]] = field(default_factory=list)
    pieces: dict[int, Piece] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)

    def note(self, walker: CompoundCommands, known: ShellEnvironment, words: list[Word], targets: list[Word]) -> None:
        """Note a command."""
        name = words[0].value or ""
        self.calls[name] = len(known.events)
        for number in walker.path:
            if number in walker.piped:
                piece = self.pieces.setdefault(number, Piece())
                piece.end = words[-1].end
                kept = all(target.value == "/dev/null" for target in targets)
                assigns = re.match(r"\w+=", words[0].raw) is not None
                piece.busy = piece.busy or not kept or not (name in _INNER or assigns)

    def lost(self, walker: CompoundCommands, known: ShellEnvironment, asked: frozenset[str]) -> Iterator[Lost]:
        """Yield the variables that are exported by name, once for each command."""
        seen: set[object] = set()
        for number, event in enumerate(known.events):
            setting = event.setting
            if setting is None or not setting.passed or setting.name in asked:
                continue
            found = self._program_without(walker, known, event.path, number)
            if found is None or (found[0], setting.name) in seen:
                continue
            piece, program = found
            if setting.name not in _names_in_force(known, program):
                seen.add((piece, setting.name))
                yield Lost(setting, "pipe", program.span, program.words)

    def files(self, walker: CompoundCommands, known: ShellEnvironment, text: str) -> Iterator[PipedFile]:
        """Yield the files all of whose lines are exported."""
        for path, span, raw, number in self.exports:
            found = self._program_without(walker, known, path, number)
            if found is None or not _ALL_OF_IT.fullmatch(raw):
                continue
            piped = walker.piped[found[0]]
            body = text[piped.start : self.pieces[found[0]].end]
            if _exports_each_line(body) and piped.commands:
                program = found[1]
                names = _names_in_force(known, program)
                yield PipedFile(piped.commands, piped.directory, span, program.span, program.words, names)

    def _program_without(
        self, walker: CompoundCommands, known: ShellEnvironment, path: tuple[int, ...], number: int
    ) -> tuple[int, StartedProgram] | None:
        """Return the number of the command behind a pipe that an event is in, and the first program that does not get
        what is exported there; None if there is none, or another process or a file may get it."""
        piece = next((each for each in path if each in walker.piped), None)
        if piece is None or self.pieces.get(piece, Piece(busy=True)).busy:
            return None
        if any(event.what == "unknown" and not event.name and piece not in event.path for event in known.events):
            return None
        before = path[: path.index(piece)]
        functions = [each for each in before if each in known.functions]
        for function in functions:
            called = self.calls.get(walker.names.get(function, ""))
            if called is None:
                return None
            number = max(number, called - 1)
        for program in known.started:
            if program.command.kind != "python" or program.command.clean or program.events <= number:
                continue
            if piece in program.path:
                return None
            other = {each for each in program.path if each > 0} - known.functions - walker.chains
            own = {each for each in before if each > 0} - known.functions
            if not (other - own and own - other):
                return piece, program
        return None


def _names_in_force(known: ShellEnvironment, program: StartedProgram) -> frozenset[str]:
    """Return the names of the variables that a program gets otherwise."""
    settings = [*known.in_force(program.path, program.events), *program.given]
    return frozenset(setting.name for setting in settings)


def _exports_each_line(body: str) -> bool:
    """True if a loop does nothing but export what it reads, unless that is empty or a comment."""
    names = {name for found in _READ.finditer(body) for name in _WORDS.findall(found[1])}
    words = set(_WORDS.findall(_REFERENCE.sub(" ", body)))
    return words <= _LOOP_WORDS | names
