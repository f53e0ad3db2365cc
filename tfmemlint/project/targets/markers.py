"""Environment markers, judged for the machines that have GPUs: 64-bit Linux, with some Python."""

from __future__ import annotations

import itertools
import re
from functools import lru_cache

from tfmemlint.model.patterns import late_pattern

_PYTHONS = tuple(f"3.{minor}" for minor in range(5, 15))
"""The versions of Python that TensorFlow's releases since 1.13 are for, and those of the near future."""
_LINUX = {
    "os_name": "posix",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "platform_machine": "x86_64",
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
}
_OPEN = ("extra", "platform_release", "platform_version")
"""Values that differ from one such machine to the next: each may be any text of the marker, or another."""
_OTHER_TEXTS = ("0", "999999")
"""An older and a newer version than any that a marker names; and no extra is called so."""
_STAR_AFTER_ORDER = late_pattern(r"([<>]=?\s*['\"][0-9.]+)\.\*")
"""``python_version >= "3.8.*"``, which people write and PEP 440 does not allow."""
_QUOTED = late_pattern(r"'([^']*)'|\"([^\"]*)\"")
_MAX_COMPARED_TEXTS = 8
"""Quoted texts of a marker that are tried: people write two or three."""


@lru_cache(maxsize=256)
def may_apply(marker: str) -> bool:
    """Return True if a marker, such as ``python_version < "3.8" and sys_platform == "linux"``, is true on 64-bit Linux
    with some Python from 3.5 on.

    What a marker asks about the kernel, or about extras, counts as true, and so does a marker that can't be read.
    """
    # It takes some milliseconds to import, and few requirements of TensorFlow have a marker.
    from packaging.markers import InvalidMarker, Marker

    marker = _STAR_AFTER_ORDER.sub(r"\1", marker)
    try:
        parsed = Marker(marker)
    except (InvalidMarker, RecursionError):
        return True
    compared = [first or second for first, second in _QUOTED.findall(marker)][:_MAX_COMPARED_TEXTS]
    named = [name for name in _OPEN if re.search(_pattern(name), marker)]
    others = dict.fromkeys(_OPEN, "0")
    for values in itertools.product((*compared, *_OTHER_TEXTS), repeat=len(named)):
        known = {**_LINUX, **others, **dict(zip(named, values, strict=True))}
        for python in _pythons(compared):
            environment = {**known, "python_version": ".".join(python.split(".")[:2]), "python_full_version": python}
            try:
                if parsed.evaluate({**environment, "implementation_version": python}):
                    return True
            except ValueError:
                return True
    return False


def _pattern(name: str) -> str:
    # ``platform.version`` is how the first markers were written.
    return rf"\b{name.replace('_', '[._]')}\b"


def _pythons(compared: list[str]) -> list[str]:
    """Return full versions: the first patch release of each minor one, and those that the marker names."""
    named = [text for text in compared if re.fullmatch(r"3\.\d{1,2}\.\d{1,2}", text)]
    return [*(f"{python}.0" for python in _PYTHONS), *named]
