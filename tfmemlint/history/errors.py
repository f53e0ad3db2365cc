"""Errors of reading the past of a project, and the limit of what is read."""

from __future__ import annotations

LIMIT_BYTES = 256 * 2**20
"""The size of an object that is read: that of the largest notebook which is checked."""


class HistoryError(Exception):
    """The past of a project can't be read; the text is a message."""


class TooLargeError(HistoryError):
    """An object is larger than `LIMIT_BYTES`."""
