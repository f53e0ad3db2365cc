"""The reports of plan, verify, fit and doctor in Chinese: what has no translation stays English, and is listed here."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixture_files import fixture_paths, read_text, strip_markers
from tests.verify.programs import GROW, TF
from tfmemlint.cli.main import main
from tfmemlint.fit import report as fit_report
from tfmemlint.reporters import language
from tfmemlint.reporters.catalogue import of_reports
from tfmemlint.reporters.paint import Segment
from tfmemlint.verify import report as verify_report

MESSAGE = re.compile(r"\b\w+(?:Error|Exception|Warning): .*")
"""TensorFlow's own messages, which no language changes."""
SENTENCE = re.compile(r"(?<![\w.'\"`(])[A-Za-z]+ [a-z]+\b(?! in\b|\()")
NAMES = re.compile(r"`[^`]*`|\(0\.\d if [^)]*\)|\S+ if \S+ % 2 == 0 else \S+|GPU [a-z_]+(?:\.[a-z_]+)?$|(?<=，如果 ).+")
"""Code, among it that of the fixtures."""
LATE = f"{TF}x = tf.constant(1)\n{GROW}"


def in_english(text: str) -> bool:
    """Return True if something of a translated text is an English sentence."""
    return SENTENCE.search(NAMES.sub("", MESSAGE.sub("", text))) is not None


@pytest.mark.slow
def test_no_sentence_of_a_plan_is_untranslated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    known = of_reports("zh_CN")
    seen: set[str] = set()

    def noted(line: list[Segment]) -> list[Segment]:
        seen.update(segment.text.strip(" ") for segment in line)
        return line

    monkeypatch.setattr("tfmemlint.plans.report.localized", noted)
    monkeypatch.chdir(tmp_path)
    for number, path in enumerate(fixture_paths("bad")):
        (tmp_path / f"program_{number}.py").write_text(strip_markers(read_text(path))[0], encoding="utf-8")
    main(["plan", "-o", "plan.txt", "."])
    assert len(seen) > 200
    english = sorted(text for text in seen if text and in_english(known.translate(text)))
    assert not english, "\n".join(english)


def test_a_plan_in_chinese(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(LATE, encoding="utf-8")
    main(["plan", "--lang", "zh", "train.py"])
    assert capsys.readouterr().out == (
        "train.py：从上到下运行\n"
        "  启动      第 2 行：tf.constant 启动运行时\n"
        "  每个 GPU  全部空闲内存（这里没有其他设置）\n"
        "  第 4 行   对所有 GPU 启用内存增长： 太晚了：第 2 行（tf.constant）已经启动了运行时 [TFM101]\n"
        "            TensorFlow 抛出 RuntimeError: Physical devices cannot be modified after being initialized\n"
        "  结束      每次运行都在第 4 行结束：RuntimeError: Physical devices cannot be modified after being initialized"
        " [TFM101]\n"
        "\n"
        "有 1 项要求：1 项不生效\n"
        "`tfmemlint check` 显示规则在那里发现的问题，`tfmemlint rule CODE` 解释一条规则\n"
    )
    main(["plan", "--lang", "zh", "--output-format", "json", "train.py"])
    chinese = json.loads(capsys.readouterr().out)
    main(["plan", "--lang", "en", "--output-format", "json", "train.py"])
    assert chinese == json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_the_doctor_in_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", "--lang", "zh"])
    out = capsys.readouterr().out
    assert "验证" in out and "沙箱" in out
    assert not [line for line in out.splitlines() if in_english(line) and "pip install" not in line]


@pytest.mark.slow
@pytest.mark.tensorflow
def test_verdicts_in_chinese(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(f"{TF}{GROW}", encoding="utf-8")
    (tmp_path / "late.py").write_text(LATE, encoding="utf-8")
    command = [sys.executable, "-m", "tfmemlint", "verify", "--device", "edge", "--lang", "zh", "good.py", "late.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 1, done.stderr
    assert "对所有 GPU 启用内存增长" in done.stdout and "生效" in done.stdout and "抛出异常" in done.stdout
    assert "2 个意图：1 项生效，1 项抛出异常" in done.stdout
    english = [line for line in done.stdout.splitlines() if in_english(line)]
    assert all("Physical" in line or "devices" in line or "initialized" in line for line in english), english


def test_what_verify_and_fit_always_say_is_translated() -> None:
    known = of_reports("zh_CN")
    texts = [f"ground: {name} = {meaning}" for name, meaning in verify_report._MEANING.items()]
    texts += [fit_report.NOT_KNOWN, fit_report.OTHER_VALUES]
    assert [text for text in texts if in_english(known.translate(text))] == []


def test_the_output_of_a_program_stays_as_it_is() -> None:
    language.choose("zh")
    line = [Segment("fits", "quoted"), Segment("fits")]
    assert [segment.text for segment in language.localized(line)] == ["fits", "放得下"]


def test_english_reports_read_no_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    language.choose("en")
    monkeypatch.setattr("tfmemlint.reporters.catalogue.of_reports", None)
    assert language.localized_text("fits") == "fits"


def test_a_translation_of_a_report_has_the_fields_of_its_template() -> None:
    known = of_reports("zh_CN")
    for template in known.templates():
        assert known.fields(known.gettext(template)) == known.fields(template), template
