"""Living with old code: baselines, comments that the tool writes, and exit codes of fixes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tfmemlint.cli.main import main

LATE = """\
import tensorflow as tf

tf.zeros([1])
gpus = tf.config.list_physical_devices("GPU")
tf.config.experimental.set_memory_growth(gpus[0], True)
tf.config.experimental.set_memory_growth(gpus[1], True)
"""
FIRST, SECOND = LATE.splitlines(keepends=True)[-2:]
CLEAN, FOUND, FAILED = 0, 1, 2


@pytest.fixture
def late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "late.py"
    path.write_text(LATE)
    return path


def check(*arguments: str) -> int:
    return main(["check", "--no-cache", "--output-format", "concise", *arguments])


def test_old_findings_are_quiet_and_new_ones_fail(late: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check("--update-baseline") == CLEAN
    assert "tfmemlint-baseline.json: 2 findings (2 new, 0 gone)" in capsys.readouterr().err
    arguments = ("--baseline", "tfmemlint-baseline.json")
    assert check(*arguments) == CLEAN
    captured = capsys.readouterr()
    assert captured.out == "All checks passed!\n" and "2 left out, as they are in the baseline" in captured.err
    for moved in (
        f"# above\n\n\n{LATE}",
        LATE.replace(FIRST, f"if gpus:\n    {FIRST}"),
        LATE.replace("gpus[0], True)", "gpus[0],\n    True,\n)"),
        LATE.replace("tf.zeros([1])", "x = 1\ntf.ones([2])"),
    ):
        late.write_text(moved)
        assert check(*arguments) == CLEAN, moved
    late.write_text(LATE + SECOND.replace("gpus[1]", "gpus[2]"))
    assert check(*arguments) == FOUND
    assert "late.py:7:1: error: TFM101" in capsys.readouterr().out
    late.write_text(LATE + SECOND)
    assert check(*arguments) == FOUND, "a second one that reads the same is new, too"


def test_mended_findings_shrink_the_file(late: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = late.parent / "other.py"
    other.write_text(LATE)
    (late.parent / "tfmemlint.toml").write_text('baseline = "known/base.json"\n')
    (late.parent / "known").mkdir()
    assert check("--update-baseline") == CLEAN
    late.write_text(LATE.replace(FIRST, ""))
    capsys.readouterr()
    assert check() == CLEAN
    assert "1 of the baseline are gone: --update-baseline takes them out" in capsys.readouterr().err
    assert check("--update-baseline", "late.py") == CLEAN
    kept = json.loads((late.parent / "known/base.json").read_text())
    assert kept["version"] == 1
    assert sorted(entry["path"] for entry in kept["findings"]) == ["../late.py", "../other.py", "../other.py"]
    other.unlink()
    assert check("--update-baseline", "late.py") == CLEAN
    assert len(json.loads((late.parent / "known/base.json").read_text())["findings"]) == 1


@pytest.mark.parametrize("text", [None, "[]", "{", '{"version": 2, "findings": []}', '{"version": 1, "findings": [1]}'])
def test_what_is_no_baseline_is_an_error(late: Path, capsys: pytest.CaptureFixture[str], text: str | None) -> None:
    if text is not None:
        (late.parent / "base.json").write_text(text)
    assert check("--baseline", "base.json") == FAILED
    captured = capsys.readouterr()
    assert "--baseline: base.json: " in captured.err and "passed" not in captured.out


def test_comments_with_a_reason_are_added(late: Path, capsys: pytest.CaptureFixture[str]) -> None:
    end = "    gpus[1],\n    True,  # the second\n)  # there\n"
    late.write_text(LATE.replace(SECOND, SECOND.replace("gpus[1], True)\n", f"\n{end}")))
    assert check("--add-ignore", "old code\nof ours") == CLEAN
    assert "comments silence 2 findings now" in capsys.readouterr().err
    text = late.read_text()
    assert "gpus[0], True)  # tfmemlint: ignore[TFM101] old code of ours\n" in text
    assert ")  # there  # tfmemlint: ignore[TFM101] old code of ours\n" in text
    assert check() == CLEAN
    assert check("--extend-select", "TFM903,TFM905") == CLEAN
    assert check("--add-ignore", "") == CLEAN and late.read_text() == text


def test_a_comment_that_is_there_gets_the_code(late: Path) -> None:
    late.write_text(LATE.replace("gpus[0], True)", "gpus[0], True)  # tfmemlint: ignore[TFM202] because"))
    check("--add-ignore", "more", "--ignore", "TFM9")
    assert "# tfmemlint: ignore[TFM202, TFM101] because\n" in late.read_text()


def test_a_line_without_room_is_left_and_said(late: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = LATE.replace(FIRST, 'x = """\n"""; ' + FIRST).replace(SECOND, SECOND.rstrip() + "; \\\ny = 2\n")
    late.write_text(text)
    check("--add-ignore", "old")
    added = late.read_text()
    compile(added, "late.py", "exec")
    assert "line 7: a comment that silences it can't be added to its line" in capsys.readouterr().err
    assert added == text.replace("(gpus[0], True)\n", "(gpus[0], True)  # tfmemlint: ignore[TFM101] old\n")
    assert check() == FOUND


def test_the_exit_code_of_a_fix_says_that_something_changes(late: Path) -> None:
    made_up = "import tensorflow as tf\n\ngpus = tf.config.list_physical_devices('GPU')\n"
    made_up += "tf.config.experimental.set_memory_limit(gpus[0], 1024)\n"
    late.write_text(made_up)
    assert main(["fix", "--diff", "late.py"]) == FOUND
    assert late.read_text() == made_up
    assert main(["fix", "--exit-non-zero-on-fix", "late.py"]) == FOUND
    assert late.read_text() != made_up
    assert main(["fix", "--exit-non-zero-on-fix", "late.py"]) == CLEAN
    assert main(["fix", "--diff", "late.py"]) == CLEAN


def test_a_baseline_of_a_stranger_ends_no_run(late: Path) -> None:
    names = ["a" * 5000, "a\0b", "\ud800", "/dev/zero", {"a": 1}, None, 3]
    entries = [{"fingerprint": str(number), "path": name} for number, name in enumerate(names)]
    Path("baseline.json").write_text(json.dumps({"version": 1, "findings": entries}))
    assert check("--baseline", "baseline.json") == FOUND


def test_a_configuration_names_no_baseline_elsewhere_to_be_written(
    late: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    inner, outside = late.parent / "inner", late.parent / "outside"
    inner.mkdir()
    outside.mkdir()
    late.rename(inner / "late.py")
    (inner / "link").symlink_to(outside)
    monkeypatch.chdir(inner)
    for name in ("../outside/new.json", "link/new.json", str(outside / "new.json")):
        Path("tfmemlint.toml").write_text(f"baseline = {json.dumps(name)}\n")
        assert check("--update-baseline") == FAILED
        assert "is outside of the folder of" in capsys.readouterr().err
    assert not list(outside.iterdir())
    assert check("--update-baseline", "--baseline", "../outside/new.json") == CLEAN
    assert list(outside.iterdir()) == [outside / "new.json"]


def test_a_baseline_is_written_whole_and_through_nothing(late: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, other = Path("tfmemlint-baseline.json"), Path("other.txt")
    other.write_text("precious")
    path.with_name(f".{path.name}.new").symlink_to(other)
    assert check("--update-baseline") == CLEAN
    assert other.read_text() == "precious"
    path.chmod(0o640)
    before = path.read_text()
    late.write_text(LATE + SECOND)

    def fail(handle: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fail)
        assert check("--update-baseline") == FAILED
    assert path.read_text() == before
    assert check("--update-baseline") == CLEAN
    assert path.read_text() != before
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(each.name for each in Path().iterdir()) == ["late.py", "other.txt", path.name]
