"""Reports in Chinese: complete for some rules, English where a translation is missing, never in what programs read."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tfmemlint.reporters import language
from tfmemlint.reporters.catalogue import catalogue
from tfmemlint.reporters.page import markdown
from tfmemlint.reporters.page_texts import untranslated
from tfmemlint.rulekit.rule import rules
from tools.make_messages import messages, missing

COMPLETE = ("TFM",)
"""The rules whose messages are all translated; `tools/make_messages.py --missing TFM` lists what is missing."""

CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)

PROGRAM = """\
import tensorflow as tf

x = tf.constant(1)
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
"""


@pytest.mark.parametrize("folder", language.LANGUAGES.values())
def test_no_message_of_a_complete_family_is_untranslated(folder: str) -> None:
    found = [f"{code}: {text}" for code, text in missing(catalogue(folder)) if code.startswith(COMPLETE)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("folder", language.LANGUAGES.values())
def test_no_page_of_a_rule_has_an_untranslated_paragraph(folder: str) -> None:
    own = [rule for rule in rules() if type(rule).__module__.startswith("tfmemlint.rules.")]
    found = [f"{rule.code}: {text}" for rule in own for text in untranslated(markdown(rule), folder)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("folder", language.LANGUAGES.values())
def test_a_translated_page_has_the_code_of_the_english_one(folder: str) -> None:
    for rule in rules():
        english, other = (
            {" ".join(code.split()) for code in CODE.findall(FENCE.sub("", markdown(rule, name)))}
            for name in ("", folder)
        )
        assert english == other, rule.code


@pytest.mark.parametrize("folder", language.LANGUAGES.values())
def test_a_text_fits_one_template_best(folder: str) -> None:
    known = catalogue(folder)
    for _, text in dict.fromkeys(messages()):
        fits = [(known.rank(template), template) for template in known.templates() if known.fits(template, text)]
        best = [template for rank, template in fits if rank == max(fits)[0]]
        assert len(best) < 2, (text, best)


@pytest.mark.parametrize("folder", language.LANGUAGES.values())
def test_a_translation_has_the_fields_of_its_template(folder: str) -> None:
    known = catalogue(folder)
    for template in known.templates():
        assert known.fields(known.gettext(template)) == known.fields(template), template


def test_the_compiled_catalogues_are_up_to_date() -> None:
    command = [sys.executable, "tools/make_messages.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_text_without_a_translation_stays_english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFMEMLINT_LANG", "zh")
    assert language.translate("A sentence that no rule writes.") == "A sentence that no rule writes."


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "en_US.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "C", "TFMEMLINT_LANG": "zh"}, "zh"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({}, "en"),
    ],
)
def test_the_environment_states_the_language(
    variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in language.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert language.language() == expected


def _report(folder: Path, *options: str) -> str:
    (folder / "train.py").write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-m", "tfmemlint", "check", "--no-cache", *options, "train.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8").stdout


def test_a_report_in_chinese_has_no_english_sentence(tmp_path: Path) -> None:
    assert _report(tmp_path, "--lang", "zh") == (
        "train.py:5:5: 错误： TFM101 运行时启动之后才调用 set_memory_growth：第 3 行的 tf.constant 启动了运行时\n"
        "  |\n"
        "3 | x = tf.constant(1)\n"
        '4 | for gpu in tf.config.list_physical_devices("GPU"):\n'
        "5 |     tf.config.experimental.set_memory_growth(gpu, True)\n"
        "  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "  |\n"
        "       意图： 对所有 GPU 启用内存增长\n"
        " TensorFlow： 抛出 RuntimeError: Physical devices cannot be modified after being initialized\n"
        "       建议： 把这里移到第 3 行之前\n"
        "       经过： train.py:3:5: tf.constant 启动了运行时\n"
        "              train.py:5:5: set_memory_growth 来得太晚\n"
        "       修复： 把配置移到启动运行时的代码之前（不安全，需要 --unsafe-fixes）\n"
        "\n"
        "发现 1 个错误。\n"
        "其中 1 个可用 `tfmemlint fix --unsafe-fixes` 修复。\n"
    )


def test_reports_for_programs_are_english(tmp_path: Path) -> None:
    english = json.loads(_report(tmp_path, "--output-format", "json"))
    assert json.loads(_report(tmp_path, "--output-format", "json", "--lang", "zh")) == english


def test_english_reads_no_catalogue(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM, encoding="utf-8")
    code = (
        "import sys\nfrom tfmemlint.cli.main import main\n"
        "main(['check', '--no-cache', 'train.py'])\n"
        "print([name for name in sys.modules if name.endswith('reporters.catalogue')])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8")
    assert done.stdout.endswith("[]\n"), done.stdout + done.stderr
