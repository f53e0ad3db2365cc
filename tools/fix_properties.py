#!/usr/bin/env python3
"""Check the properties that ``tfmemlint fix --unsafe-fixes`` must keep, on a copy of any code.

``python tools/fix_properties.py [--target-version X.Y] PATH...`` copies each path, fixes the copy twice, and prints the
numbers and the properties that do not hold; with a release, everything is fixed for that one, whatever the projects
require. Exit code 1 if one of these does not hold:

- every file that parsed still does;
- fixing again changes nothing;
- every comment is still there, as often as it was, but those about memory growth at the end of code that is gone,
  and those above code that is gone with nothing below it;
- no file is changed of which nothing was found;
- encoding, byte order mark and line ends are as they were.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import itertools
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(slots=True)
class Seen:
    """The results for some files.

    Attributes:
        files: the number of files.
        changed: the paths of changed files.
        fixes: the number of fixed findings.
        problems: the properties that do not hold, as sentences.
    """

    files: int = 0
    changed: list[str] = field(default_factory=list)
    fixes: int = 0
    problems: list[str] = field(default_factory=list)


def main() -> int:
    """Try every path of the command line."""
    parser = argparse.ArgumentParser(description="what a fix must keep")
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--target-version")
    given = parser.parse_args()
    options = ["--target-version", given.target_version] if given.target_version else []
    every = Seen()
    for name in given.paths:
        seen = tried(name, options)
        print(f"{name}: {seen.files} files, {len(seen.changed)} changed, {seen.fixes} fixes")
        for problem in seen.problems:
            print(f"  {problem}")
        every.files += seen.files
        every.fixes += seen.fixes
        every.changed += seen.changed
        every.problems += seen.problems
    print(f"{every.files} files, {len(every.changed)} changed, {every.fixes} fixes, {len(every.problems)} problems")
    return 1 if every.problems else 0


def tried(path: Path, options: Sequence[str] = ()) -> Seen:
    """Fix a copy of a file or of a folder twice, and hold it against the original."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy")
        if path.is_dir():
            shutil.copytree(path, copy, ignore=shutil.ignore_patterns(".git"), symlinks=True)
        else:
            copy.mkdir()
            shutil.copy(path, copy)
        return fixed_twice(copy, options)


def fixed_twice(folder: Path, options: Sequence[str] = ()) -> Seen:
    """Fix all files of ``folder`` in their places, twice; ``options`` of the command line as well."""
    before = _contents(folder)
    seen = Seen(files=len(before))
    found = set(_found(folder, options))
    seen.fixes = _fix(folder, seen, options)
    after = _contents(folder)
    _fix(folder, seen, options)
    again = _contents(folder)
    seen.changed = [name for name in before if after.get(name) != before[name]]
    seen.problems += [f"{name}: fixing again changes it" for name in after if again.get(name) != after[name]]
    for name in seen.changed:
        if name not in found:
            seen.problems.append(f"{name}: it is changed, and nothing was found in it")
        if name not in after:
            seen.problems.append(f"{name}: it is gone")
            continue
        seen.problems += [
            f"{name}: {problem}" for problem in untrue(before[name], after[name], name.endswith(".ipynb"))
        ]
    return seen


def untrue(old: bytes, new: bytes, notebook: bool = False) -> Iterator[str]:
    """Return the properties that a rewrite of one file did not keep."""
    if old.startswith(b"\xef\xbb\xbf") != new.startswith(b"\xef\xbb\xbf"):
        yield "the byte order mark is not as it was"
    if _line_ends(old) != _line_ends(new):
        yield f"line ends were {_line_ends(old)}, and are {_line_ends(new)}"
    if old.endswith(b"\n") != new.endswith(b"\n"):
        yield "the end of its last line is not as it was"
    if notebook:
        with contextlib.suppress(ValueError):
            json.loads(old)
            if not _is_json(new):
                yield "it is no notebook any more"
        return
    if _encoding(old) != _encoding(new):
        yield f"the encoding was {_encoding(old)}, and is {_encoding(new)}"
    if not _parses(old):
        return
    if not _parses(new):
        yield "it does not parse any more"
        return
    lost = [comment for comment in _comments(old) - _comments(new) if not _is_gone(comment, old, new)]
    if lost:
        yield f"lost comments: {', '.join(sorted(lost))}"


def _contents(folder: Path) -> dict[str, bytes]:
    paths = [path for kind in ("*.py", "*.pyi", "*.ipynb") for path in folder.rglob(kind)]
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(paths) if path.is_file()}


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tfmemlint", *arguments, "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def _found(folder: Path, options: Sequence[str]) -> Sequence[str]:
    """Return the files of which something is found."""
    # A format without the fixes, which take more than half of the time.
    done = _run(folder, "check", "--output-format", "gitlab", *options, ".")
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return [str(Path(finding["location"]["path"])) for finding in found]


def _fix(folder: Path, seen: Seen, options: Sequence[str]) -> int:
    """Return how many findings were fixed."""
    done = _run(folder, "fix", "--unsafe-fixes", "--allow-dirty", *options, ".")
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        seen.problems.append(f"the fix ended with {done.returncode}: {done.stderr[-500:]}")
    numbers = re.findall(r"\((\d+) fixed", done.stdout)
    return int(numbers[-1]) if numbers else 0


def _line_ends(data: bytes) -> str:
    pairs, all_of_them = data.count(b"\r\n"), data.count(b"\n")
    return "none" if not all_of_them else "LF" if not pairs else "CRLF" if pairs == all_of_them else "mixed"


def _encoding(data: bytes) -> str:
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError:
        return "unknown"


def _parses(data: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True


def _comments(data: bytes) -> Counter[str]:
    tokens = tokenize.tokenize(io.BytesIO(data).readline)
    return Counter(token.string.strip() for token in tokens if token.type == tokenize.COMMENT)


def _is_gone(comment: str, old: bytes, new: bytes) -> bool:
    """True if the code is gone that a comment about memory growth ends, or above which any comment was alone."""
    lines = old.splitlines()
    row = next(row for row, line in enumerate(lines) if comment.encode() in line)
    code = lines[row].partition(b"#")[0].strip()
    if code:
        return "grow" in comment and code not in new
    below = list(itertools.takewhile(bytes.strip, lines[row:]))
    margin = len(lines[row]) - len(lines[row].lstrip())
    section = itertools.takewhile(lambda line: len(line) - len(line.lstrip()) >= margin, below)
    gone = [line.strip() for line in section if not line.strip().startswith(b"#")]
    return bool(gone) and not any(line in new.splitlines() for line in gone if len(line) > 1)


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
