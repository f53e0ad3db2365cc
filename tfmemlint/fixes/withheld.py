"""The exception by which a rewrite says that it is not to be made, and why."""

from __future__ import annotations


class Withheld(Exception):
    """A fix is not given; the text says why, as a clause without a full stop."""
