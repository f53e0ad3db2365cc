"""What a few bytes could ask for without end is bounded: twice the input costs about twice as much."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.processor_time import assert_linear
from tests.safety.attacks import DOUBLING, END, FIXED, FOLDERS, HEAD, OTHERS, PYTHON
from tests.safety.attacks import notebook as _notebook
from tfmemlint.cli.main import main
from tfmemlint.interpreter import context, uncalled
from tfmemlint.interpreter.operations import imports
from tfmemlint.reporters.formats import FORMATS
from tfmemlint.sources import read_bytes

ATTACKS = PYTHON | OTHERS | FOLDERS
QUICK = frozenset(
    {
        *("lists", "squares", "texts"),
        *("returns", "indexes of GPUs", "imports of TensorFlow"),
        *("blanks in a script", "blanks in prose", "jobs", "conditions of a script"),
    }
)
"""One or two attacks of each kind, which always run; the others are slow as a whole."""


def _slow(kinds: Iterable[str]) -> list[object]:
    return [kind if kind in QUICK else pytest.param(kind, marks=pytest.mark.slow) for kind in kinds]


def _written(folder: Path, files: dict[str, str]) -> str:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return str(folder)


def _check(path: str) -> Callable[[], None]:
    def run() -> None:
        assert main(["check", "--no-cache", "--output-format", "concise", path]) in (0, 1)

    return run


@pytest.mark.parametrize("line", _slow(DOUBLING))
def test_a_value_does_not_grow_without_end(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Without a bound, the value is a million times as large after 20 lines, and 10 ** 12 times after 40.
    some, more = (
        _written(tmp_path / str(count), {"train.py": HEAD + DOUBLING[line] * count + END}) for count in (20, 40)
    )
    assert_linear(_check(some), _check(more))
    assert "TFM900" not in capsys.readouterr().out


@pytest.mark.parametrize("kind", _slow(ATTACKS))
def test_what_is_long_costs_its_length(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    size, attack = ATTACKS[kind]
    some, more = (_written(tmp_path / str(n), attack(n)) for n in (size, 2 * size))
    assert_linear(_check(some), _check(more))
    assert "TFM900" not in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("kind", FIXED)
def test_fixes_of_what_is_long_cost_its_length(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    size, attack = FIXED[kind]
    some, more = (_written(tmp_path / str(n), attack(n)) for n in (size, 2 * size))

    def fix(path: str) -> Callable[[], None]:
        def run() -> None:
            assert main(["fix", "--diff", "--unsafe-fixes", "--no-cache", path]) == 1

        return run

    assert_linear(fix(some), fix(more))
    assert "TFM900" not in capsys.readouterr().out


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that are reached sooner: what is said does not depend on them."""
    monkeypatch.setattr(context, "MAX_STEPS", 1_000)
    monkeypatch.setattr(context, "MAX_STEPS_OF_PROJECT_PROGRAM", 1_000)
    monkeypatch.setattr(uncalled, "MAX_ENTRIES", 20)
    monkeypatch.setattr(imports, "MAX_IMPORT_DEPTH", 10)


STEPS = "".join(f"def f{row}(x):\n    f{row + 1}(x); f{row + 1}(x)\n" for row in range(12))
CALLS = "".join(f"def f{row}(x):\n    return f{row + 1}(x)\n" for row in range(30))
FUNCTIONS = "".join(f"def g{row}(x):\n    tf.config.experimental.set_memory_growth(x, True)\n" for row in range(21))
GROWS = "(x):\n    tf.config.experimental.set_memory_growth(x, True)\nf0(gpus[0])\n"
NOT_FOLLOWED = {
    "steps": ({"train.py": f"{HEAD}{STEPS}def f12{GROWS}"}, "train.py", "more than 1000 steps"),
    "calls": ({"train.py": f"{HEAD}{CALLS}def f30{GROWS}"}, "train.py", "calls are nested more than 24 deep"),
    "functions": ({"train.py": f"{HEAD}{FUNCTIONS}"}, "train.py", "more than 20 functions that nothing calls"),
    "a notebook": ({"n.ipynb": _notebook([HEAD, CALLS, f"def f30{GROWS}"])}, "n.ipynb", "nested more than 24 deep"),
    "an example": ({"README.md": f"```python\n{HEAD}{CALLS}def f30{GROWS}```\n"}, "README.md", "nested more than 24"),
    "modules": (
        {
            "main.py": f"{HEAD}import m0\nm0.f(gpus[0])\n",
            **{f"m{row}.py": f"import m{row + 1}\ndef f(x):\n    m{row + 1}.f(x)\n" for row in range(15)},
            "m15.py": "import tensorflow as tf\ndef f(x):\n    tf.config.experimental.set_memory_growth(x, True)\n",
        },
        "main.py",
        "is imported through more than 10 other modules",
    ),
}
"""What is given up on: the files, the one that is not followed, and a part of the reason."""


HAVE_NOTES = frozenset({"json", "json-lines", "sarif", "github", "corrections", "markdown"})
"""Formats for programs that have room for what is no finding; with the others it is on standard error alone."""


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("command", ["check", pytest.param("fix --diff", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", NOT_FOLLOWED)
def test_what_is_not_followed_to_the_end_does_not_pass(
    kind: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files, path, reason = NOT_FOLLOWED[kind]
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    # What the formats say does not depend on what was given up on.
    for output_format in FORMATS if kind == "calls" or command != "check" else ("full", "json"):
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
    (tmp_path / "train.py").write_text(f"{HEAD}{CALLS}def f30{GROWS}tf.config.set_memory_limit(1)\n")
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--no-cache", "--output-format", "json", "train.py"]) == 1
    finding, *_, note = json.loads(capsys.readouterr().out)
    assert list(finding) == list(note)
    assert (finding["code"], finding["severity"]) == ("TFM202", "error")
    assert (note["code"], note["severity"], note["name"]) == (None, "note", "not-followed-to-the-end")
    assert main(["check", "--no-cache", "train.py"]) == 1
    assert "1 file was not followed to the end." in capsys.readouterr().out


@pytest.mark.usefixtures("small_limits")
def test_many_notes_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(8):
        (tmp_path / f"train{number}.py").write_text(f"{HEAD}{STEPS}def f12{GROWS}")
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
