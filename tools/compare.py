#!/usr/bin/env python3
"""Make ``docs/comparison.md``: what ruff, pylint, mypy, tf_upgrade_v2 and semgrep say about the same programs.

The programs are the examples of the rules' pages: the plainest spelling of each defect, and what the page offers
instead. A tool that is not installed is left out, with its reason.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tfmemlint.model.finding import Severity  # noqa: E402
from tfmemlint.rulekit.rule import rules  # noqa: E402

PAGE = ROOT / "docs" / "comparison.md"
NOT_COMPARED = ("TFM9",)
"""Rules about the run itself."""
EVERY_RIGHT = 7
"""Of the programs without a defect, one in so many is taken."""

RELEVANT = {
    "pylint": {"no-member", "no-name-in-module", "unexpected-keyword-arg", "no-value-for-parameter", "import-error"}
    | {"too-many-function-args", "syntax-error", "unsubscriptable-object", "deprecated-method"},
    "mypy": {"attr-defined", "call-arg", "arg-type", "syntax", "index", "operator", "union-attr", "list-item"},
    "ruff": {"invalid-syntax", "F821", "PLE0237"},
}
"""Messages that may be about the defect; others (style, documentation, names) do not count as found."""

HEAD = """# Comparison

Five other tools on the same {all} programs: the examples of {wrong} rules' pages, the plainest spelling of each
defect, and {right} programs without one. A tool *finds* a defect if it reports anything in the program that can be
about it; remarks on style are not counted. The tools answer other questions, and are right about them: this page
says which questions they do not answer.

`python3 tools/compare.py` makes this page; a tool that is not installed is left out."""


@dataclass
class Said:
    """The answers of one tool: by file, the codes in each row, and its version, or the reason why it did not run."""

    version: str = ""
    rows: dict[str, dict[int, set[str]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(set)))
    reason: str = ""


def main() -> int:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="tools/compare.py", description="Compare other tools, in docs/comparison.md.")
    parser.add_argument("--semgrep-config", default="", help="rules for semgrep, which has none of its own")
    parser.add_argument("--keep", type=Path, help="write the programs into this folder, and run nothing")
    arguments = parser.parse_args()
    chosen = list(programs())
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        for program in chosen:
            (folder / program.name).write_text(program.text, encoding="utf-8")
        if arguments.keep:
            return 0
        tools: dict[str, Callable[[Path], Said]] = {
            "tfmemlint": _tfmemlint,
            "ruff": _ruff,
            "pylint": _pylint,
            "mypy": _mypy,
            "tf_upgrade_v2": _tf_upgrade,
            "semgrep": lambda where: _semgrep(where, arguments.semgrep_config),
        }
        answers = {name: tool(folder) for name, tool in tools.items()}
    PAGE.write_text(page(chosen, answers), encoding="utf-8", newline="\n")
    print("written: docs/comparison.md")
    return 0


@dataclass(frozen=True, slots=True)
class Program:
    """A program of the comparison: the rule of its defect, or "" without one; its file name, and its text."""

    code: str
    name: str
    text: str


def programs() -> Iterator[Program]:
    """Yield the programs: the first example of each rule that is not advice, then some without a defect."""
    chosen = [
        rule for rule in rules() if rule.severity is not Severity.ADVICE and not rule.code.startswith(NOT_COMPARED)
    ]
    for rule in chosen:
        for text in rule.page().code("Example")[:1]:
            yield Program(rule.code, f"{rule.code}_example.py", text)
    for rule in chosen[::EVERY_RIGHT]:
        for text in rule.page().code("Use instead")[:1]:
            yield Program("", f"{rule.code}_instead.py", text)


def page(chosen: list[Program], answers: dict[str, Said]) -> str:
    """Return the page."""
    ran = {name: said for name, said in answers.items() if not said.reason}
    wrong, right = [each for each in chosen if each.code], [each for each in chosen if not each.code]
    parts = [HEAD.format(all=len(chosen), wrong=len(wrong), right=len(right))]
    rows = [
        "| tool | version | defects found | of | reports on programs without a defect |",
        "|---|---|---:|---:|---:|",
    ]
    for name, said in ran.items():
        found = sum(bool(_relevant(name, said, each)) for each in wrong)
        false = sum(any(_about(name, codes) for codes in said.rows[each.name].values()) for each in right)
        rows.append(f"| {name} | {said.version} | {found} | {len(wrong)} | {false} |")
    parts.append("\n".join(rows))
    parts += [f"Not run: {name}: {said.reason}" for name, said in answers.items() if said.reason]
    others = [name for name in ran if name != "tfmemlint"]
    head = [f"| program | tfmemlint | {' | '.join(others)} |", "|---|---|" + "---|" * len(others)]
    for each in wrong:
        cells = [", ".join(sorted(_relevant(name, ran[name], each))) for name in others]
        own = "yes" if each.code in _relevant("tfmemlint", ran["tfmemlint"], each) else ""
        head.append(f"| [{each.code}](rules/{each.code}.md#example) | {own} | {' | '.join(cells)} |")
    parts.append("## Program by program\n\n" + "\n".join(head))
    return "\n\n".join(parts) + "\n\n" + _TAIL


_TAIL = """## What each is for

- **ruff** reads one file, and knows no library: style, bugs of Python, modernisation.
- **pylint** infers what TensorFlow's modules hold where it is installed, and so reports names that the *installed*
  release lacks, as far as TensorFlow's lazy modules can be inferred.
- **mypy** checks types; TensorFlow ships none, so that everything from `tf` on is `Any`.
- **tf_upgrade_v2** renames what TensorFlow 2 has renamed, and reports what it cannot rename. It knows nothing of
  the order in which things happen.
- **semgrep** matches patterns that somebody has written: it has none of its own, and its registry was not searched.

None of them asks when a line runs, or what another module has done before. That is what most of these defects are
about. """


def _relevant(name: str, said: Said, program: Program) -> set[str]:
    """Return the codes in a program that may be about its defect."""
    return {code for codes in said.rows[program.name].values() for code in _about(name, codes)}


def _about(name: str, codes: set[str]) -> set[str]:
    return codes & RELEVANT[name] if name in RELEVANT else codes


def _run(command: list[str], folder: Path) -> str | None:
    if shutil.which(command[0]) is None and not Path(command[0]).exists():
        return None
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", errors="replace")
    return done.stdout


def _beside(name: str) -> str:
    """Return a tool of this interpreter's environment, or its bare name."""
    path = Path(sys.executable).with_name(name)
    return str(path) if path.exists() else name


def _version(command: list[str], folder: Path) -> str:
    found = re.search(r"\d+\.\d+(?:\.\d+)?", _run([*command, "--version"], folder) or "")
    return found[0] if found else ""


def _gather(name: str, arguments: list[str], folder: Path, pattern: str) -> Said:
    """Run a tool, and read its lines by a pattern with the groups ``file``, ``row`` and ``code``."""
    said = Said()
    out = _run([_beside(name), *arguments], folder)
    if out is None:
        said.reason = "it is not installed"
        return said
    said.version = _version([_beside(name)], folder)
    for match in re.finditer(pattern, out, re.MULTILINE):
        said.rows[Path(match["file"]).name][int(match["row"])].add(match["code"])
    return said


def _tfmemlint(folder: Path) -> Said:
    from tfmemlint import __version__

    said = Said(__version__)
    command = [sys.executable, "-m", "tfmemlint", "check", "--gpu-memory", "16GiB"]
    out = _run([*command, "--no-cache", "--output-format", "concise", "."], folder) or ""
    for match in re.finditer(r"^(?P<file>\S+?):(?P<row>\d+):\d+: \w+: (?P<code>TFM\d+)", out, re.MULTILINE):
        said.rows[match["file"]][int(match["row"])].add(match["code"])
    return said


def _ruff(folder: Path) -> Said:
    arguments = ["check", "--isolated", "--no-cache", "--select", "ALL", "--output-format", "concise", "."]
    return _gather("ruff", arguments, folder, r"^(?P<file>\S+?):(?P<row>\d+):\d+: \w+: (?P<code>[\w-]+)")


def _pylint(folder: Path) -> Said:
    names = sorted(path.name for path in folder.glob("*.py"))
    template = "--msg-template={path}:{line}: {symbol}"
    return _gather("pylint", [template, "--score=n", *names], folder, r"^(?P<file>\S+?):(?P<row>\d+): (?P<code>[\w-]+)")


def _mypy(folder: Path) -> Said:
    names = sorted(path.name for path in folder.glob("*.py"))
    arguments = [
        "--check-untyped-defs",
        "--ignore-missing-imports",
        "--no-incremental",
        "--config-file=",
        "--scripts-are-modules",
    ]
    return _gather(
        "mypy", [*arguments, *names], folder, r"^(?P<file>\S+?):(?P<row>\d+): error: .*\[(?P<code>[\w-]+)\]$"
    )


def _tf_upgrade(folder: Path) -> Said:
    said = Said()
    out = folder / "upgraded"
    if (
        _run([_beside("tf_upgrade_v2"), "--intree", ".", "--outtree", str(out), "--reportfile", "report.txt"], folder)
        is None
    ):
        said.reason = "TensorFlow is not installed"
        return said
    from importlib.metadata import version

    said.version = version("tensorflow")
    report = (folder / "report.txt").read_text(encoding="utf-8", errors="replace")
    file = ""
    for line in report.splitlines():
        if found := re.search(r"Processing file '(.*?)'", line):
            file = Path(found[1]).name
        elif found := re.match(r"(?:\S*?:)?(\d+):\d+: (ERROR|WARNING|INFO)", line):
            said.rows[file][int(found[1])].add("renames" if found[2] == "INFO" else found[2].lower())
    return said


def _semgrep(folder: Path, config: str) -> Said:
    if not config:
        return Said(reason="it has no rules of its own (`--semgrep-config` runs it with some)")
    said = Said()
    out = _run([_beside("semgrep"), "scan", "--config", config, "--json", "--metrics=off", "."], folder)
    if out is None:
        return Said(reason="it is not installed")
    said.version = _version([_beside("semgrep")], folder)
    for result in json.loads(out)["results"]:
        said.rows[Path(result["path"]).name][result["start"]["line"]].add(result["check_id"].rpartition(".")[2])
    return said


if __name__ == "__main__":
    sys.exit(main())
