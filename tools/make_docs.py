#!/usr/bin/env python3
"""Make ``docs/rules``: a page for each rule, from its docstring, and a table of them all.

``--check`` writes nothing and ends with 1 where a page is not what the rules say.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tfmemlint.model.finding import Severity
from tfmemlint.reporters.page import markdown
from tfmemlint.rulekit.rule import rules

if TYPE_CHECKING:
    from tfmemlint.rulekit.rule import Rule

PAGES = Path(__file__).resolve().parents[1] / "docs" / "rules"

GROUPS = {
    "TFM1": "Too late: configuration after the runtime has started",
    "TFM2": "Made up: names that TensorFlow does not have",
    "TFM3": "Refused: values and arguments that do not mean what they seem to",
    "TFM4": "In conflict: settings that undo each other",
    "TFM5": "Sessions: TF1's options in TF2's programs",
    "TFM6": "Reports: reading memory wrongly",
    "TFM7": "Misunderstood: it runs, and does something else",
    "TFM8": "Outside the code: environment and containers",
    "TFM9": "About the run itself",
}
_SEVERITIES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "advice"}


def main() -> int:
    """Write the pages, or compare them; the exit code."""
    parser = argparse.ArgumentParser(prog="tools/make_docs.py", description="Make the pages of docs/rules.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a page is out of date")
    check = parser.parse_args().check
    wanted = pages()
    found = {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")}
    stale = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
    for name in stale:
        print(f"{'out of date' if check else 'written' if name in wanted else 'removed'}: docs/rules/{name}")
        if not check:
            _write(PAGES / name, wanted.get(name))
    if check and stale:
        print("run: python tools/make_docs.py", file=sys.stderr)
    return 1 if check and stale else 0


def pages() -> dict[str, str]:
    """The text of every page, by its file's name; only of the rules that this project brings."""
    own = [rule for rule in rules() if type(rule).__module__.startswith("tfmemlint.rules.")]
    return {**{f"{rule.code}.md": markdown(rule) for rule in own}, "README.md": _table(own)}


def _table(own: list[Rule]) -> str:
    parts = [
        "# Rules",
        "Errors and warnings are reported by default; advice where it is selected: `--select TFM` selects everything.\n"
        "`tfmemlint rule TFM101` prints a page in the terminal.",
    ]
    for beginning, heading in GROUPS.items():
        lines = [_line(rule) for rule in own if rule.code.startswith(beginning)]
        if lines:
            head = ["| rule | name | severity | fix | |", "|---|---|---|---|---|"]
            parts += [f"## {heading}", "\n".join([*head, *lines])]
    return "\n\n".join(parts) + "\n"


def _line(rule: Rule) -> str:
    summary = " ".join(rule.page().summary.split()).replace("``", "`").replace("|", "\\|")
    return (
        f"| [{rule.code}]({rule.code}.md) | {rule.name} | {_SEVERITIES[rule.severity]} | {rule.fixable} | {summary} |"
    )


def _write(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    sys.exit(main())
