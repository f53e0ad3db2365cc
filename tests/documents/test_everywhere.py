"""One project with every kind of file, its findings joined across files: ``fixtures/everywhere``."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.documents.test_documents import found
from tests.fixture_files import FIXTURES
from tfmemlint.cli import main

EXPECTED = [
    (".env", 2, 1, "TFM307"),
    (".github/workflows/train.yml", 4, 3, "TFM307"),
    ("README.md", 7, 1, "TFM202"),
    ("README.md", 13, 1, "TFM307"),
    ("deploy/job.yaml", 12, 21, "TFM207"),
    ("docs/guide.rst", 10, 9, "TFM101"),
    ("docs/guide.rst", 14, 8, "TFM307"),
    ("environment.yml", 7, 3, "TFM307"),
    ("train.py", 4, 5, "TFM202"),
    ("train.py", 12, 9, "TFM403"),
    ("train.sbatch", 5, 8, "TFM207"),
    ("train.sh", 4, 8, "TFM314"),
    ("tune.ipynb", 1, 1, "TFM307"),
    ("tune.ipynb", 4, 5, "TFM101"),
    ("worker.py", 6, 36, "TFM308"),
]


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(FIXTURES / "everywhere", tmp_path, dirs_exist_ok=True)
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)


def test_everything_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert found(capsys, ".") == EXPECTED


def test_texts_are_read_where_they_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    asked = [("notes.txt", 1, 33, "TFM202")]
    assert found(capsys, "notes.txt") == asked
    assert found(capsys, "--extend-kinds", "text", ".") == sorted([*EXPECTED, *asked])
    assert found(capsys, "--ignore-kinds", "text", "notes.txt") == []


@pytest.mark.parametrize("kind", ["python", "notebook", "markdown", "rst", "env", "shell", "yaml"])
def test_each_kind_can_be_left_out(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    endings = {
        "python": (".py",),
        "notebook": (".ipynb",),
        "markdown": (".md",),
        "rst": (".rst",),
        "env": (".env",),
        "shell": (".sh", ".sbatch"),
        "yaml": (".yml", ".yaml"),
    }[kind]
    rest = [one for one in EXPECTED if not one[0].endswith(endings)]
    left = found(capsys, "--ignore-kinds", kind, ".")
    assert left == rest
    assert found(capsys, "--kinds", kind, ".") == [
        one for one in EXPECTED if one not in rest and (one[0], one[1]) != ("train.py", 4)
    ]


def test_a_kind_that_is_none_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--kinds", "cobol", "."]) == 2
    assert "'cobol' is no kind of file; there are python," in capsys.readouterr().err


def test_the_configuration_names_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    Path("tfmemlint.toml").write_text('kinds = ["rst"]\nextend-kinds = ["env"]\n')
    assert [one for one in found(capsys, ".") if not one[0].endswith((".rst", ".env"))] == []
    assert found(capsys, "README.md") == []
    assert len(found(capsys, "--kinds", "markdown", ".")) == 2


def test_what_is_mended_is_gone_and_the_rest_is_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    main(["fix", "--unsafe-fixes", "--allow-dirty", "--no-cache", "--gpu-memory", "16GiB", "."])
    left = found(capsys, ".")
    assert set(left) < set(EXPECTED) | {(name, row, column, code) for name, row, column, code in left}
    changed = {str(path) for path, data in before.items() if path.read_bytes() != data}
    assert changed <= {name for name, _, _, _ in EXPECTED}
    main(["fix", "--unsafe-fixes", "--allow-dirty", "--no-cache", "--gpu-memory", "16GiB", "."])
    assert {str(path) for path, data in before.items() if path.read_bytes() != data} == changed
