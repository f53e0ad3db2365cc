"""The children of a concrete node, for those who look at all nodes of a file."""

from __future__ import annotations

import dataclasses
from functools import cache

import libcst as cst


def child_nodes(node: cst.CSTNode) -> list[cst.CSTNode]:
    """Return the nodes right within ``node``, in the order of its fields: statements are in that of the text.

    LibCST's own ``children`` gives all of them in the order of the text, and builds each node anew for it.
    """
    found: list[cst.CSTNode] = []
    for name in _fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found.extend(value)
    return found


@cache
def _fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))
