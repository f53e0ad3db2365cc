"""A problem that the doctor found, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trouble:
    """A problem.

    Attributes:
        what: what is wrong, as a clause without a full stop, on one line.
        do: what a person can do about it, in the same form; "" if there is no advice.
    """

    what: str
    do: str = ""


def one_line(text: object, longest: int = 300) -> str:
    """Return ``text`` on one line of at most ``longest`` characters. "..." marks what is cut off."""
    line = " ".join(str(text).split())
    return line if len(line) <= longest else line[: longest - 3] + "..."
