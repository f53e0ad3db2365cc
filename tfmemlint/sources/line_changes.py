"""The changes between two lists of lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def line_changes(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield what turns ``old`` into ``new``, as `difflib.SequenceMatcher.get_opcodes` does.

    The lines that both begin and end with are compared one by one: `difflib` alone takes a time that grows with the
    square of the number of equal lines, wherever they are.
    """
    from difflib import SequenceMatcher

    most = min(len(old), len(new))
    head = next((number for number in range(most) if old[number] != new[number]), most)
    tail = next((number for number in range(most - head) if old[-1 - number] != new[-1 - number]), most - head)
    if head:
        yield "equal", 0, head, 0, head
    middle = old[head : len(old) - tail], new[head : len(new) - tail]
    for kind, start, end, other, until in SequenceMatcher(None, *middle, autojunk=False).get_opcodes():
        yield kind, head + start, head + end, head + other, head + until
    if tail:
        yield "equal", len(old) - tail, len(old), len(new) - tail, len(new)
