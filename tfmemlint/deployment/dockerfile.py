"""Dockerfiles: the variables of each stage, and the programs that a container of it starts.

Source: Docker's "Dockerfile reference", and the parser of BuildKit (``frontend/dockerfile/parser``), which it
describes: continuation lines, comments within them, here-documents, both forms of ``ENV``, exec and shell form.
BuildKit's own parser, which the package dockerfile binds, gives the rows of an instruction but no columns, and refuses
a file with one wrong line; dockerfile-parse has no columns either, and does not read here-documents.
"""

from __future__ import annotations

import itertools
import json
import posixpath
import re
from collections.abc import Iterator
from dataclasses import field, replace

from tfmemlint.deployment.containers import ContainerRun, Copied, Stage, launches_of_stage, server_options_of_stage
from tfmemlint.deployment.shell.script import read_shell
from tfmemlint.model.configuration import ENV, ConfigurationRead, Lost, VariableSetting, asked
from tfmemlint.model.finding import Span
from tfmemlint.model.records import dataclass
from tfmemlint.sources.config_files.dockerfile import (
    FLAG,
    INSTRUCTION,
    Instructions,
    Line,
    strings_of,
    unquoted,
    words_of,
)
from tfmemlint.sources.config_files.names import is_name
from tfmemlint.sources.config_files.shell.lexer import Word
from tfmemlint.sources.config_files.templates import HIDDEN, masked
from tfmemlint.sources.config_files.text_places import Places

_MAX_STAGES = 200
"""Stages that later stages may start from; further stages cannot be referred to."""
_REFERENCE = re.compile(r"\$(?:(?P<plain>\w+)|\{(?P<name>\w+)(?::-(?P<default>[^{}$\\\"']*))?\})", re.ASCII)


@dataclass(slots=True)
class Docker(ConfigurationRead):
    """The content of a Dockerfile: ``stages`` in their final state; the last one is built by default."""

    stages: list[Stage] = field(default_factory=list)


def read_dockerfile(text: str) -> Docker:
    """Return the variables that a Dockerfile sets and the programs that it starts, with their paths in the image."""
    return _File(text).read()


class _File:
    def __init__(self, text: str) -> None:
        self.text = text
        self.shown = masked(text)
        self.places = Places(text)
        self.numbers = itertools.count(1)
        self.out = Docker(asked=asked(text))
        self.stage: Stage | None = None
        self.lines = Instructions(self.shown)
        self._named: dict[str, Stage] = {}
        self._before_from: dict[str, str] = {}
        self._arguments: dict[str, str] = {}
        self._begun = False

    def read(self) -> Docker:
        for line in self.lines:
            match = INSTRUCTION.match(line.text)
            if match is not None:
                self._instruction(match[1].upper(), line, match.end())
        self._end_stage()
        return self.out

    def _instruction(self, name: str, line: Line, at: int) -> None:
        if name == "ARG":
            self._arg(line, at)
        elif self.stage is None and name != "FROM":
            # Part of a Dockerfile, as in an article.
            self.stage = Stage("", (next(self.numbers),))
        if name == "ONBUILD":
            inner = INSTRUCTION.match(line.text, at)
            if inner is not None and inner[1].upper() == "ENV":
                # It applies to images that are built from this one.
                assert self.stage is not None
                own, self.stage = self.stage, replace(self.stage, settings=[])
                arguments, self._arguments = self._arguments, {}
                self._env(line, inner.end())
                self.stage, self._arguments = own, arguments
            return
        if name == "FROM":
            self._end_stage()
            if not self._begun:
                self._before_from, self._begun = self._arguments, True
            self._arguments = {}
            self._from(line.text[at:])
            return
        if name == "ARG":
            return
        assert self.stage is not None
        match name:
            case "ENV":
                self._env(line, at)
            case "WORKDIR":
                self._workdir(unquoted(line.text[at:]))
            case "COPY" | "ADD":
                self._copy(line, at)
            case "RUN":
                self._run(line, at)
            case "SHELL":
                self.stage.shell = '"sh"' in line.text or 'sh"' in line.text
            case "ENTRYPOINT":
                self.stage.entrypoint, self.stage.own = self._command(line, at), True
                self.stage.command = self.stage.command if self._has_command else None
            case "CMD":
                self.stage.command, self.stage.own = self._command(line, at), True
                self._has_command = True

    _has_command = False

    def _from(self, text: str) -> None:
        words = [word for word in text.split() if not word.startswith("--")]
        name = words[2] if len(words) > 2 and words[1].upper() == "AS" else ""
        base = self._named.get(words[0].lower()) if words else None
        number = next(self.numbers)
        self._has_command = False
        if base is None:
            # The start directory of another image is unknown, and so is any directory relative to it.
            image = words[0] if words else ""
            self.stage = Stage(name, (number,), directory="" if words != ["scratch"] else "/", image=image)
            return
        self.stage = replace(
            base,
            name=name,
            scope=(*base.scope, number),
            settings=list(base.settings),
            copied=list(base.copied),
            own=False,
        )

    def _arg(self, line: Line, at: int) -> None:
        """Remember the values that a build without ``--build-arg`` gives; "" for an argument without a default."""
        for start, end in words_of(line.text, at, self.lines.escape):
            name, equals, raw = line.text[start:end].partition("=")
            value = self._value(raw, self._known())[0] if equals else self._before_from.get(name, "")
            self._arguments.pop(name, None)
            if value is not None:
                self._arguments[name] = value

    def _known(self) -> dict[str, str | None]:
        """Return the variables that an instruction may name: an ``ENV`` overrides an ``ARG`` of the same name."""
        settings = self.stage.settings if self.stage is not None else []
        return {**self._arguments, **{setting.name: setting.value for setting in settings}}

    def _env(self, line: Line, at: int) -> None:
        assert self.stage is not None
        text = line.text
        places = self.places.of_part(line.offsets)
        words = words_of(text, at, self.lines.escape)
        if not words:
            return
        # One instruction sees the values from before it.
        known = self._known()
        statement = places.span(at - len("ENV "), len(text.rstrip())) if at >= 4 else places.span(0, len(text))
        if "=" not in text[slice(*words[0])]:
            # The old form: one name; the rest of the line is its value.
            start, end = words[0]
            given = len(text) - len(text[end:].lstrip())
            stop = len(text.rstrip())
            if given < stop:
                value, quote = self._value(text[given:stop], known)
                self._add(text[start:end], value, places.span(start, end), places.span(given, stop), statement, quote)
            return
        for start, end in words:
            name, equals, raw = text[start:end].partition("=")
            if equals:
                value, quote = self._value(raw, known)
                given = start + len(name) + 1
                self._add(name, value, places.span(start, start + len(name)), places.span(given, end), statement, quote)

    def _add(self, name: str, value: str | None, key: Span, given: Span, statement: Span, quote: str | None) -> None:
        assert self.stage is not None
        name = name.strip("\"'")
        if not is_name(name):
            return
        whole = given.end_row == given.row
        place = given if whole else None
        setting = VariableSetting(name, value, key, place, statement, ENV, quote if whole else None, self.stage.scope)
        self.out.settings.append(setting)
        self.stage.settings.append(setting)

    def _value(self, raw: str, known: dict[str, str | None]) -> tuple[str | None, str | None]:
        """Return a value without its quotes, and the quotes around it; None each if unknown."""
        if HIDDEN in raw:
            return None, None
        value = []
        mark = ""
        expanded = False
        at = 0
        while at < len(raw):
            char = raw[at]
            if char == self.lines.escape and mark != "'" and at + 1 < len(raw):
                follows = raw[at + 1]
                value.append(follows if not mark or follows in f'"${self.lines.escape}' else char + follows)
                at += 2
                continue
            if char in "\"'" and mark in ("", char):
                mark = "" if mark else char
            elif char == "$" and mark != "'":
                reference = _REFERENCE.match(raw, at)
                found = _referred(reference, known) if reference is not None else None
                if reference is None or found is None:
                    return None, None
                value.append(found)
                expanded = True
                at = reference.end()
                continue
            else:
                value.append(char)
            at += 1
        text = "".join(value)
        if expanded:
            return text, None
        if text == raw:
            return text, ""
        return text, raw[0] if raw[0] in "\"'" and raw == f"{raw[0]}{text}{raw[0]}" else None

    def _workdir(self, target: str) -> None:
        assert self.stage is not None
        if "$" in target or HIDDEN in target or not target:
            self.stage.directory = None
        elif target.startswith("/"):
            self.stage.directory = posixpath.normpath(target)
        elif self.stage.directory:
            self.stage.directory = posixpath.normpath(posixpath.join(self.stage.directory, target))
        else:
            self.stage.directory = None

    def _copy(self, line: Line, at: int) -> None:
        assert self.stage is not None
        text = line.text
        foreign = False
        while (flag := FLAG.match(text, at)) is not None:
            foreign = foreign or flag[0].startswith("--from")
            at = flag.end()
        rest = text[at:].strip()
        words = strings_of(rest)
        if words is None:
            words = [unquoted(word) for word in rest.split()]
        if foreign or line.heredocs or len(words) < 2 or any("$" in word or HIDDEN in word for word in words):
            # A copy from elsewhere over the project's files replaces them by unknown files.
            words = words if not foreign and len(words) >= 2 else ["", *words[-1:]]
            if "$" in words[-1]:
                self.stage.copied.clear()
            return
        *sources, target = words
        into = len(sources) > 1 or target.endswith("/") or posixpath.normpath(target) == "."
        if not target.startswith("/"):
            if not self.stage.directory:
                return
            target = posixpath.join(self.stage.directory, target)
        target = posixpath.normpath(target)
        into = into or target == self.stage.directory
        self.stage.copied.append(Copied(tuple(sources), target, into))

    def _run(self, line: Line, at: int) -> None:
        assert self.stage is not None
        while (flag := FLAG.match(line.text, at)) is not None:
            at = flag.end()
        scope = (*self.stage.scope, -next(self.numbers))
        found = ConfigurationRead()
        rest = line.text[at:].strip()
        if line.heredocs:
            if rest.startswith("<<"):
                for start, end in line.heredocs:
                    places = self.places.shifted(start, end - start)
                    found.add(self._script(self.shown[start:end], places, scope))
        elif not rest.startswith("[") and self.stage.shell and self.lines.escape == "\\":
            part = line.text[at:]
            found = self._script(part, self.places.of_part(line.offsets[at:]), scope)
        lost = []
        for setting in found.settings:
            if setting.how == "export" and setting.certain and found.idle and not found.handed and ">" not in line.text:
                lost.append(Lost(setting, "layer", setting.statement, "RUN"))
        self.out.settings += found.settings
        self.out.lost += lost

    def _script(self, text: str, places: Places, scope: tuple[int, ...]) -> ConfigurationRead:
        found = read_shell(text, places, numbers=self.numbers, base=scope, where="RUN")
        found.problems.clear()
        return found

    def _command(self, line: Line, at: int) -> ContainerRun:
        text = line.text
        rest = text[at:].strip()
        words = None
        if rest.startswith("["):
            strings = strings_of(rest)
            if strings is not None:
                words = tuple(_placed(text, at, strings))
        return ContainerRun(words, line, at)

    # The end of a stage

    def _end_stage(self) -> None:
        stage = self.stage
        if stage is None:
            return
        self.stage = None
        self.out.stages.append(stage)
        if stage.name and len(self.out.stages) <= _MAX_STAGES:
            self._named[stage.name.lower()] = stage
        servers, options = server_options_of_stage(stage, self.places)
        self.out.servers |= servers
        if stage.own:
            self.out.options += options
            self.out.starts += launches_of_stage(stage, self.places, self.numbers)


def _referred(reference: re.Match[str], known: dict[str, str | None]) -> str | None:
    """Return the value of ``$NAME``, ``${NAME}`` or ``${NAME:-default}``; None if the file does not tell it.

    An empty value is not told for the first two: the argument is given by ``--build-arg``.
    """
    name = reference["plain"] or reference["name"]
    value = known.get(name)
    if name in known and value == "":
        return reference["default"] or None
    return value


def _placed(text: str, at: int, strings: list[str]) -> Iterator[Word]:
    """Yield the strings of a JSON array as words, with their places."""
    for value in strings:
        start = text.find(json.dumps(value, ensure_ascii=False), at)
        start = start + 1 if start >= 0 else at
        at = start
        yield Word(start, start + len(value), None if HIDDEN in value else value, value)
