"""A sample of random programs in which every kind of statement occurs that occurs in any of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any

GENERATORS = str(Path(__file__).resolve().parent)


def covering(make: Callable[[int], object], numbers: Iterable[int], few: int) -> list[int]:
    """Return ``few`` of the numbers, more where they are not enough.

    Of the lines of this folder, ``make`` runs none for any of the numbers that it does not run for one of these.
    """
    seen: set[tuple[str, int]] = set()
    new: list[int] = []
    others: list[int] = []
    for number in numbers:
        lines = _lines_run(make, number)
        (others if lines <= seen else new).append(number)
        seen |= lines
    return sorted([*new, *others[: max(few - len(new), 0)]])


def _lines_run(make: Callable[[int], object], number: int) -> set[tuple[str, int]]:
    lines: set[tuple[str, int]] = set()

    def in_call(frame: FrameType, event: str, argument: Any) -> Any:
        return in_line if frame.f_code.co_filename.startswith(GENERATORS) else None

    def in_line(frame: FrameType, event: str, argument: Any) -> Any:
        lines.add((frame.f_code.co_filename, frame.f_lineno))
        return in_line

    before = sys.gettrace()
    sys.settrace(in_call)
    try:
        make(number)
    finally:
        sys.settrace(before)
    return lines
