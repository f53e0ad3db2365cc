"""The real pre-commit runs both hooks on a git repository."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import copy_checkout

pytestmark = pytest.mark.slow

LISTED = """\
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
gpus = strategy.extended.list_physical_devices("GPU")
"""
MENDED = LISTED.replace("strategy.extended", "tf.config")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Nothing of this machine's git configuration, nor of its pre-commit environments, has a part in this."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PRE_COMMIT"))}
    author = {f"GIT_{who}_{what}": "someone" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return {
        **kept,
        **author,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "PRE_COMMIT_HOME": str(tmp_path_factory.mktemp("environments")),
        "PIP_COMPILE": "0",  # of what the hooks need, most is never imported
    }


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> str:
    """The lines of a ``.pre-commit-config.yaml`` up to the hooks: the repository is a commit of this checkout."""
    folder = copy_checkout(tmp_path_factory.mktemp("hooks"))
    revision = _commit_all(folder, environment)
    return f"repos:\n- repo: {folder.as_uri()}\n  rev: {revision}\n  hooks:\n"


@pytest.fixture
def project(tmp_path: Path, environment: dict[str, str]) -> Path:
    """A repository with a file that can be mended, a clean one, and a text that is no Python."""
    (tmp_path / "listing.py").write_text(LISTED, encoding="utf-8")
    (tmp_path / "model.py").write_text("import tensorflow as tf\n\nmodel = tf.keras.Sequential()\n", encoding="utf-8")
    (tmp_path / "notes.txt").write_text(LISTED, encoding="utf-8")
    _commit_all(tmp_path, environment)
    return tmp_path


def _commit_all(folder: Path, environment: dict[str, str]) -> str:
    commands = ("init --quiet", "add --all", "commit --quiet --message=all", "rev-parse HEAD")
    for command in commands:
        done = subprocess.run(["git", *command.split()], cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def _pre_commit(project: Path, environment: dict[str, str], configuration: str) -> tuple[int, str]:
    (project / ".pre-commit-config.yaml").write_text(configuration, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "run", "--all-files", "--verbose"],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
    )
    said = done.stdout + done.stderr
    if "An unexpected error has occurred" in said and " install" in said:
        _skip_without_an_index(project)
    return done.returncode, said


def _skip_without_an_index(project: Path) -> None:
    """An environment for the hooks could not be made: that is this project's fault unless pip gets at no package."""
    probe = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(project / "probe"), "libcst"],
        capture_output=True,
        text=True,
    )
    if probe.returncode != 0:
        words = probe.stderr.strip().splitlines()
        pytest.skip(f"pip reaches no package index: {words[-1] if words else 'it says nothing'}")


def test_check_reports_and_changes_nothing(project: Path, environment: dict[str, str], hooks: str) -> None:
    code, said = _pre_commit(project, environment, f"{hooks}  - id: tfmemlint\n")
    assert code == 1, said
    assert "listing.py:4:8: error: TFM202" in said
    assert "notes.txt" not in said
    assert (project / "listing.py").read_text(encoding="utf-8") == LISTED


def test_fix_mends_and_says_that_files_were_modified(project: Path, environment: dict[str, str], hooks: str) -> None:
    configuration = f"{hooks}  - id: tfmemlint-fix\n  - id: tfmemlint\n"
    code, said = _pre_commit(project, environment, configuration)
    assert code == 1, said
    assert "files were modified by this hook" in said
    assert (project / "listing.py").read_text(encoding="utf-8") == MENDED
    assert (project / "notes.txt").read_text(encoding="utf-8") == LISTED
    subprocess.run(["git", "add", "--all"], cwd=project, env=environment, check=True)
    code, said = _pre_commit(project, environment, configuration)
    assert code == 0, said


def test_a_hook_takes_arguments(project: Path, environment: dict[str, str], hooks: str) -> None:
    code, said = _pre_commit(project, environment, f"{hooks}  - id: tfmemlint\n    args: [--ignore=TFM202]\n")
    assert code == 0, said
