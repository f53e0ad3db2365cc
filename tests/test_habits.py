"""The commands of ``tools/run.py``, in a copy of this checkout: a new rule works as it is begun."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT, copy_checkout

pytestmark = pytest.mark.slow

CODE, NAME = "TFM399", "begun-by-a-test"
WITHOUT_FIX = "TFM398"


def _run(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(checkout), "NO_COLOR": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # the copy is compiled once, not by each command
    return subprocess.run(
        [sys.executable, *arguments], cwd=checkout, env=environment, capture_output=True, text=True, encoding="utf-8"
    )


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with a new rule; its ``tfmemlint.rules`` is its own."""
    copy = copy_checkout(tmp_path_factory.mktemp("copy") / "checkout")
    try:
        (copy / "tfmemlint" / "rules").symlink_to(copy / "rules", target_is_directory=True)
    except OSError as error:
        pytest.skip(f"a link is needed: {error}")
    done = _run(copy, "tools/new_rule.py", CODE, NAME)
    assert done.returncode == 0, done.stderr
    for script in ("make_docs", "make_recall", "make_snapshots"):
        done = _run(copy, f"tools/{script}.py", *([CODE] if script == "make_snapshots" else []))
        assert done.returncode == 0, done.stderr
    return copy


def test_a_new_rule_passes_its_own_tests(checkout: Path) -> None:
    from tools.run import NO_PLUGINS, ONE_RULE

    done = _run(checkout, "-m", "pytest", *NO_PLUGINS, "--rule", CODE, *ONE_RULE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\n[1-9][0-9]* passed", done.stdout)
    for script in ("make_docs", "make_recall"):
        assert _run(checkout, f"tools/{script}.py", "--check").returncode == 0


def test_a_new_rule_is_formatted_and_typed(checkout: Path) -> None:
    (rule,) = (checkout / "rules").glob(f"{CODE.lower()}_*.py")
    for command in (["ruff", "check"], ["ruff", "format", "--check"]):
        done = _run(checkout, "-m", *command, str(rule))
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_new_rule_is_found_by_the_command(checkout: Path) -> None:
    fixture = f"fixtures/{CODE}/bad_old_name.py"
    done = _run(checkout, "-m", "tfmemlint", "check", "--no-cache", "--select", CODE, fixture)
    assert done.returncode == 1
    assert f"{fixture}:5:7: advice: {CODE} " in done.stdout
    assert f"$ tfmemlint check --extend-select {CODE}" in (checkout / f"tests/snapshots/{CODE}.txt").read_text()


def test_a_rule_without_a_fix_is_begun_with_its_severity(checkout: Path) -> None:
    done = _run(checkout, "tools/new_rule.py", WITHOUT_FIX, "without-a-fix", "--no-fix", "--severity", "warning")
    assert done.returncode == 0, done.stderr
    (rule,) = (checkout / "rules").glob(f"{WITHOUT_FIX.lower()}_*.py")
    folder = checkout / "fixtures" / WITHOUT_FIX
    try:
        assert sorted(path.name for path in folder.iterdir()) == ["bad_old_name.py", "ok_own_function.py"]
        done = _run(checkout, "-m", "tfmemlint", "fix", "--no-cache", "--unsafe-fixes", f"{folder}/bad_old_name.py")
        assert f" {WITHOUT_FIX} " in done.stdout, "a warning is reported without being selected"
        assert "fixable" not in done.stdout and "fixed" not in done.stdout
        for command in (["ruff", "check"], ["ruff", "format", "--check"]):
            done = _run(checkout, "-m", *command, str(rule))
            assert done.returncode == 0, done.stdout + done.stderr
    finally:
        rule.unlink()
        shutil.rmtree(folder)


def test_the_fixtures_of_a_rule_are_listed(checkout: Path) -> None:
    listed = _run(checkout, "tools/list_fixtures.py", CODE).stdout.splitlines()
    assert listed == [
        f"fixtures/{CODE}/bad_old_name.fixed.py  what the fix makes of it",
        f"fixtures/{CODE}/bad_old_name.py  {CODE} in row 5; fixed: runs",
        f"fixtures/{CODE}/ok_own_function.py  is silent",
        f"3 files have to do with {CODE}",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("TFM305", "anew"), "there is TFM305 (logical-config-shape) already"),
        (("TFM98", "short"), "is no code of a rule"),
        (("TFM398", "Name"), "is no name of a rule"),
    ],
)
def test_a_rule_that_cannot_be_begun_is_refused(arguments: tuple[str, str], words: str) -> None:
    done = subprocess.run(
        [sys.executable, "tools/new_rule.py", *arguments], cwd=ROOT, capture_output=True, text=True, encoding="utf-8"
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


def test_every_command_is_listed() -> None:
    done = subprocess.run([sys.executable, "tools/run.py", "--help"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0
    for name in ("demo", "test", "rule", "rule-test", "fixtures", "update"):
        assert f"\n    {name}" in done.stdout


@pytest.mark.slow
@pytest.mark.tensorflow
def test_the_demonstration_is_one_screen_of_findings_a_fix_and_a_proof() -> None:
    done = subprocess.run([sys.executable, "tools/demo.py"], cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert [code for code in ("TFM307", "TFM101", "TFM204") if code not in done.stdout] == []
    assert "+    tf.config.experimental.set_memory_growth(gpu, True)" in done.stdout
    assert "allow_growth=True" in done.stdout
    assert len(done.stdout.splitlines()) <= 75
