"""Requirements in environment files of conda, in Dockerfiles, and in the cells of notebooks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.project.trees import put, write
from tfmemlint.project.targets.find import Finder


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    put(tmp_path, ".git/", "train.py")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stated(repository: Path, name: str = "train.py") -> list[str]:
    """``ROW: TEXT`` of each statement."""
    found = Finder().of_file(str(repository / name))
    return [f"{statement.row}: {statement.text}" for statement in found.stated]


CONDA = {
    "flow list": ("name: x\ndependencies: [python=3.8, tensorflow-gpu=2.4.1]\n", ["2: tensorflow-gpu=2.4.1"]),
    "flow list over lines": ("dependencies: [python=3.8,\n  'tensorflow>=2.4,<2.6',\n]\n", ["2: tensorflow>=2.4,<2.6"]),
    "pip section": (
        "dependencies:\n- pip\n- pip:\n  - numpy\n  - tensorflow~=2.14.0 # here\n- scipy\n",
        ["5: tensorflow~=2.14.0"],
    ),
    "pip section in flow style": ("dependencies:\n  - {pip: [tensorflow==2.9.1]}\n", ["2: tensorflow==2.9.1"]),
    "pip's includes": ("dependencies:\n  - pip:\n    - -r more.txt\n", ["1: tensorflow==2.6.0"]),
    "folded and quoted": ('dependencies:\n  - "tensorflow=2.4.1=gpu_py38"\n', ["2: tensorflow=2.4.1=gpu_py38"]),
    "comments": ("dependencies:\n  # - tensorflow=2.4\n  - python # tensorflow=2.5\n", []),
    "another section": ("variables:\n  - tensorflow=2.4\ndependencies:\n  - python\n", []),
    "anchors": ("x: &tf tensorflow=2.3\ndependencies:\n  - *tf\n", ["1: tensorflow=2.3"]),
    "a template": ("dependencies:\n  - tensorflow={{ version }}\n", ["2: tensorflow={{ version }}"]),
}


@pytest.mark.parametrize("kind", CONDA)
def test_environments_of_conda(repository: Path, kind: str) -> None:
    text, expected = CONDA[kind]
    write(repository / "environment.yml", text)
    write(repository / "more.txt", "tensorflow==2.6.0\n")
    assert stated(repository) == expected


def test_an_environment_that_is_not_yaml_is_a_note(repository: Path) -> None:
    write(repository / "environment.yml", "dependencies: [tensorflow=2.4\n")
    finder = Finder()
    assert finder.of_file(str(repository / "train.py")).target is None
    (note,) = finder.notes
    assert note.startswith("environment.yml: not read for the release of TensorFlow: it is not YAML: ")


RUN = {
    # What a shell runs.
    "pip install tensorflow==2.4": ["2: tensorflow==2.4"],
    "pip3.8 -q install -U --no-cache-dir 'tensorflow<2'": ["2: tensorflow<2"],
    "python3 -m pip install tensorflow==2.4": ["2: tensorflow==2.4"],
    "/opt/venv/bin/python -I -m pip install tensorflow==2.4": ["2: tensorflow==2.4"],
    "$(which python) -m pip install tensorflow==2.4": ["2: tensorflow==2.4"],
    "uv pip install --system tensorflow==2.4": ["2: tensorflow==2.4"],
    "sudo -H pip install tensorflow==2.4": ["2: tensorflow==2.4"],
    "env PIP_NO_INPUT=1 pip install tensorflow==2.4": ["2: tensorflow==2.4"],
    "PIP_NO_INPUT=1 pip install tensorflow==2.4": ["2: tensorflow==2.4"],
    "conda run -n x pip install tensorflow==2.4": ["2: tensorflow==2.4"],
    "retry 3 pip install tensorflow==2.4": ["2: tensorflow==2.4"],
    "if true; then pip install tensorflow==2.4; fi": ["2: tensorflow==2.4"],
    "(cd x && pip install tensorflow==2.4)": ["2: tensorflow==2.4"],
    "bash -lc 'pip install tensorflow==2.4'": ["2: tensorflow==2.4"],
    '["pip", "install", "tensorflow==2.4"]': ["2: tensorflow==2.4"],
    '["bash", "-c", "pip install tensorflow==2.4"]': ["2: tensorflow==2.4"],
    "conda install -y -c conda-forge tensorflow-gpu=2.4": ["2: tensorflow-gpu=2.4"],
    "mamba create -n x python=3.8 tensorflow=2.4": ["2: tensorflow=2.4"],
    "pip install 'tensorflow==2.4; python_version < \"3.9\"'": ['2: tensorflow==2.4; python_version < "3.9"'],
    "pip install tensorflow==2.3 && pip install tensorflow==2.4": ["2: tensorflow==2.3", "2: tensorflow==2.4"],
    "apt-get update && apt-get install -y x \\\n && pip install \\\n  # tensorflow==2.1\n  tensorflow==2.4": [
        "5: tensorflow==2.4"
    ],
    "--mount=type=cache,target=/root/.cache pip install tensorflow==2.4": ["2: tensorflow==2.4"],
    "--mount=type=cache,target=/a --network=host \\\n pip install tensorflow==2.4": ["3: tensorflow==2.4"],
    # A redirection: pip gets no version.
    "pip install tensorflow>=2.4": ["2: tensorflow"],
    # Here-documents.
    "<<EOF\nset -e\npip install tensorflow==2.4\nEOF": ["4: tensorflow==2.4"],
    "<<EOF\n#!/usr/bin/env bash\npip install tensorflow==2.4\nEOF": ["4: tensorflow==2.4"],
    "bash -ex <<'EOF'\npip install tensorflow==2.4\nEOF": ["3: tensorflow==2.4"],
    "<<EOF bash -ex\npip install tensorflow==2.4\nEOF": ["3: tensorflow==2.4"],
    "<<EOF\n#!/usr/bin/python3\npip install tensorflow==2.4\nEOF": [],
    "python3 <<EOF\npip install tensorflow==2.4\nEOF": [],
    "cat > x.sh <<EOF\npip install tensorflow==2.4\nEOF": [],
    # Variables.
    "V=2.4 && pip install tensorflow==$V": ["2: tensorflow==2.4"],
    'export V=2.4; pip install "tensorflow==${V}"': ["2: tensorflow==2.4"],
    "pip install tensorflow==${V:-2.4}": ["2: tensorflow==2.4"],
    "PIP='python3 -m pip' && $PIP install tensorflow==2.4": ["2: tensorflow==2.4"],
    "S='>=2.4' && pip install tensorflow$S": ["2: tensorflow>=2.4"],
    "pip install tensorflow==$UNKNOWN": ["2: tensorflow==$UNKNOWN"],
    "pip install 'tensorflow==$V'": ["2: tensorflow==$V"],
    # What is no install.
    'echo "pip install tensorflow==2.4"': [],
    "echo pip install tensorflow==2.4": [],
    "printf 'pip install tensorflow==2.4' > install.sh": [],
    "ls # pip install tensorflow==2.4": [],
    "pip uninstall -y tensorflow==2.4": [],
    "pip download tensorflow==2.4": [],
    "apt-get install pip tensorflow==2.4": [],
    "pip install -r tensorflow": [],
    "pip install --find-links tensorflow numpy": [],
    "conda install -n tensorflow numpy": [],
}


@pytest.mark.parametrize("command", RUN)
def test_what_a_dockerfile_installs(repository: Path, command: str) -> None:
    write(repository / "Dockerfile", f"FROM ubuntu\nRUN {command}\n")
    assert stated(repository) == RUN[command]


DOCKERFILES = {
    "FROM x\n# RUN pip install tensorflow==2.4\nRUN pip install tensorflow==2.5\n": ["3: tensorflow==2.5"],
    "ARG TF=2.4\nFROM tensorflow/tensorflow:${TF}-gpu\n": ["2: tensorflow/tensorflow:2.4-gpu"],
    "FROM x\nENV TF 2.4\nRUN pip install tensorflow==$TF\n": ["3: tensorflow==2.4"],
    "FROM x\nENV A=1 TF='2.4'\nENV SPEC=tensorflow==$TF\nRUN pip install $SPEC\n": ["4: tensorflow==2.4"],
    "# escape=`\nFROM x\nRUN pip install `\n  tensorflow==2.4\n": ["4: tensorflow==2.4"],
    "FROM --platform=linux/amd64 tensorflow/tensorflow:2.4.1-gpu AS x\n": ["1: tensorflow/tensorflow:2.4.1-gpu"],
    "FROM tensorflow/tensorflow:2.3.0\nRUN pip install -U tensorflow==2.4\n": ["2: tensorflow==2.4"],
    "FROM x\nCOPY <<EOF /install.sh\npip install tensorflow==2.4\nEOF\n": [],
    "FROM x\nCMD pip install tensorflow==2.4\n": [],
}


@pytest.mark.parametrize("text", DOCKERFILES)
def test_dockerfiles(repository: Path, text: str) -> None:
    write(repository / "Dockerfile", text)
    assert stated(repository) == DOCKERFILES[text]


CELLS = {
    "!pip install tensorflow==2.4": ["tensorflow==2.4"],
    "%pip install -q 'tensorflow<2'": ["tensorflow<2"],
    "!sudo pip install tensorflow==2.4 && echo done": ["tensorflow==2.4"],
    "!python -m pip install tensorflow==2.4": ["tensorflow==2.4"],
    "!pip install tensorflow>=2.4": [],
    "!pip uninstall -y tensorflow==2.4": [],
    "# !pip install tensorflow==2.4": [],
}


@pytest.mark.parametrize("line", CELLS)
def test_what_a_notebook_installs(repository: Path, line: str) -> None:
    cell: dict[str, object] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": [line],
    }
    page = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    write(repository / "a.ipynb", json.dumps(page))
    found = Finder().of_file(str(repository / "a.ipynb"))
    assert [statement.text for statement in found.stated] == CELLS[line]
