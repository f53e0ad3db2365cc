#!/usr/bin/env python3
"""Put what the tool prints about the articles into README.md and docs; ``--check`` only compares.

A block of text behind ``<!-- COMMAND: FILE ... -->`` is the output of that command on those articles (all of them where
none is named), without the comments of the fixtures; behind ``<!-- check: NAME -->``, what is found in that folder of
``fixtures/programs``. Needs TensorFlow.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.articles import copy_articles  # noqa: E402
from tests.fixture_files import read_text, strip_markers  # noqa: E402
from tfmemlint.verify.choose_ground import DriverGround  # noqa: E402
from tfmemlint.verify.result import GroundError  # noqa: E402

PAGES = ("README.md", "docs/plan.md", "docs/programs.md", "docs/settings.md", "docs/verify.md")
_BLOCK = re.compile(
    r"(<!-- (?P<command>(?:verify|plan|check)\b[^:]*?)(?:: (?P<files>[^>]*?))? -->\n```text\n)(?P<text>.*?)(?=```)",
    re.DOTALL,
)
_VERSION = re.compile(r"TensorFlow \d+\.\d+\.\d+\w*")


def main() -> int:
    """Write the blocks, or compare them."""
    parser = argparse.ArgumentParser(
        prog="tools/make_verify.py", description="Write what the tool prints into the pages."
    )
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 where a page is out of date")
    check = parser.parse_args().check
    stale = 0
    for page in PAGES:
        path = ROOT / page
        text = path.read_text(encoding="utf-8")
        new = _BLOCK.sub(_renewed, text)
        if _VERSION.sub("TensorFlow", new) != _VERSION.sub("TensorFlow", text):
            stale += 1
            print(f"{page} {'is out of date' if check else 'is written'}")
            if not check:
                path.write_text(new, encoding="utf-8")
    return 1 if check and stale else 0


def _renewed(block: re.Match[str]) -> str:
    if "--device driver" in block["command"]:
        try:
            DriverGround()
        except GroundError:
            return block[0]  # it can't be had here
    return block[1] + _printed(block["command"], block["files"] or "")


def _printed(command: str, files: str) -> str:
    command, _, fixture = command.partition(" in ")
    with tempfile.TemporaryDirectory() as folder:
        where, named = Path(folder), files.split()
        if fixture:
            _copy(ROOT / "fixtures" / fixture.strip(), where)
        else:
            where = where / "articles"
            where.mkdir()
            copy_articles(where)
            if not named:
                where, named = Path(folder), ["articles"]
        more = ["--device", "edge"] if command.startswith("verify") and "--device" not in command else []
        tool = [sys.executable, "-m", "tfmemlint", *shlex.split(command), *more, *named]
        return subprocess.run(tool, cwd=where, capture_output=True, text=True, encoding="utf-8").stdout.rstrip() + "\n"


def _copy(fixture: Path, folder: Path) -> None:
    """Copy the files of a fixture, without the comments on expected findings."""
    for path in fixture.rglob("*"):
        copy = folder / path.relative_to(fixture)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file() and path.suffix == ".py":
            copy.write_text(strip_markers(read_text(path))[0], encoding="utf-8")
        elif path.is_file():
            copy.write_bytes(path.read_bytes())


if __name__ == "__main__":
    sys.exit(main())
