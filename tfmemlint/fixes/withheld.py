"""The exception of a rewrite that must not be made, with the reason."""

from __future__ import annotations


class Withheld(Exception):
    """The fix is withheld. The text says why, as a clause without a full stop."""
