"""The habits of a terminal: completion, help, colour, watching, processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.cli.main import main

LATE = """\
import tensorflow as tf

tf.zeros([1])
gpus = tf.config.list_physical_devices("GPU")
tf.config.experimental.set_memory_growth(gpus[0], True)
"""
CLEAN, FOUND, FAILED = 0, 1, 2


@pytest.fixture
def late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "late.py"
    path.write_text(LATE)
    return path


def completions(line: str, folder: Path) -> set[str]:
    """Return what a shell would offer for the end of a line, as argcomplete's own protocol has it."""
    pytest.importorskip("argcomplete")
    answers = folder / "answers"
    environment = {
        **os.environ,
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answers),
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_COMP_WORDBREAKS": " \t\n\"'><=;|&(:",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    script = "import sys; sys.argv = ['tfmemlint']; from tfmemlint.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", script], env=environment, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {answer.strip() for answer in answers.read_text().split("\n")} - {""}


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("tfmemlint ch", {"check"}),
        ("tfmemlint check --min-sev", {"--min-severity"}),
        ("tfmemlint check --min-severity w", {"warning"}),
        ("tfmemlint check --output-format sa", {"sarif"}),
        ("tfmemlint check --select growth-after", {"growth-after-init"}),
        ("tfmemlint check --select TFM101,TFM90", {f"TFM101,TFM90{number}" for number in range(6)}),
        ("tfmemlint rule eager-c", {"eager-config"}),
        ("tfmemlint plan --target-version 2.20", {"2.20"}),
    ],
)
def test_completion(tmp_path: Path, line: str, offered: set[str]) -> None:
    assert completions(line, tmp_path) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_lines_for_a_shell_can_be_read_by_it(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("argcomplete")
    assert main(["completion", shell]) == CLEAN
    text = capsys.readouterr().out
    assert "tfmemlint" in text
    found = shutil.which(shell)
    if found is not None:
        done = subprocess.run([found, "-n"], input=text, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


def test_completion_costs_nothing_where_nobody_asks() -> None:
    code = (
        "import sys; from tfmemlint.cli.main import main; main(['rule', 'TFM101']); print('argcomplete' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


@pytest.mark.parametrize("command", ["check", "fix"])
def test_help_is_in_groups_and_has_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    out = capsys.readouterr().out
    assert out.startswith(f"usage: tfmemlint {command} [OPTION ...] [PATH ...]\n")
    for group in ("rules:", "files:", "fixes:", "report:", "known findings:", "run:", "examples:"):
        assert f"\n{group}\n" in out
    examples = out.partition("examples:\n")[2].splitlines()
    assert all(line.startswith(f"  tfmemlint {command}") for line in examples[: examples.index("")])


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == FAILED
    captured = capsys.readouterr()
    assert captured.out == "" and "check" in captured.err and "completion" in captured.err


@pytest.mark.parametrize(("color", "coloured"), [("always", True), ("never", False), ("auto", False)])
def test_colour_as_it_is_asked_for(
    late: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    color: str,
    coloured: bool,
) -> None:
    monkeypatch.setenv("NO_COLOR" if coloured else "TERM", "1")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert main(["check", "--no-cache", "--color", color, "late.py"]) == FOUND
    assert ("\x1b[" in capsys.readouterr().out) is coloured
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("FORCE_COLOR", "")


def test_watching_checks_again_after_each_change(
    late: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    watchfiles = pytest.importorskip("watchfiles")

    def changes(*paths: str, **_: Any) -> Iterator[set[Any]]:
        assert paths == ("late.py",)
        late.write_text("x = 1\n")
        yield {(watchfiles.Change.modified, str(late))}

    monkeypatch.setattr(watchfiles, "watch", changes)
    assert main(["check", "--watch", "--output-format", "concise", "late.py"]) == CLEAN
    first, second = capsys.readouterr().out.split("Found 1 error.")
    assert "late.py:5:1: error: TFM101" in first and second.endswith("All checks passed!\n")
    assert main(["check", "--watch", "gone.py"]) == FAILED


def test_the_number_of_processes_changes_nothing_else(late: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(30):
        (late.parent / f"late{number}.py").write_text(LATE)
    said = []
    for jobs in ("1", "2"):
        assert main(["check", "--no-cache", "--output-format", "concise", "--jobs", jobs]) == FOUND
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    with pytest.raises(SystemExit):
        main(["check", "--jobs", "0"])


def test_long_runs_tell_a_log_every_few_seconds(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    from tfmemlint.verify import shared_options

    clock = iter([0.0, 1.0, 6.0, 6.0, 7.0, 12.0, 12.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    with shared_options.progress() as tell:
        for words in ("first", "second", "third", "fourth"):
            tell(words)
    assert capsys.readouterr().err == "tfmemlint: second\ntfmemlint: fourth\n"
