"""examples/rule-package: the package with a rule, installed beside the tool, as others would install theirs."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tfmemlint.testing import strip_markers

pytestmark = pytest.mark.slow

PACKAGE = ROOT / "examples" / "rule-package"
PAGE = ROOT / "docs" / "rule-packages.md"
BAD = PACKAGE / "fixtures" / "ACM101" / "bad_first_gpu.py"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages with the example in it; the tool is where it is for the tests."""
    folder = tmp_path_factory.mktemp("installed")
    source = shutil.copytree(PACKAGE, folder / "source")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    done = subprocess.run(
        [*command, "--target", str(folder / "site-packages"), str(source)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return folder / "site-packages"


def _run(installed: Path, cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(installed), "NO_COLOR": "1"}
    return subprocess.run([sys.executable, "-m", *words], cwd=cwd, env=environment, capture_output=True, text=True)


def _copy(folder: Path) -> None:
    (folder / "train.py").write_text(strip_markers(BAD.read_text())[0])
    (folder / "pyproject.toml").touch()


def test_check_runs_its_rule(installed: Path, tmp_path: Path) -> None:
    _copy(tmp_path)
    done = _run(installed, tmp_path, "tfmemlint", "check", "--no-cache", "--output-format", "json", "train.py")
    assert (done.returncode, done.stderr) == (1, "")
    (found,) = json.loads(done.stdout)
    assert (found["code"], found["location"]["row"]) == ("ACM101", 4)
    assert found["url"] == "https://acme.example/tfmemlint/ACM101.html", "the page is that package's"


def test_fix_uses_its_rewrite(installed: Path, tmp_path: Path) -> None:
    _copy(tmp_path)
    done = _run(installed, tmp_path, "tfmemlint", "fix", "--no-cache", "--unsafe-fixes", "--allow-dirty", "train.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "train.py").read_text() == BAD.with_name("bad_first_gpu.fixed.py").read_text()


def test_its_rule_can_be_named(installed: Path, tmp_path: Path) -> None:
    _copy(tmp_path)
    assert _run(installed, tmp_path, "tfmemlint", "check", "--no-cache", "--ignore", "ACM", "train.py").returncode == 0
    done = _run(installed, tmp_path, "tfmemlint", "rule", "ACM101")
    assert (done.returncode, "acme-visible-devices" in done.stdout) == (0, True), done.stderr


def test_the_library_runs_its_rule(installed: Path, tmp_path: Path) -> None:
    code = "import sys, tfmemlint; from pathlib import Path; "
    code += "print([finding.code for finding in tfmemlint.check(Path(sys.argv[1])).findings])"
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run([sys.executable, "-c", code, str(BAD)], env=environment, capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("['ACM101']", "")


def test_without_the_package_there_is_no_such_rule(tmp_path: Path) -> None:
    _copy(tmp_path)
    done = _run(tmp_path / "nothing", tmp_path, "tfmemlint", "check", "--no-cache", "train.py")
    assert (done.returncode, done.stderr) == (0, "")


def test_its_own_tests_pass(installed: Path) -> None:
    words = ("-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(PACKAGE), str(PACKAGE / "tests"))
    done = _run(installed, PACKAGE, "pytest", *words)
    assert (done.returncode, "3 passed" in done.stdout) == (0, True), done.stdout + done.stderr


def test_the_page_shows_the_files_as_they_are() -> None:
    text = PAGE.read_text(encoding="utf-8")
    shown = re.findall(r"^`([^`\n]+)`:\n\n```\w+\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert [name for name, _ in shown] == [
        "pyproject.toml",
        "src/acme_tfmemlint/acm101_visible_devices.py",
        "fixtures/ACM101/bad_first_gpu.py",
        "tests/test_rules.py",
    ]
    for name, block in shown:
        assert block == _shown(PACKAGE / name), name


def _shown(path: Path) -> str:
    """Return a file as the page has it: a rule without its docstring, which the page describes."""
    text = path.read_text(encoding="utf-8")
    if path.name.startswith("acm"):
        (cls,) = (node for node in ast.parse(text).body if isinstance(node, ast.ClassDef))
        doc = cls.body[0]
        lines = text.splitlines(keepends=True)
        lines[doc.lineno - 1 : doc.end_lineno] = ['    """..."""\n']
        return "".join(lines)
    return text
