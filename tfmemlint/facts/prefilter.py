"""Questions about the raw bytes of a file. Most files are done after them: is it about TensorFlow, may a rule fire?

The rules state the words that they need, as their triggers (`tfmemlint.rulekit.triggers`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tfmemlint.facts.line_search import LineSearch
from tfmemlint.facts.search_index import CONFIGURING

MATTERS, ABOUT, CONFIGURES, NAMES_GPU = 1, 2, 4, 8
"""The answers of `Prefilter.scan`, as bits."""

_configures = LineSearch(CONFIGURING)


def about_tensorflow(data: bytes) -> bool:
    """True if a file mentions TensorFlow, Keras, the variable that shows GPUs to both, or one that TensorFlow alone
    reads: a program that starts others need not mention more."""
    # Most such files say so at their top: searching one word after the other is faster than all at once.
    return (
        b"tensorflow" in data
        or b"keras" in data
        or b"CUDA_VISIBLE_DEVICES" in data
        or b"TF_FORCE_GPU_ALLOW_GROWTH" in data
        or b"TF_GPU_ALLOCATOR" in data
        or (b"tf." in data and re.search(rb"\btf\.", data) is not None)
    )


def configures(data: bytes) -> bool:
    """True if a file may configure GPUs with ``tf.config`` or environment variables: the code before that then
    matters."""
    return _configures(data)


class Prefilter:
    """Decide by its raw bytes if a file is read closely.

    Args:
        matches: True for bytes in which a trigger of some rule matches.
        matches_where_launched: the same for the triggers that count only if a configuration file launches the file.
    """

    def __init__(self, matches: Callable[[bytes], bool], matches_where_launched: Callable[[bytes], bool]) -> None:
        self.may_matter = matches
        """True if a rule may fire in a stretch of a document, which need not mention TensorFlow."""
        self._matches_where_launched = matches_where_launched

    def matters(self, data: bytes) -> bool:
        """True if a rule may fire in a Python file."""
        return about_tensorflow(data) and self.may_matter(data)

    def scan(self, data: bytes) -> int:
        """Return all answers about a Python file: `MATTERS`, `ABOUT`, `CONFIGURES`, `NAMES_GPU`."""
        if not about_tensorflow(data):
            return CONFIGURES * configures(data)
        answers = ABOUT + MATTERS * self.may_matter(data) + CONFIGURES * configures(data)
        return answers + NAMES_GPU * self._matches_where_launched(data)

    def scan_document(self, data: bytes) -> int:
        """Return the answers about a document or a configuration file: `MATTERS`, `ABOUT`."""
        return MATTERS * self.may_matter(data) + ABOUT * about_tensorflow(data)
