"""Words that the tool does not know are errors that name the nearest right one, wherever they are written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tfmemlint.cli.main import main

LATE = """\
import tensorflow as tf

tf.zeros([1])
gpus = tf.config.list_physical_devices("GPU")
tf.config.experimental.set_memory_growth(gpus[0], True){comment}
"""
FOUND, FAILED = 1, 2


@pytest.fixture
def late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "late.py"
    path.write_text(LATE.format(comment=""))
    return path


def exit_code(*arguments: str) -> int:
    try:
        return main(list(arguments))
    except SystemExit as end:
        assert isinstance(end.code, int)
        return end.code


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("chek", "late.py"), "there is no command 'chek'; did you mean check?"),
        (("late.py",), "there is no command 'late.py'; did you mean `tfmemlint check late.py`?"),
        (("check", "--selct", "TFM1"), "there is no option --selct; did you mean --select?"),
        (("check", "--selec", "TFM1"), "there is no option --selec; did you mean --select?"),
        (("plan", "--gpu-memry=1GiB"), "there is no option --gpu-memry=1GiB; did you mean --gpu-memory?"),
        (("check", "--target-version", "2.99"), "--target-version: TensorFlow 2.99 is not known; the newest"),
        (("plan", "--target-version", "1.16"), "--target-version: TensorFlow 1.16 is not known"),
        (("check", "--output-format", "jsn"), "--output-format: 'jsn' is no output format; did you mean json?"),
        (("check", "--select", "growth-after-start"), "did you mean growth-after-init?"),
        (("fix", "--fix-only", "TFM999"), "unknown rule selector 'TFM999' in --fix-only"),
        (("rule", "growth-after-start"), "there is no rule 'growth-after-start'; did you mean growth-after-init?"),
        (("check", "gone.py"), "gone.py: no such file or directory"),
    ],
)
def test_on_the_command_line(
    late: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    assert exit_code(*arguments) == FAILED
    captured = capsys.readouterr()
    assert words in captured.err
    assert "passed" not in captured.out


def test_a_path_that_is_not_there_is_never_a_pass(late: Path, capsys: pytest.CaptureFixture[str]) -> None:
    late.write_text("x = 1\n")
    for more in ((), ("--verbose",), ("--exit-zero",), ("--statistics",)):
        assert exit_code("check", "gone.py", "late.py", *more) == FAILED
        assert "passed" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("comment", "codes"),
    [
        ("  # tfmemlint: ignore[TFM101]", []),
        ("  # tfmemlint: ignore[growth-after-init]", []),
        ("  # tfmemlint: IGNORE[Growth-After-Init] it is late on purpose", []),
        ("  # noqa: tfm101", []),
        ("  # tfmemlint: ignore[growth-after-start]", ["TFM101", "TFM904"]),
        ("  # tfmemlint: ignroe[TFM101]", ["TFM101", "TFM904"]),
        ("  # tfmemlint: disable=TFM101", ["TFM101", "TFM904"]),
        ("\n# tfmemlint: file-ignore[TFM101] all of it is late", []),
        ("\n# tfmemlint: file-ignore[growth-after-init, TFM2]", []),
        ("\n# tfmemlint: file-ignore[TFM2]", ["TFM101"]),
        ("\n# tfmemlint: skip-file", []),
    ],
)
def test_in_comments(late: Path, capsys: pytest.CaptureFixture[str], comment: str, codes: list[str]) -> None:
    late.write_text(LATE.format(comment=comment))
    main(["check", "--no-cache", "--output-format", "json", "late.py"])
    found = json.loads(capsys.readouterr().out)
    assert sorted(finding["code"] for finding in found) == codes
    for finding in found:
        if finding["code"] == "TFM904":
            assert "; did you mean " in finding["message"]


@pytest.mark.parametrize(
    ("comment", "codes"),
    [
        ("  # tfmemlint: ignore the launcher starts it (on purpose)", []),
        ("  # tfmemlint: ignore (the launcher starts it)", []),
        ("  # tfmemlint: ignore: known-good, see TFM101", []),
        ("  # tfmemlint: ignore[TFM101", ["TFM904"]),
        ("  # tfmemlint: ignore[TFM101, growth-after-init the launcher starts it", ["TFM904"]),
        ("  # tfmemlint: ignore[TFM101  # see [1]", ["TFM904"]),
        ("  # tfmemlint: ignore\uff3bTFM101\uff3d", ["TFM904"]),
        ("  # tfmemlint: ignore\u3010TFM101\u3011it is late", ["TFM904"]),
        ("  # tfmemlint: ignore(TFM101)", ["TFM904"]),
        ("  # tfmemlint: ignore (growth-after-init)", ["TFM904"]),
        ("  # tfmemlint: ignore: TFM101", ["TFM904"]),
        ("  # tfmemlint: ignore TFM101", ["TFM904"]),
        ("  # tfmemlint: ignore[TFM2", ["TFM101", "TFM904"]),
        ("  # tfmemlint: ignore[late", ["TFM101", "TFM904"]),
        ("  # tfmemlint: ignore TFM202", ["TFM101", "TFM904"]),
        ("  # tfmemlint: ignore[", ["TFM101", "TFM904"]),
        ("  # tfmemlint: ignore[]", ["TFM101", "TFM904"]),
        ("  # tfmemlint: ignore[101]", ["TFM101", "TFM904"]),
        ("  # tfmemlint: ignore[\uff34\uff26\uff2d\uff11\uff10\uff11]", ["TFM101", "TFM904"]),
        ("  # tfmemlint: ignore[TFM\uff11\uff10\uff11]", ["TFM101", "TFM904"]),
        ("\n# tfmemlint: file-ignore[TFM2", ["TFM101", "TFM904"]),
        ("\n# tfmemlint: file-ignore\uff3bTFM2\uff3d", ["TFM101", "TFM904"]),
        ("\n# tfmemlint: file-ignore[TFM101", ["TFM904"]),
    ],
)
def test_a_list_that_is_none_silences_only_what_it_names(
    late: Path, capsys: pytest.CaptureFixture[str], comment: str, codes: list[str]
) -> None:
    late.write_text(LATE.format(comment=comment), encoding="utf-8")
    main(["check", "--no-cache", "--output-format", "json", "late.py"])
    found = json.loads(capsys.readouterr().out)
    assert sorted({finding["code"] for finding in found}) == codes


def test_the_readme_s_command_finds_comments_that_silence_nothing(
    late: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unused = LATE.format(comment="  # noqa: TFM101, TFM202")
    late.write_text(unused + "print(1)  # tfmemlint: ignore[old-alias] no longer\n")
    assert exit_code("check", "--no-cache", "--select", "TFM903", "--output-format", "concise", "late.py") == FOUND
    lines = [line for line in capsys.readouterr().out.splitlines() if "TFM903" in line]
    assert [line.split(": ")[0].split(":")[1] for line in lines] == ["5", "6"]
    assert "TFM202 is silenced here" in lines[0] and "TFM705 is silenced here" in lines[1]
    assert exit_code("fix", "--no-cache", "--select", "TFM903", "late.py") == 0
    assert late.read_text() == LATE.format(comment="  # noqa: TFM101") + "print(1)\n"


def test_reasons_are_required_where_the_rule_is_selected(late: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (late.parent / "tfmemlint.toml").write_text('extend-select = ["suppression-without-reason"]\n')
    late.write_text(LATE.format(comment="  # tfmemlint: ignore[TFM101]"))
    assert exit_code("check", "--no-cache", "late.py") == FOUND
    assert "TFM905" in capsys.readouterr().out
    late.write_text(LATE.format(comment="  # tfmemlint: ignore[TFM101] the GPU is started before by the launcher"))
    assert exit_code("check", "--no-cache", "late.py") == 0


def test_the_rules_in_a_line_each_and_a_family(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 60 and lines[0].startswith("TFM101  error")
    assert main(["rule", "tfm10"]) == 0
    family = capsys.readouterr().out.splitlines()
    assert [line.split() for line in family] == [line.split() for line in lines if line.startswith("TFM10")]
    assert main(["rule", "Growth-After-Init"]) == 0
    assert capsys.readouterr().out.startswith("# TFM101: growth-after-init")
