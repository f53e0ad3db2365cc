from __future__ import annotations

import io
import json
import math
import os
from pathlib import Path

import pytest

from tfmemlint.model.finding import Applicability, Severity, Span
from tfmemlint.model.intent import Intent, Purpose

from .report_samples import complete, fix, made, printed


def test_json_of_nothing_is_an_empty_list() -> None:
    assert printed([], "json", quiet=False) == "[]\n"


def test_json_has_the_shape_that_readers_of_ruff_expect() -> None:
    (found,) = json.loads(printed([complete()], "json", quiet=False))
    assert found == {
        "cell": None,
        "code": "TFM101",
        "filename": str(Path("train.py").absolute()),
        "location": {"row": 10, "column": 5},
        "end_location": {"row": 10, "column": 56},
        "message": "set_memory_growth after the runtime has started",
        "fix": {
            "applicability": "safe",
            "message": "Move this above line 8",
            "edits": [
                {
                    "content": "",
                    "filename": str(Path("train.py").absolute()),
                    "location": {"row": 10, "column": 1},
                    "end_location": {"row": 11, "column": 1},
                },
            ],
            "needs": [],
        },
        "noqa_row": 10,
        "url": "https://github.com/tfmemlint/tfmemlint/blob/main/docs/rules/TFM101.md",
        "severity": "error",
        "name": "growth-after-init",
        "intent": {"wish": "growth", "devices": "every GPU", "value": True, "text": ""},
        "outcome": "TensorFlow raises RuntimeError: Physical devices cannot be modified after being initialized",
        "advice": "Move this above line 8",
        "notes": ["The handler in line 12 catches ValueError, not RuntimeError: it does not help."],
        "withheld": "",
        "trace": [
            {
                "filename": str(Path("train.py").absolute()),
                "location": {"row": row, "column": column},
                "end_location": {"row": row, "column": end},
                "message": message,
            }
            for row, column, end, message in (
                (8, 12, 19, "the module calls build"),
                (5, 12, 44, "tf.distribute.MirroredStrategy() starts the runtime"),
                (10, 5, 56, "set_memory_growth comes too late"),
            )
        ],
    }


def test_json_says_null_where_there_is_no_fix_and_no_intent() -> None:
    (found,) = json.loads(printed([made(withheld="gpus is bound twice", code="TFM999")], "json"))
    assert (found["fix"], found["intent"], found["url"], found["trace"]) == (None, None, None, [])
    assert found["withheld"] == "gpus is bound twice"
    assert found["noqa_row"] == 10


def test_json_keeps_the_name_of_standard_input() -> None:
    (found,) = json.loads(printed([made(path="-")], "json"))
    assert found["filename"] == "-"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400])
def test_json_is_json_whatever_the_number(value: float) -> None:
    out = printed([made(intent=Intent(Purpose.LIMIT, "GPU 0", value, "x"))], "json")
    (found,) = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert found["intent"] == {"wish": "limit", "devices": "GPU 0", "value": None, "text": "x"}


@pytest.mark.parametrize(("value"), [4096, 0.3, True, "peak", None])
def test_json_keeps_the_value_of_an_intent(value: float | str | None) -> None:
    (found,) = json.loads(printed([made(intent=Intent(Purpose.LIMIT, "GPU 0", value))], "json"))
    assert found["intent"]["value"] == value and type(found["intent"]["value"]) is type(value)


def test_json_survives_any_text_and_any_encoding() -> None:
    message = 'sagt "日本" \ud800 \x1b\n\u2028'
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", newline="\n")
    from tfmemlint.reporters import render
    from tfmemlint.reporters.summary import Summary

    render([made(message=message)], {}, output_format="json", stream=stream, rules={}, summary=Summary())
    stream.flush()
    assert json.loads(raw.getvalue())[0]["message"] == message


def test_github_gets_one_annotation_a_finding() -> None:
    path = str(Path("train.py").absolute())
    prefix = f"file={path},line=10,endLine=10,col=5,endColumn=56,title=tfmemlint (TFM101)"
    words = "train.py:10:5: TFM101 set_memory_growth after the runtime has started"
    assert printed([complete(), made()], "github", quiet=False) == (
        f"::error {prefix}::{words}%0A  help: Move this above line 8\n::error {prefix}::{words}\n"
    )


@pytest.mark.parametrize(
    ("severity", "command"), [(Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.ADVICE, "notice")]
)
def test_githubs_command_is_the_severity(severity: Severity, command: str) -> None:
    assert printed([made(severity=severity)], "github").startswith(f"::{command} file=")


def test_github_gets_no_columns_for_several_lines() -> None:
    out = printed([made(span=Span(2, 5, 4, 3))], "github")
    assert ",line=2,endLine=4,title=" in out and "col=" not in out


def test_githubs_own_characters_are_escaped() -> None:
    out = printed([made(path="a,b:c%d.py", message="100% of a: b, c\nnext")], "github")
    head, message = out.removesuffix("\n").split("::")[1:]
    name = head.split("file=")[1].split(",line=")[0]
    assert (
        name
        == str(Path.cwd()).replace("%", "%25").replace(":", "%3A").replace(",", "%2C") + os.sep + "a%2Cb%3Ac%25d.py"
    )
    assert message == "a,b:c%25d.py:10:5: TFM101 100%25 of a: b, c\\nnext"


def test_unsafe_fixes_are_called_so_in_json() -> None:
    (found,) = json.loads(printed([made(fix=fix(Applicability.UNSAFE, ("pynvml",)))], "json"))
    assert found["fix"]["applicability"] == "unsafe"
    assert found["fix"]["needs"] == ["pynvml"]
