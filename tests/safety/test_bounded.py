"""What a few bytes could ask for without end is bounded: twice the input costs about twice as much."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.processor_time import assert_linear
from tfmemlint.cli.main import main
from tfmemlint.sources import read_bytes

HEAD = "import os\nimport tensorflow as tf\ngpus = tf.config.list_physical_devices('GPU')\nx = [1]\n"
END = """\
tf.config.experimental.set_memory_growth(gpus[0], x)
tf.config.set_logical_device_configuration(gpus[1], [tf.config.LogicalDeviceConfiguration(memory_limit=x)])
os.environ['CUDA_VISIBLE_DEVICES'] = x
"""

DOUBLING = {
    "lists": "x = [x, x]\n",
    "tuples": "x = (x, x)\n",
    "dictionaries": "x = {'a': x, 'b': x}\n",
    "a list that gets itself": "x.append(x)\n",
    "added lists": "x = x + x\n",
    "zipped": "x = zip(x, x)\n",
    "one in the other": "x = [x]\n" * 30,
    "comprehensions": "x = [x for _ in x]\n",
    "squares": "x = 7 if x == [1] else x * x\n",
    "shifts": "x = 7 if x == [1] else x << 60\n",
    "powers": "x = 7 if x == [1] else x ** 60\n",
    "texts": "x = f'{x}{x}'\n",
    "joined texts": "x = str(x).join([str(x), str(x)])\n",
    "replaced texts": "x = str(x).replace('1', str(x))\n",
    "formatted texts": "x = '{0}{0}'.format(x)\n",
    "padded texts": "x = '%*d' % (10 ** 9, 1) + '%999999999d' % 1 + '{:>999999999}'.format(1) + 'a'.zfill(10 ** 9)\n",
}
"""Lines each of which makes a value about twice as large."""

LONG: dict[str, tuple[str, Callable[[int], str]]] = {
    "a table of numbers": ("train.py", lambda n: f"t = [{'1, ' * n}]\n"),
    "a table of negative numbers": ("train.py", lambda n: f"t = [{'-1, ' * n}]\n"),
    "blanks behind a variable": (".env", lambda n: f"CUDA_VISIBLE_DEVICES={' ' * n}\nX={' ' * n}\n"),
    "blanks in a script": ("run.sh", lambda n: f"export CUDA_VISIBLE_DEVICES={' ' * n}\nexport X={' ' * n}\n"),
    "blanks in a Dockerfile": ("Dockerfile", lambda n: f"FROM a\nENV TF_GPU_X={' ' * n}\nRUN export X={' ' * n}\n"),
    "blanks in prose": ("README.md", lambda n: f"TensorFlow: export X={' ' * n}\nENV A{' ' * n}B\n"),
    "examples": ("README.md", lambda n: "```python\nimport tensorflow as tf\ntf.gpu()\n```\n\n" * (n // 200)),
}
"""What is long, by the file that it is in; ``n`` is the number of its characters, about."""


LONG |= {
    "cells": ("n.ipynb", lambda n: _notebook(["x = 1", "import tensorflow as tf", *["tf.gpu()"] * (n // 200)])),
    "cells with commands": ("n.ipynb", lambda n: _notebook([HEAD + END, *["!pip install x\nx = 1"] * (n // 80)])),
}


def _notebook(cells: list[str]) -> str:
    made = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def _check(path: Path) -> Callable[[], None]:
    def run() -> None:
        assert main(["check", "--no-cache", "--output-format", "concise", str(path)]) in (0, 1)

    return run


@pytest.mark.parametrize("line", DOUBLING)
def test_a_value_does_not_grow_without_end(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    some, more = tmp_path / "some.py", tmp_path / "more.py"
    for path, count in ((some, 80), (more, 160)):
        path.write_text(HEAD + DOUBLING[line] * count + END)
    assert_linear(_check(some), _check(more))
    assert "TFM900" not in capsys.readouterr().out


@pytest.mark.parametrize("kind", LONG)
def test_what_is_long_costs_its_length(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, content = LONG[kind]
    some, more = tmp_path / "some" / name, tmp_path / "more" / name
    for path, n in ((some, 8_000), (more, 16_000)):
        path.parent.mkdir()
        path.write_text(content(n) + (HEAD + END if name.endswith(".py") else ""))
    assert_linear(_check(some), _check(more))
    assert "TFM900" not in capsys.readouterr().out


def test_what_is_not_followed_to_the_end_does_not_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.py"
    calls = "".join(f"def f{row}(x):\n    f{row + 1}(x); f{row + 1}(x)\n" for row in range(20))
    path.write_text(f"{HEAD}{calls}def f20(x):\n    tf.config.experimental.set_memory_growth(x, True)\nf0(gpus[0])\n")
    assert main(["check", "--no-cache", str(path)]) == 0
    shown = capsys.readouterr()
    assert "passed" not in shown.out
    assert "1 file was not followed to the end" in shown.out
    assert "train.py: not followed to the end: more than" in shown.err


def test_a_huge_file_is_reported_and_not_rewritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.py"
    path.write_text(f"import tensorflow as tf\ntf.config.set_memory_limit(1)\nTABLE = '{'x' * 2**20}'\n")
    assert main(["check", "--no-cache", str(path)]) == 1
    shown = capsys.readouterr().out
    assert "TFM202" in shown
    assert "more than 1 MiB: the rewriter would take minutes" in shown


def test_files_that_are_kept_have_no_mapping_of_their_own(tmp_path: Path) -> None:
    maps = Path("/proc/self/maps")
    if not maps.exists():
        pytest.skip("this system does not say what is mapped")
    path = tmp_path / "train.py"
    path.write_text(HEAD)
    before = maps.read_text().count("\n")
    kept = [read_bytes(path) for _ in range(500)]
    assert maps.read_text().count("\n") < before + 100
    assert len(set(kept)) == 1
