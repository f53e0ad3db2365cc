"""Whether a file can be written over without losing anything that git doesn't have."""

from __future__ import annotations

import os
import subprocess

UNCOMMITTED = "has changes that git doesn't have yet, and is as it was: commit or stage them, or use --allow-dirty"
UNTRACKED = "is not in git yet, and is as it was: add it, or use --allow-dirty"
_SECONDS = 20


def objection(path: str) -> str:
    """Why a file had better not be written over; "" for no reason, also outside of git.

    What is staged can be had back from git's index, so that a hook, which sees what is about to be committed, meets no
    objection. Nor does a file that git is told to ignore.
    """
    directory, name = os.path.split(os.path.realpath(path))
    command = ["git", "--no-optional-locks", "-C", directory or ".", "status", "--porcelain", "-z", "--", f"./{name}"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    if done.returncode != 0:
        # No repository, or one that git itself does not trust.
        return ""
    states = [entry[:2].decode("ascii", "replace") for entry in done.stdout.split(b"\0") if entry]
    if "??" in states:
        return UNTRACKED
    return UNCOMMITTED if any(state[1:].strip() for state in states) else ""
