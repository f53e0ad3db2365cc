"""The names that a file gives to listings of GPUs, read off the syntax."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import dotted, times_bound
from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.knowledge.functions import LIST_PHYSICAL

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program

_LISTS = frozenset(name.rpartition(".")[2] for name in LIST_PHYSICAL)


def listings_of(program: Program) -> frozenset[str]:
    """Return the names that are listings of GPUs wherever a file binds them: ``list_physical_devices("GPU")``."""
    return listings_in(program.tree) if any(name in program.source.text for name in _LISTS) else frozenset()


def listings_in(tree: ast.Module) -> frozenset[str]:
    """Return the names that are listings of GPUs wherever a module binds them."""
    listed: dict[str, int] = {}
    bound = times_bound(tree)
    for node in all_nodes(tree):
        match node:
            case ast.Assign([ast.Name(name)], ast.Call(func, [ast.Constant("GPU")]) as call) if not call.keywords:
                listed[name] = listed.get(name, 0) + (dotted(func).rpartition(".")[2] in _LISTS)
    return frozenset(name for name, count in listed.items() if count == bound[name])
