"""Bars of text, for a terminal."""

from __future__ import annotations

from typing import IO

MAX_COLUMNS = 30
"""The length of a full bar, in columns; a bound for readability."""
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(part: float, whole: float, columns: int, *, plain: bool) -> str:
    """Return a bar that is as long as ``part`` is of ``whole``, at least one mark if there is any.

    Args:
        columns: the length of a full bar. plain: draw it of ``#``, for an encoding without blocks.
    """
    if whole <= 0 or part <= 0:
        return ""
    share = min(part / whole, 1.0) * columns
    if plain:
        return "#" * max(round(share), 1)
    full, eighths = divmod(max(round(share * 8), 1), 8)
    return _EIGHTHS[8] * full + (_EIGHTHS[eighths] if eighths else "")


def lacks_blocks(stream: IO[str]) -> bool:
    """True if a stream's encoding has no blocks."""
    try:
        _EIGHTHS.encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return True
    return False
