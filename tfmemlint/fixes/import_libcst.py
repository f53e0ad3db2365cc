"""The first import of LibCST, in half of the time that it takes by itself.

LibCST has 184 frozen dataclasses, whose methods the standard library compiles when they are defined: that is most of
the import. The only one of them that LibCST uses is ``__init__``, as its nodes are compared, hashed and shown by the
methods of their base class. So it is compiled when the first node of a kind is made, and the guard against assignments
is left out.
"""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

from tfmemlint.model.records import late_init

is_own_process = False
"""True in a process of the command line: the nodes of LibCST must stay frozen to a program that uses it itself."""


def import_libcst() -> None:
    """Import LibCST, unless that was done, or the process is not the tool's own."""
    if not is_own_process or "libcst" in sys.modules:
        return
    whole: Any = dataclasses.dataclass

    def light(cls: type | None = None, /, **settings: Any) -> Any:
        if cls is None:
            return lambda cls: light(cls, **settings)
        if not _is_node(cls) or settings.keys() - {"frozen"} or "__init__" in vars(cls):
            return whole(cls, **settings)
        made = whole(cls, init=False, repr=False, eq=False)
        late_init(made)
        return made

    dataclasses.dataclass = light
    try:
        import libcst  # noqa: F401
    finally:
        dataclasses.dataclass = whole


def _is_node(cls: type) -> bool:
    """True for a class of nodes: `libcst.CSTNode` and those below it, which have its ``__eq__`` for their own."""
    return cls.__module__.startswith("libcst._nodes.") and {"__eq__", "__hash__", "__repr__"} <= vars(cls).keys()
