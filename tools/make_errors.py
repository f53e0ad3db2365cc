#!/usr/bin/env python3
"""Make ``docs/errors.md``: each message that TensorFlow raises about GPU memory, its cause, its rule, its fix; and the
same in Chinese.

The messages are those that were seen when the fixtures were run on TensorFlow (``docs/evidence``), with the releases on
which they were seen. ``--check`` writes nothing and ends with 1 where a page is not what the evidence says.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tfmemlint.reporters.language import LANGUAGES  # noqa: E402
from tfmemlint.reporters.page import plain_literals  # noqa: E402
from tfmemlint.reporters.page_texts import page_text  # noqa: E402
from tfmemlint.rulekit.rule import Rule, rules  # noqa: E402
from tools.error_words import WORDS  # noqa: E402

PAGES = {"": "docs/errors.md", **{folder: f"docs/{name}/errors.md" for name, folder in LANGUAGES.items()}}
"""By the folder of the language in ``tfmemlint/locale``, the path of the page."""
EVIDENCE = ("edge", "driver")
NO_CAUSE = ("TFM9",)
"""Rules about the run itself: their fixtures raise for reasons of their own."""
OWN_EXCEPTIONS = ("AssertionError",)
"""Exceptions that the programs of the fixtures raise themselves."""
FIRST = ("RuntimeError", "ValueError")
"""The exceptions that stand first, as most people come with them; the others follow by the number of programs."""
_RAISED = re.compile(r"^(?:starting the runtime after )?it raised (?P<quote>['\"])(?P<text>.*)", re.DOTALL)
_PLAIN = re.compile(r"^(?P<text>\w+Error: .*)", re.DOTALL)
_OURS = re.compile(r"'[^']*'|\"[^\"]*\"|(?<=device: )[\[(]?PhysicalDevice.*|(?<=device: )LogicalDevice.*|\b\d+\b")
_FUNCTION_NODE = re.compile(r"\{\{function_node [^}]*\}\} ?")
_EXTRA = re.compile(r"(\. The following argument types.*| \(\.\.\.\)?|\\n.*)$", re.DOTALL)
_EXPECTED = re.compile(r"raises (\w+: .*)", re.DOTALL)
_SHORT_CHARACTERS = 40
"""A message that the evidence cuts off ends at the last comma or full stop, if so much of it is left then."""


@dataclass
class Message:
    """Messages that differ in names and numbers of the program alone.

    Attributes:
        variants: each message as it was raised, with the codes of the rules and the releases.
    """

    variants: dict[str, tuple[set[str], set[str]]] = field(default_factory=lambda: defaultdict(lambda: (set(), set())))

    @property
    def codes(self) -> list[str]:
        """Return the rules that report the cause, most often seen first."""
        counts: dict[str, int] = defaultdict(int)
        for found, _ in self.variants.values():
            for code in found:
                counts[code] += 1
        return sorted(counts, key=lambda code: (-counts[code], code))

    @property
    def releases(self) -> list[str]:
        """Return the releases on which one of them was seen, oldest first."""
        return sorted({name for _, seen in self.variants.values() for name in seen}, key=_as_numbers)


def main() -> int:
    """Write the page, or compare it; the exit code."""
    parser = argparse.ArgumentParser(prog="tools/make_errors.py", description="Make docs/errors.md.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the page is out of date")
    check = parser.parse_args().check
    stale = [(ROOT / path, page(folder)) for folder, path in PAGES.items()]
    stale = [(path, text) for path, text in stale if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path, text in stale:
        print(f"{'out of date' if check else 'written'}: {path.relative_to(ROOT).as_posix()}")
        if not check:
            path.write_text(text, encoding="utf-8", newline="\n")
    if check and stale:
        print("run: python tools/make_errors.py", file=sys.stderr)
    return 1 if check and stale else 0


def page(folder: str = "") -> str:
    """Return the text of the page, in the language of a folder of ``tfmemlint/locale``."""
    parts = [WORDS[folder]["head"]]
    for heading, messages in _by_exception().items():
        parts.append(f"## {heading}")
        parts += [_entry(skeleton, message, folder) for skeleton, message in messages]
    parts += [_nothing_raised(folder), _log(folder)]
    return "\n\n".join(parts) + "\n"


@lru_cache(maxsize=1)
def messages() -> dict[str, Message]:
    """Return what was raised, by the message without the names and numbers of the program."""
    found: dict[str, Message] = defaultdict(Message)
    for ground in EVIDENCE:
        for case in _cases(ground):
            if case["side"] != "failing" or case["fixture"].startswith(NO_CAUSE) or "/ok_" in case["fixture"]:
                continue
            for seen, releases in case["seen"].items():
                text = raised(seen, case["expected"])
                if text and not text.startswith(OWN_EXCEPTIONS):
                    codes, at = found[_skeleton(text)].variants[text]
                    codes.add(case["fixture"].partition("/")[0])
                    at.update(releases)
    for rule in rules():
        for text in said(rule):
            variants = found[_skeleton(text)].variants
            if not any(text.startswith(other) or other.startswith(text) for other in variants):
                variants[text][0].add(rule.code)
    return dict(found)


def said(rule: Rule) -> list[str]:
    """Return the messages in the rule's own section *Seen as*; those that are only logged are left out."""
    written = " ".join(rule.page().sections.get("Seen as", "").partition("n the log")[0].split())
    return re.findall(r"``(\w+Error: (?:[^`]|`(?!`))+)``", written)


def raised(seen: str, expected: str = "") -> str:
    """Return the message in a line of the evidence, "" if nothing was raised.

    Args:
        seen: the line; the evidence cuts off long ones.
        expected: what the fixture says, which may have more of the message.
    """
    match = _RAISED.match(seen) or _PLAIN.match(seen)
    if match is None:
        return ""
    text = match["text"].replace("\\'", "'")
    if "quote" in match.groupdict():
        text = re.sub(rf"{match['quote']}(?: \(line \d+\))?\)?$", "", text)
    text = _EXTRA.sub("", _FUNCTION_NODE.sub("", text)).strip()
    if not text.endswith("..."):
        return text
    text = text.removesuffix("...").strip()
    claim = _EXPECTED.search(expected)
    if claim is not None and claim[1].startswith(text):
        return claim[1]
    end = max(text.rfind(". "), text.rfind(", ", _SHORT_CHARACTERS))
    return text[:end] if end > _SHORT_CHARACTERS else text.rsplit(" ", 1)[0]


def _cases(ground: str) -> Iterator[dict[str, Any]]:
    yield from json.loads((ROOT / "docs" / "evidence" / f"{ground}.json").read_text(encoding="utf-8"))["cases"]


def _skeleton(text: str) -> str:
    return _OURS.sub("…", text).replace("……", "…")


def _by_exception() -> dict[str, list[tuple[str, Message]]]:
    """Return the messages by the name of the exception; the exception with most programs first, so are its messages."""
    grouped: dict[str, list[tuple[str, Message]]] = defaultdict(list)
    for skeleton, message in sorted(messages().items(), key=lambda item: (-_weight(item[0]), item[0])):
        grouped[skeleton.partition(":")[0]].append((skeleton, message))

    def place(item: tuple[str, list[tuple[str, Message]]]) -> tuple[int, int]:
        name, entries = item
        return FIRST.index(name) if name in FIRST else len(FIRST), -sum(_weight(skeleton) for skeleton, _ in entries)

    return dict(sorted(grouped.items(), key=place))


@lru_cache(maxsize=1)
def _weights() -> dict[str, int]:
    weights: dict[str, int] = defaultdict(int)
    for ground in EVIDENCE:
        for case in _cases(ground):
            for text in filter(None, (raised(seen, case["expected"]) for seen in case["seen"])):
                weights[_skeleton(text)] += 1
    return weights


def _weight(skeleton: str) -> int:
    return _weights()[skeleton]


def _entry(skeleton: str, message: Message, folder: str) -> str:
    words, texts = WORDS[folder], sorted(message.variants)
    heading = texts[0] if len(texts) == 1 else skeleton
    lines = [f"### {_code(heading)}"]
    if len(texts) > 1:
        rows = [
            f"| {_code(text.partition(': ')[2] or text)} | {', '.join(map(_linked, sorted(codes)))} |"
            f" {_range(at, folder)} |"
            for text, (codes, at) in sorted(message.variants.items())
        ]
        lines.append("\n".join([words["table"], "|---|---|---|", *rows]))
    lines += [words[heading]] if heading in words else []
    lines += [_cause(code, folder) for code in message.codes]
    if len(texts) == 1:
        seen = words["seen" if message.releases else "seen in the tests"]
        lines.append(seen.format(releases=_range(message.releases, folder)))
    return "\n\n".join(lines)


def _cause(code: str, folder: str) -> str:
    words, rule = WORDS[folder], _rule(code)
    why = page_text(plain_literals(rule.page().sections["Why it matters"].split("\n\n")[0]), folder)
    return f"**{_summary(code, folder)}** {why}\n{words['page'].format(rule=_linked(code), fix=words[rule.fixable])}"


def _summary(code: str, folder: str) -> str:
    return page_text(plain_literals(" ".join(_rule(code).page().summary.split())), folder)


def _nothing_raised(folder: str) -> str:
    """Return the section about programs that run, and take the whole GPU all the same."""
    codes = {
        str(case["fixture"]).partition("/")[0]
        for case in _cases("driver")
        if case["side"] == "failing" and case["expected"] == "memory: all"
    }
    rows = [f"| {_summary(code, folder)} | {_linked(code)} |" for code in sorted(codes)]
    return "\n".join([WORDS[folder]["nothing"], "|---|---|", *rows])


def _log(folder: str) -> str:
    """Return the section about messages that TensorFlow only logs."""
    rows = []
    for rule in rules():
        seen = " ".join(rule.page().sections.get("Seen as", "").split())
        if "n the log" in seen:
            logged = re.findall(r"``([^`]+)``", seen.partition("n the log")[2])
            rows += [f"| `{text}` | {_linked(rule.code)} |" for text in logged]
    return "\n".join([WORDS[folder]["log"], "|---|---|", *rows])


@lru_cache(maxsize=1)
def _rules() -> dict[str, Rule]:
    return {rule.code: rule for rule in rules()}


def _rule(code: str) -> Rule:
    return _rules()[code]


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _linked(code: str) -> str:
    return f"[{code}](rules/{code}.md)"


def _range(releases: set[str] | list[str], folder: str) -> str:
    if not releases:
        return WORDS[folder]["in the tests"]
    names = sorted(releases, key=_as_numbers)
    return ", ".join(names) if len(names) < 3 else WORDS[folder]["range"].format(first=names[0], last=names[-1])


def _as_numbers(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


if __name__ == "__main__":
    sys.exit(main())
