#!/usr/bin/env python3
"""Compile the catalogues of ``tfmemlint/locale``, and list the messages that have no translation.

A catalogue is a ``.po`` file of gettext, which translators edit with the tools that they know. Its message ids are the
English messages, with fields (``{call} after the runtime has started: {start} starts it``): see
``tfmemlint/reporters/language.py``. The messages are those of ``tests/snapshots``. ``--check`` writes nothing, and ends
with 1 where a ``.mo`` file is out of date.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import polib  # type: ignore[import-untyped]  # it ships no types

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tfmemlint.reporters.catalogue import Catalogue, catalogue  # noqa: E402
from tfmemlint.reporters.language import LANGUAGES  # noqa: E402

SNAPSHOTS = ROOT / "tests" / "snapshots"
_HEADER = re.compile(r"\S+?:\d+:\d+: \w+: TFM\d+ (?:\[\*\] )?(?P<text>.+)")
_LABELLED = re.compile(r" +(?P<label>intent|TensorFlow|help|note|fix|trace): (?P<text>.+)")
_SENTENCE = re.compile(r"(?<![\w.'\"])[A-Za-z]+ [a-z]+\b")
"""Two words side by side, which code does not have: an intent may be a name or an assignment alone."""
_PLACE = re.compile(r"\S+:\d+:\d+: ")


def main() -> int:
    """Write the compiled catalogues, or compare them; the exit code."""
    parser = argparse.ArgumentParser(prog="tools/make_messages.py", description="Compile the catalogues.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a catalogue is out of date")
    parser.add_argument("--missing", metavar="CODE", help="list the messages without a translation of these rules")
    arguments = parser.parse_args()
    stale = 0
    for folder in LANGUAGES.values():
        for source in sorted((ROOT / "tfmemlint" / "locale" / folder / "LC_MESSAGES").glob("*.po")):
            stale += _compile(source, write=not arguments.check)
        if arguments.missing:
            for code, text in missing(catalogue(folder)):
                if code.startswith(arguments.missing.upper()):
                    print(f"{folder}: {code}: {text}")
    return 1 if arguments.check and stale else 0


def _compile(source: Path, *, write: bool) -> bool:
    """Return True if the compiled catalogue is out of date, which is written then."""
    compiled = source.with_suffix(".mo")
    data = polib.pofile(str(source)).to_binary()
    if compiled.exists() and compiled.read_bytes() == data:
        return False
    print(f"{'written' if write else 'out of date'}: {compiled.relative_to(ROOT).as_posix()}")
    if write:
        compiled.write_bytes(data)
    return True


def messages() -> Iterator[tuple[str, str]]:
    """Yield every text that the snapshots show to people, with the code of the rule of its snapshot."""
    for path in sorted(SNAPSHOTS.rglob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if match := _HEADER.fullmatch(line) or _LABELLED.fullmatch(line):
                label = match.groupdict().get("label")
                yield path.stem, _PLACE.sub("", match["text"], count=1) if label == "trace" else match["text"]


def missing(known: Catalogue) -> list[tuple[str, str]]:
    """Return the texts that a catalogue leaves in English, each once for a rule."""
    texts = (found for found in dict.fromkeys(messages()) if _SENTENCE.search(found[1]))
    return [(code, text) for code, text in texts if not known.is_whole(text)]


if __name__ == "__main__":
    sys.exit(main())
