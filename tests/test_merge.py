"""Reports of several runs, joined: the report of one run over everything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.test_shards import plant_tree, tree
from tfmemlint.cli.main import main
from tfmemlint.reporters.formats import FORMATS

CLEAN, FOUND, FAILED = 0, 1, 2
LATE = """\
import tensorflow as tf

tf.zeros([1])
gpus = tf.config.list_physical_devices("GPU")
tf.config.experimental.set_memory_growth(gpus[0], True)
tf.config.experimental.set_memory_limit(gpus[0], 1024)
"""
PARTS = ("one", "two", "everywhere")
SHARES = ["1.json", "2.json", "3.json"]
__all__ = ["tree"]


def check(*words: str) -> int:
    return main(["check", "--no-cache", "--jobs", "1", *words])


def check_shares() -> None:
    for number, name in enumerate(SHARES, 1):
        check("--shard", f"{number}/3", "--output-format", "json", "-o", name, *PARTS)


@pytest.fixture(scope="module")
def merged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``whole.json``, the report of one run, and with the reports of three shares of it."""
    folder = tmp_path_factory.mktemp("merged")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        plant_tree(folder)
        check_shares()
        check("--output-format", "json", "-o", "whole.json", *PARTS)
    return folder


@pytest.fixture
def reports(tree: Path) -> list[str]:
    """The reports of three shares."""
    check_shares()
    return SHARES


@pytest.mark.slow
@pytest.mark.parametrize("output_format", [name for name in FORMATS if name != "corrections"])
def test_every_format_is_that_of_one_run(
    merged: Path, output_format: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(merged)
    capsys.readouterr()
    assert main(["merge", "whole.json", "-q", "--output-format", output_format]) == FOUND
    whole = capsys.readouterr().out
    code = check("--output-format", output_format, "-q", *PARTS)
    expected = capsys.readouterr().out
    assert code == FOUND
    if output_format == "sarif":
        # SARIF of a run also has what comments silence, which JSON lacks.
        log = json.loads(expected)
        log["runs"][0]["results"] = [r for r in log["runs"][0]["results"] if "suppressions" not in r]
        expected = json.dumps(log, indent=2) + "\n"
    assert whole == expected
    assert main(["merge", *SHARES, "-q", "--output-format", output_format]) == FOUND
    assert len(capsys.readouterr().out.splitlines()) > 3


def test_shares_make_the_whole(reports: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    check("--output-format", "concise", "one", "two", "everywhere")
    whole = capsys.readouterr().out.splitlines()
    assert main(["merge", *reports, "--output-format", "concise"]) == FOUND
    found = capsys.readouterr().out.splitlines()

    def places(lines: list[str]) -> list[str]:
        return [line.replace("[*] ", "").replace("[-] ", "") for line in lines if ": TFM" in line]

    assert places(found) == places(whole)
    assert main(["merge", *reports, *reports, "./1.json", "--output-format", "concise"]) == FOUND
    assert capsys.readouterr().out.splitlines() == found, "no finding is in it twice"


@pytest.mark.parametrize("output_format", ["json-lines", "sarif"])
def test_other_formats_are_read(tree: Path, output_format: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "late.py").write_text(LATE)
    for name in ("one", "late.py"):
        check("--output-format", output_format, "-o", f"{name}.report", name)
    check("--output-format", "json", "one", "late.py")
    expected = json.loads(capsys.readouterr().out)
    main(["merge", "one.report", "late.py.report", "--output-format", "json"])
    found = json.loads(capsys.readouterr().out)
    keys = {"intent", "noqa_row", "withheld", "fix", "outcome"} if output_format == "sarif" else {"withheld", "fix"}
    left = [[{k: v for k, v in entry.items() if k not in keys} for entry in entries] for entries in (found, expected)]
    assert left[0] == left[1] and left[0]


def test_sarif_keeps_suppressions_fixes_and_fingerprints(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quiet = LATE.replace("gpus[0], True)", "gpus[0], True)  # tfmemlint: ignore[TFM101] old")
    (tree / "late.py").write_text(quiet)
    check("--output-format", "sarif", "-o", "a.sarif", "late.py")
    main(["merge", "a.sarif", "--output-format", "sarif"])
    old, new = json.loads((tree / "a.sarif").read_text()), json.loads(capsys.readouterr().out)
    for log in (old, new):
        results = log["runs"][0]["results"]
        assert any("suppressions" in result for result in results) and any("fixes" in result for result in results)
    kept = [
        [(r["ruleId"], r["partialFingerprints"], r["message"]) for r in log["runs"][0]["results"]] for log in (old, new)
    ]
    assert kept[0] == kept[1]


def test_a_report_is_read_where_the_files_are_not(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "late.py").write_text(LATE)
    check("--output-format", "json", "-o", "late.json", "late.py")
    (tree / "late.py").unlink()
    for output_format in FORMATS:
        if output_format != "corrections":
            assert main(["merge", "late.json", "--output-format", output_format]) == FOUND
            assert "TFM101" in capsys.readouterr().out, output_format


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "{}",
        "[1]",
        '{"runs": 1}',
        "[{}]",
        '{"runs": [{"results": [{}]}]}',
        "[" * 100_000,
        '[{"code": 1}]',
        "\xff",
    ],
)
def test_what_is_no_report_is_named(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(text.encode("latin-1"))
    code = main(["merge", str(path)])
    captured = capsys.readouterr()
    if not text:
        assert code == CLEAN, "JSON lines without a finding"
    else:
        assert code == FAILED and "a.json: is no report" in captured.err
        assert "passed" not in captured.out


def test_a_lost_report_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.json").write_text("[]\n")
    assert main(["merge", str(tmp_path / "a.json")]) == CLEAN
    assert "All checks passed!" in capsys.readouterr().out
    assert main(["merge", "--expect", "2", str(tmp_path / "a.json")]) == FAILED
    assert main(["merge", str(tmp_path / "gone.json"), str(tmp_path / "a.json")]) == FAILED
    assert "gone.json" in capsys.readouterr().err


def test_corrections_are_not_made_of_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.json").write_text("[]\n")
    assert main(["merge", str(tmp_path / "a.json"), "--output-format", "corrections"]) == FAILED
    assert "check" in capsys.readouterr().err
