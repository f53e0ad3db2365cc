"""The marks of ``.gitattributes``, beside what ``git check-attr`` says of them."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.project.trees import write
from tfmemlint.sources.gitattributes import MARKS, Marks

GIT = shutil.which("git")
pytestmark = pytest.mark.skipif(GIT is None, reason="there is no git to compare with")

FILES = (
    "a.py", "b.ipynb", "gen/a.py", "gen/deep/c.py", "src/gen/a.py", "src/a_pb2.py", "x y.py", "src/deep/er/a.py",
    "[a].py", "src/b.py", "deep/a.py",
)  # fmt: skip

ATTRIBUTES = {
    "names": {".gitattributes": "a.py linguist-generated\n*.ipynb linguist-vendored\n"},
    "paths": {
        ".gitattributes": "/a.py linguist-generated\nsrc/a_pb2.py linguist-generated=true\n"
        "deep/a.py -linguist-vendored\n"
    },
    "directories": {".gitattributes": "gen linguist-generated\ngen/ linguist-vendored\nsrc/** linguist-generated\n"},
    "stars": {
        ".gitattributes": "gen/* linguist-generated\n**/deep/** linguist-vendored\nsrc/**/a.py linguist-vendored\n"
    },
    "letters": {".gitattributes": "?.py linguist-generated\n[ab].py linguist-vendored\n\\[a].py linguist-generated\n"},
    "quotes": {".gitattributes": '"x y.py" linguist-generated\n'},
    "values": {
        ".gitattributes": "*.py linguist-generated=false\na.py linguist-generated=true\nb.ipynb linguist-generated=x\n"
        "src/*.py !linguist-generated\n"
    },
    "the last counts": {".gitattributes": "*.py linguist-generated\nsrc/*.py -linguist-generated\n*.py text\n"},
    "deeper directories": {
        ".gitattributes": "*.py linguist-generated\n",
        "src/.gitattributes": "*.py -linguist-generated\n/b.py linguist-vendored\n",
        "src/deep/.gitattributes": "er/* linguist-generated\n",
    },
    "information of the repository": {
        ".gitattributes": "*.py linguist-generated\n",
        "src/.gitattributes": "*.py linguist-generated\n",
        ".git/info/attributes": "a.py -linguist-generated\n",
    },
    "macros": {".gitattributes": "[attr]made linguist-generated -linguist-vendored\n*.py made\na.py -made\n"},
    "a macro behind its use": {".gitattributes": "*.py made\n[attr]made linguist-generated\nsrc/*.py !made\n"},
    "comments and blanks": {
        ".gitattributes": "# *.py linguist-generated\n\n  b.ipynb   linguist-generated  \n#a.py x\n"
    },
    "no negation": {".gitattributes": "*.py linguist-generated\n!a.py -linguist-generated\n"},
}


def theirs(root: Path) -> dict[tuple[str, str], bool | None]:
    """What git says of each file and mark: True, False, or None for nothing."""
    assert GIT is not None
    command = [GIT, "-c", "core.attributesFile=/dev/null", "check-attr", "-z", *MARKS, "--", *FILES]
    out = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split("\0")
    # linguist takes any value but ``false`` for true.
    words = {"unspecified": None, "unset": False, "false": False}
    return {(out[at], out[at + 1]): words.get(out[at + 2], True) for at in range(0, len(out) - 1, 3)}


def ours(root: Path) -> dict[tuple[str, str], bool | None]:
    """The same, as the project has it."""
    marks = Marks(str(root))
    for directory in sorted({root, *(path for path in root.rglob("*") if path.is_dir() and ".git" not in path.parts)}):
        with os.scandir(directory) as entries:
            marks.enter(str(directory), list(entries))
    return {(name, mark): marks.of(str(root / name), mark) for name in FILES for mark in MARKS}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    assert GIT is not None
    subprocess.run([GIT, "init", "-q", str(tmp_path)], check=True)
    for name in FILES:
        write(tmp_path / name, "")
    return tmp_path


@pytest.mark.parametrize("kind", ATTRIBUTES)
def test_marks_are_those_of_git(repository: Path, kind: str) -> None:
    for name, text in ATTRIBUTES[kind].items():
        write(repository / name, text)
    assert ours(repository) == theirs(repository)


@pytest.mark.parametrize("seed", range(8))
def test_generated_attributes_are_read_as_by_git(repository: Path, seed: int) -> None:
    chance = random.Random(seed)
    parts = ("a.py", "*.py", "gen", "**", "src", "deep", "?.py", "[!b].py", "*", "er")
    for name in (".gitattributes", "src/.gitattributes"):
        lines = []
        for _ in range(12):
            pattern = chance.choice(("", "/")) + "/".join(chance.choice(parts) for _ in range(chance.randint(1, 3)))
            said = chance.choice(("", "-", "!")) + chance.choice(MARKS)
            lines.append(f"{pattern} {said}\n")
        write(repository / name, "".join(lines))
    assert ours(repository) == theirs(repository)
