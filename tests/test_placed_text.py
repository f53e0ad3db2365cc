"""Texts of findings name places of a program, and are written for the file in which the finding is reported."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from pathlib import Path

import pytest

from tests.project.trees import write
from tfmemlint.cli.main import main
from tfmemlint.engine import cached_values
from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.model.placed_text import PlacedText, place, placed, seen_from

TEXT = placed(f"tf.zeros {place('nets.py', 3)} comes before {place('main.py', 7)}", "main.py")


def test_a_place_in_the_file_that_is_read_is_a_line() -> None:
    assert TEXT == "tf.zeros nets.py:3 comes before line 7"
    assert seen_from(TEXT, "nets.py") == "tf.zeros line 3 comes before main.py:7"
    assert seen_from(seen_from(TEXT, "other.py"), "main.py") == TEXT


def test_words_that_look_like_a_place_are_the_authors() -> None:
    text = placed(f"label('line 3 of main.py:4') in {place('nets.py', 3)}", "nets.py")
    assert seen_from(text, "main.py") == "label('line 3 of main.py:4') in nets.py:3"


def test_a_text_without_places_is_as_it_is() -> None:
    assert type(placed("Nothing is raised", "main.py")) is str
    assert seen_from("The handler in line 4", "main.py") == "The handler in line 4"


@pytest.mark.parametrize("same", [lambda text: pickle.loads(pickle.dumps(text)), copy.deepcopy, copy.copy])
def test_another_process_gets_the_parts(same: object) -> None:
    text = same(TEXT)  # type: ignore[operator]
    assert (type(text), text, text.parts, text.path) == (PlacedText, TEXT, TEXT.parts, "main.py")  # type: ignore[attr-defined]


def test_the_cache_keeps_the_parts() -> None:
    finding = Finding(
        "TFM101", "x", Severity.ERROR, "main.py", Span(1, 1, 1, 2), TEXT, advice=TEXT, notes=("plain", TEXT)
    )
    (read,) = cached_values.decode(cached_values.encode([finding]))
    assert read == finding
    assert [seen_from(text, "nets.py") for text in (read.message, read.advice, *read.notes)] == [
        seen_from(text, "nets.py") for text in (TEXT, TEXT, "plain", TEXT)
    ]


@pytest.mark.parametrize("part", ['["main.py", 3]', '["main.py", ["nets.py"]]', '["main.py", ["nets.py", "3"]]', "[]"])
def test_the_cache_refuses_parts_that_are_none(part: str) -> None:
    text = cached_values.encode([dataclasses.replace(_FINDING)]).replace('"a message"', part)
    with pytest.raises((TypeError, ValueError)):
        cached_values.decode(text)


_FINDING = Finding("TFM101", "x", Severity.ERROR, "main.py", Span(1, 1, 1, 2), "a message")

_GPU = """\
import tensorflow as tf


def enable():
    try:
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
    except RuntimeError as error:
        print(error)
"""
_RIGHT = "import gpu\n\ngpu.enable()\n"
_WRONG = """\
import tensorflow as tf

import gpu

x = tf.constant("line 3")
gpu.enable()
"""


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        (
            "en",
            (
                "set_memory_growth after the runtime has started: tf.constant in line 5 starts it",
                "help: Move this above line 5",
                "note: The handler in gpu.py:8 catches it and goes on",
                "note: gpu.py:7 is right where train.py:3 leads to it.",
            ),
        ),
        ("zh", ("第 5 行的 tf.constant", "把这里移到第 5 行之前", "gpu.py:8 的处理程序", "gpu.py:7", "train.py:3")),
    ],
)
def test_a_finding_at_a_user_names_the_lines_of_its_file(
    language: str,
    expected: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, code in {"pyproject.toml": "", "gpu.py": _GPU, "train.py": _RIGHT, "evaluate.py": _WRONG}.items():
        write(tmp_path / name, code)
    main(["check", "--lang", language, "--no-cache", "."])
    out = capsys.readouterr().out
    for words in expected:
        assert words in out
