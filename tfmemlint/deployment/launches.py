"""Launches: the environments in which the configuration files of a project start its programs.

``CMD ["python", "train.py"]`` after ``ENV TF_FORCE_GPU_ALLOW_GROWTH=false`` launches ``train.py`` with that variable. A
program that is started by a script that is itself started gets the variables of both. Only variables that TensorFlow
reads are kept, and those that are numbers: ranks, and numbers of GPUs.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tfmemlint.deployment import read
from tfmemlint.deployment.containers import Copied, Stage, launches_of_stage, launches_of_words
from tfmemlint.deployment.dockerfile import Docker, read_dockerfile
from tfmemlint.deployment.dotenv import read_dotenv
from tfmemlint.deployment.events import write
from tfmemlint.deployment.gpu_requests import counted
from tfmemlint.deployment.launch_files import (
    GPU_OPTION,
    LAUNCH_VARIABLES,
    MAX_CONFIGURATION_BYTES,
    OPTIMIZE,
    is_about_gpus,
)
from tfmemlint.deployment.program_paths import Find, InImage, OnHost
from tfmemlint.deployment.python.starts import read_python
from tfmemlint.deployment.shell.script import read_shell
from tfmemlint.deployment.yaml.dialects import launch_directory, may_launch
from tfmemlint.interpreter.program import EnvWrite
from tfmemlint.interpreter.state import State
from tfmemlint.interpreter.values import UNKNOWN, Const
from tfmemlint.knowledge.environment import read_at
from tfmemlint.knowledge.variables import CONTAINER, VISIBLE, shown
from tfmemlint.model.configuration import ProgramStart, Service, VariableSetting
from tfmemlint.model.finding import Span
from tfmemlint.model.records import dataclass
from tfmemlint.project.listing import called
from tfmemlint.project.roots import project_root
from tfmemlint.sources import Unreadable, read_bytes
from tfmemlint.sources.config_files.shell.lexer import Word
from tfmemlint.sources.config_files.text_places import Places
from tfmemlint.sources.kinds import DOCKER, MAKE, PYTHON, SETTINGS, SHELL, YAML, kind_of

MAX_LAUNCHES_PER_PROGRAM = 4
"""Launches of one program that are judged; further ones are ignored."""
_MAX_FILES = 400
_MAX_SCRIPT_DEPTH = 3
"""Scripts that start scripts are followed to this depth."""
_PLAIN_COMMAND = "the command"
"""The description of a launch that is a plain command line."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One environment in which a program is started.

    Attributes:
        program: the path of the program.
        path, span: the place of the launch in a configuration file.
        where: a description of the launch: ``CMD``, ``service trainer``.
        writes: the variables that the program gets, as events.
        gpus: the number of GPUs that its container gets by ``NVIDIA_VISIBLE_DEVICES``; None if that is unknown.
        arguments: the words behind the program's name, each None if it is not known.
        container: what names the GPUs of its container.
        optimized: Python drops assertions.
    """

    program: str
    path: str
    span: Span
    where: str
    writes: tuple[EnvWrite, ...]
    gpus: int | None = None
    arguments: tuple[str | None, ...] = ()
    container: EnvWrite | None = None
    optimized: bool = False

    @property
    def environment(self) -> tuple[EnvWrite, ...]:
        """The variables that matter to the program: its own, and the one that chooses the GPUs of its container."""
        return self.writes if self.container is None else (*self.writes, self.container)

    @property
    def gpus_left(self) -> tuple[str, ...] | None:
        """The numbers of the GPUs that the variables leave the program; None if that is not known."""
        chosen = next((write for write in self.writes if write.name == VISIBLE), self.container)
        value = chosen.value if chosen is not None else UNKNOWN
        return shown(value.value) if isinstance(value, Const) and isinstance(value.value, str) else None

    @property
    def words(self) -> str:
        """The launch as part of a sentence: ``Dockerfile:9 starts it (CMD)``."""
        how = "" if self.where == _PLAIN_COMMAND else f" ({self.where})"
        return f"{self.path}:{self.span.row} starts it{how}"

    @property
    def about(self) -> tuple[object, ...]:
        """Everything that a judgement may depend on, as plain data."""
        values = tuple((write.name, str(write.value), write.path, write.span) for write in self.environment)
        return self.path, self.span, self.where, values, self.gpus, self.arguments, self.optimized


def launches_of(paths: Iterable[str]) -> dict[str, tuple[Launch, ...]]:
    """Return the launches by the configuration files among ``paths``, by the absolute, normalised path of the program:
    at most `MAX_LAUNCHES_PER_PROGRAM` different environments for each."""
    kinds = SETTINGS | {PYTHON}
    files = [os.path.normpath(os.path.abspath(path)) for path in paths if kind_of(os.path.basename(path)) in kinds]
    texts: dict[str, str] = {}
    for path in sorted(files)[:_MAX_FILES]:
        try:
            text = text_of(path)
        except Unreadable:
            continue
        if len(text) <= MAX_CONFIGURATION_BYTES and "\0" not in text:
            texts[path] = text
    if not any(is_about_gpus(text.encode()) for text in texts.values()):
        return {}
    found: dict[str, list[Launch]] = {}
    for path, text in texts.items():
        if kind_of(os.path.basename(path)) in (SHELL, MAKE) and not is_about_gpus(text.encode()):
            # It passes nothing about GPUs to the programs that it starts.
            continue
        for launch in _Files(texts).of_file(path, text):
            known = found.setdefault(launch.program, [])
            if len(known) < MAX_LAUNCHES_PER_PROGRAM and all(_values(launch) != _values(other) for other in known):
                known.append(launch)
    return {program: tuple(launches) for program, launches in found.items()}


def text_of(path: str) -> str:
    """Return the text of a configuration file, with ``\\n`` line ends.

    Raises:
        Unreadable: it can't be read.
    """
    return read_bytes(path).decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")


def _values(launch: Launch) -> dict[str, object]:
    return {
        "": (launch.gpus, launch.arguments, launch.optimized),
        **{write.name: write.value for write in launch.writes},
    }


@dataclass(slots=True)
class _Files:
    """The configuration files of a project, which refer to each other."""

    texts: dict[str, str]

    def of_file(self, path: str, text: str) -> Iterator[Launch]:
        """Yield the launches of one file."""
        kind = kind_of(os.path.basename(path))
        own = os.path.dirname(path)
        root = project_root(path)
        if kind == DOCKER:
            for stage in self._docker(path).stages:
                if stage.own:
                    find = InImage(tuple(stage.copied), _once([own, root]))
                    yield from self._followed(_of_stage(stage, text, path), find)
            return
        if kind == PYTHON:
            yield from self._followed(_stamped(read_python(text, path), path), OnHost(own, _once([own, root])))
            return
        if kind == YAML and not may_launch(text):
            # The file is not parsed, and PyYAML not imported.
            return
        found = read(kind or "", text)
        if found is not None:
            bases = (launch_directory(path, root),) if kind == YAML else _once([own, root])
            yield from self._followed(_stamped(found.starts, path), OnHost(own, bases))
            for service in found.services:
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
            starts = launches_of_stage(
                replace(stage, settings=settings, directory=directory), Places(text), itertools.count(1)
            )
            starts = [replace(start, where=where, span=service.span) for start in starts]
        else:
            starts = launches_of_words(
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
                    launch = _launch(start, program)
                    if launch is not None:
                        yield launch
                continue
            text = self.texts.get(program)
            if text is None or depth >= _MAX_SCRIPT_DEPTH:
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
    return [replace(start, path=path) for start in launches_of_stage(stage, Places(text), itertools.count(1))]


def _words_of(service: Service, stage: Stage) -> list[Word] | None:
    """Return the words that a service starts with; None if it uses the image's own command unchanged."""
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
        if read_at(setting.name) is not None or (setting.value or "").isdigit():
            last.pop(setting.name, None)
            last[setting.name] = setting
    writes = _written(last.values(), start.path)
    gpus, container = _gpus_of_container(start.settings)
    known = container is not None or any(
        written.value != UNKNOWN and written.name in LAUNCH_VARIABLES for written in writes
    )
    optimized = _is_optimized(start)
    if not known and not optimized and not any(GPU_OPTION.match((word or "").encode()) for word in start.arguments):
        return None
    where = start.where or _PLAIN_COMMAND
    chosen = _written([container], start.path)[0] if container is not None else None
    return Launch(program, called(start.path), start.span, where, writes, gpus, start.arguments, chosen, optimized)


def _is_optimized(start: ProgramStart) -> bool:
    """True if Python drops assertions: by an option, or by a variable that is neither empty nor 0."""
    values = [setting.value for setting in start.settings if setting.name == OPTIMIZE and not start.apart]
    return start.optimized or bool(values and values[-1] is not None and values[-1].strip("0"))


def _written(settings: Iterable[VariableSetting], path: str) -> tuple[EnvWrite, ...]:
    """Return variables as events."""
    writes = [write(setting, path, State(), []) for setting in settings]
    return tuple(replace(written, path=called(written.path), ways=(), certain=True) for written in writes)


def _gpus_of_container(settings: Sequence[VariableSetting]) -> tuple[int | None, VariableSetting | None]:
    """Return the number of GPUs that ``NVIDIA_VISIBLE_DEVICES`` lets into the container, and what sets it; None if that
    is unknown."""
    chosen = [setting for setting in settings if setting.name == CONTAINER]
    value = chosen[-1].value if chosen else None
    count = counted(value) if value is not None else None
    return count, chosen[-1] if count is not None else None


def _stamped(starts: Iterable[ProgramStart], path: str) -> list[ProgramStart]:
    return [replace(start, path=path, settings=tuple(_at(each, path) for each in start.settings)) for start in starts]


def _at(setting: VariableSetting, path: str) -> VariableSetting:
    return setting if setting.path else replace(setting, path=path)


def _once(paths: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(paths))
