"""Across files: the environments in which the configuration files of a project start its programs.

``CMD ["python", "train.py"]`` behind ``ENV TF_FORCE_GPU_ALLOW_GROWTH=false`` is a start of ``train.py`` with that
variable set. What a script starts that is started itself, is started with the variables of both. Only variables that
TensorFlow reads are told of.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tfmemlint.deployment.containers import Copied, Stage, starts_of_stage, starts_of_words
from tfmemlint.deployment.dockerfile import Docker, read_dockerfile
from tfmemlint.deployment.dotenv import read_dotenv
from tfmemlint.deployment.events import write
from tfmemlint.deployment.launch_files import LAUNCH_VARIABLES, MAX_CONFIGURATION_BYTES
from tfmemlint.deployment.program_paths import Find, InImage, OnHost
from tfmemlint.deployment.shell.script import read_shell
from tfmemlint.interpreter.program import EnvWrite
from tfmemlint.interpreter.state import State
from tfmemlint.interpreter.values import UNKNOWN
from tfmemlint.knowledge.environment import read_at
from tfmemlint.model.configuration import ProgramStart, Service, VariableSetting
from tfmemlint.model.finding import Span
from tfmemlint.project.listing import called
from tfmemlint.project.roots import project_root
from tfmemlint.sources import Unreadable, read_bytes
from tfmemlint.sources.config_files.shell.lexer import Word
from tfmemlint.sources.config_files.text_places import Places
from tfmemlint.sources.kinds import DOCKER, SETTINGS, SHELL, YAML, kind_of

MOST = 4
"""Environments in which one program is judged."""
_MOST_FILES = 400
_DEEPEST = 3
"""Scripts started by scripts that are followed."""
_PLAIN = "the command"
"""What starts a program where there is no more to say of it than its line."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One environment in which a program is started.

    Attributes:
        program: the file. path, span: what starts it, in a configuration file. where: that in words.
        writes: the variables that it gets, as events.
    """

    program: str
    path: str
    span: Span
    where: str
    writes: tuple[EnvWrite, ...]

    @property
    def words(self) -> str:
        """What starts it, as it stands in a sentence: ``Dockerfile:9 starts it (CMD)``."""
        how = "" if self.where == _PLAIN else f" ({self.where})"
        return f"{self.path}:{self.span.row} starts it{how}"

    @property
    def about(self) -> tuple[object, ...]:
        """All that a judgement may depend on, as plain data."""
        values = tuple((write.name, str(write.value), write.path, write.span) for write in self.writes)
        return self.path, self.span, self.where, values


def launches_of(paths: Iterable[str]) -> dict[str, tuple[Launch, ...]]:
    """The environments in which the configuration files among ``paths`` start programs, by the path of each program
    (absolute, normalized); of each program at most `MOST`, that differ."""
    files = [os.path.normpath(os.path.abspath(path)) for path in paths if kind_of(os.path.basename(path)) in SETTINGS]
    texts: dict[str, str] = {}
    for path in sorted(files)[:_MOST_FILES]:
        try:
            text = text_of(path)
        except Unreadable:
            continue
        if len(text) <= MAX_CONFIGURATION_BYTES and "\0" not in text:
            texts[path] = text
    if not any(map(_sets_launch_variable, texts.values())):
        return {}
    found: dict[str, list[Launch]] = {}
    for path, text in texts.items():
        if kind_of(os.path.basename(path)) == SHELL and not _sets_launch_variable(text):
            # What it starts gets nothing from it.
            continue
        for begun in _Files(texts).of_file(path, text):
            known = found.setdefault(begun.program, [])
            if len(known) < MOST and all(_values(begun) != _values(other) for other in known):
                known.append(begun)
    return {program: tuple(launches) for program, launches in found.items()}


def text_of(path: str) -> str:
    """What a configuration file says, a line for each row.

    Raises:
        Unreadable: it can't be read.
    """
    return read_bytes(path).decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")


def _sets_launch_variable(text: str) -> bool:
    return any(name in text for name in LAUNCH_VARIABLES)


def _values(begun: Launch) -> dict[str, object]:
    return {write.name: write.value for write in begun.writes}


@dataclass(slots=True)
class _Files:
    """The configuration files of a project, as they refer to each other."""

    texts: dict[str, str]

    def of_file(self, path: str, text: str) -> Iterator[Launch]:
        """What one of them starts."""
        kind = kind_of(os.path.basename(path))
        own = os.path.dirname(path)
        root = project_root(path)
        if kind == DOCKER:
            docker = self._docker(path)
            for stage in docker.stages:
                if stage.own:
                    find = InImage(tuple(stage.copied), _once([own, root]))
                    yield from self._followed(_of_stage(stage, text, path), find)
        elif kind == SHELL:
            found = read_shell(text)
            yield from self._followed(_stamped(found.starts, path), OnHost(own, _once([own, root])))
        elif kind == YAML and ("services:" in text or "jobs:" in text):
            from tfmemlint.deployment.yaml.reader import read_yaml

            read = read_yaml(text)
            base = os.path.dirname(os.path.dirname(own)) if own.endswith(os.path.join(".github", "workflows")) else root
            yield from self._followed(_stamped(read.starts, path), OnHost(own, (base,)))
            for service in read.services:
                yield from self._service(service, path)

    def _docker(self, path: str) -> Docker:
        docker = read_dockerfile(self.texts[path])
        for stage in docker.stages:
            stage.settings = [_at(setting, path) for setting in stage.settings]
        return docker

    def _service(self, service: Service, path: str) -> Iterator[Launch]:
        if service.unknown:
            return
        own = os.path.dirname(path)
        stage = Stage("", (), directory=service.directory)
        contexts: tuple[str, ...] = (own,)
        if service.context is not None:
            context = os.path.normpath(os.path.join(own, service.context))
            built = os.path.normpath(os.path.join(context, service.dockerfile or "Dockerfile"))
            if built not in self.texts:
                return
            stages = self._docker(built).stages
            wanted = [candidate for candidate in stages if not service.target or candidate.name == service.target]
            if not wanted:
                return
            stage = wanted[-1]
            contexts = (context,)
            text = self.texts[built]
        else:
            text = ""
        settings = list(stage.settings)
        for file in service.files:
            place = os.path.normpath(os.path.join(own, file))
            content = self.texts.get(place)
            if content is None:
                return
            settings += [_at(setting, place) for setting in read_dotenv(content).settings]
        settings += [_at(setting, path) for setting in service.settings]
        mounted = [
            Copied((os.path.normpath(os.path.join(own, source)),), target, True) for source, target in service.mounted
        ]
        directory = service.directory or stage.directory
        find = InImage((*stage.copied, *mounted), contexts)
        where = f"service {service.name}"
        words = _words_of(service, stage)
        if words is None:
            starts = starts_of_stage(
                replace(stage, settings=settings, directory=directory), Places(text), itertools.count(1)
            )
            starts = [replace(start, where=where, span=service.span) for start in starts]
        else:
            starts = starts_of_words(
                words, tuple(settings), service.span, where, directory, Places(""), itertools.count(1)
            )
        yield from self._followed([replace(start, path=path) for start in starts], find)

    def _followed(self, starts: Iterable[ProgramStart], find: Find, depth: int = 0) -> Iterator[Launch]:
        for start in starts:
            program = find(start)
            if program is None:
                continue
            if not start.shell:
                if program.endswith(".py"):
                    begun = _launch(start, program)
                    if begun is not None:
                        yield begun
                continue
            text = self.texts.get(program)
            if text is None or depth >= _DEEPEST:
                continue
            arguments = [Word(0, 0, argument, argument or "") for argument in start.arguments]
            inner = read_shell(text, inherited=start.settings, directory=start.directory, arguments=arguments)
            outer = {id(setting) for setting in start.settings}
            named = f"{start.where}, {os.path.basename(program)}" if start.where else os.path.basename(program)
            again = [
                replace(
                    inner_start,
                    settings=tuple(
                        each if id(each) in outer or each.path else _at(each, program) for each in inner_start.settings
                    ),
                    where=named,
                    span=start.span,
                    path=start.path,
                )
                for inner_start in inner.starts
            ]
            place = (
                find
                if isinstance(find, InImage)
                else OnHost(os.path.dirname(program), find.bases if isinstance(find, OnHost) else ())
            )
            yield from self._followed(again, place, depth + 1)


def _of_stage(stage: Stage, text: str, path: str) -> list[ProgramStart]:
    return [replace(start, path=path) for start in starts_of_stage(stage, Places(text), itertools.count(1))]


def _words_of(service: Service, stage: Stage) -> list[Word] | None:
    """The words that a service starts with; None where the image's own command is used as it is."""
    if service.command is None and service.entrypoint is None:
        return None
    first: Sequence[str] = service.entrypoint or ()
    if service.entrypoint is None and stage.entrypoint is not None:
        if stage.entrypoint.words is None:
            return []
        first = [word.value or "" for word in stage.entrypoint.words]
    return [Word(0, 0, text, text) for text in (*first, *(service.command or ()))]


def _launch(start: ProgramStart, program: str) -> Launch | None:
    last: dict[str, VariableSetting] = {}
    for setting in start.settings:
        if read_at(setting.name) is not None:
            last.pop(setting.name, None)
            last[setting.name] = setting
    writes = tuple(write(setting, start.path, State(), []) for setting in last.values())
    writes = tuple(replace(written, path=called(written.path), ways=(), certain=True) for written in writes)
    if not any(written.value != UNKNOWN and written.name in LAUNCH_VARIABLES for written in writes):
        return None
    return Launch(program, called(start.path), start.span, start.where or _PLAIN, writes)


def _stamped(starts: Iterable[ProgramStart], path: str) -> list[ProgramStart]:
    return [replace(start, path=path, settings=tuple(_at(each, path) for each in start.settings)) for start in starts]


def _at(setting: VariableSetting, path: str) -> VariableSetting:
    return setting if setting.path else replace(setting, path=path)


def _once(paths: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(paths))
