"""Reads of an attribute of some name, of whatever object."""

from __future__ import annotations

import ast

from tfmemlint.facts.tree_walk import all_nodes

_READ_ALL = frozenset({"vars", "__dict__", "asdict", "astuple", "__slots__", "getmembers"})
"""Names by which all attributes of an object are read."""


def reads_attribute(tree: ast.Module, text: str, name: str) -> bool:
    """True if a module reads an attribute of a name, or may do so by its text: ``getattr(run, "gpus")``.

    Args:
        tree: the module.
        text: the same as a text.
        name: the attribute.
    """
    if name not in text and not any(word in text for word in _READ_ALL):
        return False
    for node in all_nodes(tree):
        match node:
            case ast.Attribute(attr=attribute, ctx=ast.Load()) if attribute == name or attribute in _READ_ALL:
                return True
            case ast.Name(id=read) if read in _READ_ALL:
                return True
            case ast.Constant(value=str() as written) if written == name:
                return True
            case _:
                pass
    return False
