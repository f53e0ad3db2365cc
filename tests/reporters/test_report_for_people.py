from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

from tfmemlint.model.finding import Applicability, Severity, Span, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.reporters.summary import Summary

from .report_samples import TRAIN, complete, fix, made, marked, printed


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _no_colour_wishes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def test_a_complete_finding_reads_like_this() -> None:
    assert (
        printed([complete()], quiet=False)
        == """\
train.py:10:5: error: TFM101 [*] set_memory_growth after the runtime has started
   |
 8 | strategy = build()
 9 | for gpu in tf.config.list_physical_devices("GPU"):
10 |     tf.config.experimental.set_memory_growth(gpu, True)
   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   |
      intent: memory growth for every GPU
  TensorFlow: raises RuntimeError: Physical devices cannot be modified after being initialized
        help: Move this above line 8
       trace: train.py:8:12: the module calls build
              train.py:5:12: tf.distribute.MirroredStrategy() starts the runtime
                5 | return tf.distribute.MirroredStrategy()
              train.py:10:5: set_memory_growth comes too late
        note: The handler in line 12 catches ValueError, not RuntimeError: it does not help.
         fix: Move this above line 8

Found 1 error.
[*] 1 fixable with `tfmemlint fix`.
"""
    )


def test_a_withheld_fix_says_why_and_is_not_marked_as_available() -> None:
    out = printed([made(withheld="gpus is bound twice", fixable=True)])
    assert out.startswith("train.py:10:5: error: TFM101 set_memory_growth after")
    assert "\n         fix: withheld: gpus is bound twice\n" in out


def test_an_unsafe_fix_is_marked_only_with_unsafe_fixes() -> None:
    finding = made(fix=fix(Applicability.UNSAFE, ("pynvml",)))
    out = printed([finding])
    assert "TFM101 set_memory_growth" in out
    assert "fix: Move this above line 8 (unsafe)\n" in out
    assert "TFM101 [*] set_memory_growth" in printed([finding], unsafe=True)


def test_concise_is_one_line_a_finding() -> None:
    assert printed([complete(), made(fix=None)], "concise") == (
        "train.py:10:5: error: TFM101 [*] set_memory_growth after the runtime has started\n"
        "train.py:10:5: error: TFM101 set_memory_growth after the runtime has started\n"
    )


def test_a_notebooks_cell_is_named() -> None:
    assert printed([made(path="a.ipynb", cell=3)], "concise").startswith("a.ipynb:cell 3:10:5: error: TFM101")


@pytest.mark.parametrize("span", [Span(99, 1, 99, 2), Span(0, 0, 0, 0), Span(1, 1, 1, 1)])
def test_a_finding_without_a_place_in_the_text_is_still_reported(span: Span) -> None:
    assert printed([made(span=span)], text="").startswith(f"train.py:{span.row}:{span.column}: error: TFM101")


def test_a_finding_whose_text_is_not_there_is_still_reported() -> None:
    out = printed([made(path="gone.py", message="cannot be read", outcome="nothing is checked")])
    assert out == "gone.py:10:5: error: TFM101 cannot be read\n  TensorFlow: nothing is checked\n\n"


def test_the_marker_stands_under_the_place_after_tabs_and_wide_characters() -> None:
    text = 'x =\t"日本" ; grow("語")'
    column = text.index("grow") + 1
    assert marked(text, Span(1, column, 1, len(text) + 1)) == [
        '1 | x =    "日本" ; grow("語")',
        "  |                 ^^^^^^^^^^",
    ]


def test_combining_characters_take_no_column() -> None:
    text = 'e\u0301 = "e\u0301"; f()'
    column = text.index("f()") + 1
    assert marked(text, Span(1, column, 1, column + 3))[1] == "  |          ^^^"


def test_a_place_of_no_width_still_has_a_marker() -> None:
    assert marked("abc", Span(1, 4, 1, 4)) == ["1 | abc", "  |    ^"]


def test_a_place_over_several_lines_is_bracketed() -> None:
    text = "x = f(\n    a,\n)\ny = 1\n"
    assert marked(text, Span(1, 5, 3, 2)) == [
        "1 |   x = f(",
        "  |  _____^",
        "2 | |     a,",
        "3 | | )",
        "  | |_^",
        "4 |   y = 1",
    ]
    assert marked(text, Span(1, 1, 3, 2))[:2] == ["1 | / x = f(", "2 | |     a,"]


def test_the_middle_of_a_long_place_is_left_out() -> None:
    text = "f(\n" + "".join(f"    {row},\n" for row in range(50)) + ")\n"
    lines = marked(text, Span(1, 1, 52, 2))
    assert lines == [
        " 1 | / f(",
        " 2 | |     0,",
        " 3 | |     1,",
        " 4 | |     2,",
        "   | | ...",
        "51 | |     49,",
        "52 | | )",
        "   | |_^",
    ]


def test_blank_lines_around_a_place_are_not_shown() -> None:
    assert marked("a\n\nb\n\nc\n", Span(3, 1, 3, 2)) == ["1 | a", "2 |", "3 | b", "  | ^", "4 |", "5 | c"]
    assert marked("a\n\n\nb\n\n\nc\n", Span(4, 1, 4, 2)) == ["4 | b", "  | ^"]


@pytest.mark.parametrize("before", [0, 60, 500, 100_000])
def test_a_very_long_line_is_cut_around_the_place(before: int) -> None:
    text = "日" * before + "set_growth()" + "x" * 100_000
    lines = marked(text, Span(1, before + 1, 1, before + 13))
    start = lines[1].index("^")
    assert all(len(line) <= 120 for line in lines)
    wide = lines[0].count("日")
    assert lines[0][start - wide :].startswith("set_growth()x")
    assert lines[1].strip() == "| " + " " * (start - 4) + "^" * 12
    assert lines[0].endswith("...")


def test_what_a_terminal_would_obey_is_escaped() -> None:
    text = 'x = "\x1b[31m\u202e\x07" ; f()\n'
    column = text.index("f()") + 1
    finding = made(
        path="a\x1b.py",
        span=Span(1, column, 1, column + 3),
        message="bad \x1b]0;title\x07 name\nnext",
        outcome="raises \x9b",
        intent=Intent(Purpose.OTHER, text="\x1b[2J"),
        advice="\u202e",
        trace=(Step("a\x1b.py", Span(1, 1, 1, 2), "\x1b[H"),),
        notes=("\r",),
        withheld="\x00",
    )
    for output_format in ("full", "concise", "github"):
        out = printed([finding], output_format, text=text)
        assert not [char for char in out if char != "\n" and (ord(char) < 32 or 127 <= ord(char) < 160)]
        assert "\u202e" not in out
    assert marked(text, finding.span)[:2] == [
        '1 | x = "\\x1b[31m\\u202e\\x07" ; f()',
        "  | " + " " * 27 + "^^^",
    ]


def test_a_stream_of_another_encoding_gets_escapes_and_no_failure() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", newline="\n")
    from tfmemlint.reporters import render

    for color in (False, True):
        render(
            [made(message="日本")], {}, output_format="full", stream=stream, color=color, rules={}, summary=Summary()
        )
    stream.flush()
    assert raw.getvalue().count(b"\\u65e5\\u672c") == 2


def test_a_trace_through_another_file_shows_its_line() -> None:
    from tfmemlint.reporters import render
    from tfmemlint.sources import Source

    stream = io.StringIO()
    finding = made(trace=(Step("models.py", Span(1, 5, 1, 15), "tf.zeros(3) starts the runtime"),))
    sources = {
        "train.py": Source(path="train.py", text=TRAIN),
        "models.py": Source(path="models.py", text="x = tf.zeros(3)"),
    }
    render(
        [finding], sources, output_format="full", stream=stream, color=False, rules={}, quiet=True, summary=Summary()
    )
    assert (
        "trace: models.py:1:5: tf.zeros(3) starts the runtime\n                1 | x = tf.zeros(3)\n"
        in stream.getvalue()
    )


def test_colour_is_used_on_a_terminal_and_says_the_same() -> None:
    import re

    out = printed([complete()], stream=Terminal(), color=None, quiet=False)
    assert "\x1b[1;31m" in out
    assert "\x1b]8;" in out and "docs/rules/TFM101.md" in out
    bare = re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\", "", out)
    assert bare.splitlines()[:7] == printed([complete()], quiet=False).splitlines()[:7]


def test_long_words_are_wrapped_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    out = printed([made(advice="Move this up " * 8)], stream=Terminal(), color=False)
    wrapped = [line for line in out.splitlines() if "Move" in line]
    assert wrapped[0].startswith("        help: Move this")
    assert wrapped[1].startswith("              ")
    assert all(len(line) <= 60 for line in wrapped)
    assert "Move this up " * 8 in printed([made(advice="Move this up " * 8)], color=False)


@pytest.mark.parametrize(
    ("environment", "terminal", "color", "coloured"),
    [
        ({}, False, None, False),
        ({}, True, None, True),
        ({}, True, False, False),
        ({}, False, True, True),
        ({"NO_COLOR": "1"}, True, None, False),
        ({"NO_COLOR": ""}, True, None, True),
        ({"NO_COLOR": "1"}, False, True, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, None, False),
        ({"FORCE_COLOR": "1"}, False, None, True),
        ({"FORCE_COLOR": "1"}, False, False, False),
        ({"FORCE_COLOR": "0"}, False, None, False),
        ({"TERM": "dumb"}, True, None, False),
        ({"TERM": "dumb"}, False, True, True),
    ],
)
def test_when_there_is_colour(
    environment: dict[str, str], terminal: bool, color: bool | None, coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    out = printed([made()], "concise", stream=Terminal() if terminal else io.StringIO(), color=color)
    assert ("\x1b[" in out) is coloured


def test_a_log_with_colour_has_no_links() -> None:
    assert "\x1b]8;" not in printed([made()], color=True)


@pytest.mark.parametrize("output_format", ["full", "concise", "json", "github"])
def test_rich_is_not_imported_where_there_is_no_terminal(output_format: str) -> None:
    code = f"""
import io, sys
from tfmemlint.reporters import render, statistics
from tfmemlint.reporters.summary import Summary
from tfmemlint.model.finding import Finding, Severity, Span
finding = Finding("TFM101", "x", Severity.ERROR, "a.py", Span(1, 1, 1, 2), "bad")
options = {{"output_format": {output_format!r}, "stream": io.StringIO(), "rules": {{}}}}
render([finding], {{}}, summary=Summary.of([finding]), **options)
statistics([finding], io.StringIO())
assert not {{"rich", "libcst", "tensorflow"}} & set(sys.modules)
"""
    environment = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ValueError, match="full, concise, grouped, json, json-lines"):
        printed([made(severity=Severity.ADVICE)], "xml")
