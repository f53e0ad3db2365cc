"""The variables that are in force at each point of a shell script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import field, replace

from tfmemlint.deployment.shell.commands import Command
from tfmemlint.model.configuration import ASSIGNMENT, Lost, ProgramStart, VariableSetting
from tfmemlint.model.finding import Span
from tfmemlint.model.records import dataclass


@dataclass(frozen=True, slots=True)
class ShellEvent:
    """A change of the environment.

    Attributes:
        kind: ``set``, ``export``, ``unset``, or ``unknown`` (any value; without a name, of all variables).
        path: the numbers of the compound commands that contain it; a negative number is a process of its own.
    """

    what: str
    name: str
    path: tuple[int, ...]
    setting: VariableSetting | None = None


@dataclass(frozen=True, slots=True)
class StartedProgram:
    """A program that a script starts: its command, its place, the number of events before it, and its own variables."""

    command: Command
    span: Span
    path: tuple[int, ...]
    events: int
    given: tuple[VariableSetting, ...]
    directory: str | None
    words: str


@dataclass(slots=True)
class ShellEnvironment:
    """The changes that a script makes to its environment, in order.

    Attributes:
        inherited: the variables that it gets.
        events: the changes.
        started: the programs that it starts.
        functions, loops: numbers of compound commands whose body runs at another time, or again.
        late: exports after the first start, each with the number of commands before it.
    """

    inherited: tuple[VariableSetting, ...] = ()
    events: list[ShellEvent] = field(default_factory=list)
    started: list[StartedProgram] = field(default_factory=list)
    functions: set[int] = field(default_factory=set)
    loops: set[int] = field(default_factory=set)
    late: list[tuple[VariableSetting, int]] = field(default_factory=list)

    @property
    def exported(self) -> set[str]:
        """The names of variables that are exported at some point."""
        return {event.name for event in self.events if event.what == "export"} | {
            setting.name for setting in self.inherited
        }

    def in_force(self, path: tuple[int, ...], upto: int | None = None) -> list[VariableSetting]:
        """Return the variables that a program gets if it starts at ``path`` after that many events (all by default);
        the value is None if unknown."""
        upto = len(self.events) if upto is None else upto
        known: dict[str, VariableSetting] = {setting.name: setting for setting in self.inherited}
        exported = set(known)
        called = bool(self.functions.intersection(path))
        again = self.loops.intersection(path)
        calls: list[ShellEvent] = []
        for number, event in enumerate(self.events):
            behind = number >= upto
            if behind and not called and again.isdisjoint(event.path):
                # It is not known when a function is called; in a loop, later lines run before as well.
                continue
            piece = apart(event.path, path)
            if piece is not None and piece < 0:
                continue
            doubtful = behind or piece is not None
            if piece is not None and not self.functions.isdisjoint(event.path):
                calls.append(event)
            for name in [event.name] if event.name else list(known):
                if event.what == "export":
                    exported.add(name)
                elif event.what == "unset" and not doubtful:
                    known.pop(name, None)
                    exported.discard(name)
                elif event.setting is not None and not doubtful:
                    known.pop(name, None)
                    known[name] = event.setting
                elif name in known or event.setting is not None:
                    setting = known.get(name) or event.setting
                    assert setting is not None
                    known[name] = replace(setting, value=None)
        for name in {
            name for event in calls if event.what != "export" for name in ([event.name] if event.name else known)
        }:
            # The function may have been called last.
            if name in known:
                known[name] = replace(known[name], value=None)
        return [setting for name, setting in known.items() if name in exported]

    def starts(self, where: str) -> Iterator[ProgramStart]:
        """Yield the programs, each with its variables."""
        for program in self.started:
            command = program.command
            settings = [] if command.clean else self.in_force(program.path, program.events)
            settings = [setting for setting in settings if setting.name not in command.dropped]
            yield ProgramStart(
                command.program,
                command.module,
                command.kind == "shell",
                command.arguments,
                program.span,
                (*settings, *program.given),
                where,
                program.directory,
                optimized=command.optimized,
                apart=command.apart,
            )

    def unexported(self, asked: frozenset[str], *, scheduled: bool) -> Iterator[Lost]:
        """Yield plain assignments before a program that does not get them.

        Args:
            asked: the variables that the script itself reads.
            scheduled: a scheduler runs the script; it exports ``CUDA_VISIBLE_DEVICES``.
        """
        if any(event.what == "unknown" and not event.name for event in self.events):
            # A sourced file may export them.
            return
        kept = self.exported | asked | ({"CUDA_VISIBLE_DEVICES"} if scheduled else set())
        for number, event in enumerate(self.events):
            setting = event.setting
            if setting is None or setting.how != ASSIGNMENT or setting.passed or setting.name in kept:
                continue
            for program in self.started:
                own = any(given.name == setting.name for given in program.given)
                after = program.command.kind == "python" and program.events > number
                if after and not own and apart(event.path, program.path) is None:
                    yield Lost(setting, "unexported", program.span, program.words)
                    break

    def exported_too_late(self, asked: frozenset[str], busy: int) -> Iterator[Lost]:
        """Yield exports after which nothing starts.

        Args:
            busy: the number of all commands that run.
        """
        programs = [program for program in self.started if program.command.kind == "python"]
        set_to = Counter((event.name, event.setting.value) for event in self.events if event.setting is not None)
        for setting, before in self.late:
            once = setting.value is not None and set_to[setting.name, setting.value] == 1
            if before == busy and programs and setting.name not in asked and once:
                yield Lost(setting, "late", programs[-1].span, programs[-1].words)


def apart(path: tuple[int, ...], other: tuple[int, ...]) -> int | None:
    """Return the first number of ``path`` that ``other`` lacks, or the first process of its own from there on; None if
    ``other`` has all of them."""
    for number, piece in enumerate(path):
        if number >= len(other) or other[number] != piece:
            return next((piece for piece in path[number:] if piece < 0), piece)
    return None
