"""Where nothing has changed since the last run, its results are taken; any change is seen."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fixes.projects import make
from tfmemlint.cli.main import main
from tfmemlint.deployment import program_paths
from tfmemlint.engine import cache, cached_values, repeated_runs, tree_state
from tfmemlint.engine.results import FileResult, KeptRun
from tfmemlint.engine.run import run
from tfmemlint.project import line_length

EVERYWHERE = Path(__file__).parent.parent / "fixtures" / "everywhere"
LATE = """
    import tensorflow as tf

    from core.model import decode

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    """
MODEL = """
    import tensorflow as tf

    def decode(x, scale=tf.constant(1.0)):
        return x * scale
    """


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    # The tool itself doesn't change meanwhile, and what was written right before a run is taken for old.
    monkeypatch.setattr(cache, "_version", lambda modules: "1")
    monkeypatch.setattr(repeated_runs, "MAX_CLOCK_STEP_NS", 0)
    place = tmp_path / "above" / "project"
    place.mkdir(parents=True)
    monkeypatch.chdir(place)
    files = {"setup.py": "", "train.py": LATE, "core/__init__.py": "", "core/model.py": MODEL, "data/names.txt": "a"}
    files |= {f"more/file_{number}.py": "import tensorflow as tf\n" for number in range(repeated_runs.MIN_FILES)}
    make(Path(), files)
    (place / "notes").symlink_to("data", target_is_directory=True)
    time.sleep(0.02)  # a file system's clock goes in steps of a few milliseconds


def check(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str, str]:
    """Return the exit code and the outputs of ``tfmemlint check``."""
    capsys.readouterr()
    code = main(["check", "--jobs", "1", *options])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def is_checked(capsys: pytest.CaptureFixture[str], *options: str) -> bool:
    """Return True if a run checks the files, and does not only repeat what the last one has found."""
    runs: list[object] = []

    def note(*given: Any) -> list[FileResult]:
        runs.append(given)
        return run(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeated_runs, "run", note)
        check(capsys, *options)
    return bool(runs)


@pytest.mark.parametrize("output_format", ["full", "json", "sarif", "corrections"])
def test_a_run_without_changes_says_the_same(output_format: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--output-format", output_format, "--lang", "en")
    without = check(capsys, *options, "--no-cache")
    assert without[0] == 1
    assert "TFM101" in without[1]
    assert check(capsys, *options) == without
    assert not is_checked(capsys, *options)
    assert check(capsys, *options) == without


def _rewrite(path: str, old: str, new: str) -> None:
    """Change a file, but neither its size nor the time at which it seems to have been changed."""
    file = Path(path)
    before = file.stat()
    text = file.read_text(encoding="utf-8")
    assert old in text
    assert len(old) == len(new)
    file.write_text(text.replace(old, new), encoding="utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def _link() -> None:
    Path("notes").unlink()
    Path("notes").symlink_to("core", target_is_directory=True)


CHANGES: dict[str, Callable[[], object]] = {
    "other text": lambda: _rewrite("core/model.py", "tf.constant(1.0)", "float('123.456')"),
    "new module": lambda: Path("core.py").write_text("decode = len\n", encoding="utf-8"),
    "new folder": lambda: Path("core/model").mkdir(),
    "removed": lambda: Path("core/model.py").unlink(),
    "no text": lambda: Path("data/names.txt").write_text("b", encoding="utf-8"),
    "hidden": lambda: make(Path(), {".github/workflows/test.yml": "on: push\n"}),
    "moved": lambda: Path("data/names.txt").rename("data/name.txt"),
    "link": _link,
    "mode": lambda: Path("train.py").chmod(0o700),
    "configuration above": lambda: Path("../tfmemlint.toml").write_text("ignore = ['TFM101']\n", encoding="utf-8"),
    "ignored by git above": lambda: make(Path(".."), {".git/info/exclude": "train.py\n"}),
    "tests above": lambda: Path("../conftest.py").write_text("", encoding="utf-8"),
    "line length above": lambda: Path("../.editorconfig").write_text("", encoding="utf-8"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_a_change_is_seen(change: Callable[[], object], capsys: pytest.CaptureFixture[str]) -> None:
    assert check(capsys) == check(capsys)
    change()
    assert is_checked(capsys)
    assert check(capsys) == check(capsys, "--no-cache")


@pytest.mark.parametrize(
    "options",
    [["--ignore", "TFM101"], ["--target-version", "2.4"], ["--output-format", "json"], ["--gpu-memory", "8GB"]],
)
def test_other_options_are_another_run(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    check(capsys)
    assert check(capsys, *options) == check(capsys, *options, "--no-cache")


def test_what_was_changed_right_before_is_not_kept(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeated_runs, "MAX_CLOCK_STEP_NS", 3_600_000_000_000)
    check(capsys)
    assert is_checked(capsys)


@pytest.mark.parametrize("name", ["__init__.py", "../conftest.py"])
def test_a_folder_that_is_a_part_of_something_is_checked_each_time(name: str) -> None:
    assert tree_state.is_project_of_its_own(".")
    Path(name).write_text("", encoding="utf-8")
    assert not tree_state.is_project_of_its_own(".")


def test_a_link_out_of_a_project_has_no_state(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    Path("away").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    with pytest.raises(tree_state.Changing):
        tree_state.state_of([str(Path.cwd())])


def test_the_state_knows_all_that_is_asked_outside(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(EVERYWHERE, "everywhere")
    asked: set[str] = set()

    def noting(ask: Callable[..., object]) -> Callable[..., object]:
        def note(path: object = ".", *given: object, **named: object) -> object:
            if isinstance(path, (str, os.PathLike)):
                asked.add(os.path.normpath(Path.cwd() / path))
            return ask(path, *given, **named)

        return note

    for name in ("stat", "lstat", "open", "scandir", "listdir"):
        monkeypatch.setattr(os, name, noting(getattr(os, name)))
    check(capsys, "--no-cache")
    monkeypatch.undo()
    here = Path.cwd()
    beside = {Path(path).name for path in asked - {str(here)} if Path(path).parent in here.parents}
    assert beside - {place.name for place in here.parents} <= tree_state.NAMES_ABOVE
    assert ".git" in beside


def test_the_state_knows_the_files_that_state_how_long_lines_are() -> None:
    assert {name for name, _ in line_length._READERS} <= tree_state.NAMES_ABOVE


def test_a_file_outside_that_a_launch_may_mean_is_a_part_of_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    place = os.path.normpath(Path.cwd() / "../shared/train.py")
    monkeypatch.setattr(program_paths, "asked", {place, str(Path.cwd() / "train.py")})
    assert repeated_runs._asked_outside({str(Path.cwd())}) == (place,)
    before = repeated_runs._state_outside([place])
    make(Path(".."), {"shared/train.py": ""})
    assert repeated_runs._state_outside([place]) != before


def test_what_is_kept_of_a_run_is_checked_when_it_is_read() -> None:
    kept = KeptRun("1", ("/a",), "2", (FileResult("train.py", candidate=True, notes=("a",)),))
    text = cached_values.encode(kept)
    assert cached_values.decode(text) == kept
    kind, data = json.loads(text)
    data[3][0][1] = "true"
    with pytest.raises(TypeError):
        cached_values.decode(json.dumps([kind, data]))


@pytest.mark.parametrize("path", ["../secret.txt", "/etc/hostname"])
def test_what_a_stranger_keeps_has_no_other_file_quoted(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    expected = check(capsys)
    (kept,) = (file for file in Path("../../cache").rglob("*.cache") if b'["run",' in file.read_bytes())
    head, *lines = kept.read_bytes().split(b"\n")
    for number, line in enumerate(lines):
        if line:
            key, day, _, text = line.split(b" ", 3)
            text = text.replace(b'"train.py"', json.dumps(path).encode())
            lines[number] = b" ".join((key, day, cache._checksum(text), text))
    kept.write_bytes(b"\n".join((head, *lines)))
    assert is_checked(capsys)
    assert check(capsys) == expected
