"""TensorFlow's known releases, and the release for which code is judged."""

from __future__ import annotations

import re
from dataclasses import field
from functools import total_ordering

from tfmemlint.model.records import dataclass

KNOWN: tuple[str, ...] = (*(f"1.{minor}" for minor in range(13, 16)), *(f"2.{minor}" for minor in range(22)))
"""Every minor release whose names were read from its wheel, oldest first."""

_VERSION = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:\.(?:\d{1,9}|\*))?(?:[-.+]?[a-z][a-z0-9.+-]*)?", re.IGNORECASE)
_KEYS = tuple((int(major), int(minor)) for major, _, minor in (known.partition(".") for known in KNOWN))
_INDEX = {key: index for index, key in enumerate(_KEYS)}


@total_ordering
@dataclass(frozen=True, slots=True)
class Target:
    """The TensorFlow release for which code is judged: major and minor number; patch releases do not count.

    ``oldest``: the oldest release that the code is for besides, where that is another. The code is judged for the
    newest, and two targets are equal where their newest are. ``claimed``: False where neither a statement nor the names
    in the code tell TensorFlow 1 from 2, so that the newest release is only one of those that may be meant.
    """

    major: int
    minor: int
    oldest: Target | None = field(default=None, compare=False)
    claimed: bool = field(default=True, compare=False)

    @classmethod
    def parse(cls, text: str) -> Target:
        """Parse ``2.15``, ``2.15.1`` or ``2.15.0rc1``.

        Raises:
            ValueError: the text is not a version, or it is a release older than 1.13 or one that never existed
                (``1.16``). A release newer than the newest known one is accepted, and judged as that one.
        """
        match = _VERSION.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"{text!r} is not a TensorFlow version; write it as in {KNOWN[-1]}")
        target = cls(int(match[1]), int(match[2]))
        if target.judged_as is None:
            raise ValueError(
                f"TensorFlow {target} is not known; those from {KNOWN[0]} to 1.15 and from 2.0 to {KNOWN[-1]} are"
            )
        return target

    @classmethod
    def stated(cls, text: str) -> Target:
        """Parse the release that a user states, which has to be a known one.

        Raises:
            ValueError: it is no version, or no known release; the message names the nearest one.
        """
        target = cls.parse(text)
        if (target.major, target.minor) not in _INDEX:
            raise ValueError(f"TensorFlow {target} is not known; the newest that is known is {KNOWN[-1]}")
        return target

    @classmethod
    def newest(cls) -> Target:
        """Return the newest known release."""
        return cls(*_KEYS[-1])

    @property
    def judged_as(self) -> Target | None:
        """The known release whose tables are used for this one; None if there is none."""
        key = (self.major, self.minor)
        if key in _INDEX:
            return self
        return Target.newest() if key > _KEYS[-1] else None

    @property
    def index(self) -> int:
        """The index of this release in `KNOWN`; a release newer than all known ones has the index of the newest.

        Raises:
            ValueError: the release is not known.
        """
        known = self.judged_as
        if known is None:
            raise ValueError(f"TensorFlow {self} is not known")
        return _INDEX[known.major, known.minor]

    @property
    def version(self) -> str:
        """The ``tf.__version__`` of this release's first patch release: ``2.21.0``."""
        return f"{self.major}.{self.minor}.0"

    @property
    def keras3(self) -> bool:
        """True if ``tf.keras`` is Keras 3 (from 2.16 on)."""
        return (self.major, self.minor) >= (2, 16)

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Target):
            return NotImplemented
        return (self.major, self.minor) < (other.major, other.minor)

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


def position(release: str) -> int:
    """Return the index of a known release (``2.15``) in `KNOWN`."""
    major, _, minor = release.partition(".")
    return _INDEX[int(major), int(minor)]
