"""One project with every kind of file, its findings joined across files: ``fixtures/everywhere``."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.documents.test_documents import found
from tests.fixture_files import FIXTURES
from tfmemlint.cli.main import main

EXPECTED = [
    (".env", 2, 1, "TFM307"),
    (".github/workflows/train.yml", 4, 3, "TFM307"),
    ("Makefile", 2, 8, "TFM307"),
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
JOINED = {("train.py", "TFM403"): {"docker"}, ("worker.py", "TFM308"): {"docker", "yaml"}}
"""What is found in a program for how it is started only, and the kinds of the files that tell that."""


def without(*kinds: str) -> list[tuple[str, int, int, str]]:
    """What is expected where files of these kinds do not count."""
    return [one for one in EXPECTED if JOINED.get((one[0], one[3]), set()).isdisjoint(kinds)]


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


@pytest.mark.parametrize("kind", ["python", "notebook", "markdown", "rst", "docker", "env", "shell", "yaml", "make"])
def test_each_kind_can_be_left_out(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    endings = {
        "python": (".py",),
        "notebook": (".ipynb",),
        "markdown": (".md",),
        "rst": (".rst",),
        "docker": ("Dockerfile",),
        "env": (".env",),
        "shell": (".sh", ".sbatch"),
        "yaml": (".yml", ".yaml"),
        "make": ("Makefile",),
    }[kind]
    assert found(capsys, "--ignore-kinds", kind, ".") == [one for one in without(kind) if not one[0].endswith(endings)]
    alone = [one for one in without("docker", "yaml") if (one[0], one[1]) != ("train.py", 4)]
    assert found(capsys, "--kinds", kind, ".") == [one for one in alone if one[0].endswith(endings)]


def test_a_kind_that_is_left_out_starts_no_program(capsys: pytest.CaptureFixture[str]) -> None:
    for files in (["."], ["train.py", "worker.py"]):
        assert found(capsys, "--kinds", "python", *files) == []
        assert [one[3] for one in found(capsys, "--kinds", "python,docker", *files) if one[0] == "train.py"] == [
            "TFM403"
        ]
        joined = found(capsys, "--kinds", "python,docker,yaml", *files)
        assert [one[3] for one in joined if one[0] == "worker.py"] == ["TFM308"]


def test_what_was_found_before_knows_for_which_kinds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tfmemlint.engine.run.MIN_ITEMS_FOR_CACHE", 1)
    Path("main.py").write_text("import model\n\nmodel.grow()\n")
    Path("model.py").write_text(Path("train.py").read_text().replace("def main", "def grow"))
    Path("start.dockerfile").write_text(Path("Dockerfile").read_text().replace("train.py", "main.py"))
    docker = {("train.py", "TFM403"), ("model.py", "TFM403")}
    yaml = {("worker.py", "TFM308")}
    for _ in range(2):
        for kinds, expected in (
            ("python", set()),
            ("python,docker", docker),
            ("python,yaml", set()),
            ("python,docker,yaml", docker | yaml),
        ):
            capsys.readouterr()
            main(["check", "--kinds", kinds, "--output-format", "concise", "."])
            lines = [line.split() for line in capsys.readouterr().out.splitlines()]
            assert {(words[0].partition(":")[0], words[2]) for words in lines if ".py:" in words[0]} == expected


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
