"""Directories in which the tool would run foreign code if it looked for modules there."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

THIRD_PARTY = (
    *("libcst", "markdown_it", "mdurl", "numpy", "pathspec", "platformdirs", "pygments", "pynvml", "rich"),
    *("tomli", "typing_extensions", "yaml", "_yaml", "hyperscan", "re2", "colorama", "evil"),
)
"""What the tool imports, and what those import where it is there."""


def plant(directory: Path, canary: Path, names: Iterable[str] = ()) -> None:
    """Put modules, packages and a distribution with rules into a directory, each of which leaves the canary."""
    body = f"import posix\nposix.close(posix.open({str(canary)!r}, 65))\nraise SystemExit('taken: ' + __name__)\n"
    for name in (*THIRD_PARTY, *names):
        (directory / name).mkdir(exist_ok=True)
        for file in (f"{name}.py", f"{name}/__init__.py", f"{name}/__main__.py"):
            (directory / file).write_text(body, encoding="utf-8")
    for folder, entries in (("evil-1.dist-info", "entry_points.txt"), ("evil2.egg-info", "entry_points.txt")):
        (directory / folder).mkdir()
        (directory / folder / entries).write_text("[tfmemlint.rules]\nevil = evil\n", encoding="utf-8")
        for file in ("METADATA", "PKG-INFO"):
            (directory / folder / file).write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1\n", encoding="utf-8")
