"""The share of a run that one of several machines does."""

from __future__ import annotations

from tfmemlint.model.records import dataclass


@dataclass(frozen=True, slots=True)
class Shard:
    """One share of several.

    Attributes:
        number: from 1.
        count: the number of shares.
    """

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Return the share that a text such as ``2/4`` names.

        Raises:
            ValueError: it names none.
        """
        number, slash, count = text.partition("/")
        if not (slash and number.isascii() and number.isdigit() and count.isascii() and count.isdigit()):
            raise ValueError(f"{text!r} is not of the form I/N, such as 1/4")
        if not 1 <= int(number) <= int(count):
            raise ValueError(f"{text!r}: the first number is from 1 to the second one")
        return cls(int(number), int(count))
