"""What the pages show of the tool's output is what it prints, on the installed TensorFlow."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.checkout import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]


def test_the_output_shown_in_the_pages_is_what_the_tool_prints() -> None:
    command = [sys.executable, "tools/make_verify.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
