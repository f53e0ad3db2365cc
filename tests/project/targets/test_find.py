"""Which release the files of a project are for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.trees import put, write
from tfmemlint.project.targets.find import Finder
from tfmemlint.project.targets.found import FoundTarget


def found(root: Path, name: str = "train.py") -> FoundTarget:
    return Finder().of_file(str(root / name))


def target(root: Path, name: str = "train.py") -> str:
    one = found(root, name)
    return f"{one.first}-{one.last}" if one.target is not None else "nothing"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    put(tmp_path, ".git/", "train.py")
    monkeypatch.chdir(tmp_path)
    return tmp_path


POETRY_LOCK = '[[package]]\nname = "tensorflow"\nversion = "2.12.1"\ndescription = "x"\n'
SETUP = """\
from setuptools import setup

EXTRA = ["numpy"]
BASE = ["tensorflow%s" % ">=1.15,<2"]
extras = {"docs": ["tensorflow==1.13"]}
setup(install_requires=EXTRA + BASE, extras_require=extras, keywords="tensorflow==2.9")
"""
STATEMENTS = {
    "requirements.txt": ("numpy\ntensorflow==2.4.1  # the one\n", "2.4-2.4"),
    "requirements.in": ("tensorflow-gpu>=1.14,<2\n", "1.14-1.15"),
    "dev_requirements.txt": ("tensorflow==2.4.1\n", "2.4-2.4"),
    "requirements/base.txt": ("tensorflow_cpu~=2.6.0\n", "2.6-2.6"),
    "constraints.txt": ("tensorflow==2.8.0\n", "2.8-2.8"),
    "setup.py": (SETUP, "1.15-1.15"),
    "setup.cfg": ("[options]\ninstall_requires =\n    tensorflow[and-cuda]>=2.14,<2.16\n    numpy\n", "2.14-2.15"),
    "poetry.lock": (POETRY_LOCK, "2.12-2.12"),
    "uv.lock": ('[[package]]\nname = "tensorflow"\nversion = "2.17.0"\nsource = { registry = "x" }\n', "2.17-2.17"),
    "pdm.lock": ('[[package]]\nname = "tensorflow"\nversion = "2.10.1"\n', "2.10-2.10"),
    "pylock.toml": ('[[packages]]\nname = "tensorflow"\nversion = "2.11.0"\n', "2.11-2.11"),
    "conda-lock.yml": ("package:\n- name: tensorflow\n  version: 2.9.1\n  manager: conda\n", "2.9-2.9"),
    "Pipfile": ('[packages]\ntensorflow = "==2.3"\n[dev-packages]\ntensorflow-cpu = "*"\n', "2.3-2.3"),
    "Pipfile.lock": ('{"default": {"tensorflow": {"version": "==2.5.0"}}, "develop": {}}', "2.5-2.5"),
    "requirements.yml": ("name: x\ndependencies:\n  - tensorflow-gpu~=2.4.0\n", "2.4-2.4"),
    "environment.yml": (
        "name: x\ndependencies:\n  - python=3.8\n  - conda-forge::tensorflow=2.4.1=gpu_py38\n",
        "2.4-2.4",
    ),
    "environment.yaml": ('dependencies:\n  - pip\n  - pip:\n    - "tensorflow~=2.14.0"  # here\n', "2.14-2.14"),
    "Dockerfile": ("FROM tensorflow/tensorflow:2.4.1-gpu\nRUN pip install numpy\n", "2.4-2.4"),
    "gpu.Dockerfile": ("ARG TF=1.15.0\nFROM tensorflow/tensorflow:${TF}-gpu-py3 AS base\n", "1.15-1.15"),
    "Dockerfile.gpu": (
        "FROM ubuntu\nRUN apt update && \\\n  # pip install tensorflow==2.9\n  pip3 install -U 'tensorflow < 2'\n",
        "1.13-1.15",
    ),
    "Containerfile": ("FROM nvcr.io/nvidia/tensorflow:21.05-tf1-py3\n", "1.15-1.15"),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_each_kind_of_file_is_read(repository: Path, name: str) -> None:
    text, expected = STATEMENTS[name]
    write(repository / name, text)
    assert target(repository) == expected


PYPROJECTS = {
    '[project]\ndependencies = ["tensorflow>=2.12,<2.16", "tensorflow-hub==0.1"]\n': "2.12-2.15",
    '[project.optional-dependencies]\ngpu = ["tensorflow-gpu==1.15"]\ncpu = ["tensorflow==1.14"]\n': "1.14-1.15",
    '[dependency-groups]\ndev = ["tensorflow==2.9"]\n': "2.9-2.9",
    '[project]\ndependencies = ["tensorflow==2.8"]\n[dependency-groups]\ndev = ["tensorflow==2.9"]\n': "2.8-2.8",
    '[tool.poetry.dependencies]\ntensorflow = "^1.13"\n': "1.13-1.15",
    '[tool.poetry.dependencies]\ntensorflow = "~2.4"\n': "2.4-2.4",
    '[tool.poetry.dependencies]\ntensorflow = { version = "2.10.0", optional = true }\n': "2.10-2.10",
    '[tool.poetry.dependencies]\ntensorflow = [{ version = "2.8", markers = "sys_platform == \'linux\'" },'
    ' { version = "2.9", platform = "darwin" }]\n': "2.8-2.8",
    '[tool.poetry.group.dev.dependencies]\ntensorflow = "2.4.0"\n': "2.4-2.4",
    '[tool.pdm.dev-dependencies]\ntest = ["tensorflow~=2.5.0"]\n': "2.5-2.5",
    '[project]\ndependencies = ["tensorflow"]\n[tool.uv]\nconstraint-dependencies = ["tensorflow<2.16"]\n': "1.13-2.15",
    '[project]\nkeywords = ["tensorflow==2.4"]\ndependencies = ["tensorflow-datasets==4.9"]\n': "nothing",
    '[project]\ndescription = "tensorflow"\n[dependency-groups]\ndocs = ["tensorflow==1.14"]\n': "nothing",
}


@pytest.mark.parametrize("text", PYPROJECTS)
def test_pyproject_toml_in_its_dialects(repository: Path, text: str) -> None:
    write(repository / "pyproject.toml", text)
    assert target(repository) == PYPROJECTS[text]


def test_a_source_elsewhere_names_the_release_or_nothing(repository: Path) -> None:
    head = '[project]\ndependencies = ["tensorflow"]\n[tool.uv.sources]\ntensorflow = '
    write(
        repository / "pyproject.toml", head + '{ git = "https://github.com/tensorflow/tensorflow", tag = "v2.4.1" }\n'
    )
    assert target(repository) == "2.4-2.4"
    write(repository / "pyproject.toml", head + '{ path = "../tf.whl" }\n')
    assert target(repository) == "nothing"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("# tensorflow==2.4", "nothing"),
        ("tensorflow-serving-api==2.0.0", "nothing"),
        ("tensorflow_hub==0.12", "nothing"),
        ("mesh-tensorflow", "nothing"),
        ("tensorflow==1.15; python_version < '3.8'\ntensorflow==2.12; python_version >= '3.8'", "1.15-2.12"),
        ("tensorflow==2.7; sys_platform == 'linux'\ntensorflow-macos==2.9; sys_platform == 'darwin'", "2.7-2.7"),
        ("tensorflow==2.4.1 \\\n    --hash=sha256:0123 \\\n    --hash=sha256:4567", "2.4-2.4"),
        ("tensorflow[and-cuda]==2.16.1", "2.16-2.16"),
        ("TensorFlow_GPU == 1.15.*", "1.15-1.15"),
        ("tensorflow (>=2.0,<2.3)", "2.0-2.2"),
        ("tensorflow @ git+https://github.com/tensorflow/tensorflow@v2.4.1", "2.4-2.4"),
        ("git+https://github.com/tensorflow/tensorflow.git@r1.15#egg=tensorflow", "1.15-1.15"),
        ("https://storage.googleapis.com/x/tensorflow_gpu-2.4.0-cp38-cp38-manylinux2010_x86_64.whl", "2.4-2.4"),
        ("tensorflow @ https://example.org/tensorflow.tar.gz", "nothing"),
        ("tensorflow==${TF_VERSION}", "nothing"),
        ("tensorflow==", "nothing"),
        ("tf-nightly", "2.21-2.21"),
        ("tensorflow-gpu", "1.13-2.11"),
        ("-r more.txt", "2.6-2.6"),
        ("tensorflow\n-c more.txt", "2.6-2.6"),
        ("--requirement=more.txt", "2.6-2.6"),
        ("-r missing.txt", "nothing"),
        ("-r requirements.txt\ntensorflow==2.3", "2.3-2.3"),
        ("--extra-index-url https://tensorflow.org/\nnumpy", "nothing"),
    ],
)
def test_the_lines_of_requirements(repository: Path, line: str, expected: str) -> None:
    write(repository / "requirements.txt", f"numpy\n{line}\n")
    write(repository / "more.txt", "tensorflow==2.6.0\n")
    assert target(repository) == expected


def test_no_statement_means_nothing(repository: Path) -> None:
    write(repository / "requirements.txt", "numpy\n")
    assert found(repository) == FoundTarget()


def test_the_nearest_directory_speaks(repository: Path) -> None:
    write(repository / "requirements.txt", "tensorflow==2.9\n")
    write(repository / "old" / "requirements.txt", "tensorflow==1.15\n")
    write(repository / "old" / "pkg" / "a.py", "")
    write(repository / "other" / "requirements.txt", "numpy\n")
    assert target(repository, "old/pkg/a.py") == "1.15-1.15"
    assert target(repository, "other/b.py") == "2.9-2.9"
    assert target(repository, "c.py") == "2.9-2.9"


def test_what_lies_beside_or_below_says_nothing(repository: Path) -> None:
    for name in ("docs", "examples", "tests", "third_party/other"):
        write(repository / name / "requirements.txt", "tensorflow==1.14\n")
    assert target(repository) == "nothing"
    assert target(repository, "examples/a.py") == "1.14-1.14"


def test_nothing_above_the_repository_says_anything(tmp_path: Path) -> None:
    write(tmp_path / "requirements.txt", "tensorflow==1.14\n")
    put(tmp_path, "repository/.git/")
    assert target(tmp_path / "repository") == "nothing"


def test_without_a_repository_the_project_ends_the_search(tmp_path: Path) -> None:
    write(tmp_path / "requirements.txt", "tensorflow==1.14\n")
    write(tmp_path / "inner" / "setup.py", "")
    assert target(tmp_path / "inner") == "nothing"
    assert target(tmp_path) == "1.14-1.14"


def test_all_files_of_a_directory_hold_together(repository: Path) -> None:
    write(repository / "setup.py", "from setuptools import setup\nsetup(install_requires=['tensorflow>=2.4'])\n")
    write(repository / "requirements.txt", "tensorflow<2.10\n")
    write(repository / "poetry.lock", POETRY_LOCK.replace("2.12.1", "2.8.4"))
    assert target(repository) == "2.8-2.8"


def test_where_files_contradict_each_other_any_of_them_may_be_right(repository: Path) -> None:
    write(repository / "requirements.txt", "tensorflow==2.9\n")
    write(repository / "requirements-old.txt", "tensorflow==1.15\n")
    assert target(repository) == "1.15-2.9"


def test_what_programs_run_with_comes_before_what_they_are_tested_with(repository: Path) -> None:
    write(repository / "requirements.txt", "tensorflow==2.9\n")
    write(repository / "requirements-dev.txt", "tensorflow==2.12\n")
    write(repository / "requirements-docs.txt", "tensorflow==1.14\n")
    write(repository / "Dockerfile.test", "FROM tensorflow/tensorflow:2.3.0\n")
    assert target(repository) == "2.9-2.9"
    one = found(repository)
    assert [stated.path for stated in one.used] == ["requirements.txt"]


BROKEN = {
    "pyproject.toml": "[project\ntensorflow",
    "setup.py": "def (: tensorflow",
    "setup.cfg": "tensorflow without a section",
    "Pipfile": "tensorflow = = 2",
    "Pipfile.lock": "{tensorflow",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_a_note_and_the_others_speak(repository: Path, name: str) -> None:
    write(repository / name, BROKEN[name])
    write(repository / "requirements.txt", "tensorflow==2.4\n")
    finder = Finder()
    one = finder.of_file(str(repository / "train.py"))
    assert str(one.target) == "2.4"
    assert len(finder.notes) == 1 and finder.notes[0].startswith(f"{name}: not read for the release of TensorFlow: ")


@pytest.mark.parametrize(
    "data", [b"\xff\xfet\x00e\x00", b"\x00tensorflow==2.4", b"tensorflow==2.4\xff", b"\\\n\\\ntensorflow"]
)
def test_bytes_that_are_no_text_raise_nothing(repository: Path, data: bytes) -> None:
    for name in ("requirements.txt", "Dockerfile", "environment.yml", "setup.cfg", "setup.py", "poetry.lock"):
        (repository / name).write_bytes(data)
    found(repository)


def test_a_directory_called_like_a_file_is_passed_over(repository: Path) -> None:
    put(repository, "requirements.txt/", "pyproject.toml/", "Dockerfile/")
    assert target(repository) == "nothing"


def test_each_file_is_read_once_in_a_run(repository: Path) -> None:
    write(repository / "requirements.txt", "tensorflow==2.4\n")
    put(repository, "a/b/c.py", "a/d.py")
    finder = Finder()
    assert finder.of_file(str(repository / "a" / "b" / "c.py")).target is not None
    (repository / "requirements.txt").unlink()
    assert finder.of_file(str(repository / "a" / "d.py")) == finder.of_file(str(repository / "train.py"))


def test_the_row_of_a_statement_is_where_it_stands(repository: Path) -> None:
    write(repository / "requirements.txt", "# tensorflow\n\ntensorflow==2.4\n")
    write(repository / "Dockerfile", "FROM x\nRUN a && \\\n    pip install tensorflow==2.4\n")
    write(repository / "setup.cfg", "[options]\ninstall_requires =\n    tensorflow>=2.4\n")
    places = {stated.place for stated in found(repository).stated}
    assert places == {"requirements.txt:3", "Dockerfile:3", "setup.cfg:3"}


@pytest.mark.parametrize(
    "expression",
    [
        '["tensorflow==2.4"]',
        '"tensorflow==2.4"',
        '"numpy\\ntensorflow==2.4"',
        "NAMES",
        'list(NAMES) + ["numpy"]',
        '["numpy", *NAMES]',
        "wanted()",
        'NAMES if GPU else ["tensorflow==2.4"]',
        '["tensorflow" + "==2.4"]',
        '[f"tensorflow=={VERSION}"]',
        '["tensorflow=={}".format(VERSION)]',
        '["tensorflow==%s" % VERSION]',
    ],
)
def test_what_setup_py_writes_out_is_understood(repository: Path, expression: str) -> None:
    head = 'VERSION = "2.4"\nNAMES = []\nNAMES.append("tensorflow==2.4")\n\n\ndef wanted():\n    return NAMES\n\n\n'
    write(repository / "setup.py", f"{head}setup(install_requires={expression})\n")
    assert target(repository) == "2.4-2.4"


@pytest.mark.parametrize("expression", ['read("requirements.txt")', "[name for name in x]", '["tensorflow" + version]'])
def test_what_setup_py_works_out_is_unknown(repository: Path, expression: str) -> None:
    write(repository / "setup.py", f"tensorflow = 1\nsetup(install_requires={expression})\n")
    assert target(repository) == "nothing"


def test_setup_py_is_not_run(repository: Path) -> None:
    write(repository / "setup.py", "raise SystemExit('run')\nsetup(install_requires=['tensorflow==2.4'])\n")
    assert target(repository) == "2.4-2.4"
