"""The releases that texts for people name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.project.trees import put, write
from tfmemlint.project.targets.find import Finder
from tfmemlint.project.targets.prose import of_prose


@pytest.mark.parametrize(
    ("line", "span"),
    [
        ("TensorFlow 1.15.2", "1.15"),
        ("pip3 install --user tensorflow-gpu==2.2.0", "2.2"),
        ("* Tested under TF1.14, CUDA 10", "1.14"),
        ("tensorflow == 1.14", "1.14"),
        ("TensorFlow 1.x", "1.13 to 1.15"),
        ("TF2 implementation of", "2.0 to 2.21"),
        ("[TensorFlow](https://www.tensorflow.org) 2.3+", "2.3 to 2.21"),
        ("- [TensorFlow (2.4 or later)](x)", "2.4 to 2.21"),
        ("Python 3.5, Tensorflow (>=1.14, <2.0)", "1.14 to 1.15"),
        ("- `tensorflow-gpu>=1.14,<2`", "1.14 to 1.15"),
        ("![](https://img.shields.io/badge/tensorflow-1.14-orange)", "1.14"),
        ("https://img.shields.io/badge/TensorFlow-%3E%3D2.0-blue.svg", "2.0 to 2.21"),
        ("tensorflow: ['2.0.0', '2.1.0']", "2.0 to 2.1"),
        ("docker run tensorflow/tensorflow:1.14.0-gpu-py3", "1.14"),
        ("| TensorFlow | 1.15 |", "1.15"),
        ("本项目基于TensorFlow1.14实现", "1.14"),
        ("需要tensorflow2.3及以上版本", "2.3 to 2.21"),
        ("Tensorflow版本：1.15.0", "1.15"),
        ("环境：python3.6，tensorflow-gpu==1.14，keras2.2.4", "1.14"),
        ("使用 TensorFlow 2.x 实现的目标检测", "2.0 to 2.21"),
    ],
)
def test_a_line_that_names_a_release(line: str, span: str) -> None:
    assert [statement.span for statement in of_prose("README.md", line)] == [span]


@pytest.mark.parametrize(
    "line",
    [
        "TF 1.x is no longer supported",
        "The TensorFlow 1.15 version is on the branch tf1",
        "converted from the original TensorFlow 1.4 code",
        "TensorFlow: 3 GPUs",
        "tensorflow.keras 2.2.4-tf",
        "see tensorflow/models 1.3",
        "tf.config 2.1",
        "If you use TensorFlow 1.12, see below",
        "PyTorch 1.4",
        "不再支持TensorFlow1.14",
        "从原作者的TensorFlow1.14代码移植",
        "如果使用TensorFlow1.15，请看下面",
        "使用tensorflow训练1.5小时",
        "pip install tensorflow",
    ],
)
def test_a_line_that_names_none(line: str) -> None:
    assert [statement.span for statement in of_prose("README.md", line)] == []


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    put(tmp_path, ".git/")
    write(tmp_path / "train.py", "print(1)\n")
    return tmp_path


def _span(root: Path) -> tuple[str, str]:
    found = Finder().of_file(str(root / "train.py"))
    return str(found.first), str(found.last)


def test_a_text_counts_where_no_manifest_says_anything(repository: Path) -> None:
    write(repository / "README.md", "Needs TensorFlow 1.14.\n")
    assert _span(repository) == ("1.14", "1.14")
    write(repository / "requirements.txt", "tensorflow==2.4\n")
    assert _span(repository) == ("2.4", "2.4")


def test_a_text_narrows_a_manifest_that_leaves_the_major_release_open(repository: Path) -> None:
    write(repository / "README.md", "Needs TensorFlow 1.14.\n")
    write(repository / "requirements.txt", "tensorflow>=1.13\n")
    assert _span(repository) == ("1.14", "1.14")


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("Written in tensorflow2.\n\n    pip install tensorflow-gpu==2.9.1\n", ("2.9", "2.9")),
        ("Works with TF2, tested with TensorFlow 2.4 and TensorFlow 2.6.\n", ("2.4", "2.6")),
        ("Written in tensorflow2.\n\n    pip install tensorflow-gpu==1.15\n", ("1.15", "2.21")),
    ],
)
def test_a_release_counts_more_than_a_word_in_passing(repository: Path, text: str, span: tuple[str, str]) -> None:
    write(repository / "README.md", text)
    assert _span(repository) == span


def test_a_manifest_may_have_alternatives(repository: Path) -> None:
    write(repository / "requirements.txt", "tensorflow>=2.0; python_version > '3.8'\ntensorflow-gpu==2.9\n")
    assert _span(repository) == ("2.0", "2.21")


@pytest.mark.parametrize(
    "name",
    [
        "docker/Dockerfile.gpu",
        "docker/dockerfile-gpu",
        "dockerfile-gpu",
        "gpu.dockerfile",
        "setup/Dockerfile",
    ],
)
def test_dockerfiles_by_all_their_names(repository: Path, name: str) -> None:
    write(repository / name, "FROM tensorflow/tensorflow:1.15.2-gpu\n")
    assert _span(repository) == ("1.15", "1.15")


@pytest.mark.parametrize("name", ["setup/requirements.txt", "requirements/base.txt", "docker/requirements-gpu.txt"])
def test_requirements_in_folders(repository: Path, name: str) -> None:
    write(repository / name, "tensorflow==2.4\n")
    assert _span(repository) == ("2.4", "2.4")


def test_a_workflow_of_ci_counts(repository: Path) -> None:
    write(repository / ".github" / "workflows" / "test.yml", "      - run: pip install tensorflow==2.9\n")
    assert _span(repository) == ("2.9", "2.9")


@pytest.mark.parametrize(
    "requirement",
    [
        '"tensorflow>={}, <{}".format(TF_MIN, TF_MAX)',
        'f"tensorflow>={TF_MIN},<{TF_MAX}"',
        '"tensorflow>={low},<{high}".format(low=TF_MIN, high=TF_MAX)',
        '"tensorflow>=%s,<%s" % (TF_MIN, TF_MAX)',
    ],
)
@pytest.mark.parametrize(
    "how", ["from pkg.version import TF_MIN, TF_MAX", 'exec(open("pkg/version.py").read())', "import pkg.version"]
)
def test_setup_py_takes_bounds_from_a_file_of_versions(repository: Path, how: str, requirement: str) -> None:
    if how.startswith("import"):
        how = 'exec(open(os.path.join("pkg", "version.py")).read())'
    write(repository / "pkg" / "version.py", 'TF_MIN = "2.4"\nTF_MAX = "2.9"\n')
    write(repository / "setup.py", f"{how}\nsetup(install_requires=[{requirement}])\n")
    assert _span(repository) == ("2.4", "2.8")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes to be waited for")
def test_a_pipe_is_not_opened(repository: Path) -> None:
    os.mkfifo(repository / "README.md")
    assert _span(repository) == ("None", "None")
