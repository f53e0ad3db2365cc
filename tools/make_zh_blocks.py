#!/usr/bin/env python3
"""Put the blocks of the English pages into their Chinese translations; ``--check`` only compares.

A block in ``docs/zh/PAGE.md`` below the same comments as one in ``docs/PAGE.md`` (``<!-- output: ... -->``), gets
the text of that one: no example is run a second time. Each other block must be in the English page as well, but for its
comments, which are translated; `differences` lists those that are not.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"

_BLOCK = re.compile(
    r"(?P<marks>(?:^<!-- [^>]*-->\n)*)^(?P<fence>`{3,})(?P<language>[\w-]+)\n(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
_COMMENT = re.compile(r"\s*#.*$", re.MULTILINE)
_LANGUAGE = re.compile(r" --lang zh\b")


@dataclass(frozen=True)
class Block:
    """A block of code, with the comments above it, its language and its text."""

    marks: str
    language: str
    text: str

    @property
    def plain(self) -> str:
        """The text without what a translation changes."""
        return _LANGUAGE.sub("", _COMMENT.sub("", self.text)).strip()


def main() -> int:
    """Write the blocks, or compare them; the exit code."""
    parser = argparse.ArgumentParser(prog="tools/make_zh_blocks.py", description="Write the blocks of docs/zh.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a page is out of date")
    check = parser.parse_args().check
    stale = 0
    for path, english in translated():
        text = path.read_text(encoding="utf-8")
        new = renewed(text, english.read_text(encoding="utf-8"))
        if new != text:
            stale += 1
            print(f"{'out of date' if check else 'written'}: {path.relative_to(ROOT).as_posix()}")
            if not check:
                path.write_text(new, encoding="utf-8", newline="\n")
    return 1 if check and stale else 0


def translated() -> Iterator[tuple[Path, Path]]:
    """Yield the Chinese pages, each with the English one."""
    for path in sorted((DOCS / "zh").glob("*.md")):
        yield path, DOCS / path.name


def blocks(text: str) -> list[Block]:
    """Return the blocks of a page."""
    return [Block(match["marks"], match["language"], match["text"]) for match in _BLOCK.finditer(text)]


def renewed(text: str, english: str) -> str:
    """Return a Chinese page with the blocks of the English one."""
    known = {(block.marks, block.language): block.text for block in blocks(english) if block.marks}

    def written(match: re.Match[str]) -> str:
        new = known.get((match["marks"], match["language"]))
        if new is None or new == match["text"] or ("#" in new and match["language"] != "text"):
            return match[0]
        return f"{match['marks']}{match['fence']}{match['language']}\n{new}{match['fence']}"

    return _BLOCK.sub(written, text)


def differences(text: str, english: str) -> list[str]:
    """Return the blocks of a Chinese page that the English page does not have."""
    known = {(block.language, block.plain) for block in blocks(english)}
    return [block.text for block in blocks(text) if (block.language, block.plain) not in known]


if __name__ == "__main__":
    sys.exit(main())
