"""The variables that are in force at each point of a shell script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tfmemlint.deployment.shell.commands import Command
from tfmemlint.model.configuration import ASSIGNMENT, Lost, ProgramStart, VariableSetting
from tfmemlint.model.finding import Span


@dataclass(frozen=True, slots=True)
class ShellEvent:
    """Something that changes the environment: ``set``, ``export``, ``unset``, or ``unknown`` (it may hold anything; all
    variables may, without a name). ``path``: the compound commands that it stands in, by their numbers; a negative one
    is a process of its own."""

    what: str
    name: str
    path: tuple[int, ...]
    setting: VariableSetting | None = None


@dataclass(frozen=True, slots=True)
class StartedProgram:
    """A program that is started: which, where, after how many events, with which variables of its own; the command in
    words."""

    command: Command
    span: Span
    path: tuple[int, ...]
    events: int
    given: tuple[VariableSetting, ...]
    directory: str | None
    words: str


@dataclass(slots=True)
class Surroundings:
    """What a script does to its environment, in order.

    Attributes:
        inherited: what it gets. events, begun: what it does, and what it starts.
        functions, loops: numbers of compound commands whose body is run at another time, or again.
        late: what is exported after something was started, each with how many commands had been run by then.
    """

    inherited: tuple[VariableSetting, ...] = ()
    events: list[ShellEvent] = field(default_factory=list)
    begun: list[StartedProgram] = field(default_factory=list)
    functions: set[int] = field(default_factory=set)
    loops: set[int] = field(default_factory=set)
    late: list[tuple[VariableSetting, int]] = field(default_factory=list)

    @property
    def exported(self) -> set[str]:
        """The variables that are exported at some time."""
        return {event.name for event in self.events if event.what == "export"} | {
            setting.name for setting in self.inherited
        }

    def in_force(self, path: tuple[int, ...], upto: int | None = None) -> list[VariableSetting]:
        """The variables that a program gets that is started at ``path`` after so many events (all, by default); without
        a value where that can't be told."""
        upto = len(self.events) if upto is None else upto
        known: dict[str, VariableSetting] = {setting.name: setting for setting in self.inherited}
        exported = set(known)
        called = bool(self.functions.intersection(path))
        again = self.loops.intersection(path)
        calls: list[ShellEvent] = []
        for number, event in enumerate(self.events):
            behind = number >= upto
            if behind and not called and again.isdisjoint(event.path):
                # Of a function, nobody knows when it is called; in a loop, what stands below comes before as well.
                continue
            apart = _apart(event.path, path)
            if apart is not None and apart < 0:
                continue
            doubtful = behind or apart is not None
            if apart is not None and not self.functions.isdisjoint(event.path):
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
            # It may have been called last.
            if name in known:
                known[name] = replace(known[name], value=None)
        return [setting for name, setting in known.items() if name in exported]

    def starts(self, where: str) -> Iterator[ProgramStart]:
        """The programs, each with what it gets."""
        for begun in self.begun:
            command = begun.command
            settings = [] if command.clean else self.in_force(begun.path, begun.events)
            settings = [setting for setting in settings if setting.name not in command.dropped]
            yield ProgramStart(
                command.program,
                command.module,
                command.kind == "shell",
                command.arguments,
                begun.span,
                (*settings, *begun.given),
                where,
                begun.directory,
            )

    def unexported(self, asked: frozenset[str], *, scheduled: bool) -> Iterator[Lost]:
        """Plain assignments above a program that gets nothing of them. ``asked``: what the script asks for by itself.
        ``scheduled``: a scheduler runs it, which exports ``CUDA_VISIBLE_DEVICES``."""
        if any(event.what == "unknown" and not event.name for event in self.events):
            # What is read there may export them.
            return
        kept = self.exported | asked | ({"CUDA_VISIBLE_DEVICES"} if scheduled else set())
        for number, event in enumerate(self.events):
            setting = event.setting
            if setting is None or setting.how != ASSIGNMENT or setting.passed or setting.name in kept:
                continue
            for begun in self.begun:
                own = any(given.name == setting.name for given in begun.given)
                after = begun.command.kind == "python" and begun.events > number
                if after and not own and _apart(event.path, begun.path) is None:
                    yield Lost(setting, "unexported", begun.span, begun.words)
                    break

    def too_late(self, asked: frozenset[str], busy: int) -> Iterator[Lost]:
        """Exports that nothing is started after; ``busy``: how many commands are run in all."""
        programs = [begun for begun in self.begun if begun.command.kind == "python"]
        set_to = Counter((event.name, event.setting.value) for event in self.events if event.setting is not None)
        for setting, before in self.late:
            once = setting.value is not None and set_to[setting.name, setting.value] == 1
            if before == busy and programs and setting.name not in asked and once:
                yield Lost(setting, "late", programs[-1].span, programs[-1].words)


def _apart(path: tuple[int, ...], other: tuple[int, ...]) -> int | None:
    """The first piece of ``path`` that ``other`` is not in, or the first process of its own from there on; None where
    it is in all of them."""
    for number, piece in enumerate(path):
        if number >= len(other) or other[number] != piece:
            return next((piece for piece in path[number:] if piece < 0), piece)
    return None
