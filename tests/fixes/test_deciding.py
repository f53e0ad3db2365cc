"""Who has a say in what is changed: git, the person who is asked, the rules that are chosen, TensorFlow."""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.fixes.helpers import code
from tfmemlint.cli.main import main
from tfmemlint.cli.prompt import Asker
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.results import FileResult, Unproven
from tfmemlint.engine.run import run
from tfmemlint.fixes.compute_fix import DECLINED, NOT_CHOSEN
from tfmemlint.fixes.git import UNCOMMITTED, UNTRACKED
from tfmemlint.model.finding import Span
from tfmemlint.sources import Source

LIMITS = code("""
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    tf.config.experimental.set_memory_limit(gpus[0], 1024)  # first
    tf.config.experimental.set_memory_limit(gpus[1], 2048)  # second
    tf.config.experimental.set_memory_limit(gpus[2], 4096)  # third
    """)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    Path("train.py").write_text(LIMITS)
    return tmp_path


def fix(**settings: object) -> FileResult:
    (outcome,) = run([("train.py", True)], RunContext(fix=True, write=True, unsafe=True, **settings))  # type: ignore[arg-type]
    return outcome


def limits() -> list[str]:
    """The limits in force in the file as it is, line by line; those still made up with a question mark."""
    text = Path("train.py").read_text()
    real = {size for size in ("1024", "2048", "4096") if f"memory_limit={size}" in text}
    return [size if size in real else f"{size}?" for size in ("1024", "2048", "4096")]


# git


def git(*arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(project: Path) -> Path:
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    return project


def test_a_committed_file_is_fixed(repository: Path) -> None:
    assert not fix().problem
    assert limits() == ["1024", "2048", "4096"]


def test_what_git_does_not_have_is_not_written_over(repository: Path) -> None:
    Path("train.py").write_text(LIMITS + "# edited\n")
    assert fix().problem == UNCOMMITTED
    assert Path("train.py").read_text() == LIMITS + "# edited\n"


def test_a_file_that_git_does_not_know_is_not_written_over(repository: Path) -> None:
    git("rm", "-q", "--cached", "train.py")
    assert fix().problem == UNTRACKED
    assert Path("train.py").read_text() == LIMITS


def test_what_is_staged_can_be_had_back_from_git(repository: Path) -> None:
    Path("train.py").write_text(LIMITS + "# edited\n")
    git("add", ".")
    assert not fix().problem
    git("checkout", "--", "train.py")
    assert Path("train.py").read_text() == LIMITS + "# edited\n"


def test_allow_dirty_writes_over_it(repository: Path) -> None:
    Path("train.py").write_text(LIMITS + "# edited\n")
    assert not fix(allow_dirty=True).problem
    assert limits() == ["1024", "2048", "4096"]


def test_a_dirty_file_with_nothing_to_fix_is_no_trouble(repository: Path) -> None:
    Path("train.py").write_text("import tensorflow as tf\n")
    assert not fix().problem


def test_a_diff_of_a_dirty_file_is_shown(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("train.py").write_text(LIMITS + "# edited\n")
    assert main(["fix", "--diff", "train.py"]) == 1
    assert "+        [tf.config.LogicalDeviceConfiguration(memory_limit=1024)]" in capsys.readouterr().out


def test_the_other_files_are_fixed(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.py").write_text(LIMITS)
    git("add", ".")
    Path("train.py").write_text(LIMITS + "# edited\n")
    assert main(["fix", "."]) == 2
    assert "train.py: has uncommitted changes" in capsys.readouterr().err
    assert "memory_limit=1024" in Path("other.py").read_text()
    assert Path("train.py").read_text() == LIMITS + "# edited\n"


def test_a_link_is_as_dirty_as_what_it_leads_to(repository: Path, tmp_path: Path) -> None:
    Path("train.py").write_text(LIMITS + "# edited\n")
    Path("link.py").symlink_to("train.py")
    (outcome,) = run([("link.py", True)], RunContext(fix=True, write=True))
    assert outcome.problem == UNCOMMITTED


def test_without_git_files_are_fixed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert not fix().problem
    assert limits() == ["1024", "2048", "4096"]


# A person


def asked(answers: str, **settings: object) -> tuple[FileResult, str]:
    shown = io.StringIO()
    outcome = fix(ask=Asker(io.StringIO(answers), shown, color=False), **settings)
    return outcome, shown.getvalue()


@pytest.mark.parametrize(
    ("answers", "made"),
    [
        ("y\ny\ny\n", ["1024", "2048", "4096"]),
        ("n\nn\nn\n", ["1024?", "2048?", "4096?"]),
        ("n\ny\nn\n", ["1024?", "2048", "4096?"]),
        ("Yes\nNO\nyes\n", ["1024", "2048?", "4096"]),
        ("n\na\n", ["1024?", "2048", "4096"]),
        ("y\nq\n", ["1024", "2048?", "4096?"]),
        ("q\n", ["1024?", "2048?", "4096?"]),
        ("what?\ny\n\nn\ny\n", ["1024", "2048?", "4096"]),
        ("y\n", ["1024", "2048?", "4096?"]),
        ("", ["1024?", "2048?", "4096?"]),
    ],
)
def test_only_changes_that_are_agreed_to_are_made(project: Path, answers: str, made: list[str]) -> None:
    outcome, _ = asked(answers)
    assert limits() == made
    assert len(outcome.applied) == sum("?" not in one for one in made)
    assert [finding.withheld for finding in outcome.findings] == [DECLINED] * sum("?" in one for one in made)


def test_a_person_sees_what_is_changed(project: Path) -> None:
    _, shown = asked("n\ny\nq\n")
    assert shown.count("@@") == 6
    assert "train.py:4: TFM202 tf.config.experimental.set_memory_limit exists in no TensorFlow release" in shown
    assert "-tf.config.experimental.set_memory_limit(gpus[0], 1024)  # first" in shown
    assert shown.index("# first") < shown.index("# second") < shown.index("# third")


def test_who_says_no_to_all_leaves_the_file_untouched(project: Path) -> None:
    before = Path("train.py").stat().st_mtime_ns
    asked("n\nn\nn\n")
    assert Path("train.py").stat().st_mtime_ns == before


def notebook(*cells: str) -> None:
    """A notebook with text between its code cells; lines are stored one by one, as Jupyter stores them."""
    stored: list[dict[str, object]] = []
    for cell in cells:
        source = code(cell).rstrip("\n").splitlines(keepends=True)
        stored += [
            {"cell_type": "markdown", "metadata": {}, "source": ["Words.\n"]},
            {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source},
        ]
    whole = {"cells": stored, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    Path("train.ipynb").write_text(json.dumps(whole, indent=1) + "\n")
    Path("train.py").unlink()


CELLS = (
    """
    import tensorflow as tf
    gpus = tf.config.list_physical_devices("GPU")
    """,
    """
    print(gpus)
    tf.config.experimental.set_memory_limit(gpus[1], 2048)
    tf.config.experimental.set_memory_limit(gpus[2], 4096)
    """,
)


def test_of_a_notebook_a_person_sees_the_cells_and_the_file(project: Path) -> None:
    notebook(*CELLS)
    shown = io.StringIO()
    run(
        [("train.ipynb", True)],
        RunContext(fix=True, write=True, unsafe=True, ask=Asker(io.StringIO("n\nn\n"), shown, False)),
    )
    text = shown.getvalue()
    assert "train.ipynb:cell 4:2: TFM202" in text
    assert "train.ipynb:cell 4:3: TFM202" in text
    assert '-    "tf.config.experimental.set_memory_limit(gpus[1], 2048)\\n",\n' in text
    assert "tfmemlint:cell" not in text


def test_of_a_notebook_the_fixes_are_listed_by_cell(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notebook(*CELLS)
    main(["fix", "--unsafe-fixes", "--show-fixes", "."])
    shown = capsys.readouterr().out
    assert "  cell 4:2: TFM202 " in shown
    assert "  cell 4:3: TFM202 " in shown
    assert "tfmemlint:cell" not in shown


def test_of_a_notebook_that_shows_several_ways_in_cells_of_their_own_none_is_moved(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    growth = (
        "for gpu in tf.config.list_physical_devices('GPU'):\n    tf.config.experimental.set_memory_growth(gpu, True)"
    )
    limit = (
        "gpus = tf.config.list_physical_devices('GPU')\n"
        "tf.config.set_logical_device_configuration(gpus[0], [tf.config.LogicalDeviceConfiguration(1024)])"
    )
    notebook("import tensorflow as tf", "y = tf.ones(3)", growth, limit)
    before = Path("train.ipynb").read_text()
    main(["fix", "--unsafe-fixes", "."])
    assert Path("train.ipynb").read_text() == before
    assert capsys.readouterr().out.count("each in a cell of its own") >= 2
    # One way alone is moved.
    Path("train.py").touch()
    notebook("import tensorflow as tf", "y = tf.ones(3)", growth)
    main(["fix", "--unsafe-fixes", "."])
    assert "1 fixed" in capsys.readouterr().out


def test_fixes_of_a_notebook_are_listed_where_one_fix_leads_to_the_next(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grow = "tf.config.experimental.set_memory_growth(gpus[0], True)"
    listing = "gpus = tf.config.list_physical_devices('GPU')\n"
    notebook("import tensorflow as tf", f"y = tf.ones(3)\n!ls\n{listing}{grow}", f"!ls\n{listing}{grow}")
    main(["fix", "--unsafe-fixes", "--show-fixes", "."])
    shown = capsys.readouterr().out
    assert ":4: TFM101 " in shown
    assert "TFM402 Set growth for every GPU" in shown


def test_without_a_terminal_nobody_is_asked(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", "--ask", "train.py"]) == 2
    assert "--ask needs a terminal" in capsys.readouterr().err
    assert Path("train.py").read_text() == LIMITS


# Chosen rules


def test_only_the_chosen_rules_fix(project: Path) -> None:
    Path("train.py").write_text(LIMITS + "old = tf.config.experimental.list_physical_devices('GPU')\n")
    outcome = fix(fix_only=("TFM705",), selection=None)
    assert not outcome.applied
    assert {finding.withheld for finding in outcome.findings} == {NOT_CHOSEN}
    assert len(fix(fix_only=("TFM2",)).applied) == 3


def test_what_is_not_chosen_is_reported(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", "--fix-only", "TFM101", "train.py"]) == 1
    assert capsys.readouterr().out.count("TFM202 tf.config") == 3
    assert Path("train.py").read_text() == LIMITS


def test_a_choice_that_stands_for_no_rule_is_an_error(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", "--fix-only", "TFM999", "train.py"]) == 2
    assert "'TFM999' in --fix-only" in capsys.readouterr().err
    assert Path("train.py").read_text() == LIMITS


# The list of what was done


def test_all_fixes_are_listed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("late.py").write_text(
        "import tensorflow as tf\n\nx = tf.constant(1)\n"
        "for gpu in tf.config.list_physical_devices('GPU'):\n"
        "    tf.config.experimental.set_memory_growth(gpu, True)\n"
    )
    assert main(["fix", "--show-fixes", "."]) == 1
    shown = capsys.readouterr().out.splitlines()
    start = shown.index("train.py")
    assert [line.split(":")[0] for line in shown[start + 1 : start + 4]] == ["  4", "  5", "  6"]
    assert shown[start + 4 :] == ["1 file changed, 3 fixes.", "1 withheld: unsafe: needs --unsafe-fixes"]


def test_a_fix_is_listed_in_the_row_that_was_wrong(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each of the fixes adds lines above those that are fixed in later rounds."""
    Path("train.py").write_text(
        code("""
        import tensorflow as tf

        x = tf.constant(1)
        tf.config.experimental.set_memory_limit(tf.config.list_physical_devices("GPU")[0], 1024)
        """)
    )
    main(["fix", "--unsafe-fixes", "--show-fixes", "."])
    shown = capsys.readouterr().out.splitlines()
    rows = [line.split(":")[0].strip() for line in shown[shown.index("train.py") + 1 :] if line.startswith("  ")]
    assert rows, shown
    assert set(rows) == {"4"}


# TensorFlow


def unproven(*rows: int, before: bool = False) -> list[Unproven]:
    return [Unproven(Span(row, 1, row, 2), f"line {row} would have no effect", before) for row in rows]


def proving(answers: Sequence[list[Unproven]]) -> tuple[FileResult, int]:
    """Fix, where TensorFlow says of the texts, one after another, that this does not take effect."""
    left = list(answers)
    seen: list[str] = []

    def prove(source: Source, text: str) -> list[Unproven]:
        seen.append(text)
        return left.pop(0) if left else []

    return fix(prove=prove), len(seen)


def test_what_takes_effect_is_written(project: Path) -> None:
    outcome, runs = proving([[]])
    assert (limits(), runs) == (["1024", "2048", "4096"], 1)
    assert len(outcome.applied) == 3


def test_what_does_not_take_effect_is_withheld_and_the_rest_is_proven_without_it(project: Path) -> None:
    outcome, runs = proving([unproven(5)])
    assert (limits(), runs) == (["1024", "2048?", "4096"], 2)
    assert [finding.withheld for finding in outcome.findings] == ["line 5 would have no effect"]


def test_what_worked_before_and_would_not_any_more_stops_all_fixes(project: Path) -> None:
    outcome, _ = proving([unproven(1, before=True)])
    assert limits() == ["1024?", "2048?", "4096?"]
    assert [finding.withheld for finding in outcome.findings] == ["line 1 would have no effect"] * 3


def test_what_never_worked_and_is_not_fixed_is_no_reason(project: Path) -> None:
    _, runs = proving([unproven(1)])
    assert (limits(), runs) == (["1024", "2048", "4096"], 1)


def test_nothing_is_written_that_can_never_be_proven(project: Path) -> None:
    outcome, _ = proving([unproven(5)] * 20)
    assert Path("train.py").read_text() == LIMITS
    assert not outcome.applied


def test_no_tensorflow_no_change(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", "--verify", "--python", "/nonexistent/python", "train.py"]) == 2
    assert "nothing was changed" in capsys.readouterr().err
    assert Path("train.py").read_text() == LIMITS
