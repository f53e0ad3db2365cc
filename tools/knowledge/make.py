"""Make all tables of ``tfmemlint/knowledge/data`` for a new release, step by step.

Usage: python tools/knowledge/make.py --release 2.22 [--wheels FOLDER] [--from STEP] [--list]

Each step says what it does, and runs one script of this folder in a process of its own; a step that fails ends the
run, and ``--from STEP`` goes on with it. Steps that run TensorFlow use the interpreter that runs this script, which
must have that release installed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RELEASES = ROOT / "tfmemlint" / "knowledge" / "releases.py"


@dataclass(frozen=True)
class Step:
    """One step: its name, its purpose, and its command; ``into`` is the file for its output."""

    name: str
    about: str
    command: tuple[str, ...]
    into: Path | None = None


def steps(release: str, wheels: str) -> list[Step]:
    """Return all steps for a release, in their order."""
    measured = HERE / "measured" / f"{release}.txt"
    same = HERE / "measured" / f"same-{release}.txt"
    return [
        Step("fetch", "download the wheels, keep what says what is public", ("fetch_wheels.py", wheels, release)),
        Step("read", "read the public names", ("read_wheels.py", wheels, release)),
        Step("known", f"say in releases.py that {release} is known", ()),
        Step("names", "write names.z", ("make_names.py",)),
        Step("signatures", "write signatures.txt", ("make_signatures.py", wheels, release)),
        Step(
            "measure",
            "run each call, and see what it starts",
            ("measure_effects.py", str(HERE / "calls.txt")),
            measured,
        ),
        Step("effects", "write effects.txt and graph_mode.txt", ("make_effects.py", *_measured(release))),
        Step("list", "list the names that are one object", ("make_same.py", "list"), same),
        Step(
            "same", "write moved.txt, twins.txt and aliases.txt", ("make_same.py", "make", str(same), *_lists(release))
        ),
        Step("libraries", "write libraries.txt from what was measured", ("libraries.py", "make")),
        Step("environment", "write the table of environment variables", ("make_env.py", f"{release}.0")),
        Step("page", "write docs/knowledge.md", ("../make_knowledge.py",)),
    ]


def _measured(release: str) -> list[str]:
    measured = HERE / "measured"
    there = {*measured.glob("[12].*.txt"), measured / f"{release}.txt"}
    return [str(path) for path in [measured / "earlier.json.gz", *sorted(there)]]


def _lists(release: str) -> list[str]:
    """Return the lists of other releases, the newest first."""
    there = [path for path in (HERE / "measured").glob("same-*.txt*") if f"same-{release}." not in path.name]
    return [str(path) for path in sorted(there, reverse=True)]


def know(release: str) -> None:
    """Let `KNOWN` in releases.py go up to a release of TensorFlow 2.

    Raises:
        SystemExit: releases.py reads differently.
    """
    text = RELEASES.read_text()
    match = re.search(r'(\*\(f"2\.\{minor\}" for minor in range\()(\d+)(\)\))', text)
    major, _, minor = release.partition(".")
    if match is None or major != "2":
        raise SystemExit(f"edit KNOWN in {RELEASES} by hand, and go on with --from names")
    count = max(int(match[2]), int(minor) + 1)
    RELEASES.write_text(f"{text[: match.start(2)]}{count}{text[match.end(2) :]}")


def run(step: Step, release: str) -> int:
    """Run one step; its exit code."""
    print(f"{step.name}: {step.about}", flush=True)
    if not step.command:
        know(release)
        return 0
    command = [sys.executable, str(HERE / step.command[0]), *step.command[1:]]
    if step.into is None:
        return subprocess.run(command, cwd=ROOT).returncode
    with step.into.open("w") as file:
        return subprocess.run(command, cwd=ROOT, stdout=file).returncode


def main() -> int:
    """Run the steps; the exit code is that of the step that failed, or 0."""
    parser = argparse.ArgumentParser(description="Make all tables for a new release.")
    parser.add_argument("--release", required=True, metavar="X.Y")
    parser.add_argument("--wheels", default="build/wheels", metavar="FOLDER", help="where wheels' files are kept")
    parser.add_argument("--from", dest="first", metavar="STEP", help="begin with this step")
    parser.add_argument("--list", action="store_true", help="print the steps, and run none")
    arguments = parser.parse_args()
    if not re.fullmatch(r"\d+\.\d+", arguments.release):
        parser.error(f"{arguments.release!r} is no release; write it as in 2.22")
    todo = steps(arguments.release, arguments.wheels)
    names = [step.name for step in todo]
    if arguments.first and arguments.first not in names:
        parser.error(f"there is no step {arguments.first!r}; there are {', '.join(names)}")
    for step in todo[names.index(arguments.first) if arguments.first else 0 :]:
        if arguments.list:
            print(f"{step.name}: {step.about}")
            continue
        code = run(step, arguments.release)
        if code:
            print(f"{step.name} failed; go on with --from {step.name}", file=sys.stderr)
            return code
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
