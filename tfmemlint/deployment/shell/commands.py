"""One command of a shell, or of the word list of a Dockerfile or compose file: the program that it runs in the end.

Wrappers such as ``env``, ``nohup``, ``srun`` and ``horovodrun`` are followed. An unknown option is assumed to take no
value; if it does take one, that value is not a Python program, and nothing is claimed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field, replace

from tfmemlint.model.records import dataclass
from tfmemlint.sources.config_files.shell.assignments import Given, assignment
from tfmemlint.sources.config_files.shell.lexer import Word
from tfmemlint.sources.config_files.shell.wrappers import SHELLS, after_options, unwrap

_PYTHON = re.compile(r"(?:[\w./~-]*/)?(?:python|pypy)(?:[23](?:\.\d+)?)?|(?:[\w./~-]*/)?ipython3?")
_PYTHON_VALUES = frozenset({"-W", "-X", "--check-hash-based-pycs"})

CONTAINERS = frozenset({"docker", "podman", "nvidia-docker", "nerdctl"})
_NO_PROGRAMS = frozenset(
    {
        "pip", "venv", "virtualenv", "ensurepip", "build", "wheel", "twine", "conda", "ipykernel", "compileall",
        "py_compile", "json.tool", "http.server", "site", "zipfile", "tarfile", "pre_commit", "black", "ruff", "flake8",
        "isort", "mypy", "pylint", "grpc_tools.protoc", "nltk.downloader",
    }
)  # fmt: skip
"""Modules that do not use GPU variables: they install, build, or inspect code."""
_NAMED_PYTHON = re.compile(
    r'"?\$(?:PY(?:THON)?(?:3|_?(?:BIN|EXE|CMD))?|\{PY(?:THON)?(?:3|_?(?:BIN|EXE|CMD))?(?::-[\w./-]+)?\})"?'
)
"""A variable that has the interpreter: ``"$PYTHON" train.py``."""
_NO_SCRIPTS = frozenset({"setup.py", "get-pip.py", "get_pip.py", "ez_setup.py", "install-poetry.py"})
"""Scripts that do not use GPU variables, by name."""
_LAUNCHERS = frozenset({"torch.distributed.launch", "torch.distributed.run", "cProfile", "trace", "pdb", "coverage"})
"""Modules that run another program, which is not followed."""


@dataclass(frozen=True, slots=True)
class Command:
    """The effect of a command.

    Attributes:
        kind: ``python``, ``shell`` (a script), ``inline`` (a text for a shell), ``container`` (its program has an
            environment of its own), ``arguments`` (``exec "$@"``), or "" for anything else.
        program, module, arguments: as in `ProgramStart`.
        inline: the text that is run.
        given: variables that are set for this command only.
        clean: True if it inherits no variables.
        dropped: inherited variables that are unset for it.
        gpus: the GPUs that a container gets, with their place.
        optimized: Python drops assertions (``-O``). apart: it looks at no variables of its own (``-E``, ``-I``).
        by_sudo: as of `CommandEnvironment`. start: where the command itself begins, behind its wrappers.
    """

    kind: str = ""
    program: str = ""
    module: str = ""
    arguments: tuple[str | None, ...] = ()
    inline: Word | None = None
    given: tuple[Given, ...] = field(default=())
    clean: bool = False
    dropped: tuple[str, ...] = ()
    gpus: Word | None = None
    optimized: bool = False
    apart: bool = False
    by_sudo: tuple[Given, ...] | None = None
    start: int = 0


def read_command(words: Sequence[Word]) -> Command:
    """Return the program that a command starts in the end, with its environment."""
    environment, rest = unwrap(words)
    command = Command(
        given=environment.given, clean=environment.clean, dropped=environment.dropped, by_sudo=environment.by_sudo
    )
    if not rest:
        return command
    command = replace(command, start=rest[0].start)
    name = rest[0].value
    if name is None and _NAMED_PYTHON.fullmatch(rest[0].raw):
        return _python(command, rest[1:])
    if name is None:
        return replace(command, kind="arguments") if rest[0].raw in ('"$@"', "$@", '"${@}"') else command
    base = name.rsplit("/", 1)[-1]
    if _PYTHON.fullmatch(name):
        return _python(command, rest[1:])
    if base in ("torchrun",):
        return _script(command, after_options(rest[1:], {"--nproc_per_node", "--nnodes", "--master_port"}))
    if base in SHELLS:
        return _shell(command, rest[1:])
    if base in CONTAINERS:
        return _container(command, rest[1:])
    if name.endswith(".py"):
        return _script(command, rest)
    if name.endswith((".sh", ".bash")):
        return replace(command, kind="shell", program=name, arguments=_values(rest[1:]))
    return command


def _values(words: Sequence[Word]) -> tuple[str | None, ...]:
    return tuple(word.value for word in words)


def _python(command: Command, rest: list[Word]) -> Command:
    while rest and rest[0].raw.startswith("-"):
        text = rest[0].value or ""
        if text == "-m" and len(rest) > 1:
            module = rest[1].value
            if module is None:
                return command
            if module in _LAUNCHERS or module in _NO_PROGRAMS:
                return command
            return replace(command, kind="python", module=module, arguments=_values(rest[2:]))
        if text in ("-c", "-", "-h", "--help", "-V", "--version") or not text:
            return command
        if text in _PYTHON_VALUES:
            rest = rest[2:]
        elif re.fullmatch(r"-[bBdEiIOPqRsSuvx]+|-[WX].+", text):
            if text[1] not in "WX":
                optimized = command.optimized or "O" in text
                command = replace(command, optimized=optimized, apart=command.apart or bool(set(text) & set("EI")))
            rest = rest[1:]
        else:
            return command
    return _script(command, rest)


def _script(command: Command, rest: Sequence[Word]) -> Command:
    if not rest or rest[0].value is None or rest[0].value.rsplit("/", 1)[-1] in _NO_SCRIPTS:
        return command
    return replace(command, kind="python", program=rest[0].value, arguments=_values(rest[1:]))


def _shell(command: Command, rest: list[Word]) -> Command:
    while rest and rest[0].raw.startswith(("-", "+")):
        text = rest[0].value or ""
        rest = rest[1:]
        if re.fullmatch(r"-[a-z]*c", text):
            return replace(command, kind="inline", inline=rest[0], arguments=_values(rest[1:])) if rest else command
        if text in ("-o", "+o", "--rcfile", "--init-file"):
            rest = rest[1:]
        elif text == "--":
            break
    if not rest or rest[0].value is None:
        return command
    return replace(command, kind="shell", program=rest[0].value, arguments=_values(rest[1:]))


def _container(command: Command, rest: list[Word]) -> Command:
    """Return the variables of ``docker run -e X=1`` and ``docker exec``: they belong to the container's program."""
    verbs = {"run", "exec", "create"}
    at = next((number for number, word in enumerate(rest[:4]) if word.value in verbs), None)
    if at is None or (at > 0 and rest[0].value not in ("compose", "container") and not rest[0].raw.startswith("-")):
        return replace(command, given=())
    given: list[Given] = []
    gpus = None
    rest = rest[at + 1 :]
    while rest and rest[0].raw.startswith("-"):
        word, rest = rest[0], rest[1:]
        raw = word.raw
        if raw in ("-e", "--env"):
            given_variable = assignment(rest[0], "option") if rest else None
            rest = rest[1:]
            if given_variable is not None:
                given.append(given_variable)
        elif raw.startswith(("--env=", "-e=")) or (raw.startswith("-e") and len(raw) > 2):
            shift = 6 if raw.startswith("--env=") else 3 if raw.startswith("-e=") else 2
            given_variable = assignment(_tail(word, shift), "option")
            if given_variable is not None:
                given.append(given_variable)
        elif raw == "--gpus":
            gpus, rest = (rest[0], rest[1:]) if rest else (None, rest)
        elif raw.startswith("--gpus="):
            gpus = _tail(word, 7)
        elif "=" not in raw and raw not in _ALONE and not re.fullmatch(r"-[dPqtiv]*[dPqti]", raw):
            rest = rest[1:]
    return Command("container", given=tuple(given), clean=True, gpus=gpus)


_ALONE = frozenset(
    {
        "--rm", "--init", "--detach", "--interactive", "--tty", "--privileged", "--read-only", "--no-healthcheck",
        "--quiet", "--publish-all", "--sig-proxy", "--oom-kill-disable", "--build", "--no-deps", "--service-ports",
        "--disable-content-trust",
    }
)  # fmt: skip
"""Options of ``docker run`` that take no value. Source: its reference page."""


def _tail(word: Word, by: int) -> Word:
    """Return the rest of a word after its first characters, which are unquoted."""
    value = word.value[by:] if word.value is not None else None
    return Word(word.start + by, word.end, value, word.raw[by:])
