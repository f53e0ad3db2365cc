"""The report for programs that write code."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fixture_files import FIXTURES, ROOT
from tfmemlint.cli.main import main
from tfmemlint.knowledge import names
from tfmemlint.knowledge.releases import KNOWN, Target

KEYS = (
    *("code", "rule", "severity", "filename", "cell", "location", "end_location", "also_at", "target", "kind"),
    *("written", "text", "written_in_releases", "instead", "nearest", "why_none", "edit", "why_no_edit", "sentence"),
    "url",
)
INSTEAD_KEYS = ("write", "relation", "parameters", "verified", "releases", "evidence")
LOOP = "import tensorflow as tf\n\nfor gpu in tf.config.list_physical_devices('GPU'):\n    {}\n"
PAGE = ROOT / "docs" / "corrections.md"


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    main(["check", "--no-cache", "--output-format", "corrections", *arguments])
    whole = json.loads(capsys.readouterr().out)
    assert list(whole) == ["version", "tool", "corrections"]
    assert whole["version"] == 1
    made: list[dict[str, Any]] = whole["corrections"]
    return made


def of_text(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, text: str, *arguments: str
) -> list[dict[str, Any]]:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    return told(capsys, "-", "--stdin-filename", name, *arguments)


def test_nothing_wrong_is_an_empty_list(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert of_text(capsys, monkeypatch, "a.py", "import tensorflow as tf\n") == []


def test_a_made_up_name_has_the_real_one_and_the_releases_that_have_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = LOOP.format("tf.config.set_memory_growth(gpu, True)")
    (one,) = of_text(capsys, monkeypatch, "a.py", text)
    assert tuple(one) == KEYS
    assert (one["code"], one["kind"], one["written"]) == ("TFM202", "name", "tf.config.set_memory_growth")
    assert one["text"] == "tf.config.set_memory_growth(gpu, True)"
    assert one["written_in_releases"] == []
    instead = one["instead"]
    assert tuple(instead) == INSTEAD_KEYS
    assert instead["write"] == "tf.config.experimental.set_memory_growth"
    assert (instead["relation"], instead["verified"], instead["evidence"]) == ("same", True, "name")
    assert instead["parameters"] == ["device", "enable"]
    assert instead["releases"] == [release for release in KNOWN if release != "1.13"]
    edit = one["edit"]
    assert edit["applicability"] == "safe"
    assert "tf.config.experimental.set_memory_growth(gpu, True)" in edit["edits"][0]["content"]
    assert one["why_none"] is None and one["why_no_edit"] is None


def test_where_nothing_does_it_the_reason_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import tensorflow as tf\n\ntf.config.experimental.clear_memory()\n"
    (one,) = of_text(capsys, monkeypatch, "a.py", text)
    assert (one["instead"], one["nearest"], one["edit"]) == (None, None, None)
    assert "no call gives GPU memory back" in one["why_none"]
    assert one["why_no_edit"]


def test_a_name_that_is_most_like_it_is_told_apart_from_what_was_wanted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,) = of_text(capsys, monkeypatch, "a.py", "import tensorflow as tf\n\ntf.config.list_physical_device()\n")
    assert one["instead"] is None
    assert one["nearest"]["write"] == "tf.config.list_physical_devices"
    assert one["nearest"]["relation"] == "nearest"
    assert "most like" in one["why_none"]


def test_a_value_is_verified_where_it_was_seen_to_be_taken(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import os\nos.environ['TF_FORCE_GPU_ALLOW_GROWTH'] = '1'\nimport tensorflow as tf\n"
    (one,) = of_text(capsys, monkeypatch, "a.py", text, "--target-version", "2.15")
    assert (one["kind"], one["written"], one["instead"]["write"]) == ("value", "1", "true")
    assert (one["instead"]["verified"], one["instead"]["evidence"]) == (True, "value")
    (one,) = of_text(capsys, monkeypatch, "a.py", text, "--target-version", "2.16")
    assert (one["target"], one["instead"]["verified"]) == ("2.16", False)


def test_a_variable_that_is_misspelt_and_one_that_is_made_up(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "TensorFlow: `TF_FORCE_ALLOW_GPU_GROWTH=true TF_GPU_MEMORY_LIMIT=512 python a.py`\n"
    first, second = of_text(capsys, monkeypatch, "a.txt", text)
    assert (first["kind"], first["instead"]["write"]) == ("variable", "TF_FORCE_GPU_ALLOW_GROWTH")
    assert first["instead"]["evidence"] == "variable"
    assert (second["written"], second["instead"]) == ("TF_GPU_MEMORY_LIMIT", None)


def test_places_of_one_wrong_name_are_one_correction(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import tensorflow as tf\n\nx = tf.random_normal([1])\ny = tf.random_normal([2])\nprint(x, y, tf.config)\n"
    (one,) = of_text(capsys, monkeypatch, "a.py", text, "--select", "TFM206")
    assert one["location"]["row"] == 3
    assert [place["location"]["row"] for place in one["also_at"]] == [4]
    assert "1.15" in one["written_in_releases"] and "2.0" not in one["written_in_releases"]


def test_what_is_wrong_without_a_wrong_name_is_a_use(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = LOOP.format("tf.config.experimental.set_memory_growth(gpu, True)")
    text = loop.replace("for gpu", "tf.constant(1)\nfor gpu")
    (one,) = of_text(capsys, monkeypatch, "a.py", text)
    assert (one["code"], one["kind"], one["instead"]) == ("TFM101", "use", None)
    assert one["edit"] is not None


@pytest.mark.slow
def test_every_fixture_has_corrections_that_hold_what_they_say(capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(path) for path in sorted(FIXTURES.glob("TFM*/bad_*.py")) if not path.name.endswith(".fixed.py")]
    made = told(capsys, "--select", "ALL", *files)
    assert len(made) > 500
    order = [(one["filename"], one["location"]["row"], one["location"]["column"], one["code"]) for one in made]
    assert order == sorted(order)
    for one in made:
        assert tuple(one) == KEYS
        assert one["text"], one
        assert (one["instead"] is None) == (one["why_none"] is not None)
        assert (one["edit"] is None) == (one["why_no_edit"] is not None)
        assert one["sentence"].endswith(".")
        for found in (one["instead"], one["nearest"]):
            if found is None or found["evidence"] != "name" or not found["write"].startswith("tf."):
                continue
            name = re.split(r"\(", found["write"])[0]
            assert names.exists(name, Target.parse(one["target"])) is found["verified"] is True


def test_a_notebook_is_spoken_of_by_its_cells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": [source]}
        for source in ("import tensorflow as tf", "tf.config.list_gpus()")
    ]
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    (one,) = told(capsys, str(path))
    assert (one["cell"], one["location"], one["text"]) == (2, {"row": 1, "column": 1}, "tf.config.list_gpus()")


def test_the_page_shows_what_is_printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    page = PAGE.read_text(encoding="utf-8")
    source = re.search(r"```markdown\n(.*?)\n````", page.replace("`````", "````"), re.DOTALL)
    shown = re.search(r"```json\n(.*?)```", page, re.DOTALL)
    assert source is not None and shown is not None
    made = of_text(capsys, monkeypatch, "notes.md", source[1] + "\n")
    for one in made:
        one["filename"] = "/home/you/notes.md"
        for edit in (one["edit"] or {"edits": []})["edits"]:
            edit["filename"] = "/home/you/notes.md"
    assert json.loads(shown[1])["corrections"] == made
    for key in (*KEYS, *INSTEAD_KEYS):
        assert f"`{key}`" in page, key
