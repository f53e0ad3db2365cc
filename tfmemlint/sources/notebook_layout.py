"""Lay out the cells of a notebook anew after a rewrite that has taken all code out of some of them.

A cell whose code has gone to the beginning of an earlier cell moves there as a whole, with a text cell that is about it
alone. Any other cell without code goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfmemlint.model.records import dataclass


@dataclass(frozen=True, slots=True)
class Item:
    """A cell in the file, of any kind.

    Attributes:
        start, end: its place in the file's text. kind: ``code``, ``markdown`` and so on. source: its text.
    """

    start: int
    end: int
    kind: str
    source: str


def laid_out(
    raw: str, items: Sequence[Item], new: Mapping[int, str], texts: Mapping[int, str], emptied: set[int]
) -> str | None:
    """Return the file's text with cells moved or left out; None if the cells can't be told apart.

    Args:
        raw: the file's text. items: all cells of the notebook.
        new: the new sources of cells that have changed, by index. texts: these cells as they are to be written.
        emptied: the indices of cells that have lost all their code.
    """
    if len(items) < 2 or len(emptied) == len(items):
        return None
    order = list(range(len(items)))
    written = {index: raw[item.start : item.end] for index, item in enumerate(items)} | dict(texts)
    for target in sorted(set(new) - emptied):
        moved = _moved_to(target, items, new, emptied)
        if not moved:
            continue
        written[target] = raw[items[target].start : items[target].end]
        group = _with_text_cell(moved, items)
        for index in group:
            order.remove(index)
            written[index] = raw[items[index].start : items[index].end]
        at = order.index(target)
        order[at:at] = group
        emptied = emptied - set(moved)
    order = [index for index in order if index not in emptied]
    gap = raw[items[0].end : items[1].start]
    return raw[: items[0].start] + gap.join(written[index] for index in order) + raw[items[-1].end :]


def _moved_to(target: int, items: Sequence[Item], new: Mapping[int, str], emptied: set[int]) -> list[int]:
    """Return the emptied cells whose code is now, in order, at the beginning of a cell that is otherwise the same."""
    old = items[target].source
    if not new[target].endswith(old):
        return []
    front = _lines(new[target].removesuffix(old))
    found: list[int] = []
    for index in sorted(emptied):
        lines = _lines(items[index].source)
        if index > target and front[: len(lines)] == lines:
            found.append(index)
            front = front[len(lines) :]
    return [] if front else found


def _lines(source: str) -> list[str]:
    return [line.rstrip() for line in source.split("\n") if line.strip()]


def _with_text_cell(moved: list[int], items: Sequence[Item]) -> list[int]:
    """Return cells that move with the text cell above them, if that is about nothing else."""
    first, last = moved[0], moved[-1]
    if moved != list(range(first, last + 1)) or not first or items[first - 1].kind != "markdown":
        return moved
    heads = items[first - 1].source.lstrip().startswith("#")
    alone = last + 1 == len(items) or items[last + 1].kind == "markdown"
    return [first - 1, *moved] if alone or not heads else moved
