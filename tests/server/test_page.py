"""docs/editors.md: the session is one that the server has today."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.checkout import ROOT

pytestmark = pytest.mark.slow

pytest.importorskip("pygls")


def test_the_session_is_up_to_date() -> None:
    command = [sys.executable, "tools/make_editor_session.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("command", "package"), [("server", "pygls"), ("mcp", "mcp")])
def test_a_missing_package_is_said(command: str, package: str) -> None:
    code = f"import importlib.util as util; find = util.find_spec; util.find_spec = lambda name: name != {package!r}"
    code += f" and find(name) or None; from tfmemlint.cli.main import main; raise SystemExit(main([{command!r}]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"pip install 'tfmemlint[{command}]'" in done.stderr
