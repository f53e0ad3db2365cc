"""A page about TensorFlow 1 is judged for TensorFlow 1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.documents.test_documents import fenced, found, write
from tfmemlint.cli.main import main
from tfmemlint.engine.run import MIN_ITEMS_FOR_CACHE

SESSION = """\
import tensorflow as tf

config = tf.ConfigProto()
config.gpu_options.allow_growth = True
with tf.Session(config=config) as session:
    session.run(tf.global_variables_initializer())
"""
LISTING = "print(tf.config.list_physical_devices('GPU'))\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".git").mkdir()


def codes(capsys: pytest.CaptureFixture[str], *arguments: str) -> set[str]:
    return {code for _, _, _, code in found(capsys, *arguments, "page.md")}


def test_what_is_all_of_tensorflow_1_stays_silent(capsys: pytest.CaptureFixture[str]) -> None:
    write("page.md", fenced(SESSION) + "\nMore:\n\n" + fenced("x = tf.placeholder(tf.float32)\n"))
    assert codes(capsys) == set()


def test_what_a_release_is_told_for_is_judged_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    write("page.md", fenced(SESSION))
    assert "TFM501" in codes(capsys, "--target-version", "2.16")
    write("requirements.txt", "tensorflow>=2.4\n")
    assert "TFM501" in codes(capsys)


def test_a_page_that_has_names_of_both_is_about_what_is_there_now(capsys: pytest.CaptureFixture[str]) -> None:
    write("page.md", fenced(SESSION) + "\nMore:\n\n" + fenced(LISTING))
    assert "TFM501" in codes(capsys)


def test_a_project_for_both_has_examples_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    write("requirements.txt", "tensorflow>=1.13\n")
    write("page.md", fenced(SESSION) + "\nMore:\n\n" + fenced(LISTING))
    assert codes(capsys) == set()
    write("page.md", fenced(SESSION + LISTING))
    assert "TFM501" in codes(capsys)


def test_what_was_found_for_one_release_is_not_taken_for_another(capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(MIN_ITEMS_FOR_CACHE):
        write(f"page{number}.md", fenced(SESSION))

    def count(*arguments: str) -> int:
        capsys.readouterr()
        main(["check", "--output-format", "json", *arguments])
        return len(json.loads(capsys.readouterr().out))

    assert count() == 0
    assert count("--target-version", "2.21") == count("--target-version", "2.21", "--no-cache") > 0
    assert count() == 0
    write("requirements.txt", "tensorflow>=2.21\n")
    assert count() == count("--no-cache") > 0


def test_what_other_files_tell_of_a_variable_is_asked_again(capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(MIN_ITEMS_FOR_CACHE):
        write(f"page{number}.md", "TensorFlow:\n\n" + fenced("TF_GPU_MEMORY_LIMIT=64 python train.py", language="bash"))

    def codes_found(*arguments: str) -> list[str]:
        capsys.readouterr()
        main(["check", "--output-format", "json", *arguments])
        return [one["code"] for one in json.loads(capsys.readouterr().out)]

    assert codes_found() == ["TFM207"] * MIN_ITEMS_FOR_CACHE
    write("train.py", "import os\nprint(os.environ['TF_GPU_MEMORY_LIMIT'])\n")
    assert codes_found() == codes_found("--no-cache") == []
