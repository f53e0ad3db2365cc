#!/usr/bin/env python3
"""Make ``tfmemlint/facts/search_index.py``: what the search of bytes looks for, found once instead of at each start.

``--check`` writes nothing and ends with 1 where the file is not what the rules state.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from pathlib import Path

INDEX = Path(__file__).resolve().parents[1] / "tfmemlint" / "facts" / "search_index.py"
_HEAD = '''"""The words and expressions that the search of bytes looks for, as `tfmemlint.facts.line_search` takes it.

``tools/make_search_index.py`` makes this file from the triggers of the rules.
"""

# fmt: off
# ruff: noqa: E501, RUF100
from __future__ import annotations

from tfmemlint.facts.line_search import Group
'''


def main() -> int:
    """Write the file, or compare it; the exit code."""
    parser = argparse.ArgumentParser(prog="tools/make_search_index.py", description=f"Make {INDEX.name}.")
    parser.add_argument("--check", action="store_true", help="only say whether the file is up to date")
    known = INDEX.read_text(encoding="utf-8") if INDEX.exists() else ""
    made = text()
    if known == made:
        return 0
    if parser.parse_args().check:
        print(f"{INDEX.name} is out of date: tools/make_search_index.py makes it", file=sys.stderr)
        return 1
    INDEX.write_text(made, encoding="utf-8")
    return 0


def text() -> str:
    """Return the file."""
    if not INDEX.exists():
        # The rules import it.
        INDEX.write_text(f"{_HEAD}\nTRIGGERS = LAUNCHED = CONFIGURING = ()\n", encoding="utf-8")
    from tfmemlint.knowledge.configuring import WORDS
    from tfmemlint.rulekit.rule import rules

    own = [rule for rule in rules() if type(rule).__module__.startswith("tfmemlint.rules.")]
    parts = (
        ("TRIGGERS", [word for rule in own for word in rule.triggers or ()], "The triggers of the tool's own rules."),
        ("LAUNCHED", [word for rule in own for word in rule.launch_triggers], "Those for programs that are launched."),
        ("CONFIGURING", map(re.escape, WORDS), "The words of code that configures GPUs."),
    )
    return "\n".join([_HEAD, *(_part(*part) for part in parts)])


def _part(name: str, patterns: Iterable[str], words: str) -> str:
    from tfmemlint.facts.line_groups import grouped

    shown = "".join(f"    {group!r},\n" for group in grouped(patterns))
    return f'{name}: tuple[Group, ...] = (\n{shown})\n"""{words}"""\n'


if __name__ == "__main__":
    sys.exit(main())
