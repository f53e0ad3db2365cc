"""What a configuration file sets, and what it starts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tfmemlint.model.finding import Span

ENV, EXPORT, ASSIGNMENT, PREFIX, OPTION, MAPPING, LIST, FILE = (
    "ENV", "export", "assignment", "prefix", "option", "mapping", "list", "file",
)  # fmt: skip
"""How a variable is set: an ``ENV`` of a Dockerfile, ``export`` and a plain assignment of a shell, in front of a
command, by an option of a command (``docker run -e``), in a mapping or a list of YAML, in an environment file."""


@dataclass(frozen=True, slots=True)
class VariableSetting:
    """A variable that a configuration file sets.

    Attributes:
        name: the variable. value: what a program finds there; None where that can't be told.
        key: where the name stands. given: where the value stands, with its quotes; None where it has no place.
        statement: the instruction, command or entry that it is part of.
        how: one of the words above. quote: the quotes around the value as written, ``""`` without; None where only a
            part of it is in quotes, or it can't be changed in place.
        scope: numbers of the pieces of the file that it is part of (a service, a step, a branch): what is set in a
            piece holds for all that has that piece's numbers among its own.
        whom: the command that it is set for, or "".
        passed: the programs that are started where it holds get it.
        certain: it is set in every run; False under a condition.
        path: the file, where that is another one than the one that is read.
    """

    name: str
    value: str | None
    key: Span
    given: Span | None
    statement: Span
    how: str
    quote: str | None = ""
    scope: tuple[int, ...] = ()
    whom: str = ""
    passed: bool = True
    certain: bool = True
    path: str = ""


@dataclass(frozen=True, slots=True)
class ProgramStart:
    """A program that a configuration file starts, with the environment that it gets there.

    Attributes:
        program: the file, as written; "" where a module or an image's own command is started.
        module: what ``python -m`` starts, else "". shell: the program is a script for a shell.
        arguments: what follows, each None where it can't be told.
        span: the command. settings: the variables in force, in the order in which they were set.
        where: in words: ``CMD``, ``service trainer``, ``job train, step 3``; "" for a plain command.
        directory: where it is started, relative to the file's own surroundings (a container's for a Dockerfile); None
            where that can't be told, "" where nothing has changed it, ``HERE`` for the script's own directory.
        path: the file that starts it, where that is told.
    """

    program: str
    module: str = ""
    shell: bool = False
    arguments: tuple[str | None, ...] = ()
    span: Span = field(default=Span(1, 1, 1, 1))
    settings: tuple[VariableSetting, ...] = ()
    where: str = ""
    directory: str | None = ""
    path: str = ""


HERE = "\0here"
"""As a directory: the one that the script itself is in."""


@dataclass(frozen=True, slots=True)
class Cards:
    """The GPUs that a container gets.

    Attributes:
        count: how many. named: as they are named, "" where only their number is told. span: where that stands.
        words: what it is called there (``NVIDIA_VISIBLE_DEVICES``, ``device_ids``). scope: as in `VariableSetting`.
    """

    count: int
    named: str
    span: Span
    words: str
    scope: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Lost:
    """A variable that is set where the program that it is for does not get it.

    Attributes:
        why: ``unexported`` (a plain assignment), ``late`` (the program has run), ``layer`` (``RUN`` of a Dockerfile) or
            ``step`` (of a workflow).
        begun: the command that starts the program. program: that command in words.
    """

    setting: VariableSetting
    why: str
    begun: Span
    program: str


@dataclass(frozen=True, slots=True)
class Service:
    """A container of a compose file.

    Attributes:
        settings: its own variables. files: its environment files, as written.
        context, dockerfile, target: what its image is built from; ``context`` is None where it is not built here.
        command, entrypoint: their words; None where the image's own are used. unknown: they can't be told.
        directory: where it starts; None where the image says so. mounted: directories of the project, each with where
            it is in the container.
    """

    name: str
    span: Span
    settings: tuple[VariableSetting, ...] = ()
    files: tuple[str, ...] = ()
    context: str | None = None
    dockerfile: str = ""
    target: str = ""
    command: tuple[str, ...] | None = None
    entrypoint: tuple[str, ...] | None = None
    unknown: bool = False
    directory: str | None = None
    mounted: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class ConfigurationRead:
    """What one configuration file says.

    Attributes:
        settings: in order. starts: the programs. cards: the GPUs of containers. lost: what nobody gets.
        handed: what a step of a workflow hands to those behind it.
        problems: rows at which it can't be read, with words. asked: variables that it asks for by itself.
        idle: a script that starts nothing that has a use for a variable. services: the containers of a compose file.
    """

    settings: list[VariableSetting] = field(default_factory=list)
    starts: list[ProgramStart] = field(default_factory=list)
    cards: list[Cards] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)
    handed: list[VariableSetting] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)
    asked: frozenset[str] = frozenset()
    idle: bool = True
    services: list[Service] = field(default_factory=list)

    def add(self, other: ConfigurationRead) -> None:
        """Take in what was read of a part of the file."""
        self.settings += other.settings
        self.starts += other.starts
        self.cards += other.cards
        self.lost += other.lost
        self.handed += other.handed
        self.problems += other.problems
        self.idle = self.idle and other.idle


_ASKED = re.compile(r"\$(?:\{[#!]?)?([A-Za-z_]\w*)|%([A-Za-z_]\w*)%|\benv\.([A-Za-z_]\w*)|\$\(([A-Za-z_]\w*)\)")


SHOWN = re.compile(r"^[ \t]*(?:echo|printf)\b(?![^\n]*(?:[|>`;&\\]|\$\())[^\n]*", re.MULTILINE)
"""A line that only shows something to people."""


def asked(text: str) -> frozenset[str]:
    """The variables that a text asks for: ``$X``, ``${X}``, ``$(X)``, ``%X%``, ``env.X``; those that are only shown
    (``echo $X``) are not asked for."""
    return frozenset(name for found in _ASKED.finditer(SHOWN.sub("", text)) for name in found.groups() if name)
