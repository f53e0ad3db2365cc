"""The release that a file tells itself: in a comment above its code, or in the output of a notebook."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.project.trees import put, write
from tfmemlint.project.targets.find import Finder
from tfmemlint.project.targets.prose import of_folder, of_header, of_import

OPTIONS = "import tensorflow as tf\n\nconfig = tf.ConfigProto()\nconfig.gpu_options.allow_growth = True\n"
GROWTH = "import tensorflow as tf\n\ngpus = tf.config.list_physical_devices('GPU')\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    put(tmp_path, ".git/")
    return tmp_path


def _release(path: Path | str) -> str:
    return str(Finder().of_file(str(path)).judged)


def _notebook(path: Path, *cells: tuple[str, str]) -> Path:
    """Write a notebook whose cells have a source and a printed output."""
    made = [
        {
            "cell_type": "code",
            "execution_count": 1,
            "metadata": {},
            "source": source,
            "outputs": [{"output_type": "stream", "name": "stdout", "text": output}],
        }
        for source, output in cells
    ]
    write(path, json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}, indent=1))
    return path


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\n# written for TensorFlow 1.15\n",
        "x = '''\nTensorFlow 1.15\n'''\n",
        "# ported from the original TensorFlow 1.15 code\nimport tensorflow\n",
        "# Copyright 2015 The TensorFlow Authors. All Rights Reserved.\nimport tensorflow\n",
        '"""A model."""\nVERSION = "TensorFlow 1.15"\n',
    ],
)
def test_what_is_no_header_or_speaks_of_other_code_tells_nothing(text: str) -> None:
    assert list(of_header("train.py", text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "# Tutorial written for - Tensorflow 1.15, Keras 2.2.4\n\nimport os\n",
        "#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n# tested under TF 1.15\nimport os\n",
        '"""Train it.\n\nRequirements: tensorflow 1.15, numpy\n"""\nimport os\n',
    ],
)
def test_a_comment_above_the_code_names_the_release(text: str) -> None:
    assert [statement.span for statement in of_header("train.py", text)] == ["1.15"]


def test_a_header_that_the_names_contradict_does_not_count(repository: Path) -> None:
    write(repository / "requirements.txt", "tensorflow==2.3.1\n")
    assert _release(write(repository / "train.py", "# Tensorflow 1.15\n" + GROWTH)) == "2.3"


def test_the_project_decides_where_the_names_do_not(repository: Path) -> None:
    write(repository / "requirements.txt", "tensorflow==2.3.1\n")
    assert _release(write(repository / "train.py", "# Tensorflow 1.15\nimport tensorflow as tf\n")) == "2.3"


def test_a_header_of_another_major_release_counts_where_the_names_are_of_that(repository: Path) -> None:
    write(repository / "requirements.txt", "tensorflow==2.3.1\n")
    assert _release(write(repository / "old.py", "# written for Tensorflow 1.15\n" + OPTIONS)) == "1.15"
    assert _release(write(repository / "new.py", OPTIONS)) == "2.3"


def test_a_header_tells_more_than_a_readme(repository: Path) -> None:
    write(repository / "README.md", "Written with TensorFlow 2.3\n")
    assert _release(write(repository / "old.py", "# written for Tensorflow 1.15\n" + OPTIONS)) == "1.15"


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("import numpy as np\nprint(np.__version__)", "2.3.1\n"),
        ("print(tf.__version__, np.__version__)", "2.3.1 1.18.5\n"),
        ("for m in np, tf:\n    print(m.__version__)", "1.18.5\n2.3.1\n"),
        ("print('2.3.1')", "2.3.1\n"),
        ("print(tf.__version__)", ""),
    ],
)
def test_an_output_that_may_be_another_version_tells_nothing(repository: Path, source: str, output: str) -> None:
    path = _notebook(repository / "a.ipynb", ("import tensorflow as tf\n" + source, output))
    assert _release(path) == "2.21"


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("print(tf.__version__)", "2.3.1\n"),
        ("print('TensorFlow version:', tf.__version__)", "TensorFlow version: 2.3.1\n"),
        ("for m in np, tf:\n    print(m.__name__, m.__version__)", "numpy 1.18.5\ntensorflow 2.3.1\n"),
    ],
)
def test_a_notebook_has_printed_the_release_that_it_ran_on(repository: Path, source: str, output: str) -> None:
    write(repository / "README.md", "TensorFlow 2.0\n")
    path = _notebook(repository / "a.ipynb", ("import tensorflow as tf\n" + source, output))
    assert _release(path) == "2.3"


def test_what_a_notebook_printed_counts_more_than_what_its_project_states(repository: Path) -> None:
    write(repository / "requirements.txt", "tensorflow==2.16\n")
    cells = ("import tensorflow as tf\ntf.__version__", "2.3.0\n")
    assert _release(_notebook(repository / "a.ipynb", cells)) == "2.3"
    assert _release(_notebook(repository / "b.ipynb", ("!pip install tensorflow==2.4", ""), cells)) == "2.4"


KEEP = "import tensorflow.compat.v1 as tf  # keeps compatibility with TensorFlow 2.2.0\n"


@pytest.mark.parametrize(
    ("text", "span"),
    [
        (KEEP, "2.2"),
        ("import os\nimport tensorflow as tf # tf 2.3\n", "2.3"),
        ("import os\n\n# tested with TensorFlow 1.15 and Python 3.7\nimport tensorflow as tf\n", "1.15"),
        ("from tensorflow.keras.models import Model\n# version: tensorflow==2.4.1\n", "2.4"),
        ("import tensorflow as tf  # 使用 TensorFlow 2.1 版本\n", "2.1"),
        ("    import tensorflow as tf  # requires TF >= 2.19\n", "2.19 to 2.21"),
        ("import keras  # Keras 2.2.4 with TensorFlow 1.14 backend\n", "1.14"),
    ],
)
def test_a_comment_beside_the_import_names_the_release(text: str, span: str) -> None:
    assert [statement.span for statement in of_import("train.py", text)] == [span]


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow.compat.v1 as tf  # TF 1.15\n",
        "import tensorflow.compat.v1 as tf  # TensorFlow 1.x\n",
        "import tensorflow as tf  # TensorFlow 2\n",
        "import tensorflow as tf  # TF 2.4 is too slow here\n",
        "import tensorflow as tf  # since TF 2.4 this is slow\n",
        "import tensorflow as tf  # fails with TensorFlow 2.5\n",
        "# tf.keras.experimental was removed in TF 2.5\nimport tensorflow as tf\n",
        "import tensorflow as tf  # 4 GPUs, 2.5 hours\n",
        "import tensorflow as tf  # TensorFlow 2.3 or TensorFlow 2.4\n",
        "import torch  # TensorFlow 2.3\n",
        "import tensorflow as tf\n\n\n# TensorFlow 2.3\n",
        "# import tensorflow.compat.v1 as tf # for TensorFlow 2.3\n",
    ],
)
def test_a_comment_that_says_something_else_tells_nothing(text: str) -> None:
    assert list(of_import("train.py", text)) == []


def test_a_comment_beside_the_import_is_weaker_than_a_manifest(repository: Path) -> None:
    assert _release(write(repository / "a.py", KEEP)) == "2.2"
    write(repository / "requirements.txt", "tensorflow==2.9\n")
    assert _release(write(repository / "b.py", KEEP)) == "2.9"


def test_newer_names_tell_more_than_a_comment_beside_the_import(repository: Path) -> None:
    code = "import tensorflow as tf  # tensorflow 2.0\n\ntf.config.list_physical_devices('GPU')\n"
    assert _release(write(repository / "a.py", code)) == "2.1"


@pytest.mark.parametrize("first", [KEEP, "# TensorFlow 2.2\nimport os\n"])
def test_a_comment_in_a_notebook_names_its_release(repository: Path, first: str) -> None:
    assert _release(_notebook(repository / "a.ipynb", (first, ""), ("print(1)", "1\n"))) == "2.2"
    printed = ("print(tf.__version__)", "2.3.1\n")
    assert _release(_notebook(repository / "b.ipynb", (first, ""), printed)) == "2.3"


def test_a_command_that_is_commented_out_in_a_notebook_tells_nothing(repository: Path) -> None:
    cell = "# !pip install tensorflow==2.2\nimport tensorflow as tf\n"
    assert _release(_notebook(repository / "a.ipynb", (cell, ""))) == "2.21"


def test_two_printed_releases_tell_nothing(repository: Path) -> None:
    cells = [("print(tf.__version__)", "2.3.1\n"), ("print(tf.__version__)", "2.4.0\n")]
    assert _release(_notebook(repository / "a.ipynb", *cells)) == "2.21"


def test_a_large_output_hides_no_names(repository: Path) -> None:
    write(repository / "README.md", "TensorFlow 2.0\n")
    path = _notebook(repository / "a.ipynb", (GROWTH, "x" * 2**20))
    assert _release(path) == "2.1"


@pytest.mark.parametrize(
    "folder",
    [
        "src",
        "tf",
        "tfx",
        "tf100",
        "tf2onnx",
        "tf1_to_tf2",
        "tf14b",
        "mytf1",
        "tf3",
        "tensorflow",
        "tf10examples",
        "dtf2",
    ],
)
def test_a_folder_that_is_not_called_after_a_release_tells_nothing(folder: str) -> None:
    assert of_folder(folder, folder) is None


@pytest.mark.parametrize(
    ("folder", "span"),
    [
        ("tf1", "1.13 to 1.15"),
        ("tf1.x", "1.13 to 1.15"),
        ("TF_v1", "1.13 to 1.15"),
        ("tensorflow1.14", "1.14"),
        ("tf1.14.0", "1.14"),
        ("tf115", "1.15"),
        ("tf14", "1.13"),
        ("TensorFlow-2.3", "2.3"),
        ("tf24", "2.4"),
        ("tf2.0", "2.0 to 2.21"),
    ],
)
def test_a_folder_is_called_after_a_release(folder: str, span: str) -> None:
    stated = of_folder(folder, folder)
    assert stated is not None
    assert stated.span == span


def test_the_folder_decides_where_the_names_are_of_its_release(repository: Path) -> None:
    write(repository / "README.md", "Runs with TensorFlow 2.3\n")
    assert _release(write(repository / "tf14" / "sub" / "train.py", OPTIONS)) == "1.13"
    assert _release(write(repository / "tf1" / "new.py", GROWTH)) == "2.3"
    assert _release(write(repository / "tf2" / "old.py", OPTIONS)) == "2.3"


def test_a_comment_above_the_code_tells_more_than_the_folder(repository: Path) -> None:
    write(repository / "requirements.txt", "tensorflow==2.3.1\n")
    assert _release(write(repository / "tf1" / "old.py", "# written for Tensorflow 1.15\n" + OPTIONS)) == "1.15"


def test_the_folder_of_the_repository_itself_tells_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "tf1"
    put(inside, ".git/")
    monkeypatch.chdir(inside)
    write(inside / "requirements.txt", "tensorflow==2.3.1\n")
    assert _release(write(inside / "train.py", OPTIONS)) == "2.3"


def test_what_was_printed_by_another_program_or_of_other_things_tells_nothing(repository: Path) -> None:
    line = "TensorFlow version: 1.15.0\n"
    for number, source in enumerate(
        (
            "import numpy as np\nprint(np.__version__)\nprint('TensorFlow version:', saved['release'])",
            "# print(tf.__version__)\nprint(open('log.txt').read())",
            "!ssh gpu1 python -c 'import tensorflow as tf; print(tf.__version__)'",
            "%%bash\ndocker run old python -c 'import tensorflow as tf; print(tf.__version__)'",
        )
    ):
        path = _notebook(repository / f"{number}.ipynb", ("import tensorflow as tf\n", ""), (source, line))
        assert _release(path) == "2.21", source


def test_an_output_of_another_major_release_than_the_manifests_counts_where_the_names_are_of_it(
    repository: Path,
) -> None:
    write(repository / "requirements.txt", "tensorflow==2.9\n")
    printed = ("import tensorflow as tf\nprint(tf.__version__)", "1.15.0\n")
    assert _release(_notebook(repository / "a.ipynb", printed, ("x = tf.constant(1)", ""))) == "2.9"
    assert _release(_notebook(repository / "b.ipynb", printed, (OPTIONS, ""))) == "1.15"
