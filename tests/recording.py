"""Run a program with a package called ``tensorflow`` that writes down what is called, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

RECORDER = Path(__file__).resolve().parent / "recorder"
TIMEOUT_SECONDS = 60


def starts_before_growth(program: Path, directory: Path | None = None) -> bool | None:
    """True if a program starts the runtime before it sets memory growth; None if it does not come to that.

    Args:
        program: the file that is run. directory: where; by default where the file is.
    """
    with tempfile.TemporaryDirectory() as scratch:
        record = Path(scratch) / "record.txt"
        environment = {
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": f"{RECORDER}{os.pathsep}{sysconfig.get_path('purelib')}",
            "RECORD": str(record),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": scratch,
        }
        try:
            subprocess.run(
                # Without `site`, whose files of paths take longer than a program; the packages are on the path.
                [sys.executable, "-S", str(program.resolve())],
                cwd=directory or program.resolve().parent,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
        words = record.read_text(encoding="ascii").split() if record.exists() else []
    return "start" in words[: words.index("growth")] if "growth" in words else None
