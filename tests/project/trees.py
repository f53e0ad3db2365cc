"""Small trees of files."""

from __future__ import annotations

from pathlib import Path


def put(root: Path, *names: str) -> None:
    """Make empty files; a name that ends in ``/`` is a directory."""
    for name in names:
        path = root / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
        else:
            write(path, "")


def write(path: Path, text: str) -> str:
    """Make one file; its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)
