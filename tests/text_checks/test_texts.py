"""Texts as people save them: what is found in them, in which rows, and what is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.text_checks.text_files import PAGES, TEXTS, expected, found, texts_in, told
from tfmemlint.cli.main import main
from tfmemlint.model.finding import Severity

BAD = [path for path in texts_in(TEXTS) if path.name.startswith("bad_")]
OK = [path for path in texts_in(TEXTS) if path.name.startswith("ok_")]


def _named(path: Path) -> str:
    return path.name


@pytest.mark.parametrize("path", BAD, ids=_named)
def test_what_is_wrong_is_found_in_its_row(path: Path) -> None:
    assert expected(path)
    assert told(found(path)) == expected(path)


@pytest.mark.parametrize("path", OK, ids=_named)
def test_a_text_that_is_right_is_left_alone(path: Path) -> None:
    findings = found(path)
    assert told(findings) == [], [finding.message for finding in findings]


def test_there_are_more_texts_that_are_right_than_wrong() -> None:
    assert len(OK) > len(BAD)


@pytest.mark.parametrize("path", texts_in(PAGES), ids=_named)
def test_every_defect_of_an_article_is_found_in_its_text(path: Path) -> None:
    assert told(found(path, "ALL")) == expected(path)


@pytest.mark.parametrize("path", texts_in(PAGES), ids=_named)
def test_without_being_asked_advice_is_left_out(path: Path) -> None:
    findings = found(path)
    assert findings
    assert not [finding for finding in findings if finding.severity is Severity.ADVICE]
    assert set(told(findings)) <= set(expected(path))


@pytest.mark.parametrize("path", [*BAD, *texts_in(PAGES)], ids=_named)
def test_a_finding_stands_where_the_text_has_it(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").split("\n")
    for finding in found(path, "ALL"):
        span = finding.span
        written = lines[span.row - 1][span.column - 1 :]
        if span.row == span.end_row:
            written = lines[span.row - 1][span.column - 1 : span.end_column - 1]
        assert written.strip() == written
        if finding.code == "TFM208":
            bare = written.replace("<wbr>", "").replace("\\", "")
            assert bare in finding.message


@pytest.mark.parametrize("path", [*OK, *BAD, *texts_in(PAGES)], ids=_named)
def test_a_fix_changes_only_what_it_names(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    main(["fix", path.name, "--quiet", "--no-cache"])
    after = copy.read_text(encoding="utf-8").split("\n")
    before = path.read_text(encoding="utf-8").split("\n")
    if path.name.startswith("ok_") or path.suffix == ".html":
        assert after == before
    assert len(set(before) - set(after)) <= len(found(path))


def test_a_text_in_a_directory_is_read_where_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("With TensorFlow, use tf.config.set_memory_limit.\n")
    (tmp_path / "a.py").write_text("")
    assert main(["check", ".", "--no-cache", "--quiet"]) == 0
    assert main(["check", ".", "--no-cache", "--quiet", "--extend-kinds", "text"]) == 1
    assert main(["check", "notes.txt", "--no-cache", "--quiet"]) == 1
    assert "TFM208" in capsys.readouterr().out


def test_prose_is_spoken_of_without_being_asked_unless_it_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_text("With TensorFlow, use `tf.config.set_memory_limit`.\n")
    (tmp_path / "a.py").write_text("import tensorflow as tf\n\n# use tf.config.set_memory_limit\nprint(tf)\n")
    check = ["check", "--no-cache", "--quiet"]
    assert main([*check, "a.md"]) == 1
    assert main([*check, "a.py"]) == 0
    assert main([*check, "a.md", "--ignore", "TFM208"]) == 0
    assert main([*check, "a.md", "--select", "TFM101"]) == 0
    assert main([*check, "a.md", "--extend-select", "TFM705"]) == 1
