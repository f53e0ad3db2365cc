"""Read off the names in a piece of code which settings of the GPUs it makes: through functions of its module, too."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence

from tfmemlint.facts.syntax import dotted
from tfmemlint.facts.tree_walk import nodes
from tfmemlint.knowledge.functions import SET_GROWTH, SET_LOGICAL, SET_VISIBLE
from tfmemlint.knowledge.variables import ALLOCATOR, GROWTH, VISIBLE
from tfmemlint.model.intent import Purpose

_CALLS = (
    {SET_GROWTH.rpartition(".")[2]: Purpose.GROWTH}
    | {name.rpartition(".")[2]: Purpose.LIMIT for name in SET_LOGICAL}
    | {name.rpartition(".")[2]: Purpose.VISIBLE for name in SET_VISIBLE}
)
_OPTIONS = {
    "allow_growth": Purpose.GROWTH,
    "per_process_gpu_memory_fraction": Purpose.LIMIT,
    "visible_device_list": Purpose.VISIBLE,
    "allocator_type": Purpose.ALLOCATOR,
}
_VARIABLES = {GROWTH: Purpose.GROWTH, VISIBLE: Purpose.VISIBLE, ALLOCATOR: Purpose.ALLOCATOR}
_MAX_FUNCTIONS = 30
"""Functions that one piece of code leads to."""

Functions = Mapping[str, Sequence["ast.FunctionDef | ast.AsyncFunctionDef"]]


def purposes_in(code: Iterable[ast.AST], functions: Functions) -> dict[Purpose, ast.AST]:
    """Return what a piece of code configures, each with the node that does."""
    found: dict[Purpose, ast.AST] = {}
    seen: set[str] = set()
    waiting: list[tuple[ast.AST, ast.AST | None]] = [
        (part, None) for part in code if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    ]
    while waiting:
        part, by = waiting.pop(0)
        for node in nodes(part):
            purpose = _purpose(node)
            if purpose is not None:
                found.setdefault(purpose, by or node)
            name = _named(node)
            for function in functions.get(name, ()) if name and name not in seen else ():
                if len(seen) < _MAX_FUNCTIONS:
                    waiting += [(statement, by or node) for statement in function.body]
            seen.add(name)
    return found


def _named(node: ast.AST) -> str:
    """Return the name of a function that a node may be."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
            return name
        case _:
            return ""


def _purpose(node: ast.AST) -> Purpose | None:
    match node:
        case ast.Call(func=func) if (last := dotted(func).rpartition(".")[2]) in _CALLS:
            return _CALLS[last]
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in _CALLS:
            return _CALLS[name]
        case ast.Attribute(attr=name, ctx=ast.Store()) if name in _OPTIONS:
            return _OPTIONS[name]
        case ast.keyword(arg=str(name)) if name in _OPTIONS:
            return _OPTIONS[name]
        case ast.Subscript(slice=ast.Constant(value=str(name)), ctx=ast.Store()) if name in _VARIABLES:
            return _VARIABLES[name]
        case ast.Call(func=ast.Attribute(attr="setdefault" | "putenv"), args=[ast.Constant(value=str(name)), _]):
            return _VARIABLES.get(name)
        case _:
            return None


__all__ = ["purposes_in"]
