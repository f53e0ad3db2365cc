"""The same files give the same output: whatever the hash seed, the number of processes, and the state of the cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT

CODE = "import tensorflow as tf\ntf.config.set_memory_limit({number})\n"
COMMAND = "import os, sys; os.cpu_count = lambda: {workers}; from tfmemlint.__main__ import main; sys.exit(main())"


def _run(
    folder: Path, *words: str, seed: int = 0, workers: int = 1, cache: Path | None = None
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    words = (*words, *(() if cache is not None else ("--no-cache",)))
    if cache is not None:
        environment["TFMEMLINT_CACHE_DIR"] = str(cache)
    command = [sys.executable, "-c", COMMAND.format(workers=workers), *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return done


@pytest.fixture
def some(tmp_path: Path) -> Path:
    """Enough files, and programs of several files, for workers and the cache."""
    top = tmp_path / "some"
    top.mkdir()
    for number in range(30):
        (top / f"m{number}.py").write_text(CODE.format(number=number))
    for folder in sorted((ROOT / "fixtures" / "programs").glob("bad_*"))[::40]:
        shutil.copytree(folder, top / folder.name)
    for name in ("TFM101", "TFM305"):
        shutil.copytree(ROOT / "fixtures" / name, top / name)
    return top


def _all_ways(top: Path, cache: Path, *words: str) -> list[str]:
    """Return what is printed: by one process, by four, with other seeds, with a new cache and with a used one."""
    return [
        _run(top, *words, seed=0, workers=1).stdout,
        _run(top, *words, seed=1, workers=4).stdout,
        _run(top, *words, seed=4_242, workers=2, cache=cache).stdout,
        _run(top, *words, seed=7, workers=1, cache=cache).stdout,
    ]


@pytest.mark.slow
def test_some_files_give_the_same_output_in_all_ways(some: Path, tmp_path: Path) -> None:
    first, *others = _all_ways(some, tmp_path / "cache", "check", "--output-format", "json", ".")
    assert first
    assert others == [first] * len(others)


@pytest.mark.slow
def test_five_hundred_names_on_a_command_line_are_five_hundred_files(tmp_path: Path) -> None:
    names = [f"m{number:03}.py" for number in range(500)]
    for number, name in enumerate(names):
        (tmp_path / name).write_text(CODE.format(number=number))
    out = _run(tmp_path, "check", "--output-format", "concise", *names, workers=2).stdout
    assert [line.partition(":")[0] for line in out.splitlines()[:500]] == names
    assert out == _run(tmp_path, "check", "--output-format", "concise", ".", workers=2).stdout


@pytest.mark.slow
def test_five_thousand_findings_in_one_file_are_all_printed(tmp_path: Path) -> None:
    calls = "".join(f"tf.config.set_memory_limit({number})\n" for number in range(5_000))
    (tmp_path / "train.py").write_text(f"import tensorflow as tf\n{calls}")
    for output_format in ("concise", "github"):
        out = _run(tmp_path, "check", "--output-format", output_format, ".").stdout
        assert out.count("TFM202") >= 5_000
