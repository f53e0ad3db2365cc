#!/usr/bin/env python3
"""Show on one screen what tfmemlint does: findings, the fix, what each GPU gets then, and what to try next.

It works on a copy of ``fixtures/demo``, a program as people write it and the container that starts it.
"""

from __future__ import annotations

import importlib.util
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[1] / "fixtures" / "demo"
NOTHING_ODD = (0, 1)
"""Exit codes: 1 means that something was found, as it should be."""


def main() -> int:
    """Run the commands of the demonstration; the exit code is that of the first one that fails."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
        for title, command in _commands():
            print(f"\n{_strong(title)}\n$ tfmemlint {shlex.join(command)}", flush=True)
            code = subprocess.run([sys.executable, "-m", "tfmemlint", *command], cwd=folder).returncode
            if code not in NOTHING_ODD:
                return code
    tool = shlex.quote(str(Path(sys.executable).with_name("tfmemlint")))
    print(
        f"\nNext, in a project of yours: {tool} check\n"
        "What a rule knows: tfmemlint rule TFM101\n"
        "The code of widely copied articles: python3 tools/run.py demo fixtures/articles"
    )
    return 0


def _commands() -> list[tuple[str, list[str]]]:
    """Return the commands of the demonstration, each with what it shows."""
    shown = [
        ("What is wrong", ["check", "--output-format", "concise"]),
        ("What the fix changes", ["fix", "--unsafe-fixes", "--diff", "--output-format", "concise"]),
    ]
    if importlib.util.find_spec("tensorflow") is not None:
        proof = ["verify", "--original", "--unsafe-fixes", "--device", "edge", "train.py"]
        return [*shown, ("Whether that works, on the installed TensorFlow with a simulated GPU", proof)]
    return [
        *shown,
        ("The fix, made", ["fix", "--unsafe-fixes", "--quiet"]),
        (
            "What the GPU gets now, as predicted; with TensorFlow, verify proves it",
            ["plan", "train.py"],
        ),
    ]


def _strong(title: str) -> str:
    return f"\033[1m{title}\033[0m" if sys.stdout.isatty() else title


if __name__ == "__main__":
    sys.exit(main())
