"""Measure what importing and calling libraries does to TensorFlow's runtime, and make the table of it.

Usage:
    python tools/knowledge/libraries.py measure [--library NAME ...] [--python PYTHON] [--work FOLDER]
    python tools/knowledge/libraries.py make

``libraries.toml`` says which libraries, in which environments, and what of them is imported and called. ``measure``
makes each environment (with ``uv``, which also sets the day whose packages are meant; or takes the Python given), runs
``libraries_child.py`` in it three times, and keeps what it saw in ``measured/libraries.txt``: with TensorFlow imported
first and a simulated GPU; what changed anything, again without a GPU; and the library, with what changed anything, once
more with its import before TensorFlow's. ``make`` turns that into ``tfmemlint/knowledge/data/libraries.txt``. Something
that differed between the runs is kept with a ``?`` and makes no row: it depends on the machine or on the order.
"""

from __future__ import annotations

import argparse
import fcntl
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

try:
    import tomllib
except ImportError:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from tfmemlint.knowledge.environment import Moment, read_at  # noqa: E402

PLAN = HERE / "libraries.toml"
MEASURED = HERE / "measured" / "libraries.txt"
TABLE = HERE.parents[1] / "tfmemlint" / "knowledge" / "data" / "libraries.txt"

ERAS = {
    "import": (("1.13", "1.15"), ("2.0", "2.15"), ("2.16", "2.21")),
    "call": (("1.13", "1.15"), ("2.0", "2.10"), ("2.11", "2.15"), ("2.16", "2.21")),
}
"""Eras: TensorFlow 1, 2 with Keras 2, 2 with Keras 3. A measurement in one era proves nothing about another. Keras's
optimizers start the runtime from 2.11 on, and calls may create one."""

NEIGHBOURS = {(era[1], other[0]) for eras in ERAS.values() for era, other in itertools.pairwise(eras)}

MIN_MEASURED = 5
"""A row about a pattern of names needs at least this many measured names."""

HEADER = """\
# What importing or calling a library does to TensorFlow's runtime and to the environment, made by
# tools/knowledge/libraries.py: name import|call letter version/TensorFlow,... first-last [flag ...]
# {count} libraries, each installed in environments of its own. Every import ran in a fresh process in which TensorFlow
# had been imported, and one GPU was simulated at the border to its C++; what changed anything also ran without a GPU
# and, for imports, before TensorFlow's import, with the same result. Every call ran in a fork of a process with the
# imports.
# Letters: n nothing, l lists the physical devices, S starts the eager context, a makes the GPU devices (a session,
# device_lib) without starting it. Flags: growth (a GPU's memory may grow from then on, in TensorFlow's configuration or
# in the session or its configuration), limits, visible, eager-off (disables eager execution), env:NAME=value (? depends
# on the machine; only what GPU memory or the choice of Keras depends on), with-gpu (less where there is no GPU).
# first-last are the releases of TensorFlow that it is said of: all of an era ({eras};
# for imports 2.0-2.15 is one) if what was measured in it agrees, otherwise from the first to the last that agree.
# * stands for any part of a name without a dot; at least {fewest} of the names were measured.
"""

KEPT = re.compile(r"(?:CUDA|TF|XLA|NVIDIA)_\w+|KERAS_BACKEND")
"""The environment variables that are written down."""

STEERING = ("CUDA_DEVICE_ORDER", "TF_USE_LEGACY_KERAS", "KERAS_BACKEND")
"""Variables that TensorFlow's libraries don't read, but that change its behaviour."""

DEPENDS = ("CUDA_VISIBLE_DEVICES",)
"""Variables whose value depends on the machine: the row only records that they are set."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("--library", action="append", help="only this one (default: all)")
    measuring.add_argument("--tensorflow", help="only in environments with this TensorFlow")
    measuring.add_argument("--python", help="an environment that is there, instead of making one")
    measuring.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()), help="where environments are made")
    measuring.add_argument("--keep", action="store_true", help="do not remove the environments")
    commands.add_parser("make")
    arguments = parser.parse_args()
    if arguments.command == "make":
        make()
        return 0
    return measure(arguments)


def measure(arguments: argparse.Namespace) -> int:
    plan = tomllib.loads(PLAN.read_text(encoding="utf-8"))
    failed = 0
    for library, given in plan.items():
        if arguments.library and library not in arguments.library:
            continue
        for environment in given["in"]:
            if arguments.tensorflow and f"=={arguments.tensorflow}" not in environment["packages"][0]:
                continue
            folder = arguments.work / f"{library}-{environment['packages'][0].rpartition('=')[2]}"
            try:
                python = arguments.python or install(environment, folder)
                keep(list(rows(library, python, given, environment)))
            except (subprocess.CalledProcessError, RuntimeError) as error:
                print(f"{library}: {error}", file=sys.stderr)
                failed += 1
            if not arguments.keep and not arguments.python:
                shutil.rmtree(folder, ignore_errors=True)
    return 1 if failed else 0


def install(environment: dict[str, Any], folder: Path) -> str:
    """Return the Python of a new virtual environment with the packages of ``environment``, or of the one that is
    there.
    """
    python = str(folder / "bin" / "python")
    if (folder / "bin" / "made").exists():
        return python
    subprocess.run(["uv", "venv", "-q", "--clear", "-p", environment["python"], str(folder)], check=True)
    command = ["uv", "pip", "install", "-q", "-p", python]
    if "before" in environment:
        command += ["--exclude-newer", environment["before"]]
    if environment["packages"][0].startswith("tensorflow-cpu"):  # what asks for TensorFlow is content with this one
        overrides = folder / "overrides.txt"
        overrides.write_text("tensorflow; python_version < '3'\n", encoding="utf-8")
        command += ["--overrides", str(overrides)]
    for packages in environment.get("steps", [environment["packages"]]):
        done = subprocess.run([*command, *packages], text=True, capture_output=True)
        if done.returncode:
            raise RuntimeError(f"can't be installed: {done.stderr.strip()[-1500:]}")
    if environment.get("without_dependencies"):
        subprocess.run([*command, "--no-deps", *environment["without_dependencies"]], check=True)
    (folder / "bin" / "made").touch()
    return python


def rows(library: str, python: str, given: dict[str, Any], environment: dict[str, Any]) -> Iterator[str]:
    """Yield the measurements, a line each: ``library version tensorflow how name letter flags``."""
    modules = given.get("imports", "").split()
    groups = []
    for group in given.get("calls", []):
        lines = [line.strip() for line in group["calls"].strip().splitlines()]
        pairs = [tuple(part.strip() for part in line.split(" = ", 1)) for line in lines]
        groups.append({"setup": group.get("setup", ""), "calls": pairs})
    request = {"modules": modules, "groups": groups, "prepare": given.get("prepare", ""), "first": False, "gpus": 1}
    request["distribution"] = given.get("distribution", library)
    shown = run(python, request, environment)
    changing = {name for part in ("imports", "calls") for name, found in shown[part].items() if text(found) != "n"}
    fewer = [{**group, "calls": [pair for pair in group["calls"] if pair[0] in changing]} for group in groups]
    request["groups"] = [group for group in fewer if group["calls"]]
    request["modules"] = [name for name in modules if name in changing]
    hidden = run(python, {**request, "gpus": 0}, environment)
    request["modules"] = [name for name in modules if name in changing or name == modules[0]]
    first = run(python, {**request, "groups": [], "prepare": "", "first": True}, environment)
    if shown.get("prepared", {}).get("error"):
        print(f"{library}: prepare: {shown['prepared']['error']}", file=sys.stderr)
    for how, part in (("import", "imports"), ("call", "calls")):
        for name, found in shown[part].items():
            others = [other[part][name] for other in (hidden, first) if name in other[part]]
            texts = [text(found), *map(text, others)]
            same = len(set(texts)) == 1
            head = f"{library} {shown['version']} {shown['tensorflow']}"
            yield f"{head} {how} {name} {texts[0] if same else '? ' + ' | '.join(texts)}"


def text(found: dict[str, Any]) -> str:
    """Return one result as text: a letter, then the other changes."""
    if "error" in found:
        print(found["error"], file=sys.stderr)
        return "E " + found["error"].partition(":")[0]
    parts = [found["effect"], *(flag for flag in ("growth", "limits", "visible", "eager-off") if found.get(flag))]
    for name, value in found.get("environment", {}).items():
        if KEPT.fullmatch(name):
            parts.append(f"env:{name}" if value is None else f"env:{name}={'?' if name in DEPENDS else value}")
    return " ".join(parts)


def run(python: str, request: dict[str, Any], environment: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as home:
        clean = {"PATH": os.environ["PATH"], "HOME": home, "MPLBACKEND": "agg", "HF_HUB_OFFLINE": "1"}
        clean.update(environment.get("environment", {}))
        if environment.get("nvml"):
            clean.update(simulated_nvml())
        done = subprocess.run(
            [python, str(HERE / "libraries_child.py")],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            env=clean,
            cwd=home,
        )
    if os.environ.get("VERBOSE"):
        print(done.stderr, file=sys.stderr)
    if done.returncode:
        raise RuntimeError(done.stderr[-1500:])
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def simulated_nvml() -> dict[str, str]:
    """Return the variables that put two simulated GPUs under NVML, for libraries that choose a GPU on import."""
    from tfmemlint.verify.driver import build, setup

    return {**setup.environment(gpus=2), "LD_LIBRARY_PATH": str(build.libraries("2.15.1"))}


def keep(found: list[str]) -> None:
    """Put the lines of one environment into the file of what was measured, in the place of its former ones."""
    heads = {" ".join(line.split(" ")[:3]) + " " for line in found}
    with MEASURED.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # several may be measuring at a time
        file.seek(0)
        lines = [line for line in file.read().splitlines() if not line.startswith(tuple(heads))] + found
        file.seek(0)
        file.truncate()
        file.write("\n".join(sorted(lines)) + "\n")
    print("\n".join(found), flush=True)


def make() -> None:
    """Write the table: what agrees is one row, with the releases that it speaks for."""
    measured: dict[tuple[str, str], dict[str, list[tuple[str, str]]]] = {}
    for line in MEASURED.read_text(encoding="utf-8").splitlines():
        _, version, tensorflow, how, name, found = line.split(" ", 5)
        found = settled(" | ".join(relevant(part) for part in found.split(" | ")))
        if not found.startswith("E "):  # it could not be run there, which says nothing
            release = ".".join(tensorflow.split(".")[:2])
            measured.setdefault((name, how), {}).setdefault(release, []).append((found, f"{version}/{tensorflow}"))
    wildcards = joined(measured)
    lines = {row for key, points in {**measured, **wildcards}.items() for row in spans(*key, points)}
    count = len({line.partition(" ")[0].partition(".")[0] for line in lines})
    header = HEADER.format(count=count, fewest=MIN_MEASURED, eras=", ".join("-".join(era) for era in ERAS["call"]))
    TABLE.write_text(header + "\n".join(sorted(lines)) + "\n", encoding="ascii")
    print(len(lines), "rows")


def relevant(found: str) -> str:
    """Return a result without the variables that affect neither GPU memory nor the choice of Keras, such as those of
    logging."""
    parts = found.split(" ")
    names = [part[len("env:") :].partition("=")[0] if part.startswith("env:") else None for part in parts]
    return " ".join(
        part
        for part, name in zip(parts, names, strict=True)
        if name is None or name in STEERING or read_at(name) not in (None, Moment.IMPORT)
    )


def settled(found: str) -> str:
    """Return the common result of runs that differed: the result with a GPU, if only the missing GPU made a
    difference."""
    if not found.startswith("? "):
        return found
    shown, hidden, *first = found[2:].split(" | ")
    if hidden == shown and all(other == shown for other in first):
        return shown
    if shown[0] in "nlaS" and hidden[0] in "nla" and all(other == shown for other in first):
        return f"{shown} with-gpu"
    return found


def joined(measured: dict[tuple[str, str], Any]) -> dict[tuple[str, str], Any]:
    """Return the rows about several names, in the place of those that they cover, which must be alike where both were
    run.
    """
    plan = tomllib.loads(PLAN.read_text(encoding="utf-8"))
    found: dict[tuple[str, str], Any] = {}
    for pattern in " ".join(given.get("alike", "") for given in plan.values()).split():
        expression = re.compile(re.escape(pattern).replace(r"\*", r"[^.()]*"))
        together: dict[str, list[tuple[str, str]]] = {}
        covered = [key for key in measured if key[1] == "call" and expression.fullmatch(key[0])]
        for key in covered:
            for release, points in measured.pop(key).items():
                together.setdefault(release, []).extend(points)
        for release, points in together.items():
            if len({found for found, _ in points}) > 1:
                raise SystemExit(f"{pattern} is not alike with TensorFlow {release}: {points}")
        if len(covered) < MIN_MEASURED:
            raise SystemExit(f"{pattern} rests on {len(covered)} names only")
        found[pattern, "call"] = together
    return found


def spans(name: str, how: str, points: dict[str, list[tuple[str, str]]]) -> Iterator[str]:
    """Yield the rows of one name: in each era one for all of it, or, where releases disagree, what those between two
    say.
    """
    agreed: dict[str, str] = {}
    for release, found in points.items():
        texts = {text for text, _ in found}
        agreed[release] = texts.pop() if len(texts) == 1 else "?"
    parts: list[tuple[str, str, list[str]]] = []  # first, last, releases
    for first, last in ERAS[how]:
        inside = sorted((release for release in agreed if key(first) <= key(release) <= key(last)), key=key)
        if len({agreed[release] for release in inside}) == 1:
            parts.append((first, last, inside))
            continue
        for _, run in itertools.groupby(inside, key=lambda name: agreed[name]):
            alike = list(run)
            parts.append((alike[0], alike[-1], alike))
    for first, last, releases in merged(parts, agreed):
        text = agreed[releases[0]]
        if text[0] not in "nlaS":
            continue
        letter, _, flags = text.partition(" ")
        versions = ",".join(dict.fromkeys(version for release in releases for _, version in points[release]))
        yield f"{name} {how} {letter} {versions} {first}-{last} {flags}".rstrip()


def merged(parts: list[tuple[str, str, list[str]]], agreed: dict[str, str]) -> list[tuple[str, str, list[str]]]:
    """Merge adjacent eras with the same result."""
    done: list[tuple[str, str, list[str]]] = []
    for first, last, releases in parts:
        if done and agreed[done[-1][2][0]] == agreed[releases[0]] and (done[-1][1], first) in NEIGHBOURS:
            done[-1] = (done[-1][0], last, done[-1][2] + releases)
        else:
            done.append((first, last, releases))
    return done


def key(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


if __name__ == "__main__":
    raise SystemExit(main())
