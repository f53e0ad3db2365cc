"""The children of a concrete node, for those who look at all nodes of a file."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from functools import cache

import libcst as cst


def child_nodes(node: cst.CSTNode) -> list[cst.CSTNode]:
    """Return the nodes right within ``node``, in the order of its fields: statements are in that of the text.

    LibCST's own ``children`` gives all of them in the order of the text, and builds each node anew for it.
    """
    found: list[cst.CSTNode] = []
    for name in _fields(type(node)):
        value = getattr(node, name)
        kind: object = type(value)
        if kind is list or kind is tuple:
            found.extend(value)
        elif _is_node(kind):
            found.append(value)
    return found


@cache
def _fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


@cache
def _is_node(kind: Hashable) -> bool:
    """True for classes of nodes. They are abstract ones: ``isinstance`` takes ten times as long."""
    return isinstance(kind, type) and issubclass(kind, cst.CSTNode)
