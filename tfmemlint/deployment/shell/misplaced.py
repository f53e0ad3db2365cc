"""Variables that a script sets for another command than the one that starts the program: ``X=1 cd src && python a.py``,
``X=1 cat files | python a.py``, ``(export X=1); python a.py``, ``X=1 sudo python a.py``, ``X=1 ssh host python a.py``.

An assignment in front of a command holds for that command alone, and a subshell keeps what it exports. Sources: POSIX,
Shell Command Language, 2.9.1 (Simple Commands) and 2.12 (Shell Execution Environment); sudoers(5), ``env_reset``, which
is on by default; ssh_config(5), ``SendEnv``, which names no variable by default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field

from tfmemlint.deployment.shell.environments import ShellEnvironment, StartedProgram, apart
from tfmemlint.model.configuration import EXPORT, Lost, VariableSetting
from tfmemlint.model.records import dataclass
from tfmemlint.sources.config_files.shell.lexer import Word
from tfmemlint.sources.config_files.shell.wrappers import after_options

FRONT, APART, SUDO, SSH = "front", "apart", "sudo", "ssh"
"""Reasons of `Lost`."""
_BESIDE = frozenset(
    {
        "cd", "pushd", "popd", "true", "echo", "printf", "test", "[", "mkdir", "rm", "cp", "mv", "ln", "touch", "chmod",
        "cat", "zcat", "gzip", "gunzip", "head", "tail", "sort", "uniq", "grep", "egrep", "sed", "awk", "cut", "tr",
        "wc", "ls", "find", "seq", "yes", "date", "sleep", "ulimit", "umask", "module", "git", "curl", "wget", "tee",
        "which", "hostname", "uname", "nproc", "tar", "unzip", "source",
    }
)  # fmt: skip
"""Commands that use no GPU variables, start nothing that does, and keep no variable."""
_SPECIAL = frozenset({".", ":", "export", "set", "shift", "trap", "readonly"})
"""Special built-ins: those of bash restore the variable, those of a POSIX shell may keep it."""
_BASH = re.compile(r"#![^\n]*\bbash\b")
_STARTED = ("python", "shell")
"""Kinds of commands to which a variable in front of another one may belong."""
_SSH_VALUES = frozenset(f"-{letter}" for letter in "BbcDEeFIiJLlmOopQRSWw")
"""Options of ssh that take a value. Source: ssh(1)."""
_PYTHON = re.compile(r"\bpython|\.py\b")


@dataclass(frozen=True, slots=True)
class _Front:
    """A variable in front of a command that has no use for it: the setting, the way there, and the number of programs
    that were started before."""

    setting: VariableSetting
    path: tuple[int, ...]
    started: int


@dataclass(slots=True)
class Misplaced:
    """The variables that a script sets for other commands.

    Attributes:
        busy: the numbers of processes of their own in which a command may use a variable.
    """

    fronts: list[_Front] = field(default_factory=list)
    busy: set[int] = field(default_factory=set)

    def note_front(self, settings: Sequence[VariableSetting], path: tuple[int, ...], started: int) -> None:
        """Note variables in front of a command that has no use for them."""
        self.fronts += [_Front(setting, path, started) for setting in settings]

    def lost(self, known: ShellEnvironment, asked: frozenset[str], *, scheduled: bool) -> Iterator[Lost]:
        """Yield the variables that a later program does not get.

        Args:
            asked, scheduled: as of `ShellEnvironment.unexported`.
        """
        if any(event.what == "unknown" and not event.name for event in known.events):
            # A sourced file may export them.
            return
        scheduler = {"CUDA_VISIBLE_DEVICES"} if scheduled else set()
        kept = known.exported | asked | scheduler
        for front in self.fronts:
            if front.setting.name not in kept:
                programs = known.started[front.started :]
                program = next((each for each in programs if _lacks(each, front.setting, front.path, _STARTED)), None)
                if program is not None:
                    yield Lost(front.setting, FRONT, program.span, program.words)
        yield from self._exported_apart(known, asked | scheduler)
        yield from _dropped_by_sudo(known, asked)

    def _exported_apart(self, known: ShellEnvironment, kept: frozenset[str] | set[str]) -> Iterator[Lost]:
        """Yield what a process of its own exports in which nothing else runs."""
        names: dict[int, set[str]] = {}
        for number, event in enumerate(known.events):
            setting = event.setting
            if setting is None or setting.how != EXPORT or not setting.passed or setting.name in kept:
                continue
            piece = next((each for each in event.path if each < 0), None)
            if piece is None or piece in self.busy:
                continue
            path = event.path[: event.path.index(piece)]
            for place, program in enumerate(known.started):
                if program.events <= number or not _lacks(program, setting, path) or piece in program.path:
                    continue
                if place not in names:
                    names[place] = {each.name for each in known.in_force(program.path, program.events)}
                if setting.name not in names[place]:
                    yield Lost(setting, APART, program.span, program.words)
                    break


def _lacks(
    program: StartedProgram, setting: VariableSetting, path: tuple[int, ...], kinds: Sequence[str] = ("python",)
) -> bool:
    """True if a program is started in the same piece of the script, and without a variable of its own of that name."""
    own = any(given.name == setting.name for given in program.given)
    return program.command.kind in kinds and not own and apart(path, program.path) is None


def _dropped_by_sudo(known: ShellEnvironment, asked: frozenset[str]) -> Iterator[Lost]:
    """Yield what is exported before ``sudo python``, where no other program gets it."""
    programs = [program for program in known.started if program.command.kind == "python"]
    if not programs or not all(program.command.by_sudo is not None for program in programs):
        return
    seen: set[int] = set()
    for program in programs:
        own = {given.name for given in program.given}
        for setting in known.in_force(program.path, program.events):
            if setting.how == EXPORT and setting.name not in own | asked and id(setting) not in seen:
                seen.add(id(setting))
                yield Lost(setting, SUDO, program.span, program.words)


def is_beside(name: str, text: str) -> bool:
    """True if a command has no use for the variables in front of it.

    Args:
        text: the script.
    """
    return name in _BESIDE or (name in _SPECIAL and _BASH.match(text) is not None)


def remote_command(words: Sequence[Word]) -> Word | None:
    """Return the first word of the Python command that ``ssh`` runs on another machine; None for anything else."""
    if words[0].value is None or words[0].value.rsplit("/", 1)[-1] != "ssh":
        return None
    rest = after_options(list(words[1:]), _SSH_VALUES)
    rest = after_options(rest[1:], _SSH_VALUES)
    if not rest or not any(_PYTHON.search(word.raw) for word in rest):
        return None
    return rest[0]
