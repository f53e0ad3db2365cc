"""Reading the files under ``fixtures/``: the claims in their comments, and the code without them.

A line that a rule must report ends in ``# expect: TFM101`` (several codes: ``# expect: TFM101,TFM406``). The first
lines of a file may state, one a line, what TensorFlow itself makes of it: ``# gpus: 2``, ``# raises: Type: text``,
``# lacks: allow_growth=True``, ``# fixed: allow_growth=True``, ``# target: 2.15`` (it is about that release),
``# since: 2.16`` (it is true from that release on), ``# memory: 16384`` (the user says that a GPU has so many MiB; with
``read``, that fixed code shall ask NVML), ``# ground: driver — why``. What only an allocator shows (``ground: driver``)
is claimed by ``# observed: all`` (all the memory that is free is taken), ``# observed: refuses 16 MiB``,
``# observed: lacks 5000 MiB`` (a logical device of that limit gets less), or ``# observed: raises Type: text`` (at the
first use of a GPU). ``# computes: why`` says that the program needs the values of its operations, which the simulated
driver does not compute.

A folder of ``fixtures/programs/`` is a program of several files. A file that it starts in has a header of its own;
besides the above that may state ``# entry: python -m package`` (how it is run), ``# env: USE_GPU=1``,
``# has: allow_growth=True`` (it ends with this configuration), ``# severity: warning`` (of all that is found), and
``# known: why`` (the analysis doesn't have it right yet).

A file of ``fixtures/legacy`` may say ``# withheld: why`` (what isn't mended in it).
"""

from __future__ import annotations

import tokenize
from collections.abc import Iterable
from pathlib import Path

from tfmemlint.testing.markers import KEYS, blank_markers, strip_markers

__all__ = [
    "FIXTURES",
    "KEYS",
    "READ",
    "ROOT",
    "SETTINGS",
    "SILENCE",
    "blank_markers",
    "choose_rule",
    "encoding_of",
    "fixture_paths",
    "is_chosen",
    "is_everything_wanted",
    "read_text",
    "settings_paths",
    "silent_paths",
    "strip_markers",
    "without_comments",
]

ROOT = Path(__file__).resolve().parents[1]
FIXTURES = ROOT / "fixtures"
SETTINGS = FIXTURES / "settings"
SILENCE = FIXTURES / "silence"
READ = "read"
"""In a header, the memory of a GPU that fixed code asks NVML for."""


def read_text(path: Path) -> str:
    """A fixture's text, decoded as Python does it, line ends kept.

    Raises:
        UnicodeDecodeError, SyntaxError: the file can't be decoded; that is what it is a fixture of.
    """
    return path.read_bytes().decode(encoding_of(path))


def encoding_of(path: Path) -> str:
    """The encoding that Python reads a file in: what its first lines declare, or else UTF-8.

    Raises:
        SyntaxError: the declared encoding is unknown, or the file has bytes that UTF-8 does not.
    """
    with path.open("rb") as raw:
        return tokenize.detect_encoding(raw.readline)[0]


def without_comments(text: str) -> str:
    """A program with every comment cut off, each line in its place; as it is where it is not valid Python."""
    lines = text.splitlines(keepends=True)
    try:
        tokens = list(tokenize.generate_tokens(iter(lines).__next__))
    except (tokenize.TokenError, SyntaxError):
        return text
    for token in tokens:
        if token.type == tokenize.COMMENT:
            row, column = token.start
            line = lines[row - 1]
            lines[row - 1] = line[:column].rstrip() + line[column + len(token.string) :]
    return "".join(lines)


_chosen = ""
"""The code of the only rule whose fixtures are wanted; "" for all."""
_everything = False
"""True if all programs of the chosen rule are wanted, too, not a sample of them."""


def choose_rule(code: str, *, everything: bool = False) -> None:
    """From now on, let `fixture_paths` and `is_chosen` give what belongs to one rule alone; to all with ``""``."""
    global _chosen, _everything
    _chosen, _everything = code, everything


def is_everything_wanted() -> bool:
    """True if no fixture of the chosen rule is to be left out."""
    return _everything


def is_chosen(codes: Iterable[str]) -> bool:
    """True if what has to do with these rules is wanted."""
    return not _chosen or _chosen in codes


def fixture_paths(kind: str, folder: Path = FIXTURES) -> list[Path]:
    """The ``bad`` or the ``ok`` files of every rule, in a fixed order; the ``.fixed.py`` files are not among them."""
    found = folder.glob(f"{_chosen or 'TFM*'}/{kind}_*.py")
    return sorted(path for path in found if not path.name.endswith(".fixed.py"))


def settings_paths(kind: str = "") -> list[Path]:
    """The ``bad`` or the ``ok`` configuration files of ``fixtures/settings``, or both, in a fixed order."""
    found = SETTINGS.glob(f"{_chosen or 'TFM*'}/{kind}*_*")
    return sorted(path for path in found if ".fixed." not in path.name)


def silent_paths() -> list[Path]:
    """The files of ``fixtures/silence``, a folder a kind of code in which nothing must be found, in a fixed order."""
    return sorted(SILENCE.glob("*/*.py"))
