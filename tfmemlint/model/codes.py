"""The codes of findings about the run itself, which the engine reports without a rule's check."""

from __future__ import annotations

import re

INTERNAL_ERROR, SYNTAX_ERROR, UNREADABLE = "TFM900", "TFM901", "TFM902"
UNUSED, UNKNOWN_CODE, NO_REASON = "TFM903", "TFM904", "TFM905"

RUN_CODES = frozenset({INTERNAL_ERROR, SYNTAX_ERROR, UNREADABLE})
"""Findings that say that the tool could not do its work on a file. No comment silences them."""

COMMENT_CODES = frozenset({UNUSED, UNKNOWN_CODE, NO_REASON})
"""Findings about the comments that silence other findings."""

_is_label = re.compile(r"[A-Za-z0-9_.-]{0,100}").fullmatch


def is_label(text: str) -> bool:
    """True if a text may be the code or the name of a rule: reports print these as they are."""
    return _is_label(text) is not None
