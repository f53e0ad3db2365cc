"""`tfmemlint debug events`: what somebody who chases a false alarm gets to see."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.fixes.projects import make
from tfmemlint.cli.main import main

GROW = 'for gpu in tf.config.list_physical_devices("GPU"):\n    tf.config.experimental.set_memory_growth(gpu, True)\n'
BEHIND_A_CONDITION = f"""\
import sys
import tensorflow as tf

if len(sys.argv) > 1:
    x = tf.constant(1)
{GROW}"""
UNCALLED = f"""\
import tensorflow as tf


def start():
    return tf.constant(1)


def configure():
{"".join(f"    {line}" for line in GROW.splitlines(keepends=True))}"""


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def events(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: str) -> Any:
        assert main(["debug", "events", *arguments, "--output-format", "json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


def state_at(runs: Any, code: str) -> dict[str, str | None]:
    """Return what is new in the state at lines with this code."""
    steps = [step for step in runs[0]["steps"] if code in step["code"]]
    return {part["name"]: part["after"] for step in steps for part in step["state"]}


def at(runs: Any, code: str) -> list[Any]:
    """Return the events in lines with this code."""
    return [step for step in runs[0]["steps"] if code in step["code"] and step["kind"] == "event"]


def test_a_perhaps_says_under_which_condition_it_holds(events: Any) -> None:
    make(Path(), {"train.py": BEHIND_A_CONDITION})
    state = state_at(events("train.py"), "list_physical_devices")
    assert state["context"] == "perhaps started by tf.constant (train.py:5), under (len(sys.argv) > 1)"
    (start,) = (step for step in at(events("train.py"), "tf.constant") if "starts" in step["words"])
    assert start["details"] == ["under (len(sys.argv) > 1)", "not in every run"]


def test_an_effect_names_what_is_to_blame(events: Any) -> None:
    make(Path(), {"train.py": BEHIND_A_CONDITION})
    late = next(step for step in at(events("train.py"), "set_memory_growth") if "call of" in step["words"])
    assert "effect late: On some path TensorFlow raises RuntimeError" in late["details"][0]
    assert "tf.constant has started it (train.py:5)" in late["details"][0]


def test_a_function_that_nothing_calls_starts_with_anything(events: Any) -> None:
    make(Path(), {"train.py": UNCALLED})
    state = state_at(events("train.py", "--function", "configure"), "list_physical_devices")
    assert state["before the entry point"] == "anything may have happened"


def test_one_line_is_shown_with_the_state_that_it_finds(events: Any) -> None:
    make(Path(), {"train.py": BEHIND_A_CONDITION})
    steps = events("train.py", "--row", "7")[0]["steps"]
    assert {step["row"] for step in steps} == {7}
    assert "context" in {part["name"] for part in steps[0]["state"]}


def test_imported_modules_are_followed_as_check_does(events: Any) -> None:
    files = {
        "train.py": f"from core.setup import start\nimport tensorflow as tf\nstart()\n{GROW}",
        "core/__init__.py": "",
        "core/setup.py": "import tensorflow as tf\n\n\ndef start():\n    return tf.constant(1)\n",
    }
    make(Path(), files)
    (run,) = events("train.py")
    assert {step["path"] for step in run["steps"]} == {"train.py"}
    late = next(step for step in run["steps"] if any("effect late" in detail for detail in step["details"]))
    assert "(core/setup.py:5)" in late["details"][0]
    (run,) = events("train.py", "--imports")
    start = next(step for step in run["steps"] if step["path"] == "core/setup.py" and step["kind"] == "event")
    assert "reached by train.py:3: calls start()" in start["details"]


def test_an_unknown_value_is_followed_to_its_origin(events: Any) -> None:
    code = "import tensorflow as tf\nargs = parse()\nif args.grow:\n    tf.zeros([1])\n"
    make(Path(), {"train.py": code})
    (branch,) = (step for step in events("train.py")[0]["steps"] if step["kind"] == "branch")
    assert branch["details"][-1] == "args.grow is not known: parse() (train.py:2) is a call whose result is not known"


def test_each_step_has_the_function_that_it_happens_in(events: Any) -> None:
    code = """\
        import tensorflow as tf

        class Trainer:
            def fit(self):
                def step():
                    return tf.constant(1)
                return step()

        Trainer().fit()
        """
    make(Path(), {"train.py": dedent(code)})
    functions = {step["row"]: step["function"] for step in events("train.py")[0]["steps"] if step["row"] is not None}
    assert functions == {1: None, 3: None, 4: None, 5: "Trainer.fit", 6: "Trainer.fit.step", 7: "Trainer.fit", 9: None}


def test_what_several_events_of_a_line_share_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    code = "import sys\nimport tensorflow as tf\ndef start():\n    if sys.argv[1:]:\n        tf.zeros([1])\nstart()\n"
    make(Path(), {"train.py": code})
    assert main(["debug", "events", "train.py"]) == 0
    out = capsys.readouterr().out
    assert (
        """\
train.py:5  in start  tf.zeros([1])
    event   call of tf.zeros([1])
            under (sys.argv[1:])
            not in every run
            reached by train.py:6: calls start()
    event   tf.zeros starts the eager context
"""
        in out
    )


def test_each_launch_is_a_run_of_its_own(events: Any) -> None:
    dockerfile = 'FROM python\nENV CUDA_VISIBLE_DEVICES=1\nCOPY . /app\nWORKDIR /app\nCMD ["python", "train.py"]\n'
    make(Path(), {"train.py": BEHIND_A_CONDITION, "Dockerfile": dockerfile, "pyproject.toml": ""})
    by_hand, launched = events("train.py")
    assert by_hand["started_by"] is None
    assert launched["started_by"] == {"path": "Dockerfile", "row": 5, "where": "CMD"}
    parts = [part for step in launched["steps"] for part in step["state"]]
    assert {"name": "CUDA_VISIBLE_DEVICES as read", "before": None, "after": "'1'"} in parts


def test_the_text_has_places_lines_and_states_and_no_colours(capsys: pytest.CaptureFixture[str]) -> None:
    make(Path(), {"train.py": BEHIND_A_CONDITION})
    assert main(["debug", "events", "train.py"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("train.py judged for TensorFlow ")
    assert "train.py:5  x = tf.constant(1)\n" in out
    assert "state   context: perhaps started by tf.constant (train.py:5), under (len(sys.argv) > 1)\n" in out
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("train.py", "def broken(:\n", "invalid syntax"),
        ("Dockerfile", "FROM python\n", "not a file of Python, nor a notebook"),
        ("missing.py", None, "no such file or directory"),
    ],
)
def test_what_cannot_be_analyzed_is_one_line(
    name: str, text: str | None, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if text is not None:
        Path(name).write_text(text, encoding="utf-8")
    assert main(["debug", "events", name]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert words in captured.err
    assert len(captured.err.splitlines()) == 1
