"""A cache that strangers wrote makes findings go missing or appear, and no more: it ends no run, has no other files
quoted, and has nothing written."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.safety.broken_json import broken
from tfmemlint.cli.main import main
from tfmemlint.engine import cache
from tfmemlint.reporters.formats import FORMATS

CODE = """\
import tensorflow as tf
import model

gpus = tf.config.list_physical_devices("GPU")
tf.config.experimental.set_memory_growth(gpus[0], True)
"""
STARTS = "import tensorflow as tf\n\nsize = tf.zeros([1])\n"
EACH = 40


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of two modules, one that is alone, and a cache of both."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_version", lambda modules: "1")
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    Path("train.py").write_text(CODE)
    Path("model.py").write_text(STARTS)
    Path("alone.py").write_text("import tensorflow as tf\ntf.config.set_memory_limit(0, 0.5)\n")


def _rewrite(change: Callable[[Any], Any]) -> None:
    """Write the cache anew, each entry changed, with checksums that are right."""
    (path,) = Path("../cache").rglob("*.cache")
    head, *lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines):
        if line:
            key, day, _, text = line.split(b" ", 3)
            text = json.dumps(change(json.loads(text)), separators=(",", ":")).encode()
            lines[number] = b" ".join((key, day, cache._checksum(text), text))
    path.write_bytes(b"\n".join((head, *lines)))


def _check(*options: str) -> int:
    return main(["check", "--jobs", "1", *options, "."])


def test_a_broken_cache_ends_no_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert _check() == 1
    (good,) = Path("../cache").rglob("*.cache")
    shutil.copy(good, "../good")
    chance = random.Random(0)
    for number in range(EACH):
        shutil.copy("../good", good)
        _rewrite(lambda entry: broken(entry, chance))
        written = tuple(FORMATS)[number % len(FORMATS)]
        code = _check("--output-format", written)
        out, err = capsys.readouterr()
        assert code in (0, 1), (number, written, err)
        assert "\x1b" not in out + err
        assert "TFM900" not in out


@pytest.mark.parametrize("kind", ["names", "findings", "program", "number", "answers"])
def test_a_value_of_another_kind_is_none(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    _check()
    first = capsys.readouterr().out
    empty = {"names": {}, "answers": {}, "number": 1, "findings": [], "program": []}
    _rewrite(lambda entry: entry if entry[0] == kind else [kind, empty[kind]])
    assert _check() == 1
    assert capsys.readouterr().out == first


def _named(entry: Any, path: str) -> Any:
    """Return a cached result in which each finding is in the file at ``path``, and all that led to it."""
    return json.loads(json.dumps(entry).replace('"train.py"', f'"{path}"').replace('"alone.py"', f'"{path}"'))


@pytest.mark.parametrize("how", ["absolute", "relative"])
def test_no_file_outside_is_quoted(how: str, capsys: pytest.CaptureFixture[str]) -> None:
    secret = Path("../secret.py").absolute()
    secret.write_text("\n".join(f"TOKEN_{row} = 'hidden'" for row in range(1, 9)))
    path = {"absolute": secret.as_posix(), "relative": "../secret.py"}[how]
    for output_format in FORMATS:
        _check()
        capsys.readouterr()
        _rewrite(lambda entry: _named(entry, path))
        assert _check("--output-format", output_format) == 1
        out = capsys.readouterr().out
        assert "hidden" not in out
        assert "train.py" in out


def test_what_is_written_into_a_file_is_not_from_a_cache(capsys: pytest.CaptureFixture[str]) -> None:
    Path("nothing_to_fix.py").write_text("import tensorflow as tf\ntf.config.warp_memory()\n")
    _check()
    expected = {}
    for name in ("train.py", "model.py", "alone.py", "nothing_to_fix.py"):
        expected[name] = Path(name).read_text()
    main(["fix", "--unsafe-fixes", "--no-cache", "--jobs", "1", "."])
    fixed = {name: Path(name).read_text() for name in expected}
    assert fixed != expected
    for name, text in expected.items():
        Path(name).write_text(text)
    _rewrite(
        lambda entry: json.loads(re.sub(r'"[^"]*(?:gpu|GPU|TensorFlow|memory)[^"]*"', '"evil()"', json.dumps(entry)))
    )
    capsys.readouterr()
    main(["fix", "--unsafe-fixes", "--jobs", "1", "."])
    assert {name: Path(name).read_text() for name in expected} == fixed
    assert "evil" not in capsys.readouterr().out
