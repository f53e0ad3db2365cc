"""Reading the folders under ``fixtures/programs/``: programs of several files, with the claims in their comments."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.fixture_files import FIXTURES, blank_markers, is_chosen, is_everything_wanted, read_text, strip_markers

PROGRAMS = FIXTURES / "programs"

PROGRAMS_OF_A_RULE = 15
"""So many unchanged programs are run for one rule: each takes 25 ms, and TFM101 has over a hundred."""


@dataclass(frozen=True, slots=True)
class Start:
    """One way to run a fixture: what the header of the file that it starts in says.

    Attributes:
        path: that file, as seen from the fixture's folder. header: what is claimed of this way to run it.
    """

    path: str
    header: dict[str, str]

    @property
    def entry(self) -> str:
        """``python main.py``, ``python -m package``, ``pytest``, or ``command package.module:function``."""
        return self.header.get("entry", f"python {self.path}")


@dataclass(frozen=True, slots=True)
class ProgramFixture:
    """One folder, read.

    Attributes:
        texts: its files with the claims emptied, by their paths; line numbers are those of the files.
        expected: how often each code is expected in each line of each file. starts: the ways to run it.
    """

    folder: Path
    texts: dict[str, str]
    expected: Counter[tuple[str, int, str]]
    starts: tuple[Start, ...]

    @property
    def modules(self) -> list[str]:
        """Its Python files."""
        return [path for path in self.texts if path.endswith(".py")]

    @property
    def known(self) -> str:
        """Why the analysis doesn't have it right, "" where it does."""
        return next((start.header["known"] for start in self.starts if "known" in start.header), "")

    def put(self, root: Path) -> None:
        """Write it as a user would have it: the tool never sees the claims."""
        for name, text in self.texts.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")


@cache
def read_program(folder: Path) -> ProgramFixture:
    """Read one folder.

    Raises:
        ValueError: a claim can't be read, or none says how it is run.
    """
    texts: dict[str, str] = {}
    expected: Counter[tuple[str, int, str]] = Counter()
    starts: list[Start] = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        name = path.relative_to(folder).as_posix()
        text = texts[name] = read_text(path)
        if path.suffix != ".py":
            continue
        _, rows, header = strip_markers(text)
        texts[name] = blank_markers(text)
        expected.update((name, row + len(header), code) for row, codes in rows.items() for code in codes)
        if header or name == "main.py":
            starts.append(Start(name, header))
    if not starts:
        raise ValueError(f"{folder.name}: no main.py, and no file whose header says how it is run")
    if "pyproject.toml" not in texts:
        raise ValueError(f"{folder.name}: it needs a pyproject.toml, which makes it a project")
    return ProgramFixture(folder, texts, expected, tuple(starts))


def program_folders(kind: str = "") -> list[Path]:
    """The folders of ``bad`` or of ``ok`` programs, or of both, in a fixed order."""
    folders = sorted(path for path in PROGRAMS.glob(f"{kind}*_*") if path.is_dir())
    if is_chosen(()):
        return folders
    sample = {folder.name for folder in _sampled()}
    return [folder for folder in folders if folder.name in sample]


def programs_left_out() -> tuple[int, int]:
    """How many programs `program_folders` leaves out of those in which the chosen rule is expected, and these."""
    return (0, 0) if is_chosen(()) else (len(_expecting()) - len(_sampled()), len(_expecting()))


@cache
def _expecting() -> list[Path]:
    """The programs in which the chosen rule is expected."""
    folders = sorted(path for path in PROGRAMS.glob("bad_*") if path.is_dir())
    return [folder for folder in folders if is_chosen(code for _, _, code in read_program(folder).expected)]


@cache
def _sampled() -> list[Path]:
    """Those of them that are run: the ones that git has not seen as they are, and others from all over the list."""
    folders = _expecting()
    if len(folders) <= PROGRAMS_OF_A_RULE or is_everything_wanted():
        return folders
    changed = _changed()
    others = [folder for folder in folders if folder.name not in changed]
    step = max(1, len(others) // PROGRAMS_OF_A_RULE)
    return sorted({*(set(folders) - set(others)), *others[::step][:PROGRAMS_OF_A_RULE]})


def _changed() -> set[str]:
    """The names of the programs that are new or changed in the working tree; none where there is no git."""
    command = ["git", "status", "--porcelain", "--untracked-files=all", "-z", "--", str(PROGRAMS)]
    try:
        done = subprocess.run(command, cwd=PROGRAMS, capture_output=True, text=True, encoding="utf-8")
    except OSError:
        return set()
    return set(re.findall(r"fixtures/programs/([^/\0]+)/", done.stdout))
