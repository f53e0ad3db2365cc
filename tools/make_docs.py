#!/usr/bin/env python3
"""Make ``docs/rules``: a page for each rule, from its docstring, and a table of them all; and both in Chinese.

With the codes of rules, it makes only their pages and the table. ``--check`` writes nothing and ends with 1 where a
page is not what the rules say.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tfmemlint.model.finding import Severity  # noqa: E402
from tfmemlint.reporters.language import LANGUAGES  # noqa: E402
from tfmemlint.reporters.page import markdown, plain_literals  # noqa: E402
from tfmemlint.reporters.page_texts import page_text  # noqa: E402
from tfmemlint.rulekit.rule import rules  # noqa: E402
from tools.make_errors import messages  # noqa: E402

if TYPE_CHECKING:
    from tfmemlint.rulekit.rule import Rule

DOCS = ROOT / "docs"
FOLDERS = {"rules": "", **{f"{name}/rules": folder for name, folder in LANGUAGES.items()}}
"""The folders of pages below ``docs``, each with the folder of its language in ``tfmemlint/locale``, "" for English."""
GROUNDS = {
    "edge": "checks at TensorFlow's Python edge, with simulated GPUs",
    "driver": "checks with TensorFlow's own allocator, on a simulated driver",
}

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
_ABOUT = (
    "Errors and warnings are reported by default; advice where it is selected: `--select TFM` selects everything.\n"
    "`tfmemlint rule TFM101` prints a page in the terminal."
)
_MORE = (
    "[The English page](../../rules/CODE.md) lists similar programs that are not reported, the runs on TensorFlow, and"
    " related rules."
)
_SEVERITIES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "advice"}


def main() -> int:
    """Write the pages, or compare them; the exit code."""
    parser = argparse.ArgumentParser(prog="tools/make_docs.py", description="Make the pages of docs/rules.")
    parser.add_argument("codes", nargs="*", metavar="CODE", help="a rule; by default, all")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a page is out of date")
    arguments = parser.parse_args()
    check = arguments.check
    wanted = pages()
    found = {
        path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8")
        for folder in FOLDERS
        for path in (DOCS / folder).glob("*.md")
    }
    if unknown := {f"rules/{code}.md" for code in arguments.codes} - wanted.keys():
        print(f"tools/make_docs.py: there is no rule {Path(min(unknown)).stem}", file=sys.stderr)
        return 2
    if arguments.codes:
        chosen = {f"{folder}/{name}.md" for folder in FOLDERS for name in ("README", *arguments.codes)}
        wanted, found = ({name: text for name, text in texts.items() if name in chosen} for texts in (wanted, found))
    stale = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
    for name in stale:
        print(f"{'out of date' if check else 'written' if name in wanted else 'removed'}: docs/{name}")
        if not check:
            _write(DOCS / name, wanted.get(name))
    if check and stale:
        print("run: python tools/make_docs.py", file=sys.stderr)
    return 1 if check and stale else 0


def pages() -> dict[str, str]:
    """Return the text of every page by its path below ``docs``, only of the rules of this project."""
    own = [rule for rule in rules() if type(rule).__module__.startswith("tfmemlint.rules.")]
    made = {f"rules/{rule.code}.md": page(rule, own) for rule in own}
    for folder, language in FOLDERS.items():
        if language:
            made.update({f"{folder}/{rule.code}.md": translated(rule, language) for rule in own})
        made[f"{folder}/README.md"] = _table(own, language)
    return made


def page(rule: Rule, own: list[Rule]) -> str:
    """Return a rule's page: what the rule says, and what the fixtures, the evidence and the other rules add."""
    parts = [markdown(rule), *_not_reported(rule), *_evidence(rule), *_related(rule, own)]
    return "\n".join(parts)


def translated(rule: Rule, language: str) -> str:
    """Return a rule's page in another language, which leads to the English one for all that the fixtures add."""
    return f"{markdown(rule, language)}\n{page_text(_MORE, language)}\n".replace("CODE", rule.code)


def _not_reported(rule: Rule) -> Iterator[str]:
    """Yield the section about code that looks alike."""
    folder = ROOT / "fixtures" / rule.code
    found = sorted(path for path in folder.glob("ok_*") if path.is_file())
    if found:
        links = [f"[{_words(path)}](../../{path.relative_to(ROOT).as_posix()})" for path in found]
        head = "Similar programs that the rule does not report; tests hold that:"
        yield f"## Not reported\n\n{head}\n{', '.join(links)}.\n"


def _words(path: Path) -> str:
    words = path.name.partition(".")[0].removeprefix("ok_").replace("_", " ")
    return re.sub(r"\bcard\b", "GPU", words)


def _evidence(rule: Rule) -> Iterator[str]:
    """Yield the section about the runs of the rule's fixtures on TensorFlow."""
    lines = []
    for ground, words in GROUNDS.items():
        seen = _cases(ground).get(rule.code, [])
        counts = Counter(name for case in seen for names in case["seen"].values() for name in names)
        if seen:
            wrong = sum(text.startswith("NOT AS EXPECTED") for case in seen for text in case["seen"])
            result = "all as expected" if not wrong else f"all but {wrong} as expected"
            releases = ", ".join(f"{counts[name]} on {name}" for name in sorted(counts, key=_as_numbers))
            lines.append(f"- {words}: {releases}; {result}")
    if lines:
        where = "[Evidence](../evidence/README.md) says how; [recall](../recall.md) lists the programs."
        yield "## Evidence\n\nThe programs of this rule, run on several releases of TensorFlow:\n\n" + "\n".join(
            [*lines, "", where, ""]
        )


@lru_cache(maxsize=2)
def _cases(ground: str) -> dict[str, list[dict[str, Any]]]:
    text = (ROOT / "docs" / "evidence" / f"{ground}.json").read_text(encoding="utf-8")
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for case in json.loads(text)["cases"]:
        found[case["fixture"].partition("/")[0]].append(case)
    return found


def _as_numbers(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


def _related(rule: Rule, own: list[Rule]) -> Iterator[str]:
    """Yield the section about other rules: those that this one names or takes the place of, and those whose defects end
    in the same message."""
    named = {code for code in re.findall(r"TFM\d{3}", rule.__doc__ or "") if code != rule.code}
    reasons: dict[str, str] = dict.fromkeys(sorted(named), "is named on this page")
    for message, seen in sorted(messages().items()):
        if rule.code in seen.codes and len(seen.codes) < 4:
            reasons.update({code: f"ends in `{message}`, too" for code in seen.codes if code != rule.code})
    instead = "is reported in its place where both apply"
    reasons.update({other.code: instead for other in own if rule.code in other.supersedes})
    reasons.update(dict.fromkeys(rule.supersedes, "is not reported where this rule applies"))
    summaries = {other.code: other for other in own}
    lines = [
        f"- [{code}]({code}.md) {summaries[code].name}: {reason}"
        for code, reason in sorted(reasons.items())
        if code in summaries
    ]
    if lines:
        yield "## Related rules\n\n" + "\n".join(lines) + "\n"


def _table(own: list[Rule], language: str) -> str:
    parts = [f"# {page_text('Rules', language)}", page_text(_ABOUT, language)]
    for beginning, heading in GROUPS.items():
        lines = [_line(rule, language) for rule in own if rule.code.startswith(beginning)]
        if lines:
            names = " | ".join(page_text(name, language) for name in ("rule", "name", "severity", "fix"))
            parts += [
                f"## {page_text(heading, language)}",
                "\n".join([f"| {names} | |", "|---|---|---|---|---|", *lines]),
            ]
    return "\n\n".join(parts) + "\n"


def _line(rule: Rule, language: str) -> str:
    summary = page_text(plain_literals(" ".join(rule.page().summary.split())), language).replace("|", "\\|")
    severity, fixable = (page_text(word, language) for word in (_SEVERITIES[rule.severity], rule.fixable))
    return f"| [{rule.code}]({rule.code}.md) | {rule.name} | {severity} | {fixable} | {summary} |"


def _write(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    sys.exit(main())
