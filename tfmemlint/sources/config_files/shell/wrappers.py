"""Commands that run another command: ``env``, ``nohup``, ``sudo``, ``srun``, ``horovodrun``, ``conda run`` ...

An unknown option is assumed to have no value. If it has one, the value is read as the command, which is then not a
command that anything looks for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field, replace

from tfmemlint.model.records import dataclass
from tfmemlint.sources.config_files.names import NAME
from tfmemlint.sources.config_files.shell.assignments import Given, assignment
from tfmemlint.sources.config_files.shell.lexer import Word

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
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
"""The number of words before the command, besides options."""
_ENV_LONG = {"-": "-i", "--ignore-environment": "-i", "--unset": "-u", "--chdir": "-C", "--split-string": "-S"}
_ENV_OPTION = re.compile(r"-(?P<flags>[i0v]*)(?P<valued>[uCS]?)(?P<value>.*)")
_MAX_WRAPPERS = 12
"""Nested wrappers; deeper ones are not followed."""


@dataclass(frozen=True, slots=True)
class CommandEnvironment:
    """The changes that wrappers, and assignments before a command, make to its environment.

    Attributes:
        given: variables that are set.
        clean: True if no variable is inherited.
        dropped: the inherited variables that are unset.
        by_sudo: the variables in front of a ``sudo`` that resets the environment; None if there is none.
    """

    given: tuple[Given, ...] = field(default=())
    clean: bool = False
    dropped: tuple[str, ...] = ()
    by_sudo: tuple[Given, ...] | None = None


def unwrap(words: Sequence[Word]) -> tuple[CommandEnvironment, list[Word]]:
    """Return the environment of the command that is run in the end, and its words; none if it can't be followed."""
    command = CommandEnvironment()
    rest = list(words)
    for _ in range(_MAX_WRAPPERS):
        given = []
        for word in rest:
            assigned = assignment(word)
            if assigned is None or word.raw.startswith(("'", '"')):
                break
            given.append(assigned)
        command, rest = replace(command, given=(*command.given, *given)), rest[len(given) :]
        if not rest or rest[0].value is None:
            return command, rest
        base = rest[0].value.rsplit("/", 1)[-1]
        if base == "env":
            command, rest = _env(command, rest[1:])
        elif base in _WITH_VALUES or base in _PLAIN_WRAPPERS or base in _WITH_RUN:
            found = _through(base, command, rest[1:])
            if found is None:
                return command, rest
            command, rest = found
        else:
            return command, rest
    return command, []


def _env(command: CommandEnvironment, rest: list[Word]) -> tuple[CommandEnvironment, list[Word]]:
    """Return the environment and the command of ``env``. Source: env(1) of GNU coreutils."""
    while rest:
        word, text = rest[0], rest[0].value
        if not word.raw.startswith("-"):
            assigned = assignment(word)
            if assigned is None:
                break
            command, rest = replace(command, given=(*command.given, assigned)), rest[1:]
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
            given = tuple(given for given in command.given if given.name != dropped)
            command = replace(command, given=given, dropped=(*command.dropped, dropped))
    return command, rest


def _through(base: str, command: CommandEnvironment, rest: list[Word]) -> tuple[CommandEnvironment, list[Word]] | None:
    """Return the command that a wrapper runs; None if it runs something that is not followed."""
    valued = frozenset(_WITH_VALUES.get(base, "").split())
    if base == "sudo":
        if any(word.raw.startswith("--preserve-env=") for word in rest[:4]):
            # Which variables are left is not followed.
            return None
        kept = any(word.value is not None and re.match(r"-\w*E|--preserve-env$", word.value) for word in rest[:4])
        command = command if kept else replace(command, clean=True, given=(), by_sudo=command.given)
    if base in _WITH_RUN:
        rest = after_options(rest, valued)
        if not rest or rest[0].value != "run":
            return None
        rest = rest[1:]
    while rest and rest[0].raw.startswith("-"):
        text = rest[0].value
        if text == "--":
            rest = rest[1:]
            break
        if text == "-x" and base in ("mpirun", "mpiexec", "orterun") and len(rest) > 1:
            given = assignment(rest[1], "option")
            command = replace(command, given=(*command.given, given)) if given is not None else command
            rest = rest[2:]
        elif base == "srun" and rest[0].raw.startswith("--export"):
            command, rest = _exported(command, rest)
        elif text is not None and text in valued:
            rest = rest[2:]
        else:
            rest = rest[1:]
    return command, rest[_POSITIONAL.get(base, 0) :]


def _exported(command: CommandEnvironment, rest: list[Word]) -> tuple[CommandEnvironment, list[Word]]:
    """Return the variables that Slurm's ``--export=ALL,X=1`` gives a job. Source: its manual page, ``srun(1)``."""
    word, rest = rest[0], rest[1:]
    begun = word.start + len("--export=")
    if word.raw == "--export":
        if not rest:
            return command, rest
        word, rest = rest[0], rest[1:]
        begun = word.start
    return with_exported(command, word.raw[begun - word.start :], begun), rest


def with_exported(command: CommandEnvironment, text: str, begun: int) -> CommandEnvironment:
    """Return a command with the variables that the text of Slurm's ``--export``, at ``begun``, gives it."""
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


def after_options(rest: list[Word], valued: frozenset[str] | set[str] = frozenset()) -> list[Word]:
    while rest and rest[0].raw.startswith("-"):
        rest = rest[2:] if rest[0].value in valued else rest[1:]
    return rest
