"""Defects that only some users of a module have: where they are reported, whichever files and formats are asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.sources.test_notebook import notebook
from tfmemlint.cli.main import main

TRAIN = """\
import tensorflow as tf

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)


def run():
    return tf.zeros([2])


if __name__ == "__main__":
    print(run())
"""
LATE = "import tensorflow as tf\nprint(tf.config.list_logical_devices('GPU'))"
USE = "import train\ntrain.run()"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A notebook that lists the GPUs and then imports a script which is right by itself, and one that is right."""
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text('[project]\nname = "users"\nversion = "0.1.0"\n')
    Path("train.py").write_text(TRAIN)
    Path("explore.ipynb").write_bytes(notebook(LATE, USE))
    Path("right.ipynb").write_bytes(notebook(USE, LATE))
    return tmp_path


def _checked(capsys: pytest.CaptureFixture[str], *arguments: str, form: str = "json") -> str:
    main(["check", "--output-format", form, *arguments])
    return capsys.readouterr().out


@pytest.mark.parametrize("named", [".", "explore.ipynb", "train.py"])
def test_the_notebook_has_the_defect_and_not_the_script_that_it_imports(
    named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (found,) = json.loads(_checked(capsys, named))
    assert (Path(found["filename"]).name, found["cell"], found["location"]) == (
        "explore.ipynb",
        2,
        {"row": 1, "column": 1},
    )
    last = found["trace"][-1]
    assert (Path(last["filename"]).name, last["location"]["row"]) == ("train.py", 4)
    assert "line 2 of cell 1" in found["message"]


def test_another_user_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(_checked(capsys, "right.ipynb")) == []


def test_sarif_places_it_at_the_user_with_the_module_beside(capsys: pytest.CaptureFixture[str]) -> None:
    ((result,),) = [run["results"] for run in json.loads(_checked(capsys, ".", form="sarif"))["runs"]]
    (place,) = result["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "explore.ipynb"
    related = [other["physicalLocation"]["artifactLocation"]["uri"] for other in result["relatedLocations"]]
    assert related[-1] == "train.py"


def test_a_baseline_has_it_once_whichever_file_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "--update-baseline", "--baseline", "known.json", "train.py"])
    capsys.readouterr()
    for named in (".", "explore.ipynb", "train.py"):
        assert json.loads(_checked(capsys, "--baseline", "known.json", named)) == []


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("explore.ipynb", "import train", "import train  # noqa: TFM101"),
        ("train.py", "(gpu, True)", "(gpu, True)  # noqa: TFM101"),
    ],
)
def test_a_comment_at_the_user_silences_it_and_one_in_the_module_does_so_for_all(
    path: str, old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(path).write_text(Path(path).read_text().replace(old, new))
    for named in (".", "explore.ipynb", "train.py"):
        assert json.loads(_checked(capsys, named, "--extend-select", "TFM903")) == []


def test_no_fix_takes_the_configuration_from_the_script_that_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    main(["fix", "--unsafe-fixes", "."])
    assert Path("train.py").read_text() == TRAIN


def test_what_is_wrong_in_all_programs_stays_in_the_module(capsys: pytest.CaptureFixture[str]) -> None:
    Path("train.py").write_text(TRAIN.replace("for gpu", "x = tf.ones([2])\nfor gpu"))
    found = json.loads(_checked(capsys, "."))
    assert [(Path(one["filename"]).name, one["location"]["row"]) for one in found] == [("train.py", 5)]


def test_the_cache_keeps_the_ways(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFMEMLINT_CACHE_DIR", str(Path("cache").absolute()))
    first = _checked(capsys, ".")
    assert _checked(capsys, ".") == first != "[]\n"


def test_a_program_with_the_same_defect_elsewhere_does_not_make_the_module_right(
    capsys: pytest.CaptureFixture[str],
) -> None:
    grow = 'gpus = tf.config.list_physical_devices("GPU")\n{0}tf.config.experimental.set_memory_growth(gpus[0], True)\n'
    Path("nets.py").write_text(
        "import tensorflow as tf\n\n\ndef build():\n    " + grow.format("    ") + "    return tf.zeros([2])\n"
    )
    Path("load.py").write_text("import nets\n\nnets.build()\n")
    Path("detect.py").write_text("import tensorflow as tf\n\nimport nets\n\n" + grow.format("") + "nets.build()\n")
    found = json.loads(_checked(capsys, "nets.py", "load.py", "detect.py"))
    assert [(Path(one["filename"]).name, one["location"]["row"], one["code"]) for one in found] == [
        ("detect.py", 6, "TFM402"),
        ("nets.py", 6, "TFM402"),
    ]


CALLED_ELSEWHERE = """\
import tensorflow as tf


def grow():
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)


if __name__ == "__main__":
    print(tf.zeros([2]))
"""


@pytest.mark.parametrize(
    ("name", "user"),
    [
        ("call.ipynb", notebook("from grow_memory import *", "grow()")),
        ("tools/call.py", b"import sys\n\nsys.path.append('..')\nimport grow_memory\n\ngrow_memory.grow()\n"),
        ("call.sh", b"python -c 'import grow_memory; grow_memory.grow()'\n"),
    ],
)
def test_a_function_that_another_file_names_is_not_forgotten(
    name: str, user: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("grow_memory.py").write_text(CALLED_ELSEWHERE)
    assert "Nothing calls grow()" in _checked(capsys, "--no-cache", "grow_memory.py")
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_bytes(user)
    assert "Nothing calls" not in _checked(capsys, "--no-cache", "grow_memory.py")


def test_what_is_cached_of_a_function_does_not_outlive_its_user(capsys: pytest.CaptureFixture[str]) -> None:
    Path("grow_memory.py").write_text(CALLED_ELSEWHERE)
    # Few files are not cached.
    for number in range(60):
        Path(f"train_{number}.py").write_text(f"{TRAIN}    print({number})\n")
    assert "Nothing calls grow()" in _checked(capsys, ".")
    Path("call.sh").write_text("python -c 'import grow_memory; grow_memory.grow()'\n")
    assert "Nothing calls" not in _checked(capsys, ".")
    Path("call.sh").unlink()
    assert "Nothing calls grow()" in _checked(capsys, ".")
