"""A copy of this checkout as it is now: files that git tracks, and those that it would."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def copy_checkout(target: Path) -> Path:
    """Copy the working tree to ``target``, uncommitted files included, ignored ones left out."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True
    )
    assert listed.returncode == 0, f"this test needs a git checkout: {listed.stderr.decode(errors='replace')}"
    for name in sorted(filter(None, listed.stdout.decode().split("\0"))):
        source = ROOT / name
        if source.is_file():  # a deleted file is listed until the deletion is committed
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)
    return target
