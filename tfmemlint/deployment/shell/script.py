"""Shell scripts: the variables that they set, and the programs that they start with them.

The text is read as words and compound commands (`tfmemlint.sources.config_files.shell`), not by one of the parsers of
bash. bashlex is under the GPL and has no error recovery. tree-sitter-bash has wheels for all platforms and recovers
from errors, but it splits the one word ``$DIR/$job.$TAG.log`` in two. This reader needs little of the language and has
to survive any text; it claims nothing about what it does not know.

A plain assignment reaches no program unless the variable is exported. Source: POSIX, Shell Command Language, 2.12
(Shell Execution Environment).
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Sequence
from dataclasses import field, replace

from tfmemlint.deployment.gpu_requests import of_option
from tfmemlint.deployment.servers import options_of, server_of
from tfmemlint.deployment.shell.commands import Command, read_command
from tfmemlint.deployment.shell.counted_loops import counted, with_numbers
from tfmemlint.deployment.shell.environments import ShellEnvironment, ShellEvent, StartedProgram
from tfmemlint.deployment.shell.misplaced import SSH, SUDO, Misplaced, is_beside, remote_command
from tfmemlint.deployment.shell.piped_loops import IN_SHELL_ITSELF, PipedLoops
from tfmemlint.model.configuration import (
    ASSIGNMENT,
    EXPORT,
    HERE,
    OPTION,
    PREFIX,
    ConfigurationRead,
    ContainerGpus,
    Lost,
    VariableSetting,
    asked,
)
from tfmemlint.model.records import dataclass
from tfmemlint.sources.config_files.names import NAME
from tfmemlint.sources.config_files.shell.assignments import Given, assignment, disguised_export
from tfmemlint.sources.config_files.shell.compound_commands import CompoundCommands
from tfmemlint.sources.config_files.shell.lexer import Lexer, Word
from tfmemlint.sources.config_files.shell.wrappers import CommandEnvironment, unwrap, with_exported
from tfmemlint.sources.config_files.text_places import Places

_SLURM = re.compile(r"#SBATCH\s(?:.*\s)?--export[= ]\s*(\S+)")
_QUIET = frozenset(
    {
        "echo", "printf", "exit", "return", "set", "unset", "cd", ":", "true", "date", "deactivate", "popd", "module",
        "wait",
    }
)  # fmt: skip
"""Commands that do not use GPU variables."""
_ENVIRONMENTS = re.compile(
    r"(?:^|/)(?:activate|conda\.sh|mamba\.sh|\.bashrc|\.profile|\.bash_profile|modules\.sh|nvm\.sh)$"
)
"""Files that are sourced for other purposes than GPU variables."""
_OWN = re.compile(r'"?\$\(dirname\s+(?:--\s+)?"?\$\{?(?:0|BASH_SOURCE(?:\[0\])?)\}?"?\)"?(?P<rest>(?:/[\w./-]*)?)"?')
"""The directory of the script itself."""
MAX_PROGRAMS = 200
"""Programs of one script whose environment is computed."""


def read_shell(
    text: str,
    places: Places | None = None,
    *,
    inherited: Sequence[VariableSetting] = (),
    numbers: itertools.count[int] | None = None,
    base: tuple[int, ...] = (),
    where: str = "",
    directory: str | None = "",
    arguments: Sequence[Word] = (),
) -> ConfigurationRead:
    """Return the variables that a shell script sets and the programs that it starts.

    Args:
        text: the script.
        places: the places of its characters in the file; by default the text is the file.
        inherited: the variables that it gets.
        numbers: the source of numbers for pieces of the file.
        base: the numbers of the pieces that contain it.
        where: a description of the script.
        directory: the directory in which it runs.
        arguments: its own arguments, which ``exec "$@"`` runs.
    """
    script = _Script(
        ShellEnvironment(tuple(inherited)),
        numbers=numbers or itertools.count(1),
        text=text,
        places=places or Places(text),
        base=base,
        where=where,
        own=list(arguments),
    )
    script.walker.directory = directory
    return script.read()


@dataclass(slots=True)
class _Script:
    """The state while a script is read.

    Attributes:
        after: a number for each program that was started before.
        busy: the number of commands so far that may use a variable.
        inner: the number of texts for other shells so far (``bash -c``).
        counted: the variables of loops that count, each with a number that stands for all, by the loop's own number.
        scheduled: True if it is a job of a scheduler.
    """

    known: ShellEnvironment
    numbers: itertools.count[int]
    text: str = ""
    places: Places = field(default_factory=lambda: Places(""))
    base: tuple[int, ...] = ()
    where: str = ""
    own: list[Word] = field(default_factory=list)
    out: ConfigurationRead = field(default_factory=ConfigurationRead)
    after: tuple[int, ...] = ()
    busy: int = 0
    scheduled: bool = False
    inner: int = 0
    counted: dict[int, tuple[str, str]] = field(default_factory=dict)
    piped: PipedLoops = field(default_factory=PipedLoops)
    misplaced: Misplaced = field(default_factory=Misplaced)
    walker: CompoundCommands = field(init=False)

    def __post_init__(self) -> None:
        self.walker = CompoundCommands(self.command, self._loop, self.numbers, self.known.functions, self.known.loops)
        self.walker.last_apart = IN_SHELL_ITSELF.search(self.text) is None

    def _loop(self, words: list[str]) -> None:
        self.known.events.append(ShellEvent("unknown", words[0], self.walker.here()))
        found = counted(words)
        if found is not None:
            self.counted[self.walker.path[-1]] = found

    def read(self) -> ConfigurationRead:
        lexer = Lexer(self.text)
        tokens = lexer.tokens()
        self.out.asked = asked(self.text)
        self.scheduled = any(
            self.text.startswith(("#SBATCH", "#PBS", "#BSUB", "#$ -"), start) for start, _ in lexer.comments
        )
        for start, end in lexer.comments:
            found = _SLURM.match(self.text, start, end)
            if found is not None:
                command = with_exported(CommandEnvironment(), found[1], found.start(1))
                for given in command.given:
                    self._set(given, found.start(1), found.end(1), OPTION, whom="the job", exported=True)
        self.walker.walk(tokens)
        if lexer.open is not None:
            row = self.places.span(lexer.open, lexer.open + 1).row
            self.out.problems.append((row, "a quote or bracket is opened here and never closed"))
        self._finish()
        return self.out

    def command(self, words: list[Word], targets: list[Word], apart: bool) -> None:
        first, last = words[0].start, words[-1].end
        numbers = dict(self.counted[piece] for piece in self.walker.path if piece in self.counted)
        words = [with_numbers(word, numbers) for word in words]
        count = 0
        while (
            count < len(words) and assignment(words[count]) is not None and not words[count].raw.startswith(("'", '"'))
        ):
            count += 1
        path = self.walker.here()
        self.piped.note(self.walker, self.known, words, targets)
        if apart:
            path = (*path, -next(self.numbers))
        if count == len(words):
            for word in words:
                given = assignment(word, ASSIGNMENT)
                assert given is not None
                self._set(given, first, last, ASSIGNMENT, exported=self.walker.auto, path=path)
            return
        name = words[count].value or ""
        rest = words[count + 1 :]
        if count or name == "env":
            self._front(words, first, last, path)
        for given in disguised_export(words[count:]):
            setting = replace(self._setting(given, first, last, ASSIGNMENT, path), passed=False)
            self.out.lost.append(Lost(setting, "command", setting.statement, words[count].raw))
        match name:
            case "export" | "declare" | "typeset" | "readonly" | "local":
                self._declare(name, rest, first, last, path)
                return
            case "unset":
                if not any(word.raw == "-f" for word in rest):
                    self._forget("unset", rest, path)
                return
            case "set":
                self._set_options(rest)
                return
            case "cd" | "pushd":
                self._change(rest)
                return
            case "popd":
                self.walker.directory = None
            case "." | "source":
                if rest and not (rest[0].value is not None and _ENVIRONMENTS.search(rest[0].value)):
                    self.known.events.append(ShellEvent("unknown", "", path))
                return
            case "eval":
                if rest and "conda" not in rest[0].raw and "ssh-agent" not in rest[0].raw:
                    self.known.events.append(ShellEvent("unknown", "", path))
                return
            case "read" | "mapfile" | "readarray" | "getopts" | "let":
                self._forget("unknown", rest, path)
            case "echo" | "printf":
                if name == "printf" and rest and rest[0].raw == "-v":
                    self._forget("unknown", rest[1:2], path)
                if any("GITHUB_ENV" in target.raw for target in targets):
                    self._hand_on(rest, first, last)
            case "" if words[count].raw.startswith("(("):
                self._forget("unknown", words[count:], path)
        if name not in _QUIET:
            self.busy += 1
            self.misplaced.busy.update(number for number in path if number < 0)
        self._run(words, first, last, path)

    def _front(self, words: list[Word], first: int, last: int, path: tuple[int, ...]) -> None:
        """Note the variables in front of a command that has no use for them."""
        environment, inner = unwrap(words)
        if not environment.given or not inner or inner[0].value is None:
            return
        settings = [
            replace(self._setting(given, first, last, PREFIX, path), passed=False) for given in environment.given
        ]
        remote = remote_command(inner)
        if remote is not None:
            text = " ".join(self.text[first:last].replace("\\\n", " ").split())
            place = self.places.span(remote.start, last)
            self.out.lost += [Lost(setting, SSH, place, text) for setting in settings]
        elif is_beside(inner[0].value, self.text):
            self.misplaced.note_front(settings, self.walker.here(), len(self.known.started))

    def _declare(self, name: str, rest: list[Word], first: int, last: int, path: tuple[int, ...]) -> None:
        options = [word.value or "" for word in rest if word.raw.startswith(("-", "+"))]
        exports = name == "export" or any(option.startswith("-") and "x" in option for option in options)
        if "-n" in options if name == "export" else any(option.startswith("+") and "x" in option for option in options):
            self._forget("unset", rest, path)
            return
        # ``declare -i``, ``-l``, ``-n`` and ``-u`` change the value.
        changed = name != "export" and any(option.startswith("-") and set(option) & set("ilnu") for option in options)
        for word in rest:
            given = assignment(word, EXPORT)
            if given is not None:
                given = given._replace(value=None, quote=None) if changed else given
                how = EXPORT if exports else ASSIGNMENT
                self._set(given, first, last, how, exported=exports or self.walker.auto, path=path)
            elif exports and word.value and NAME.fullmatch(word.value):
                self.known.events.append(ShellEvent("export", word.value, path))
            elif exports and word.value is None:
                # ``export $(cat .env)``
                self.piped.exports.append((path, self.places.span(first, last), word.raw, len(self.known.events)))
                self.known.events.append(ShellEvent("unknown", "", path))

    def _set_options(self, rest: list[Word]) -> None:
        last = next((number for number, word in enumerate(rest) if word.raw in ("--", "-")), len(rest))
        text = " ".join(word.raw for word in rest[:last])
        if re.search(r"(?:^|\s)(?:-\w*a|-o\s+allexport)\b", text):
            self.walker.auto = True
        elif re.search(r"(?:^|\s)(?:\+\w*a|\+o\s+allexport)\b", text):
            self.walker.auto = False

    def _forget(self, what: str, words: list[Word], path: tuple[int, ...]) -> None:
        """Add an event for each variable that these words name, as options or in arithmetic: ``unset`` or
        ``unknown``."""
        for word in words:
            if what == "unset" and word.value is None:
                self.known.events.append(ShellEvent("unknown", "", path))
            elif not word.raw.startswith(("-", "+")):
                self.known.events += [ShellEvent(what, name, path) for name in NAME.findall(word.raw)]

    def _change(self, rest: list[Word]) -> None:
        plain = all(opened.kind in ("(", "}") for opened in self.walker.opened) and not self.walker.chained
        target = next((word for word in rest if not word.raw.startswith("-") or word.raw == "-"), None)
        own = _OWN.fullmatch(target.raw) if target is not None else None
        if not plain or target is None or self.known.functions.intersection(self.walker.path):
            self.walker.directory = None
        elif own is not None:
            self.walker.directory = HERE + own["rest"].rstrip("/")
        elif target.value is None or target.value[:1] in ("-", "~"):
            self.walker.directory = None
        elif self.walker.directory is not None or target.value.startswith("/"):
            self.walker.directory = posixpath.join(self.walker.directory or "", target.value)

    def _hand_on(self, rest: list[Word], first: int, last: int) -> None:
        for word in rest:
            given = assignment(word, EXPORT)
            if given is None:
                continue
            if len(rest) > 1 or re.search(r"[\\%]", word.raw):
                # Escapes, formats and several words print other lines than this word.
                given = given._replace(value=None, quote=None)
            self.out.handed.append(self._setting(given, first, last, EXPORT, self.walker.here(), whom="later steps"))

    def _set(
        self,
        given: Given,
        first: int,
        last: int,
        how: str,
        *,
        exported: bool,
        path: tuple[int, ...] = (),
        whom: str = "",
    ) -> None:
        setting = replace(self._setting(given, first, last, how, path, whom=whom), passed=exported)
        self.out.settings.append(setting)
        self.known.events.append(ShellEvent("set", given.name, path, setting))
        if exported:
            self.known.events.append(ShellEvent("export", given.name, path))
        if not path and self.known.started and how == EXPORT:
            self.known.late.append((setting, self.busy))

    def _setting(
        self, given: Given, first: int, last: int, how: str, path: tuple[int, ...], *, whom: str = ""
    ) -> VariableSetting:
        span = self.places.span
        return VariableSetting(
            given.name,
            given.value,
            span(given.start, given.end),
            span(given.given, given.stop),
            span(first, last),
            how,
            given.quote,
            (*self.base, *path, *self.after),
            whom,
            certain=not path,
        )

    def _run(self, words: list[Word], first: int, last: int, path: tuple[int, ...]) -> None:
        command = read_command(words)
        server = server_of(words)
        if server is not None:
            self.out.servers.add(server[0])
            self.out.options += options_of(words, self.places.span)
        span = self.places.span(first, last)
        text = " ".join(self.text[first:last].replace("\\\n", " ").split())
        alone = (*path, -next(self.numbers)) if command.given or command.gpus is not None else path
        own = tuple(
            self._setting(given, first, last, OPTION if given.how == OPTION else PREFIX, alone, whom=text)
            for given in command.given
        )
        self.out.settings += own
        if command.kind == "python" and command.by_sudo:
            behind = {given.name for given in command.given}
            place = self.places.span(command.start, last)
            self.out.lost += [
                Lost(replace(self._setting(given, first, last, PREFIX, path), passed=False), SUDO, place, text)
                for given in command.by_sudo
                if given.name not in behind
            ]
        if command.gpus is not None and command.gpus.value is not None:
            found = of_option(command.gpus.value)
            if found is not None:
                place = self.places.span(command.gpus.start, command.gpus.end)
                self.out.gpus.append(ContainerGpus(*found, place, "--gpus", (*self.base, *alone, *self.after)))
        if command.kind == "arguments" and self.own:
            given = command.given
            command = replace(read_command(self.own), given=given)
        if command.kind == "inline" and command.inline is not None:
            self._inline(command, own, alone)
        elif not command.kind and self.known.functions:
            # ``X=1 f``: the programs that the function starts get it.
            self.known.events += [ShellEvent("unknown", given.name, path) for given in command.given]
        elif command.kind in ("python", "shell") and len(self.known.started) < MAX_PROGRAMS:
            self.known.started.append(
                StartedProgram(command, span, path, len(self.known.events), own, self.walker.directory, text)
            )
            self.after = (*self.after, next(self.numbers))

    def _inline(self, command: Command, own: tuple[VariableSetting, ...], path: tuple[int, ...]) -> None:
        word = command.inline
        assert word is not None
        inner = word.raw[1:-1]
        quoted = len(word.raw) > 1 and word.raw[0] in "'\"" and word.raw[-1] == word.raw[0]
        if not quoted or "\\" in inner or (word.raw[0] in inner) or self.inner >= MAX_PROGRAMS:
            return
        self.inner += 1
        found = read_shell(
            inner,
            self.places.shifted(word.start + 1, len(inner)),
            inherited=() if command.clean else (*self.known.in_force(path), *own),
            numbers=self.numbers,
            base=(*self.base, *path, *self.after, -next(self.numbers)),
            where=self.where,
            directory=self.walker.directory,
        )
        found.problems.clear()
        self.out.add(found)
        if found.starts:
            self.after = (*self.after, next(self.numbers))

    def _finish(self) -> None:
        known, out = self.known, self.out
        out.idle = not self.busy
        exported = known.exported
        out.settings = [
            replace(setting, passed=True) if setting.how == ASSIGNMENT and setting.name in exported else setting
            for setting in out.settings
        ]
        out.starts += known.starts(self.where)
        out.lost += self.piped.lost(self.walker, known, out.asked)
        out.piped += self.piped.files(self.walker, known, self.text)
        out.lost += known.unexported(out.asked, scheduled=self.scheduled)
        out.lost += self.misplaced.lost(known, out.asked, scheduled=self.scheduled)
        if self.where or self.text.startswith("#!"):
            # Any other text may be sourced by a shell that continues.
            out.lost += known.exported_too_late(out.asked, self.busy)
