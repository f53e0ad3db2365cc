"""The page of a plan: each GPU is a bar."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tfmemlint.cli.main import main

CODE = """\
import tensorflow as tf
gpus = tf.config.list_physical_devices("GPU")
tf.config.set_visible_devices(gpus[:2], "GPU")
two = [tf.config.LogicalDeviceConfiguration(memory_limit=size) for size in (4096, 2048)]
tf.config.set_logical_device_configuration(gpus[0], two)
tf.config.experimental.set_memory_growth(gpus[1], True)
x = tf.constant(1)
"""


def _page(tmp_path: Path, code: str, *options: str) -> str:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib, which isn't installed")
    program, page = tmp_path / "program.py", tmp_path / "plan.html"
    program.write_text(code, encoding="utf-8")
    assert main(["plan", str(program), "--isolated", "--html", str(page), *options]) in (0, 1)
    return page.read_text(encoding="utf-8")


def test_who_gets_what_and_which_line_says_so(tmp_path: Path) -> None:
    text = _page(tmp_path, CODE, "--gpus", "3", "--gpu-memory", "16GiB")
    assert "logical device 0: 4096 MiB (line 5)" in text
    assert "logical device 1: 2048 MiB (line 5)" in text
    assert "left to others: 10,240.0 MiB" in text
    assert "not visible" in text
    assert "--gpu-memory was not given" not in text


def test_what_is_lost_is_listed_with_its_line(tmp_path: Path) -> None:
    text = _page(tmp_path, CODE)
    assert "memory growth for GPU 1" in text.partition("asked for and lost")[2]
    assert "--gpu-memory was not given" in text


def test_a_program_that_asks_for_nothing_gets_everything(tmp_path: Path) -> None:
    assert "everything that is free" in _page(tmp_path, "import tensorflow as tf\ntf.constant(1)\n", "--gpus", "1")


def test_what_is_not_known_or_not_visible_does_not_look_like_what_is_free(tmp_path: Path) -> None:
    unknown = CODE.replace("memory_limit=size", "memory_limit=int(input())")
    text = _page(tmp_path, unknown, "--gpus", "3", "--gpu-memory", "16GiB")
    patterns = dict(zip(["not known", "not visible"], re.findall(r'<pattern id="(\w+)"', text), strict=True))
    assert len(set(patterns.values())) == 2
    assert all(f"url(#{pattern})" in text for pattern in patterns.values())
    assert "<pattern" not in _page(tmp_path, "import tensorflow as tf\ntf.constant(1)\n", "--gpus", "1")


def test_a_program_that_a_script_starts_says_so(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib, which isn't installed")
    (tmp_path / "train.py").write_text("import tensorflow as tf\ntf.constant(1)\n", encoding="utf-8")
    (tmp_path / "run.sh").write_text("#!/bin/sh\nCUDA_VISIBLE_DEVICES=0 python train.py\n", encoding="utf-8")
    page = tmp_path / "plan.html"
    assert main(["plan", str(tmp_path), "--isolated", "--html", str(page)]) in (0, 1)
    text = page.read_text(encoding="utf-8")
    assert text.count("run.sh:2 starts it</h2>") == 1


def test_what_is_missing_is_said_first(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("tfmemlint.reporters.pictures.charts.is_missing", lambda: True)
    for command in (["plan", "none.py"], ["fit", "none.py"], ["verify", "none.py"]):
        assert main([*command, "--html", "x.html"]) == 2
        assert "tfmemlint[pictures]" in capsys.readouterr().err


def test_a_page_that_can_t_be_written_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib, which isn't installed")
    program = tmp_path / "program.py"
    program.write_text(CODE, encoding="utf-8")
    assert main(["plan", str(program), "--isolated", "--html", str(tmp_path / "none" / "x.html")]) == 2
    assert "No such file" in capsys.readouterr().err
