from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path

import pytest

from tfmemlint.reporters.diff import print_diff, unified_diff
from tfmemlint.reporters.page import markdown, show, show_all

from .report_samples import Growth

PAGE = """\
# TFM101: growth-after-init

Memory growth is set late.

Error. A fix is sometimes available.

## What it does

Finds `set_memory_growth` that is `too
late`.

## Example

```python
x = "``kept``"
```
"""


def test_equal_texts_have_no_diff() -> None:
    assert unified_diff("a.py", "x\n", "x\n") == ""


def test_a_diff_names_the_file_and_the_lines() -> None:
    assert unified_diff("a.py", "x\ny\n", "x\nz\n") == "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb", "a\nc"),
        ("a\nb", "a\nb\n"),
        ("a\nb\n", "a\nb"),
        ("a\nb", "x\nb"),
        ("", "a\n"),
        ("a\x0cb\u2028c\x1b\nd\n", "a\x0cb\u2028c\x1b\ne\n"),
        ("a\n\n\n\n\n\n\n\nb\n", "x\n\n\n\n\n\n\n\ny\n"),
    ],
)
def test_git_applies_a_diff_and_gets_the_new_text(old: str, new: str, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(old, encoding="utf-8", newline="")
    stream = io.StringIO()
    print_diff(unified_diff("a.py", old, new), stream)
    command = ["git", "apply", "-p0", "--whitespace=nowarn", "-"]
    subprocess.run(command, input=stream.getvalue().encode(), cwd=tmp_path, check=True)
    assert file.read_bytes().decode() == new


def test_a_coloured_diff_obeys_nothing_in_the_text() -> None:
    stream = io.StringIO()
    print_diff(unified_diff("a.py", "x\n", "\x1b[2J\n"), stream, color=True)
    assert "\x1b[2J" not in stream.getvalue()
    assert "\x1b[32m+\\x1b[2J" in stream.getvalue()


def test_a_page_as_markdown() -> None:
    assert markdown(Growth()) == PAGE


def test_a_page_in_a_pipe_is_its_markdown() -> None:
    stream = io.StringIO()
    show(Growth(), stream, color=False)
    assert stream.getvalue() == PAGE
    stream = io.StringIO()
    show_all([Growth(), Growth()], stream, color=False)
    assert stream.getvalue() == f"{PAGE}\n{PAGE}"


def test_a_page_in_colour_has_the_code_and_no_markup() -> None:
    stream = io.StringIO()
    show(Growth(), stream, color=True)
    assert "\x1b[1;31mTFM101" in stream.getvalue()
    assert "##" not in stream.getvalue() and "```" not in stream.getvalue()


def test_pages_as_json() -> None:
    one, every = io.StringIO(), io.StringIO()
    show(Growth(), one, output_format="json")
    show_all([Growth()], every, output_format="json")
    page = json.loads(one.getvalue())
    assert json.loads(every.getvalue()) == [page]
    assert (page["code"], page["name"], page["severity"]) == ("TFM101", "growth-after-init", "error")
    assert page["summary"] == "Memory growth is set late."
    assert page["fix_availability"] == "Sometimes"
    assert page["explanation"].startswith("## What it does\n\nFinds `set_memory_growth`")
