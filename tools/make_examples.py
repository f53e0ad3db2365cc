#!/usr/bin/env python3
"""Put what the tool prints about a page's own examples into the pages of ``docs``; ``--check`` only compares.

``<!-- file: train.py -->`` above a block of code makes it a file; ``<!-- output: tfmemlint check train.py -->`` above a
block of text makes that the output of the command, run where the files of the page are. Needs no TensorFlow.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
HOME = "/home/you/project"
"""Stands in the pages for the folder of the examples."""

_FILE = re.compile(r"<!-- file: (?P<name>[^ ]+) -->\n(?P<fence>`{3,})\w*\n(?P<text>.*?)(?P=fence)", re.DOTALL)
_OUTPUT = re.compile(
    r"(?P<head><!-- output: (?P<command>[^>]+?) -->\n(?P<fence>`{3,})\w*\n)(?P<text>.*?)(?=(?P=fence))", re.DOTALL
)


def main() -> int:
    """Write the blocks, or compare them; the exit code."""
    parser = argparse.ArgumentParser(prog="tools/make_examples.py", description="Write what the tool prints into docs.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a page is out of date")
    check = parser.parse_args().check
    stale = 0
    for path in sorted(DOCS.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        if "<!-- output: " not in text:
            continue
        new = renewed(text)
        if new != text:
            stale += 1
            print(f"{'out of date' if check else 'written'}: {path.relative_to(ROOT).as_posix()}")
            if not check:
                path.write_text(new, encoding="utf-8", newline="\n")
    return 1 if check and stale else 0


def renewed(text: str) -> str:
    """Return a page with the outputs of today."""
    with tempfile.TemporaryDirectory() as folder:
        for match in _FILE.finditer(text):
            path = Path(folder) / match["name"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(match["text"], encoding="utf-8")
        return _OUTPUT.sub(_printer(folder), text)


def _printer(folder: str) -> Callable[[re.Match[str]], str]:
    def printed(match: re.Match[str]) -> str:
        program, *arguments = shlex.split(match["command"])
        assert program == "tfmemlint", match["command"]
        command = [sys.executable, "-m", "tfmemlint", *arguments]
        environment = {**os.environ, "COLUMNS": "100"}
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", env=environment)
        return match["head"] + done.stdout.replace(os.path.realpath(folder), HOME).rstrip() + "\n"

    return printed


if __name__ == "__main__":
    sys.exit(main())
