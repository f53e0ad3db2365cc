"""Requirements in pip's own files (``requirements.txt``, ``constraints.txt``): one line each."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator

from tfmemlint.model.patterns import late_pattern
from tfmemlint.project.targets.stated import Stated, of_requirement

Reader = Callable[[str], bytes | None]
"""Returns the bytes of a file, or None; each file is read once in a run."""

_MAX_INCLUDE_DEPTH = 5
"""Files that include files: people use two levels."""
_INCLUDES = late_pattern(r"(?:-(?P<short>[rc])\s*|--(?P<long>requirement|constraint)(?:\s+|\s*=\s*))(?P<path>[^\s#]+)")
_OPTION = late_pattern(r"(?<!\s)\s+--?[a-z].*$")


def of_pip(path: str, text: str, read: Reader, *, weak: bool = False, constraint: bool = False) -> Iterator[Stated]:
    """Yield what a ``requirements.txt`` states, and the files that it includes."""
    yield from _of_pip(path, text, read, weak, constraint, (os.path.normpath(path),))


def _of_pip(
    path: str, text: str, read: Reader, weak: bool, constraint: bool, inside: tuple[str, ...]
) -> Iterator[Stated]:
    for row, line in _joined(text):
        line = re.sub(r"(?:^|\s)#.*", "", line).strip()
        include = _INCLUDES.match(line)
        if include is not None:
            other = os.path.normpath(os.path.join(os.path.dirname(path), include["path"]))
            data = read(other) if other not in inside and len(inside) < _MAX_INCLUDE_DEPTH else None
            if data is not None:
                limits = constraint or include["short"] == "c" or include["long"] == "constraint"
                yield from _of_pip(other, decoded(data), read, weak, limits, (*inside, other))
            continue
        line = line.removeprefix("--editable").removeprefix("-e").strip()
        if line and not line.startswith("-"):
            found = of_requirement(_OPTION.sub("", line), path, row, weak=weak, constraint=constraint)
            if found is not None:
                yield found


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line with those that it is continued in by a backslash, and the row of the first."""
    first = 0
    parts: list[str] = []
    for row, line in enumerate(text.splitlines(), 1):
        first = first if parts else row
        if line.rstrip().endswith("\\"):
            parts.append(line.rstrip()[:-1])
            continue
        yield first, " ".join([*parts, line])
        parts.clear()
    if parts:
        yield first, " ".join(parts)


def decoded(data: bytes) -> str:
    """Return the text of a file that may not be UTF-8."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")
