"""Make ``tfmemlint/knowledge/data/keras.txt``: the names about memory, devices and sessions that Keras has.

Usage: pip download --no-deps -d FOLDER keras==VERSION (for each of `RELEASES`), then
       python tools/knowledge/make_keras.py FOLDER

Reads the wheels (and the source distribution of 2.0.0) without running them. A name counts wherever it is bound or
imported in any file of the package: what is in no list was in no file, under any module.
"""

from __future__ import annotations

import ast
import sys
import tarfile
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tfmemlint.knowledge.keras_names import ABOUT

DATA = Path(__file__).parents[2] / "tfmemlint" / "knowledge" / "data" / "keras.txt"
RELEASES = (
    *("2.0.0", "2.1.6", "2.2.5", "2.3.1", "2.4.3", "2.6.0", "2.8.0", "2.10.0", "2.12.0", "2.13.1", "2.15.0"),
    *("3.0.5", "3.3.3", "3.6.0", "3.9.2", "3.11.3", "3.12.0", "3.13.0", "3.14.0"),
)
HEAD = """\
# Names about memory, devices and sessions that are bound in some file of the package keras, with the first and the last
# release that has them, of those that were read: {releases}.
# Made by tools/knowledge/make_keras.py from the packages.
"""


def texts(path: Path) -> Iterator[str]:
    """Yield the Python files of a package."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.endswith(".py"):
                    yield archive.read(name).decode("utf-8", "replace")
        return
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() and member.name.endswith(".py") else None
            if file is not None:
                yield file.read().decode("utf-8", "replace")


def bound(text: str) -> Iterator[str]:
    """Yield the names that a file binds, anywhere in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                yield name
            case ast.alias(name, asname):
                yield (asname or name).rpartition(".")[2]
            case ast.Name(name, ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


def main() -> None:
    """Write the table."""
    folder = Path(sys.argv[1])
    found: dict[str, tuple[str, str]] = {}
    for release in RELEASES:
        [path] = (
            path
            for path in folder.iterdir()
            if path.name.lower().startswith((f"keras-{release}-", f"keras-{release}.t"))
        )
        for name in {name for text in texts(path) for name in bound(text) if ABOUT.search(name)}:
            found[name] = found.get(name, (release, release))[0], release
    rows = [f"{name} {first} {last}" for name, (first, last) in sorted(found.items())]
    DATA.write_text(HEAD.format(releases=", ".join(RELEASES)) + "\n".join(rows) + "\n", encoding="utf-8")
    print(f"written: {DATA}, {len(rows)} names")


if __name__ == "__main__":
    main()
