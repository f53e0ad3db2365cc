"""What a container starts: from the stages of a Dockerfile, and from lists of words as they are given to a
container."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace

from tfmemlint.deployment.shell.commands import read_command
from tfmemlint.deployment.shell.script import read_shell
from tfmemlint.model.configuration import ProgramStart, VariableSetting
from tfmemlint.model.finding import Span
from tfmemlint.sources.config_files.dockerfile import Line
from tfmemlint.sources.config_files.shell.lexer import Word
from tfmemlint.sources.config_files.text_places import Places


@dataclass(slots=True)
class Copied:
    """What a stage has copied from the project: sources, as written, and where to, in the image."""

    sources: tuple[str, ...]
    target: str
    into: bool


@dataclass(slots=True)
class Stage:
    """One stage: its name, its variables so far, the directory it is in ("" until one is set, None where that can't be
    told), what was copied, its ``ENTRYPOINT`` and ``CMD`` as `ContainerRun`."""

    name: str
    scope: tuple[int, ...]
    settings: list[VariableSetting] = field(default_factory=list)
    directory: str | None = "/"
    copied: list[Copied] = field(default_factory=list)
    entrypoint: ContainerRun | None = None
    command: ContainerRun | None = None
    own: bool = False
    shell: bool = True


@dataclass(frozen=True, slots=True)
class ContainerRun:
    """A command: its words in exec form, else its text; where it stands."""

    words: tuple[Word, ...] | None
    line: Line
    begun: int


def starts_of_stage(stage: Stage, places: Places, numbers: itertools.count[int]) -> list[ProgramStart]:
    """What a container of a stage starts."""
    run = stage.entrypoint or stage.command
    if run is None:
        return []
    settings = tuple(stage.settings)
    name = "ENTRYPOINT" if run is stage.entrypoint else "CMD"
    line = places.of_part(run.line.offsets)
    span = line.span(0, len(run.line.text.rstrip()))
    if run.words is None:
        text = run.line.text[run.begun :]
        found = read_shell(
            text,
            places.of_part(run.line.offsets[run.begun :]),
            inherited=settings,
            numbers=numbers,
            where=name,
            directory=stage.directory,
        )
        return [replace(start, where=name, span=span) for start in found.starts]
    words = list(run.words)
    if run is stage.entrypoint and stage.command is not None and stage.command.words is not None:
        words += stage.command.words
    return starts_of_words(words, settings, span, name, stage.directory, line, numbers)


def starts_of_words(
    words: list[Word],
    settings: tuple[VariableSetting, ...],
    span: Span,
    where: str,
    directory: str | None,
    places: Places,
    numbers: itertools.count[int],
) -> list[ProgramStart]:
    """What a list of words starts, as it is given to a container."""
    command = read_command(words)
    if command.kind == "inline" and command.inline is not None and command.inline.value is not None:
        found = read_shell(
            command.inline.value, Places(command.inline.value), inherited=settings, where=where, directory=directory
        )
        mine = {id(setting) for setting in settings}
        # What is set within has no place of its own that is sure to be right.
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
        )
    ]
