"""Regular expressions that are compiled when they are first used.

A run over one file imports modules with 195 of them, and uses 51; compiling the others took a tenth of the instructions
of the whole run.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False  # importing typing takes longer than a run over a file that doesn't matter
if TYPE_CHECKING:
    from typing import Any, AnyStr

__all__ = ["late_pattern"]


class _LatePattern:
    """Becomes a regular expression when one of its methods is first asked for; then costs no more than one."""

    def __init__(self, text: Any, flags: int = 0) -> None:
        self._asked = text, flags

    def __getattr__(self, name: str) -> Any:
        # Only called for what is not there yet: a method is looked up once.
        value = getattr(re.compile(*self._asked), name)
        self.__dict__[name] = value
        return value


if TYPE_CHECKING:

    def late_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
        """Return what has the methods of ``re.compile(text, flags)``; the functions of `re` don't take it.

        Args:
            text: the regular expression. flags: those of `re`.

        Raises:
            re.error: it is none; raised when a method of the result is first asked for.
        """

else:
    late_pattern = _LatePattern
