"""Running the command line on fixtures, as a user runs it: on files on disk, through the prefilter, in this process.

Each run is made once and remembered, so that the tests of the findings, of the fixes and of the snapshots share it:
within a process, and in a folder that the processes of one run of the tests have in common.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import pickle
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.fixture_files import READ, SETTINGS, encoding_of, read_text, strip_markers
from tests.program_files import PROGRAMS, read_program
from tfmemlint.cli.main import main
from tfmemlint.engine.check_source import check_source
from tfmemlint.knowledge.releases import KNOWN, Target
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.reporters.diff import unified_diff
from tfmemlint.rulekit.rule import codes_where, rules
from tfmemlint.sources import Source

_PLACE = re.compile(r"^(\S[^\n]*?):(\d+):\d+: \w+: (TFM\d{3}) ", re.MULTILINE)
"""The first line of a finding in the text report."""

Places = Counter[tuple[str, int, str]]
Made = TypeVar("Made")

_common: Path | None = None
"""The folder in which the processes of this run of the tests keep what they have made."""


@dataclass(frozen=True, slots=True)
class CommandRun:
    """One run of the command line.

    Attributes:
        code: the exit code. out: standard output. err: standard error.
    """

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """What ``fix --unsafe-fixes`` leaves on disk.

    Attributes:
        texts: the new texts of all files, by their paths. left: the findings that remain, as the JSON format has them.
    """

    texts: Mapping[str, str]
    left: tuple[Mapping[str, Any], ...]


def command(*arguments: str) -> CommandRun:
    """Run the command line in this process, in the current directory, without colours."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setenv("NO_COLOR", "1")
        code = main(arguments)
    return CommandRun(code, out.getvalue(), err.getvalue())


def share_runs(folder: Path) -> None:
    """Keep the runs of fixtures in ``folder``, and take from there what another process has made."""
    global _common
    _common = folder


@cache
def check(fixture: Path) -> CommandRun:
    """What ``tfmemlint check`` prints for a fixture: a file, or a folder that is a program or a project."""
    texts = read_fixture(fixture)

    def checked() -> CommandRun:
        with _on_disk(fixture, texts) as names:
            return command("check", "--no-cache", *options(fixture), *names)

    return _once("check", fixture, texts, checked)


@cache
def fix(fixture: Path) -> Fixed:
    """What ``tfmemlint fix --unsafe-fixes`` makes of a fixture."""
    texts = read_fixture(fixture)
    return _once("fix", fixture, texts, lambda: _fixed(fixture, texts))


def _once(what: str, fixture: Path, texts: Mapping[str, str], make: Callable[[], Made]) -> Made:
    """Return what ``make`` returns, or what it has returned in another process for the same texts."""
    if _common is None:
        return make()
    key = json.dumps([what, str(fixture), options(fixture), texts]).encode()
    kept = _common / hashlib.sha256(key).hexdigest()
    try:
        made: Made = pickle.loads(kept.read_bytes())
    except FileNotFoundError:
        made = make()
        own = kept.with_name(f"{kept.name}.{os.getpid()}")
        own.write_bytes(pickle.dumps(made))
        own.replace(kept)  # another process never reads half of it
    return made


def fixed_again(fixture: Path) -> Mapping[str, str]:
    """What a second fix makes of the texts that the first has left; the same texts where the fix is a fixpoint."""
    once = fix(fixture).texts
    return once if once == read_fixture(fixture) else _fixed(fixture, once).texts


def diff(fixture: Path) -> str:
    """What ``fix --unsafe-fixes`` changes in a fixture, as ``fix --diff`` shows it; "" where that is nothing."""
    before, after = read_fixture(fixture), fix(fixture).texts
    return "".join(unified_diff(name, text, after[name]) for name, text in before.items())


def check_text(fixture: Path, text: str) -> CommandRun:
    """What ``tfmemlint check`` prints where ``text`` is in the place of the fixture's own."""
    with _on_disk(fixture, {fixture.name: text}) as names:
        return command("check", "--no-cache", *options(fixture), *names)


def found_in_text(fixture: Path, text: str) -> list[Finding]:
    """What the rules find where ``text`` is in the place of the fixture's own, be the file one to be read or not."""
    header = strip_markers(read_text(fixture))[2]
    target = Target.parse(header["target"]) if "target" in header else Target.newest()
    memory = float(header["memory"]) if header.get("memory", READ) != READ else None
    chosen = [rule for rule in rules() if rule.severity is not Severity.ADVICE or rule.code == fixture.parent.name]
    return check_source(Source(fixture.name, text), tuple(chosen), target, memory)


def places(run: CommandRun) -> Places:
    """How often each code is reported in each row of each file."""
    return Counter((path, int(row), code) for path, row, code in _PLACE.findall(run.out))


def read_fixture(fixture: Path) -> dict[str, str]:
    """The files of a fixture without the claims in their comments, by their paths in the fixture's folder."""
    if not fixture.is_dir():
        return {fixture.name: strip_markers(read_text(fixture))[0]}
    if fixture.parent != SETTINGS / "projects":
        return dict(read_program(fixture).texts)
    files = sorted(path for path in fixture.rglob("*") if path.is_file())
    return {path.relative_to(fixture).as_posix(): strip_markers(read_text(path))[0] for path in files}


def options(fixture: Path) -> tuple[str, ...]:
    """The options that a fixture needs: the rules that it is about, and what its header says of the release and memory.

    The rule of a fixture's folder is always named, as advice and rules about any TensorFlow file run only then. A
    program names the advice that it expects.
    """
    header: dict[str, str] = {}
    codes: set[str] = set()
    if not fixture.is_dir():
        header = strip_markers(read_text(fixture))[2]
        codes = {fixture.parent.name}
    elif fixture.parent == PROGRAMS:
        advice = {rule.code for rule in rules() if rule.severity is Severity.ADVICE}
        codes = advice & {code for _, _, code in read_program(fixture).expected}
    found = ["--extend-select", ",".join(sorted(codes))] if codes else []
    if codes & codes_where(lambda rule: rule.of_another_release):
        # It is about the names of its release, those that have nothing to do with GPU memory included.
        header.setdefault("target", KNOWN[-1])
    if "target" in header:
        found += ["--target-version", header["target"]]
    if "memory" in header:
        size = header["memory"]
        found += ["--read-gpu-memory"] if size == READ else ["--gpu-memory", f"{size}MiB"]
    return tuple(found)


def _fixed(fixture: Path, texts: Mapping[str, str]) -> Fixed:
    arguments = ("fix", "--no-cache", "--unsafe-fixes", "--output-format", "json", *options(fixture))
    with _on_disk(fixture, texts) as names:
        run = command(*arguments, *names)
        return Fixed({name: _read(Path(name)) for name in texts}, tuple(json.loads(run.out)))


def _read(path: Path) -> str:
    """A file's text with the line ends that it has on disk."""
    return path.read_bytes().decode(encoding_of(path))


@contextlib.contextmanager
def _on_disk(fixture: Path, texts: Mapping[str, str]) -> Iterator[list[str]]:
    """The files in an empty project, which is the current directory; yields what the command line is to name."""
    before = Path.cwd()
    folder = Path(tempfile.mkdtemp(prefix="tfmemlint-fixture-"))
    try:
        (folder / "pyproject.toml").touch()
        for name, text in texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode(encoding_of(fixture) if fixture.is_file() else "utf-8"))
        os.chdir(folder)
        yield ["."] if fixture.is_dir() else [fixture.name]
    finally:
        os.chdir(before)
        shutil.rmtree(folder, ignore_errors=True)
