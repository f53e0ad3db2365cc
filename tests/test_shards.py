"""Shares of a run: together they are the run over everything, and each has its part of the work."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tfmemlint.cli.main import main

CLEAN, FOUND, FAILED = 0, 1, 2
START = """\
import tensorflow as tf

def start():
    return tf.zeros([1])
"""
GROWTH = """\
import tensorflow as tf

def grow():
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
"""
EARLY = "from start import start\nfrom growth import grow\n\ngrow()\nstart()\n"
LATE = "from start import start\nfrom growth import grow\n\nstart()\ngrow()\n"
COMPUTED = """\
import importlib
import tensorflow as tf
from growth import grow

grow()
tf.zeros([1])
importlib.import_module("plug" + "in")
"""
PLUGIN = 'import tensorflow as tf\n\ntf.zeros([1])\ntf.config.set_visible_devices([], "GPU")\n'


def write(top: Path, **texts: str) -> None:
    """Write Python files: a name may have ``__`` for ``/``."""
    for name, text in texts.items():
        path = top / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def report(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """Return the findings of a run, each as its JSON.

    Repairs of several files are looked for in a run until a number of them was: a share has that number to itself.
    """
    main(["check", "--no-cache", "--jobs", "1", "--output-format", "json", *words])
    return [_without_fix(found) for found in json.loads(capsys.readouterr().out)]


def _without_fix(found: dict[str, object]) -> str:
    return json.dumps({key: value for key, value in found.items() if key not in ("fix", "withheld")})


def files_of(capsys: pytest.CaptureFixture[str], *words: str) -> int:
    """Return the number of files that a run has checked."""
    main(["check", "--no-cache", "--jobs", "1", "--exit-zero", "--statistics", "-v", *words])
    return next(int(line.split()[1]) for line in capsys.readouterr().out.splitlines() if line.startswith("Checked"))


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs of several files in projects of their own, projects with shared modules, settings, notebooks."""
    monkeypatch.chdir(tmp_path)
    plant_tree(tmp_path)
    return tmp_path


def plant_tree(top: Path) -> None:
    for folder in sorted((ROOT / "fixtures" / "programs").iterdir())[::12]:
        shutil.copytree(folder, top / "programs" / folder.name)
    for folder in sorted((ROOT / "fixtures" / "settings" / "projects").iterdir())[::6]:
        shutil.copytree(folder, top / "settings" / folder.name)
    shutil.copytree(ROOT / "fixtures" / "everywhere", top / "everywhere")
    for name in ("one", "two"):
        (top / name).mkdir()
        (top / name / "pyproject.toml").write_text("")
        scripts = {f"{name}__late{number}": LATE for number in range(3)}
        write(top, **{f"{name}__start": START, f"{name}__growth": GROWTH, f"{name}__early": EARLY}, **scripts)
    for name in ("c1", "c2", "c3", "c4", "c5"):
        (top / name).mkdir()
        (top / name / "pyproject.toml").write_text("")
        write(top, **{f"{name}__main": COMPUTED, f"{name}__growth": GROWTH, f"{name}__plugin": PLUGIN})


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3, 7])
def test_all_shares_together_are_the_run(tree: Path, capsys: pytest.CaptureFixture[str], count: int) -> None:
    whole = report(capsys, ".")
    assert len(whole) > 20 and any("c1/plugin.py" in found for found in whole)
    shares = [report(capsys, "--shard", f"{number}/{count}", ".") for number in range(1, count + 1)]
    assert sorted(found for share in shares for found in share) == sorted(whole)
    if count < 7:
        assert all(shares), "each share has findings"


def test_each_file_is_in_one_share(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = [files_of(capsys, "--shard", f"{number}/3", ".") for number in (1, 2, 3)]
    assert sum(parts) == files_of(capsys, ".")
    assert max(parts) < 2 * min(parts)


def test_a_share_of_a_part_reports_modules_outside_of_it_once(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scripts = [f"one/late{number}.py" for number in range(3)]
    whole = report(capsys, *scripts)
    assert any("growth.py" in found for found in whole), "the module changes because a named file runs it"
    shares = [report(capsys, "--shard", f"{number}/3", *scripts) for number in (1, 2, 3)]
    assert sorted(found for share in shares for found in share) == sorted(whole)


@pytest.mark.slow
def test_a_share_is_the_same_in_all_ways(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = report(capsys, "--shard", "1/2", ".")
    entries = sorted(str(path.relative_to(tree)) for path in tree.iterdir())
    assert sorted(report(capsys, "--shard", "1/2", *reversed(entries))) == sorted(first)
    for _ in range(2):
        main(["check", "--output-format", "json", "--shard", "1/2", "."])
        assert [_without_fix(found) for found in json.loads(capsys.readouterr().out)] == first


def test_most_files_stay_where_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, **{f"d{number % 5}__m{number}": f"{PLUGIN}# {number}\n" for number in range(60)})

    def owners() -> dict[str, int]:
        found: dict[str, int] = {}
        for number in (1, 2, 3, 4):
            main(
                ["check", "--no-cache", "--select", "TFM", "-v", "--output-format", "concise", "--shard", f"{number}/4"]
            )
            lines = capsys.readouterr().err.splitlines()
            found |= {line.split(": ")[-1]: number for line in lines if "read closely" in line}
        return found

    before = owners()
    assert sorted(before.values()).count(1) in range(12, 19), "a quarter each"
    write(tmp_path, d0__added=PLUGIN, d1__m1=PLUGIN * 3)
    (tmp_path / "d2" / "m2.py").unlink()
    after = owners()
    moved = [path for path in before.keys() & after.keys() if before[path] != after[path]]
    assert len(moved) <= 15, moved


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "/", "1/0", "-1/2", "a/b", "1/2/3", "1.0/2"])
def test_what_names_no_share_is_an_error(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["check", "--shard", text])
    assert stopped.value.code == FAILED
    assert "--shard" in capsys.readouterr().err


@pytest.mark.parametrize("words", [("--fix",), ("-",)])
def test_what_needs_all_files_is_refused(
    tree: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--shard", "1/2", *words]) == FAILED
    assert words[0] in capsys.readouterr().err
