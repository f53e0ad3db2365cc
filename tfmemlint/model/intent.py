"""The intent: what an author wanted of a GPU's memory, whatever the spelling.

Everything that tfmemlint reports is a statement about intents: a finding is an intent and what TensorFlow will do
instead, a fix is the intent written as valid code, a verdict is the intent and what a running TensorFlow reports.
"""

from __future__ import annotations

import math
import re
from enum import Enum

from tfmemlint.model.records import dataclass


class Purpose(str, Enum):
    """The purpose of a setting of a device's memory."""

    GROWTH = "growth"
    """Take memory as it is needed instead of all of it at once."""
    LIMIT = "limit"
    """Take at most so many MiB; ``Intent.value`` is the number of MiB, if it is known."""
    FRACTION = "fraction"
    """Take at most this share (0 to 1] of the device's memory; ``Intent.value`` is the share, if it is known."""
    VISIBLE = "visible"
    """See these devices only."""
    ALLOCATOR = "allocator"
    """Use this allocator (``TF_GPU_ALLOCATOR``)."""
    THREADING = "threading"
    """Use so many threads."""
    REPORT = "report"
    """Report how much memory is in use; ``Intent.value`` is ``current``, ``peak``, ``total`` or ``free``."""
    RELEASE = "release"
    """Give memory back to the device."""
    DEVICES = "devices"
    """List the devices."""
    OTHER = "other"
    """Something else; ``Intent.text`` has the author's words."""


@dataclass(frozen=True, slots=True)
class Intent:
    """The intent of one setting of the memory of one or several devices.

    Attributes:
        purpose: the kind of setting.
        devices: the devices, in words that read after "for" (``every GPU``, ``GPU 0``, ``gpus[1]``), or ``""``.
        value: MiB for a limit, the share for a fraction, ``True``/``False`` for growth, ``None`` if unknown.
        text: the value as the author wrote it (``0.3 if i % 2 == 0 else 0.7``), or ``""``.
    """

    purpose: Purpose
    devices: str = ""
    value: float | int | bool | str | None = None
    text: str = ""

    @property
    def json_value(self) -> float | int | bool | str | None:
        """The value, or None if JSON does not have it: NaN, an infinity, a complex number, or an integer that is too
        large for common readers."""
        if self.value is None or isinstance(self.value, (bool, str)):
            return self.value
        try:
            return self.value if math.isfinite(self.value) else None
        except (OverflowError, TypeError):
            return None

    def describe(self) -> str:
        """Return the intent in words, as a report shows it after "intent:"."""
        shown = _plain(self.text) or _shown(self.value)
        match self.purpose:
            case Purpose.GROWTH:
                words = "no memory growth" if self.value is False else "memory growth"
            case Purpose.LIMIT:
                unit = "" if self.text and not _is_number(self.text) else " MiB"
                words = f"a memory limit of {shown}{unit}" if shown else "a memory limit"
            case Purpose.FRACTION:
                words = f"a share of {shown} of the memory" if shown else "a share of the memory"
            case Purpose.VISIBLE:
                return _visible(shown)
            case Purpose.ALLOCATOR:
                words = f"the allocator {shown}".rstrip()
            case Purpose.THREADING:
                words = f"{shown} threads".lstrip()
            case Purpose.REPORT:
                words = {
                    "current": "the memory in use",
                    "peak": "the peak memory in use",
                    "total": "the total memory",
                    "free": "the free memory",
                }.get(str(self.value), "a report of the memory in use")
                return f"{words} of {self.devices}" if self.devices else words
            case Purpose.RELEASE:
                words = "memory given back to the device"
            case Purpose.DEVICES:
                return "a list of the GPUs"
            case _:
                words = shown
        return f"{words} for {self.devices}" if self.devices else words


def _plain(text: str) -> str:
    """Return the author's words in one line, in parentheses if they would run into ours."""
    line = " ".join(text.split())
    return f"({line})" if re.search(r"\bif\b.*\belse\b|\blambda\b", line) else line


def _visible(shown: str) -> str:
    numbers = shown.strip("'\"")
    if re.fullmatch(r"\d+(,\d+)*", numbers):
        return f"only GPU{'s' if ',' in numbers else ''} {numbers} visible"
    if shown in ("''", '""', "'-1'", '"-1"', "-1", "[]", "()"):
        return "no GPU visible"
    if shown.strip("'\"").lower() in ("all", "any", "*"):
        return "every GPU visible"
    return f"only {shown} visible" if shown else "only some devices visible"


def _shown(value: object) -> str:
    """Return a value in words; Python refuses to write out numbers of thousands of digits."""
    try:
        return "" if value is None else str(value)
    except ValueError:
        return "a huge number"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
