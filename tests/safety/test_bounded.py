"""What a few bytes could ask for without end is bounded: twice the input costs about twice as much."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.processor_time import assert_linear
from tfmemlint.cli.main import main
from tfmemlint.reporters.formats import FORMATS
from tfmemlint.sources import read_bytes


def _notebook(cells: list[str]) -> str:
    made = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


HEAD = "import os\nimport tensorflow as tf\ngpus = tf.config.list_physical_devices('GPU')\nx = [1]\n"
END = """\
tf.config.experimental.set_memory_growth(gpus[0], x)
tf.config.set_logical_device_configuration(gpus[1], [tf.config.LogicalDeviceConfiguration(memory_limit=x)])
os.environ['CUDA_VISIBLE_DEVICES'] = x
"""

WRONG = "TF_FORCE_GPU_ALLOW_GROWTH=True"
"""A variable with a value that TensorFlow doesn't take."""

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
    "blank lines": ("train.py", lambda n: f"{HEAD}sess = tf.Session(){chr(10) * n}"),
    "distinct examples": (
        "README.md",
        lambda n: "".join(f"```python\nimport tensorflow as tf\ntf.gpu{row}()\n```\n\n" for row in range(n // 200)),
    ),
    "blocks of a page": ("README.md", lambda n: "<pre>import tensorflow as tf\ntf.gpu()\n</pre>\n" * (n // 200)),
    "cells of bash": ("n.ipynb", lambda n: _notebook([HEAD, *[f"%%bash\n{WRONG}\necho hi"] * (n // 40)])),
    "commands in cells": ("n.ipynb", lambda n: _notebook([HEAD, *[f"!{WRONG}; python x.py"] * (n // 40)])),
    "keywords": ("train.py", lambda n: f"tf.config.LogicalDeviceConfiguration({_keywords(n // 8)})\n"),
    "conditions": (
        "train.py",
        lambda n: "".join(f"if os.environ.get('A{row}'):\n    y{row} = {row}\n" for row in range(n // 60)),
    ),
    "attributes": ("train.py", lambda n: f"y = tf{'.a' * min(n // 16, 1_200)}\n"),
    "a chain of calls": (
        "train.py",
        lambda n: "".join(f"def f{row}(x):\n    return f{row + 1}(x)\n" for row in range(n // 16)),
    ),
    "functions that nothing calls": (
        "train.py",
        lambda n: "".join(
            f"def f{row}(x):\n    tf.config.experimental.set_memory_growth(x, True)\n" for row in range(n // 20)
        ),
    ),
    "settings that come late": (
        "train.py",
        lambda n: "tf.zeros([1])\n" + "tf.config.experimental.set_memory_growth(gpus[0], True)\n" * (n // 20),
    ),
    "writes of a variable": (
        "train.py",
        lambda n: "".join(f"os.environ['CUDA_VISIBLE_DEVICES'] = '{row}'\n" for row in range(n // 10)),
    ),
    "lines of a Dockerfile": ("Dockerfile", lambda n: f"FROM a\n{f'RUN {WRONG}{chr(10)}' * (n // 30)}"),
    "variables in variables": ("Dockerfile", lambda n: "FROM a\nARG A=1\n" + "ENV A=$A$A${A}tensorflow\n" * (n // 30)),
    "services": (
        "compose.yaml",
        lambda n: (
            "services:\n"
            + "".join(f"  s{row}:\n    environment:\n      {WRONG.replace('=', ': ')}\n" for row in range(n // 40))
        ),
    ),
    "here-documents": ("run.sh", lambda n: f"export {WRONG}\n{f'cat <<EOF{chr(10)}' * (n // 10)}"),
    "brackets": ("run.sh", lambda n: f"{'(' * (n // 4)}export {WRONG}{')' * (n // 4)}\n"),
    "lines of an environment file": (".env", lambda n: f"{WRONG}\n" * (n // 30)),
    "cells": ("n.ipynb", lambda n: _notebook(["x = 1", "import tensorflow as tf", *["tf.gpu()"] * (n // 200)])),
    "cells with commands": ("n.ipynb", lambda n: _notebook([HEAD + END, *["!pip install x\nx = 1"] * (n // 80)])),
}


def _keywords(count: int) -> str:
    return ", ".join(f"k{number}={number}" for number in range(count))


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


@pytest.mark.slow
@pytest.mark.parametrize("kind", LONG)
def test_what_is_long_costs_its_length(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, content = LONG[kind]
    some, more = tmp_path / "some" / name, tmp_path / "more" / name
    for path, n in ((some, 8_000), (more, 16_000)):
        path.parent.mkdir()
        path.write_text(content(n) + (HEAD + END if name.endswith(".py") else ""))
    assert_linear(_check(some), _check(more))
    assert "TFM900" not in capsys.readouterr().out


STEPS = "".join(f"def f{row}(x):\n    f{row + 1}(x); f{row + 1}(x)\n" for row in range(20))
CALLS = "".join(f"def f{row}(x):\n    return f{row + 1}(x)\n" for row in range(60))
FUNCTIONS = "".join(f"def g{row}(x):\n    tf.config.experimental.set_memory_growth(x, True)\n" for row in range(2_100))
GROWS = "(x):\n    tf.config.experimental.set_memory_growth(x, True)\nf0(gpus[0])\n"
NOT_FOLLOWED = {
    "steps": ({"train.py": f"{HEAD}{STEPS}def f20{GROWS}"}, "train.py", "more than 100000 steps"),
    "calls": ({"train.py": f"{HEAD}{CALLS}def f60{GROWS}"}, "train.py", "calls are nested more than 24 deep"),
    "functions": ({"train.py": f"{HEAD}{FUNCTIONS}"}, "train.py", "more than 2000 functions that nothing calls"),
    "a notebook": ({"n.ipynb": _notebook([HEAD, CALLS, f"def f60{GROWS}"])}, "n.ipynb", "nested more than 24 deep"),
    "an example": ({"README.md": f"```python\n{HEAD}{CALLS}def f60{GROWS}```\n"}, "README.md", "nested more than 24"),
    "modules": (
        {
            "main.py": f"{HEAD}import m0\nm0.f(gpus[0])\n",
            **{f"m{row}.py": f"import m{row + 1}\ndef f(x):\n    m{row + 1}.f(x)\n" for row in range(80)},
            "m80.py": "import tensorflow as tf\ndef f(x):\n    tf.config.experimental.set_memory_growth(x, True)\n",
        },
        "main.py",
        "is imported through more than 60 other modules",
    ),
}
"""What is given up on: the files, the one that is not followed, and a part of the reason."""


HAVE_NOTES = frozenset({"json", "json-lines", "sarif", "github", "corrections", "markdown"})
"""Formats for programs that have room for what is no finding; with the others it is on standard error alone."""


@pytest.mark.parametrize("command", ["check", "fix --diff"])
@pytest.mark.parametrize("kind", NOT_FOLLOWED)
def test_what_is_not_followed_to_the_end_does_not_pass(
    kind: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files, path, reason = NOT_FOLLOWED[kind]
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    # What the formats do with a note is the same for all kinds.
    for output_format in FORMATS if kind == "calls" else ("full", "json"):
        assert main([*command.split(), "--no-cache", "--output-format", output_format, "."]) == 0
        out, err = capsys.readouterr()
        assert f"tfmemlint: {path}: not followed to the end: " in err
        said = f"{out}{err}"
        assert "passed" not in said
        assert reason in (out if output_format in HAVE_NOTES and command == "check" else said)
        if not format_is_for_programs(output_format):
            assert "not followed to the end." in said


def format_is_for_programs(name: str) -> bool:
    return not FORMATS[name].for_people


def test_a_note_has_the_keys_of_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text(f"{HEAD}{CALLS}def f60{GROWS}tf.config.set_memory_limit(1)\n")
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--no-cache", "--output-format", "json", "train.py"]) == 1
    finding, *_, note = json.loads(capsys.readouterr().out)
    assert list(finding) == list(note)
    assert (finding["code"], finding["severity"]) == ("TFM202", "error")
    assert (note["code"], note["severity"], note["name"]) == (None, "note", "not-followed-to-the-end")
    assert main(["check", "--no-cache", "train.py"]) == 1
    assert "1 file was not followed to the end." in capsys.readouterr().out


@pytest.mark.slow
def test_many_notes_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(8):
        (tmp_path / f"train{number}.py").write_text(f"{HEAD}{STEPS}def f20{GROWS}")
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--no-cache", "."]) == 0
    out, err = capsys.readouterr()
    assert "Nothing found, but 8 files were not followed to the end." in out
    assert err.count("not followed to the end: ") == 5
    assert "not followed to the end in 3 more places; -v names them" in err


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
