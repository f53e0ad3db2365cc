"""The programs that a container starts: from a stage of a Dockerfile, or from a list of words that a container gets."""

from __future__ import annotations

import itertools
from dataclasses import field, replace

from tfmemlint.deployment.servers import options_of, server_of, server_of_image
from tfmemlint.deployment.shell.commands import read_command
from tfmemlint.deployment.shell.script import read_shell
from tfmemlint.model.configuration import ProgramStart, ServerOption, VariableSetting
from tfmemlint.model.finding import Span
from tfmemlint.model.records import dataclass
from tfmemlint.sources.config_files.dockerfile import Line
from tfmemlint.sources.config_files.shell.lexer import Word
from tfmemlint.sources.config_files.text_places import Places


@dataclass(slots=True)
class Copied:
    """A ``COPY`` of a stage: the sources as written, the target in the image, and whether the target is a directory."""

    sources: tuple[str, ...]
    target: str
    into: bool


@dataclass(slots=True)
class Stage:
    """One stage of a Dockerfile.

    Attributes:
        name: its name, "" without one.
        settings: its variables so far.
        directory: the current directory; "" until one is set, None if it is unknown.
        copied: the copies from the project.
        entrypoint, command: its ``ENTRYPOINT`` and ``CMD``.
        own: True if it has an ``ENTRYPOINT`` or ``CMD`` of its own, False if it only inherits them.
        shell: False if ``SHELL`` names another shell than ``sh``.
        image: the image of another file that it starts from, if it is known.
    """

    name: str
    scope: tuple[int, ...]
    settings: list[VariableSetting] = field(default_factory=list)
    directory: str | None = "/"
    copied: list[Copied] = field(default_factory=list)
    entrypoint: ContainerRun | None = None
    command: ContainerRun | None = None
    own: bool = False
    shell: bool = True
    image: str = ""


@dataclass(frozen=True, slots=True)
class ContainerRun:
    """A command: its words in exec form, else its text, and its place."""

    words: tuple[Word, ...] | None
    line: Line
    start: int


def launches_of_stage(stage: Stage, places: Places, numbers: itertools.count[int]) -> list[ProgramStart]:
    """Return the programs that a container of a stage starts."""
    run = stage.entrypoint or stage.command
    if run is None:
        return []
    settings = tuple(stage.settings)
    name = "ENTRYPOINT" if run is stage.entrypoint else "CMD"
    line = places.of_part(run.line.offsets)
    span = line.span(0, len(run.line.text.rstrip()))
    if run.words is None:
        text = run.line.text[run.start :]
        found = read_shell(
            text,
            places.of_part(run.line.offsets[run.start :]),
            inherited=settings,
            numbers=numbers,
            where=name,
            directory=stage.directory,
        )
        return [replace(start, where=name, span=span) for start in found.starts]
    words = list(run.words)
    if run is stage.entrypoint and stage.command is not None and stage.command.words is not None:
        words += stage.command.words
    return launches_of_words(words, settings, span, name, stage.directory, line, numbers)


def launches_of_words(
    words: list[Word],
    settings: tuple[VariableSetting, ...],
    span: Span,
    where: str,
    directory: str | None,
    places: Places,
    numbers: itertools.count[int],
) -> list[ProgramStart]:
    """Return the programs that a list of words starts in a container."""
    command = read_command(words)
    if command.kind == "inline" and command.inline is not None and command.inline.value is not None:
        found = read_shell(
            command.inline.value, Places(command.inline.value), inherited=settings, where=where, directory=directory
        )
        mine = {id(setting) for setting in settings}
        # The places of settings within the text are not certain: the whole command stands for them.
        return [
            replace(
                start,
                span=span,
                settings=tuple(
                    each if id(each) in mine else replace(each, key=span, given=None, statement=span)
                    for each in start.settings
                ),
            )
            for start in found.starts
        ]
    if command.kind not in ("python", "shell"):
        return []
    given = tuple(
        VariableSetting(given_variable.name, given_variable.value, span, None, span, "prefix", None, whom=where)
        for given_variable in command.given
    )
    return [
        ProgramStart(
            command.program,
            command.module,
            command.kind == "shell",
            command.arguments,
            span,
            (*(() if command.clean else settings), *given),
            where,
            directory,
            optimized=command.optimized,
            apart=command.apart,
        )
    ]


def server_options_of_stage(stage: Stage, places: Places) -> tuple[set[str], list[ServerOption]]:
    """Return the servers of models that a container of a stage starts, and the options that it gives them."""
    own = server_of_image(stage.image)
    servers: set[str] = {own} - {""}
    found: list[ServerOption] = []
    for run in (stage.entrypoint, stage.command):
        if run is None:
            continue
        text, inner = run.line.text[run.start :], places.of_part(run.line.offsets[run.start :])
        if run.words is not None:
            command = read_command(run.words)
            word = command.inline
            if word is None:
                line = places.of_part(run.line.offsets)
                found += options_of(run.words, line.span, "" if run is stage.entrypoint else own)
                started = server_of(run.words)
                own = started[0] if started is not None else own
                servers |= {own} - {""}
                continue
            if word.value is None or run.line.text[word.start : word.end] != word.value:
                continue
            text, inner = word.value, places.of_part(run.line.offsets[word.start : word.end])
        read = read_shell(text, inner)
        servers |= read.servers
        found += read.options
    return servers, found
