#!/usr/bin/env python3
"""Make ``docs/rules``: a page for each rule, from its docstring, and a table of them all.

With the codes of rules, it makes only their pages and the table. ``--check`` writes nothing and ends with 1 where a
page is not what the rules say.
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
    parser.add_argument("codes", nargs="*", metavar="CODE", help="a rule; by default, all")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a page is out of date")
    arguments = parser.parse_args()
    check = arguments.check
    wanted = pages()
    found = {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")}
    if unknown := {f"{code}.md" for code in arguments.codes} - wanted.keys():
        print(f"tools/make_docs.py: there is no rule {min(unknown)[:-3]}", file=sys.stderr)
        return 2
    if arguments.codes:
        chosen = {"README.md", *(f"{code}.md" for code in arguments.codes)}
        wanted, found = ({name: text for name, text in texts.items() if name in chosen} for texts in (wanted, found))
    stale = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
    for name in stale:
        print(f"{'out of date' if check else 'written' if name in wanted else 'removed'}: docs/rules/{name}")
        if not check:
            _write(PAGES / name, wanted.get(name))
    if check and stale:
        print("run: python tools/make_docs.py", file=sys.stderr)
    return 1 if check and stale else 0


def pages() -> dict[str, str]:
    """Return the text of every page by file name, only of the rules of this project."""
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
