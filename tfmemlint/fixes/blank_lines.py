"""Blank lines between the statements of a module after some have moved: as PEP 8 and the file's own habit have them.

Only gaps beside changed lines are touched.
"""

from __future__ import annotations

import ast
import difflib
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from tfmemlint.model.records import dataclass

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_BLOCKS = (ast.For, ast.AsyncFor, ast.If, ast.Try, ast.With, ast.AsyncWith, ast.While)


@dataclass(frozen=True, slots=True)
class _Part:
    """A statement of the module with the comments right above it; ``first`` and ``last`` are indices of lines."""

    node: ast.stmt
    first: int
    last: int


MAX_LINES_COMPARED_ONE_BY_ONE = 2_000
"""Lines beyond which those that are in a text very often are not compared with each other."""


@dataclass(frozen=True, slots=True)
class Habits:
    """The blank lines that a file has.

    Attributes:
        around_definitions: mostly between its definitions. below_imports: below its imports at least.
    """

    around_definitions: int
    below_imports: int


@lru_cache(maxsize=16)
def habits_of(text: str) -> Habits:
    """Return the blank lines that a file has; those of PEP 8 where nothing shows it."""
    try:
        parts = _parts(text, text.split("\n"))
    except SyntaxError:
        return Habits(2, 1)
    return Habits(_around_definitions(parts), _below_imports(parts))


def tidy_blank_lines(old: str, new: str, habits: Habits) -> str:
    """Return ``new`` with the blank lines between statements of its top level put right where lines have changed.

    ``old`` and ``new`` are whole statements of a file with these ``habits``.
    """
    lines = new.split("\n")
    fresh, touched = _changed_lines(old.split("\n"), lines)
    parts = _parts(new, lines)
    gaps: list[tuple[int, int, int]] = []
    for above, below in pairwise(parts):
        gap = below.first - above.last - 1
        region = range(above.last, below.node.lineno)
        if below.node.lineno == above.node.lineno or not any(number in touched for number in region):
            continue
        if any(lines[number].strip() for number in range(above.last + 1, below.first)):
            # Comments that belong to neither: their place is their author's.
            continue
        wanted = _wanted(above, below, gap, fresh, habits)
        if wanted != gap:
            gaps.append((above.last + 1, below.first, wanted))
    for start, end, count in reversed(gaps):
        lines[start:end] = [""] * count
    return "\n".join(lines)


def _wanted(above: _Part, below: _Part, gap: int, fresh: set[int], habits: Habits) -> int:
    """Return the number of blank lines between two statements."""
    if isinstance(above.node, _DEFINITIONS) or isinstance(below.node, _DEFINITIONS):
        one_liners = above.last == above.first and below.last == below.first
        return gap if one_liners and isinstance(above.node, _DEFINITIONS) else habits.around_definitions
    imports = isinstance(above.node, _IMPORTS), isinstance(below.node, _IMPORTS)
    if imports == (True, True):
        return min(gap, 1)
    if any(imports):
        if not _is_fresh(above, fresh) and not _is_fresh(below, fresh):
            return min(gap, 2)
        # An import below other code is apart from it, whatever is right below the imports.
        least = habits.below_imports if imports[0] else 1
        return least if _is_fresh(below, fresh) else max(least, min(gap, 2))
    moved = _is_fresh(above, fresh), _is_fresh(below, fresh)
    if moved == (True, True):
        return min(gap, 1)
    if moved == (True, False) and not isinstance(above.node, _BLOCKS):
        return min(gap, 1)
    if (moved[0] and isinstance(above.node, _BLOCKS)) or (moved[1] and gap == 0 and isinstance(above.node, _BLOCKS)):
        return max(1, min(gap, 2))
    return min(gap, 2)


def _is_fresh(part: _Part, fresh: set[int]) -> bool:
    return all(number in fresh for number in range(part.first, part.last + 1))


def _parts(text: str, lines: Sequence[str]) -> list[_Part]:
    found: list[_Part] = []
    for node in ast.parse(text).body:
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1
        limit = found[-1].last if found else -1
        while first - 1 > limit and lines[first - 1].lstrip().startswith("#"):
            first -= 1
        found.append(_Part(node, first, (node.end_lineno or node.lineno) - 1))
    return found


def _changed_lines(old: Sequence[str], new: Sequence[str]) -> tuple[set[int], set[int]]:
    """Return the indices of new lines, and those of all lines that are new or beside a place where lines are gone."""
    fresh: set[int] = set()
    gone: set[int] = set()
    # Thousands of lines that are the same, blank ones for instance, take the square of their number to compare.
    compared = difflib.SequenceMatcher(None, old, new, autojunk=len(new) > MAX_LINES_COMPARED_ONE_BY_ONE)
    for tag, _, _, start, end in compared.get_opcodes():
        if tag in ("insert", "replace"):
            fresh.update(range(start, end))
        elif tag == "delete":
            gone.update((start - 1, start))
    return fresh, fresh | gone


def _around_definitions(parts: Sequence[_Part]) -> int:
    gaps = Counter(
        below.first - above.last - 1
        for above, below in pairwise(parts)
        if isinstance(below.node, _DEFINITIONS) and 0 < below.first - above.last - 1 < 3
    )
    return gaps.most_common(1)[0][0] if gaps else 2


def _below_imports(parts: Sequence[_Part]) -> int:
    gaps = [
        below.first - above.last - 1
        for above, below in pairwise(parts)
        if isinstance(above.node, _IMPORTS) and not isinstance(below.node, (*_IMPORTS, *_DEFINITIONS))
    ]
    return min(1, *gaps) if gaps else 1
