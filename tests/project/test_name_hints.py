"""The text of a file says whether its syntax tree can tell a release: no name is missed, and few files are parsed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.project.trees import write
from tfmemlint.facts.tree_walk import nodes
from tfmemlint.project import infer, name_answers
from tfmemlint.project.infer import Inference
from tfmemlint.project.name_hints import telling_masks
from tfmemlint.project.name_uses import EVERY_RELEASE, FileNames, names_in, stored_in, storing

ROOT = Path(__file__).parents[2]
FIXTURES = sorted(ROOT.glob("fixtures/**/*.py"))

SPELLINGS = [
    "import tensorflow as tf\ntf.Session()\n",
    "import tensorflow\ntensorflow.contrib.slim\n",
    "import os, tensorflow as tf; tf.Session()\n",
    "if True: import tensorflow as tf\ntf . \\\n  Session()\n",
    "import tensorflow.compat.v2 as two\ntwo.Session\n",
    "import tensorflow.contrib.slim as slim\n",
    "from tensorflow import Session\n",
    "from tensorflow import (  # what is used\n    float32,\n    Session as Opened,\n)\n",
    "from tensorflow import float32, \\\n    Session\n",
    "from tensorflow.keras import layers, optimizers as o\no.legacy.Adam()\n",
    "import tensorflow as tf\n(tf\n  .compat  # of TensorFlow 1\n  .v2\n  # more\n  .Session)()\n",
    "import tensorflow as tf\n(tf.  # the module\n  Session)()\n",
    "import tensorflow as tf\n(tf).Session()\n(tf.compat.v2).Session()\n",
    "import tensorflow as tf\nf(tf.function).name\n",
    "# coding: latin-1\nimport tensorflow as tf\nx = '\xe9'\ntf.Session\n",
    "import tf\nimport tensorflow\ntf.Session\n",
    "import keras\nmodel.fit_generator (batches)\n",
    "import keras\n(model.predict_generator  # for all\n (batches))\n",
    "import tensorflow as tf\ntf.keras.optimizers.SGD(lr \\\n= 0.1)\n",
    "from keras.optimizers import Adam\nAdam(decay=0.1, lr=0.1)\n",
]


def _masks(path: str, data: bytes) -> set[int]:
    names = names_in(path, data)
    return {use.mask for use in (*names.uses, *names.memory_uses, *names.of_keras_2)}


@pytest.mark.parametrize("text", SPELLINGS)
def test_every_spelling_of_a_name_is_seen(text: str) -> None:
    data = text.encode("latin-1")
    found = telling_masks(data)
    assert _masks("main.py", data)
    assert found is None or _masks("main.py", data) <= found


def test_no_name_of_a_fixture_is_missed() -> None:
    told = 0
    for path in FIXTURES[::7]:
        data = path.read_bytes()
        found = telling_masks(data)
        told += found is not None
        assert found is None or _masks(str(path), data) <= found, path
    assert told > len(FIXTURES[::7]) * 0.9


def test_names_of_every_release_tell_nothing() -> None:
    assert telling_masks(b"import tensorflow as tf\nx = tf.constant(1)\ntf.keras.layers.Dense(1)\n") == frozenset()
    assert EVERY_RELEASE not in (telling_masks(b"import tensorflow as tf\ntf.Session, tf.constant\n") or ())


def test_a_file_that_narrows_nothing_is_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "main.py": "import a, b, c\nimport tensorflow as tf\ntf.keras.optimizers.legacy.Adam()\n",
        "a.py": "import tensorflow as tf\ntf.function\n",
        "b.py": "import tensorflow as tf\ntf.function\n",
        "c.py": "import tensorflow as tf\ntf.constant(1)\n",
    }
    for name, text in files.items():
        write(tmp_path / name, text)
    parsed = []

    def seen(path: str, data: bytes) -> FileNames:
        parsed.append(Path(path).name)
        return names_in(path, data)

    monkeypatch.setattr(name_answers, "names_in", seen)
    found = Inference(lambda path: Path(path).read_bytes()).of_file(str(tmp_path / "main.py"), EVERY_RELEASE)
    assert [use.name for use in found.deciding] == ["tf.function", "tf.keras.optimizers.legacy.Adam"]
    assert parsed == ["a.py", "main.py"]


@pytest.mark.parametrize(
    "line",
    [
        "tf.Session = tf.compat.v1.Session",
        "tf.Session: object = 1",
        "tf.Session += 1",
        "tf.Session, x = 1, 2",
        "[tf.Session] = [1]",
        "(tf.Session  # the session\n) = 1",
        "for tf.Session in range(2): pass",
        "with open('x') as tf.Session: pass",
        "setattr(tf, 'Session', 1)",
    ],
)
def test_every_way_to_put_a_name_into_tensorflow_is_looked_at(line: str) -> None:
    data = f"import tensorflow as tf\n{line}\n".encode()
    assert stored_in("main.py", data) == {"tf.Session"}
    assert storing({"tf.Session"})(data)
    assert not storing({"tf.Session"})(b"import tensorflow as tf\nif tf.Session == 1: tf.Session()\n")


def test_the_flat_walk_has_all_nodes() -> None:
    empty = ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop
    for path in (*FIXTURES[::40], *sorted(ROOT.glob("tfmemlint/interpreter/**/*.py"))[::5]):
        try:
            parsed = ast.parse(path.read_bytes())
        except SyntaxError:
            continue
        assert nodes(parsed) == [node for node in ast.walk(parsed) if not isinstance(node, empty)]


def test_a_project_within_another_is_judged_alike_whichever_file_is_asked_about_first(tmp_path: Path) -> None:
    files = {
        "setup.py": "",
        "own/__init__.py": "",
        "own/layers.py": "import tensorflow as tf\ntf.layers = tf.keras.layers\n",
        "train.py": "import own.layers\n",
        "examples/tox.ini": "",
        "examples/load.py": "import tensorflow as tf\nimport own.layers\ntf.layers.dense(1)\n",
    }
    for name, text in files.items():
        write(tmp_path / name, text)
    asked = [str(tmp_path / "train.py"), str(tmp_path / "examples/load.py")]
    answers = []
    for order in (asked, asked[::-1]):
        inference = Inference(lambda path: Path(path).read_bytes())
        found = {path: inference.stored_in_program(path, ["tf.layers"]) for path in order}
        answers.append([found[path] for path in asked])
    assert answers[0] == answers[1] == [frozenset({"tf.layers"}), frozenset()]


def test_of_a_program_of_many_files_the_same_ones_are_near(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(infer, "MAX_PROGRAM_FILES", 4)
    names = [f"m{number}" for number in range(9)]
    write(tmp_path / "main.py", "".join(f"import {name}\n" for name in reversed(names)))
    for name in names:
        write(tmp_path / f"{name}.py", f"import tensorflow as tf\ntf.own_{name} = 1\n")
    inference = Inference(lambda path: Path(path).read_bytes())
    stored = inference.stored_in_program(str(tmp_path / "main.py"), [f"tf.own_{name}" for name in names])
    assert stored == {"tf.own_m0", "tf.own_m1", "tf.own_m2"}
