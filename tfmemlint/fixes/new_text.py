"""The text of a file after a rewrite.

What the rewrite has changed is looked at again, statement by statement of the top level: blank lines, the length of
lines, and whether Python can parse it. The rest of the file is as it was, so that a rewrite costs what it changes.
"""

from __future__ import annotations

import ast
import dataclasses
from functools import lru_cache

import libcst as cst

from tfmemlint.fixes.blank_lines import habits_of, tidy_blank_lines
from tfmemlint.fixes.concrete_tree import ConcreteTree
from tfmemlint.fixes.edits import difference
from tfmemlint.fixes.line_length import keep_length
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Edit, Span
from tfmemlint.model.records import dataclass


@dataclass(frozen=True, slots=True)
class NewText:
    """The text of a changed file, and its difference from the old one: replacements of whole lines, in order."""

    text: str
    edits: tuple[Edit, ...]


def text_of(tree: ConcreteTree, module: cst.Module, *, tidy: bool, characters: int) -> NewText:
    """Return the text of a changed module.

    Args:
        tree: the file before. module: its module with all changes.
        tidy: put blank lines right between statements that have moved and others.
        characters: how long new lines may be.

    Raises:
        Withheld: the new code is not valid.
    """
    known = _lines_of(tree.text)
    parts = list(map(tree.code_of_line, module.body))
    done = 0
    edits: list[Edit] = []
    text = ["\n" * tree.above, *(tree.module.code_for_node(line) for line in module.header)]
    for start, end, old in _changed(tree, module):
        text += parts[done:start]
        done = end
        new = "".join(parts[start:end])
        before = "".join(map(tree.code_of_line, tree.module.body[old]))
        if tidy:
            new = _tidied(before, new, tree.text)
        new = keep_length(known, new, characters)
        try:
            ast.parse(new)
        except (SyntaxError, ValueError, RecursionError) as error:
            raise Withheld("the new code would not parse") from error
        text.append(new)
        edits += [_below(edit, tree.rows[old.start]) for edit in difference(before, new)]
    text += [*parts[done:], *(tree.module.code_for_node(line) for line in module.footer)]
    text.append("\n" * tree.below)
    whole = "".join(text)
    if module.has_trailing_newline and whole and len(module.footer) == len(tree.module.footer):
        return NewText(whole, tuple(edits))
    whole = whole or module.default_newline if module.has_trailing_newline else whole.removesuffix("\n")
    return NewText(whole, difference(tree.text, whole))


def _below(edit: Edit, rows: int) -> Edit:
    """Return an edit that is this many rows further below."""
    span = edit.span
    moved = Span(span.row + rows, span.column, span.end_row + rows, span.end_column)
    return dataclasses.replace(edit, span=moved)


def _tidied(old: str, new: str, text: str) -> str:
    try:
        return tidy_blank_lines(old, new, habits_of(text))
    except (SyntaxError, ValueError, RecursionError):
        return new


def _changed(tree: ConcreteTree, module: cst.Module) -> list[tuple[int, int, slice]]:
    """Return the lines that have changed, with one line around them: their indices now, and what they were before."""
    found: list[tuple[int, int, slice]] = []
    # Lines that are the same in both, after one another: what is not right below the last of them has changed.
    last, last_before = -1, -1
    ends = [(len(module.body), len(tree.module.body))]
    same = [(index, place) for index, line in enumerate(module.body) if (place := tree.places.get(line)) is not None]
    for index, before in [*same, *ends]:
        if (index, before) != (last + 1, last_before + 1):
            start, start_before = max(last, 0), max(last_before, 0)
            if found and found[-1][1] > start:
                start, start_before = found[-1][0], found[-1][2].start
                found.pop()
            found.append((start, min(index + 1, len(module.body)), slice(start_before, before + 1)))
        last, last_before = index, before
    return found


@lru_cache(maxsize=4)
def _lines_of(text: str) -> frozenset[str]:
    return frozenset(text.split("\n"))
