"""The command line: what is printed where, and the exit codes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from tfmemlint import __version__
from tfmemlint.cli.main import main

CLEAN = """\
import tensorflow as tf

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
"""
LATE = """\
import tensorflow as tf

x = tf.constant(1)
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
"""
MADE_UP = """\
import tensorflow as tf

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_limit(gpu, 4096)
"""
OLD = """\
import tensorflow as tf

gpus = tf.config.experimental.list_physical_devices("GPU")
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    for name, text in {"clean.py": CLEAN, "late.py": LATE, "made_up.py": MADE_UP, "old.py": OLD}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def run(*arguments: str) -> int:
    try:
        return main(arguments)
    except SystemExit as leaving:
        assert isinstance(leaving.code, int)
        return leaving.code


def concise(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    run("check", "--quiet", "--output-format", "concise", *arguments)
    return [" ".join((line.split()[0], line.split()[2])) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["check", "clean.py"], 0),
        (["check", "late.py"], 1),
        (["check"], 1),
        (["check", "--exit-zero"], 0),
        (["check", "--exit-zero", "missing.py"], 2),
        (["check", "missing.py", "clean.py"], 2),
        (["check", "--select", "TFM999"], 2),
        (["check", "--ignore", "XYZ"], 2),
        (["check", "--no-such-option"], 2),
        (["check", "--output-format", "xml"], 2),
        (["check", "--target-version", "9"], 2),
        (["check", "--gpu-memory", "16"], 2),
        (["check", "--select", "TFM402", "late.py"], 0),
        (["fix", "clean.py"], 0),
        (["fix", "late.py"], 1),
        (["fix", "made_up.py"], 0),
        (["fix", "--diff", "made_up.py"], 1),
        (["fix", "--diff", "late.py"], 1),
        (["fix", "--unsafe-fixes", "late.py"], 0),
        (["check", "--fix", "made_up.py"], 0),
        (["rule", "TFM101"], 0),
        (["rule", "growth-after-init"], 0),
        (["rule", "--all"], 0),
        (["rule", "TFM999"], 2),
        (["rule"], 0),
        ([], 2),
        (["config"], 0),
        ([], 2),
        (["--version"], 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_exit_codes(project: Path, arguments: list[str], code: int) -> None:
    assert run(*arguments) == code


def test_what_is_found_does_not_depend_on_the_order_of_paths(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = ["late.py:5:5: TFM101", "made_up.py:4:5: TFM202"]
    assert concise(capsys) == found
    assert concise(capsys, "old.py", "made_up.py", "late.py", ".") == found


def test_rules_are_selected(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert concise(capsys, "--select", "TFM1,TFM7") == ["late.py:5:5: TFM101", "old.py:3:8: TFM705"]
    assert concise(capsys, "--extend-select", "TFM705", "--ignore", "TFM2") == [
        "late.py:5:5: TFM101",
        "old.py:3:8: TFM705",
    ]


def test_files_are_excluded(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert concise(capsys, "--exclude", "late.py,made*") == []


def test_the_release_counts(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert concise(capsys, "--target-version", "2.0", "clean.py") == ["clean.py:3:12: TFM206"]


def test_code_of_another_release_is_asked_about(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = "tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True))"
    (project / "tf1.py").write_text(f"import tensorflow as tf\nsess = tf.Session(config={options})\n")
    run("check", "tf1.py")
    assert "--target-version 1.15" in capsys.readouterr().err
    for quiet in (["--quiet"], ["--target-version", "2.15"], ["--output-format", "json"]):
        run("check", "tf1.py", *quiet)
        assert capsys.readouterr().err == ""
    assert run("check", "tf1.py", "--target-version", "1.15") == 0


def test_the_file_of_options_counts_and_the_command_line_comes_after_it(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "pyproject.toml").write_text(
        '[tool.tfmemlint]\nignore = ["TFM2"]\nextend-exclude = ["old.py"]\n'
        '[tool.tfmemlint.per-file-ignores]\n"late.py" = ["TFM101"]\n'
    )
    assert concise(capsys) == []
    assert concise(capsys, "--select", "TFM202") == ["made_up.py:4:5: TFM202"]


def test_a_bad_file_of_options_is_one_message(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "tfmemlint.toml").write_text('selekt = ["TFM1"]\n')
    assert run("check") == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1 and "selekt" in said.err and "tfmemlint.toml" in said.err


@pytest.mark.parametrize("comment", ["# noqa: TFM101", "# noqa", "# tfmemlint: ignore[TFM101]", "# tfmemlint: ignore"])
def test_a_comment_silences_check_and_fix(project: Path, comment: str) -> None:
    text = LATE.replace("(gpu, True)", f"(gpu, True)  {comment}")
    (project / "late.py").write_text(text)
    assert run("check", "late.py") == 0
    assert run("fix", "--unsafe-fixes", "late.py") == 0
    assert (project / "late.py").read_text() == text


@pytest.mark.parametrize(
    "comment", ["# noqa: TFM102", "# noqa: E501", "# tfmemlint: ignore[TFM2]", "# nothing", '"# noqa: TFM101"']
)
def test_another_comment_does_not(project: Path, comment: str) -> None:
    extra = comment if comment.startswith("#") else f"; {comment}"
    (project / "late.py").write_text(LATE.replace("(gpu, True)", f"(gpu, True)  {extra}"))
    assert run("check", "--select", "TFM101", "late.py") == 1


def test_a_whole_file_is_skipped(project: Path) -> None:
    (project / "late.py").write_text("# tfmemlint: skip-file\n" + LATE)
    assert run("check", "late.py") == 0


def test_fix_changes_the_file_once(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fix", "made_up.py") == 0
    new = (project / "made_up.py").read_text()
    assert "LogicalDeviceConfiguration(memory_limit=4096)" in new
    assert "1 fixed" in capsys.readouterr().out
    assert run("fix", "made_up.py") == 0
    assert (project / "made_up.py").read_text() == new


def test_diff_changes_nothing_and_prints_a_patch(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fix", "--diff", "made_up.py") == 1
    said = capsys.readouterr()
    assert said.out.startswith("--- made_up.py\n+++ made_up.py\n@@")
    assert (project / "made_up.py").read_text() == MADE_UP


def test_an_unsafe_fix_waits_to_be_asked_for(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fix", "late.py") == 1
    assert (project / "late.py").read_text() == LATE
    assert "unsafe" in capsys.readouterr().out
    assert run("fix", "--unsafe-fixes", "late.py") == 0
    assert (project / "late.py").read_text().index("set_memory_growth") < LATE.index("tf.constant") + 120


def test_json_has_the_shape_of_ruff(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", "--output-format", "json", "made_up.py") == 1
    (one,) = json.loads(capsys.readouterr().out)
    assert one["code"] == "TFM202" and one["name"] == "made-up-memory-setting" and one["severity"] == "error"
    assert one["filename"] == str(project / "made_up.py")
    assert one["location"] == {"row": 4, "column": 5} and one["end_location"] == {"row": 4, "column": 55}
    assert one["noqa_row"] == 4 and one["cell"] is None and one["url"].endswith("TFM202.md")
    assert one["fix"]["applicability"] == "safe" and one["fix"]["edits"]
    assert one["intent"]["wish"] == "limit" and one["intent"]["value"] == 4096
    run("check", "--output-format", "json", "clean.py")
    assert json.loads(capsys.readouterr().out) == []


def test_annotations(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", "--output-format", "github", "late.py") == 1
    said = capsys.readouterr().out
    assert said.startswith("::error ") and "line=5" in said and "TFM101" in said


def test_statistics(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", "--statistics", "--quiet") == 1
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()] == [["1", "TFM101"], ["1", "TFM202"]]


def test_quiet_is_silent_where_there_is_nothing_to_say(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("check", "--quiet", "clean.py")
    assert capsys.readouterr() == ("", "")
    run("check", "clean.py")
    assert capsys.readouterr().out == "All checks passed!\n"


def test_verbose_says_what_is_read(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("check", "--verbose")
    said = capsys.readouterr()
    assert "late.py" in said.err and "4 files" in said.out


def test_standard_input_is_fixed_to_standard_output(
    project: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = MADE_UP.replace("\n", "\r\n").encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert run("fix", "-", "--stdin-filename", "x.py") == 0
    out = capsysbinary.readouterr().out
    assert out.count(b"\r\n") == out.count(b"\n") >= data.count(b"\n") and b"LogicalDeviceConfiguration" in out


def test_standard_input_is_checked(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LATE.encode())))
    assert run("check", "-", "--quiet", "--output-format", "concise") == 1
    assert capsys.readouterr().out.startswith("-:5:5: error: TFM101")


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--version") == 0
    assert capsys.readouterr().out == f"tfmemlint {__version__}\n"


def test_an_option_for_the_cache_is_accepted(project: Path) -> None:
    assert run("check", "--no-cache", "clean.py") == 0


def test_every_rule_has_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    from tfmemlint.rulekit.rule import rules

    assert run("rule", "--all", "--output-format", "json") == 0
    pages = json.loads(capsys.readouterr().out)
    assert [page["code"] for page in pages] == [rule.code for rule in rules()]
    for rule in rules():
        sections = rule.page().sections
        assert {"What it does", "Why it matters"} <= sections.keys()
        if not rule.code.startswith("TFM9"):
            assert rule.page().code("Example", "") and rule.page().code("Use instead", ""), rule.code
