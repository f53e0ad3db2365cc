"""The variables that a configuration file sets, and the programs that it starts."""

from __future__ import annotations

import re
from dataclasses import field, fields, is_dataclass, replace
from typing import Any

from tfmemlint.model.finding import Span
from tfmemlint.model.records import dataclass

ENV, EXPORT, ASSIGNMENT, PREFIX, OPTION, MAPPING, LIST, FILE, MAKE = (
    "ENV", "export", "assignment", "prefix", "option", "mapping", "list", "file", "make",
)  # fmt: skip
"""The ways to set a variable: an ``ENV`` of a Dockerfile, ``export`` and a plain assignment of a shell, in front of a
command, by an option of a command (``docker run -e``), in a mapping or a list of YAML, in an environment file,
in a makefile."""


@dataclass(frozen=True, slots=True)
class VariableSetting:
    """A variable that a configuration file sets.

    Attributes:
        name: the variable.
        value: the value that a program gets; None if the analysis cannot tell.
        key: the place of the name.
        given: the place of the value, with its quotes; None if it has no place.
        statement: the instruction, command or entry that contains it.
        how: one of the words above.
        quote: the quotes around the value as written, ``""`` without; None if only a part of it is quoted, or it cannot
            be changed in place.
        scope: numbers of the parts of the file that contain it (a service, a step, a branch): a setting in a part holds
            for everything that has that part's numbers among its own.
        whom: the command that it is set for, or "".
        passed: the programs that are started in its scope get it.
        certain: it is set in every run; False under a condition.
        path: the file, if that is not the file that is read.
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
    """A program that a configuration file starts, with its environment.

    Attributes:
        program: the file, as written; "" if a module or an image's own command is started.
        module: the module that ``python -m`` starts, else "".
        shell: the program is a script for a shell.
        arguments: the arguments after it, each None if the analysis cannot tell.
        span: the command.
        settings: the variables in force, in the order in which they were set.
        where: in words: ``CMD``, ``service trainer``, ``job train, step 3``; "" for a plain command.
        directory: the working directory, relative to the file's own surroundings (a container's for a Dockerfile); None
            if the analysis cannot tell, "" if nothing has changed it, ``HERE`` for the script's own directory.
        path: the file that starts it, if that is known.
        optimized: Python drops assertions (``-O``). apart: it looks at no variables of its own (``-E``, ``-I``).
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
    optimized: bool = False
    apart: bool = False


HERE = "\0here"
"""As a directory: the directory of the script itself."""


@dataclass(frozen=True, slots=True)
class ContainerGpus:
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
class ServerOption:
    """An option that a server of models is started with.

    Attributes:
        server: ``TensorFlow Serving`` or ``Triton``. name: the option, without its dashes.
        value: the text after ``=``, or the next argument; None if there is none, or it is not known.
        span: where both stand. apart: the value is the next argument.
    """

    server: str
    name: str
    value: str | None
    span: Span
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Lost:
    """A variable that does not reach the program it is for.

    Attributes:
        why: ``unexported`` (a plain assignment), ``late`` (the program has run), ``layer`` (``RUN`` of a Dockerfile),
            ``step`` (of a workflow), ``command`` (the shell does not know the ``export``), ``pipe`` (a loop behind a
            pipe exports it), ``line`` (of a recipe of make), ``front`` (it is in front of another command), ``apart``
            (a process of its own exports it), ``sudo`` or ``ssh`` (these do not pass it on).
        begun: the command that starts the program.
        program: that command in words.
    """

    setting: VariableSetting
    why: str
    begun: Span
    program: str


@dataclass(frozen=True, slots=True)
class PipedFile:
    """A file whose lines a loop behind a pipe exports, for itself alone.

    Attributes:
        commands: those of the pipe before the loop: the texts of their words, and of the files that they are given by
            ``<``, each None if it is not known.
        directory: as of `ProgramStart`. span: the ``export``.
        begun, program: as of `Lost`. otherwise: the variables that the program gets all the same.
    """

    commands: tuple[tuple[tuple[str | None, ...], tuple[str | None, ...]], ...]
    directory: str | None
    span: Span
    begun: Span
    program: str
    otherwise: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Service:
    """A container of a compose file.

    Attributes:
        settings: its own variables.
        files: its environment files, as written.
        context, dockerfile, target: the source of its image; ``context`` is None if the image is not built here.
        command, entrypoint: their words; None if the image's own are used.
        unknown: they cannot be determined.
        directory: the working directory; None if the image sets it.
        mounted: directories of the project, each with its place in the container.
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
    """The content of one configuration file.

    Attributes:
        settings: the variables, in order.
        starts: the programs.
        gpus: the GPUs of containers.
        lost: the variables that no program gets. piped: files of such variables.
        handed: the variables that a step of a workflow passes to later steps.
        problems: rows that cannot be read, with words.
        asked: variables that the file itself reads.
        idle: a script that starts nothing that uses a variable.
        services: the containers of a compose file.
        options: the options of servers of models.
        servers: the servers of models that it starts, or that its images start, by name.
    """

    settings: list[VariableSetting] = field(default_factory=list)
    starts: list[ProgramStart] = field(default_factory=list)
    gpus: list[ContainerGpus] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)
    piped: list[PipedFile] = field(default_factory=list)
    handed: list[VariableSetting] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)
    asked: frozenset[str] = frozenset()
    idle: bool = True
    services: list[Service] = field(default_factory=list)
    options: list[ServerOption] = field(default_factory=list)
    servers: set[str] = field(default_factory=set)

    def add(self, other: ConfigurationRead) -> None:
        """Add the content of a part of the file."""
        self.settings += other.settings
        self.starts += other.starts
        self.gpus += other.gpus
        self.lost += other.lost
        self.handed += other.handed
        self.problems += other.problems
        self.options += other.options
        self.servers |= other.servers
        self.idle = self.idle and other.idle

    def moved(self, rows: int) -> ConfigurationRead:
        """Return the same content of a text that has ``rows`` more rows above it."""
        made = {each.name: _moved(getattr(self, each.name), rows) for each in fields(self)}
        made["problems"] = [(row + rows, words) for row, words in self.problems]
        return ConfigurationRead(**made)


def _moved(value: Any, rows: int) -> Any:
    """Return a value with the places in it further down."""
    if isinstance(value, Span):
        return Span(value.row + rows, value.column, value.end_row + rows, value.end_column)
    if isinstance(value, (list, tuple)):
        return type(value)(_moved(item, rows) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{each.name: _moved(getattr(value, each.name), rows) for each in fields(value)})
    return value


_ASKED = re.compile(r"\$(?:\{[#!]?)?([A-Za-z_]\w*)|%([A-Za-z_]\w*)%|\benv\.([A-Za-z_]\w*)|\$\(([A-Za-z_]\w*)\)")


SHOWN = re.compile(r"^[ \t]*(?:echo|printf)\b(?![^\n]*(?:[|>`;&\\]|\$\())[^\n]*", re.MULTILINE)
"""A line that only shows something to people."""


def asked(text: str) -> frozenset[str]:
    """Return the variables that a text reads: ``$X``, ``${X}``, ``$(X)``, ``%X%``, ``env.X``. Variables that are only
    shown (``echo $X``) do not count."""
    return frozenset(name for found in _ASKED.finditer(SHOWN.sub("", text)) for name in found.groups() if name)
