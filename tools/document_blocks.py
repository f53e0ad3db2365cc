"""Find the code in all documents below some directories, and hold it against what its readers promise.

    python tools/document_blocks.py PATH... [--unread N]

Each line of a block must stand in the file where the block says, and no row may be in two blocks. Prints, for each kind
of document, how many blocks of each language there are and how long reading took; with ``--unread``, that many blocks
that are said to be Python and can't be read as such, to see whose fault that is.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

from tfmemlint.sources import kinds
from tfmemlint.sources.documents import docstrings, markdown, restructured
from tfmemlint.sources.documents.blocks import PYTHON, Block
from tfmemlint.sources.magics import as_python
from tfmemlint.sources.text import normalized

READERS: dict[str | None, tuple[str, Callable[[str], list[Block]]]] = {
    kinds.MARKDOWN: (kinds.MARKDOWN, markdown.blocks),
    kinds.RST: (kinds.RST, restructured.blocks),
    kinds.PYTHON: (kinds.DOCSTRING, docstrings.blocks),
}


def wrong(text: str, blocks: list[Block]) -> str | None:
    """Return a claim of a block that is wrong; None if all are right."""
    lines = text.split("\n")
    used: set[int] = set()
    for block in blocks:
        *code, last = block.text.split("\n")
        if last or not len(code) == len(block.rows) == len(block.starts) or not code:
            return f"row {block.rows[:1]}: lines, rows and starts are not as many"
        if sorted(set(block.rows)) != list(block.rows) or not used.isdisjoint(block.rows):
            return f"row {block.rows[0]}: rows that do not rise, or are in another block"
        used.update(block.rows)
        for row, start, line in zip(block.rows, block.starts, code, strict=True):
            there = lines[row - 1]
            if start < 0 or (there[start:] != line if block.fixable else line.strip() not in there):
                return f"row {row}: {line!r} is not there from {start}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--unread", type=int, default=0, metavar="N")
    arguments = parser.parse_args()
    files: Counter[str] = Counter()
    characters: Counter[str] = Counter()
    seconds: defaultdict[str, float] = defaultdict(float)
    languages: dict[str, Counter[str]] = {name: Counter() for name, _ in READERS.values()}
    unread: list[str] = []
    failed = 0
    for path in sorted(file for top in arguments.paths for file in top.rglob("*") if file.is_file()):
        name, read = READERS.get(kinds.kind_of(path.name), ("", None))
        if read is None:
            continue
        try:
            text = normalized(path.read_bytes().decode("utf-8"))[0]
        except UnicodeDecodeError:
            continue
        before = time.process_time()
        blocks = read(text)
        files[name] += 1
        characters[name] += len(text)
        seconds[name] += time.process_time() - before
        reason = wrong(text, blocks)
        if reason is not None:
            failed += 1
            print(f"{path}: {reason}", file=sys.stderr)
        for block in blocks:
            languages[name][block.language or "(not said)"] += 1
            if block.language == PYTHON:
                problem = as_python(block.text.removesuffix("\n")).problem
                languages[name]["(Python that can be read)"] += problem is None
                if problem is not None:
                    unread.append(f"{path}:{block.rows[problem[0] - 1]}: {problem[1]}\n{block.text}")
    for name, count in files.items():
        print(f"{name}: {count} files, {characters[name]:,} characters, {seconds[name]:.1f} s")
        for language, number in languages[name].most_common():
            print(f"  {number:6} {language}")
    for line in random.Random(0).sample(unread, min(arguments.unread, len(unread))):
        print(line)
    print(f"{failed} files with blocks that are not where they say" if failed else "All blocks are where they say.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
