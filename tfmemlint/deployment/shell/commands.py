"""One command of a shell, or of a Dockerfile's or compose file's list of words: which program it starts in the end, and
with which variables.

Wrappers such as ``env``, ``nohup``, ``srun`` and ``horovodrun`` are looked through. An option whose meaning isn't known
is taken to stand alone; if it takes a value, that is then no program of Python's, and nothing is claimed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tfmemlint.deployment.shell.assignments import Given, assignment
from tfmemlint.deployment.shell.lexer import Word
from tfmemlint.model.configuration import NAME

_PYTHON = re.compile(r"(?:[\w./~-]*/)?(?:python|pypy)(?:[23](?:\.\d+)?)?|(?:[\w./~-]*/)?ipython3?")
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
_PYTHON_VALUES = frozenset({"-W", "-X", "--check-hash-based-pycs"})

_WITH_VALUES = {
    "exec": "-a", "nice": "-n", "ionice": "-c -n -p", "stdbuf": "-i -o -e", "timeout": "-s -k", "xvfb-run": "-s -n -f",
    "sudo": "-u -g -h -p -C -r -t", "numactl": "-N -m -C -i -p", "taskset": "", "tini": "-p", "time": "-f -o",
    "srun": "-n -N -c -p -A -J -t -w -o -e -i -D -G -C -q --ntasks --nodes --partition --account --gres --mem --time"
    " --job-name --cpus-per-task --gpus --output --error --ntasks-per-node --qos --mpi",
    "mpirun": "-np -n -c -N -H -host --host -hostfile --hostfile -machinefile -bind-to --bind-to -map-by --map-by"
    " -wdir",
    "horovodrun": "-np -H --hosts -hostfile --hostfile --num-proc -p --ssh-port --min-np --max-np"
    " --host-discovery-script --start-timeout --network-interfaces --log-level",
    "conda": "-n -p --name --prefix", "uv": "--python -p --with --extra --group", "poetry": "-C", "pipenv": "",
}  # fmt: skip
_WITH_VALUES["mpiexec"] = _WITH_VALUES["orterun"] = _WITH_VALUES["mpirun"]
_WITH_VALUES["micromamba"] = _WITH_VALUES["mamba"] = _WITH_VALUES["conda"]
_PLAIN_WRAPPERS = frozenset({"nohup", "command", "builtin", "dumb-init", "catchsegv", "setsid", "unbuffer", "gosu"})
_WITH_RUN = frozenset({"conda", "mamba", "micromamba", "poetry", "pipenv", "uv", "rye", "hatch", "pdm"})
_POSITIONAL = {"timeout": 1, "taskset": 1, "gosu": 1}
"""How many words come before the command, besides options."""
_CONTAINERS = frozenset({"docker", "podman", "nvidia-docker", "nerdctl"})
_ENV_LONG = {"-": "-i", "--ignore-environment": "-i", "--unset": "-u", "--chdir": "-C", "--split-string": "-S"}
_ENV_OPTION = re.compile(r"-(?P<flags>[i0v]*)(?P<valued>[uCS]?)(?P<value>.*)")
_NO_PROGRAMS = frozenset(
    {
        "pip", "venv", "virtualenv", "ensurepip", "build", "wheel", "twine", "conda", "ipykernel", "compileall",
        "py_compile", "json.tool", "http.server", "site", "zipfile", "tarfile", "pre_commit", "black", "ruff", "flake8",
        "isort", "mypy", "pylint", "grpc_tools.protoc", "nltk.downloader",
    }
)  # fmt: skip
"""Modules that have no use for a variable about GPUs: they install, build, or look at code."""
_NO_SCRIPTS = frozenset({"setup.py", "get-pip.py", "get_pip.py", "ez_setup.py", "install-poetry.py"})
"""The same of scripts, by their names."""
_LAUNCHERS = frozenset({"torch.distributed.launch", "torch.distributed.run", "cProfile", "trace", "pdb", "coverage"})
"""Modules that run a program, which is not followed."""
_MOST = 12
"""Wrappers within wrappers that are looked through."""


@dataclass(frozen=True, slots=True)
class Command:
    """What a command comes to.

    Attributes:
        kind: ``python``, ``shell`` (a script), ``inline`` (a text for a shell), ``container`` (what it runs is in
            another world), ``arguments`` (``exec "$@"``), or "" for anything else.
        program, module, arguments: as in `Start`. inline: the text that is run.
        given: variables set for it alone. clean: it gets none of the others. dropped: some that it does not get.
        cards: the GPUs that a container gets, with their place.
    """

    kind: str = ""
    program: str = ""
    module: str = ""
    arguments: tuple[str | None, ...] = ()
    inline: Word | None = None
    given: tuple[Given, ...] = field(default=())
    clean: bool = False
    dropped: tuple[str, ...] = ()
    cards: Word | None = None


def read_command(words: Sequence[Word]) -> Command:
    """What a command starts in the end."""
    command = Command()
    rest = list(words)
    for _ in range(_MOST):
        given = []
        for word in rest:
            one = assignment(word)
            if one is None or word.raw.startswith(("'", '"')):
                break
            given.append(one)
        command, rest = replace(command, given=(*command.given, *given)), rest[len(given) :]
        if not rest:
            return command
        name = rest[0].value
        if name is None:
            return replace(command, kind="arguments") if rest[0].raw in ('"$@"', "$@", '"${@}"') else command
        base = name.rsplit("/", 1)[-1]
        if base == "env":
            command, rest = _env(command, rest[1:])
        elif _PYTHON.fullmatch(name):
            return _python(command, rest[1:])
        elif base in ("torchrun",):
            return _script(command, _after_options(rest[1:], {"--nproc_per_node", "--nnodes", "--master_port"}))
        elif base in _SHELLS:
            return _shell(command, rest[1:])
        elif base in _CONTAINERS:
            return _container(command, rest[1:])
        elif base in _WITH_VALUES or base in _PLAIN_WRAPPERS or base in _WITH_RUN:
            found = _through(base, command, rest[1:])
            if found is None:
                return command
            command, rest = found
        elif name.endswith(".py"):
            return _script(command, rest)
        elif name.endswith((".sh", ".bash")):
            return replace(command, kind="shell", program=name, arguments=_values(rest[1:]))
        else:
            return command
    return command


def _env(command: Command, rest: list[Word]) -> tuple[Command, list[Word]]:
    """What ``env`` makes of a command. Source: env(1) of GNU coreutils."""
    while rest:
        word, text = rest[0], rest[0].value
        if not word.raw.startswith("-"):
            one = assignment(word)
            if one is None:
                break
            command, rest = replace(command, given=(*command.given, one)), rest[1:]
            continue
        name, _, value = (text or "").partition("=")
        option = _ENV_OPTION.fullmatch(_ENV_LONG.get(name, name) + value)
        rest = rest[1:]
        if text is None or (option is not None and option["valued"] in ("C", "S")):
            # Where it is run then, or what is run, is not followed.
            return command, []
        if option is not None and "i" in option["flags"]:
            command = replace(command, clean=True, given=())
        if option is not None and option["valued"]:
            dropped = option["value"] or (rest[0].value if rest else None) or ""
            rest = rest if option["value"] else rest[1:]
            given = tuple(one for one in command.given if one.name != dropped)
            command = replace(command, given=given, dropped=(*command.dropped, dropped))
    return command, rest


def _through(base: str, command: Command, rest: list[Word]) -> tuple[Command, list[Word]] | None:
    """What a wrapper runs; None where it runs something that isn't followed."""
    valued = frozenset(_WITH_VALUES.get(base, "").split())
    if base == "sudo":
        kept = any(one.value is not None and re.match(r"-\w*E|--preserve-env$", one.value) for one in rest[:4])
        command = command if kept else replace(command, clean=True, given=())
    if base in _WITH_RUN:
        rest = _after_options(rest, valued)
        if not rest or rest[0].value != "run":
            return None
        rest = rest[1:]
    while rest and rest[0].raw.startswith("-"):
        text = rest[0].value
        if text == "--":
            rest = rest[1:]
            break
        if text == "-x" and base in ("mpirun", "mpiexec", "orterun") and len(rest) > 1:
            one = assignment(rest[1], "option")
            command = replace(command, given=(*command.given, one)) if one is not None else command
            rest = rest[2:]
        elif base == "srun" and rest[0].raw.startswith("--export"):
            command, rest = _exported(command, rest)
        elif text is not None and text in valued:
            rest = rest[2:]
        else:
            rest = rest[1:]
    return command, rest[_POSITIONAL.get(base, 0) :]


def _exported(command: Command, rest: list[Word]) -> tuple[Command, list[Word]]:
    """``--export=ALL,X=1`` of Slurm: the variables that a job gets. Source: its manual page, ``srun(1)``."""
    word, rest = rest[0], rest[1:]
    begun = word.start + len("--export=")
    if word.raw == "--export":
        if not rest:
            return command, rest
        word, rest = rest[0], rest[1:]
        begun = word.start
    return with_exported(command, word.raw[begun - word.start :], begun), rest


def with_exported(command: Command, text: str, begun: int) -> Command:
    """A command with the variables that the text of Slurm's ``--export``, at ``begun``, gives it."""
    if text[:1] in ("'", '"') and text[-1:] == text[:1]:
        text, begun = text[1:-1], begun + 1
    clean = command.clean
    given = list(command.given)
    parts = re.split(r",(?=[A-Za-z_]\w*(?:=|,|$))", text)
    clean = clean or not any(part in ("ALL", "all") for part in parts)
    for part in parts:
        name, equals, value = part.partition("=")
        if equals and NAME.fullmatch(name):
            # A comma in a value has to be quoted; what Slurm makes of this one is not told.
            plain = not re.search(r"[$`\\'\",\ue000]", value)
            at = begun + len(name) + 1
            stop = at + len(value)
            quote = "" if plain else None
            given.append(Given(name, value if plain else None, begun, begun + len(name), at, stop, quote, "option"))
        begun += len(part) + 1
    return replace(command, given=tuple(given), clean=clean)


def _after_options(rest: list[Word], valued: frozenset[str] | set[str] = frozenset()) -> list[Word]:
    while rest and rest[0].raw.startswith("-"):
        rest = rest[2:] if rest[0].value in valued else rest[1:]
    return rest


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
    """``docker run -e X=1``, and ``exec``: the variables are the container's, and so is the program."""
    verbs = {"run", "exec", "create"}
    at = next((number for number, word in enumerate(rest[:4]) if word.value in verbs), None)
    if at is None or (at > 0 and rest[0].value not in ("compose", "container") and not rest[0].raw.startswith("-")):
        return replace(command, given=())
    given: list[Given] = []
    cards = None
    rest = rest[at + 1 :]
    while rest and rest[0].raw.startswith("-"):
        word, rest = rest[0], rest[1:]
        raw = word.raw
        if raw in ("-e", "--env"):
            one = assignment(rest[0], "option") if rest else None
            rest = rest[1:]
            if one is not None:
                given.append(one)
        elif raw.startswith(("--env=", "-e=")) or (raw.startswith("-e") and len(raw) > 2):
            shift = 6 if raw.startswith("--env=") else 3 if raw.startswith("-e=") else 2
            one = assignment(_tail(word, shift), "option")
            if one is not None:
                given.append(one)
        elif raw == "--gpus":
            cards, rest = (rest[0], rest[1:]) if rest else (None, rest)
        elif raw.startswith("--gpus="):
            cards = _tail(word, 7)
        elif "=" not in raw and raw not in _ALONE and not re.fullmatch(r"-[dPqtiv]*[dPqti]", raw):
            rest = rest[1:]
    return Command("container", given=tuple(given), clean=True, cards=cards)


_ALONE = frozenset(
    {
        "--rm", "--init", "--detach", "--interactive", "--tty", "--privileged", "--read-only", "--no-healthcheck",
        "--quiet", "--publish-all", "--sig-proxy", "--oom-kill-disable", "--build", "--no-deps", "--service-ports",
        "--disable-content-trust",
    }
)  # fmt: skip
"""Options of ``docker run`` that take no value. Source: its reference page."""


def _tail(word: Word, by: int) -> Word:
    """What is left of a word behind its first characters, which are in no quotes."""
    value = word.value[by:] if word.value is not None else None
    return Word(word.start + by, word.end, value, word.raw[by:])
