"""Loops over the devices of which each pass tells a figure beside the name of its device. Read off the syntax."""

from __future__ import annotations

import ast
import re

from tfmemlint.facts.syntax import dotted
from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.model.records import dataclass

_DEVICES = re.compile(r"(?i)(?:^|[^a-z])(?:[gc]pus?|devices?|cards?)(?:_?(?:names?|list|ids?))?$")
_LISTS = re.compile(r"list_(?:logical|physical)_devices$")
TELLING = frozenset({"print", "info", "debug", "warning", "log", "append", "writerow", "write", "format"})
"""The last names of functions that tell, or keep, what they are given."""


@dataclass(frozen=True, slots=True)
class DeviceLoop:
    """A loop over devices.

    Attributes:
        target: the name of the device of a pass. iter: what the loop goes through.
        has_names: that has the names of devices, and not devices or their numbers, as far as the loop shows.
    """

    target: ast.Name
    iter: ast.expr
    has_names: bool


def loop_that_tells(tree: ast.Module, call: ast.AST) -> DeviceLoop | None:
    """Return the innermost loop around a call, if it goes through devices and tells the one of a pass beside what the
    call gives; None if the call, or anything else that works, takes the device of the pass."""
    loops = [
        node for node in all_nodes(tree) if isinstance(node, ast.For) and any(part is call for part in _body(node))
    ]
    loop = loops[-1] if loops else None
    if loop is None or not isinstance(loop.target, ast.Name) or not _is_over_devices(loop.iter):
        return None
    name = loop.target.id
    uses = [node for node in _body(loop) if isinstance(node, ast.Name) and node.id == name]
    told = [node for node in uses if _is_told(loop, node)]
    if not told or len(told) != len(uses) or any(node in ast.walk(call) for node in uses):
        return None
    subscripted = any(isinstance(node, ast.Subscript) and node.slice in told for node in _body(loop))
    return DeviceLoop(loop.target, loop.iter, subscripted)


def _body(loop: ast.For) -> list[ast.AST]:
    return [node for part in loop.body for node in ast.walk(part)]


def _is_over_devices(iterated: ast.expr) -> bool:
    if isinstance(iterated, ast.Call):
        return bool(_LISTS.search(dotted(iterated.func)))
    return bool(_DEVICES.search(dotted(iterated)))


def _is_told(loop: ast.For, use: ast.Name) -> bool:
    """True if a name is a key of what is stored, a part of a text, or an argument of what tells something."""
    for node in _body(loop):
        match node:
            case ast.Subscript(slice=key, ctx=ast.Store()) if key is use or _is_name_of(key, use):
                return True
            case ast.Dict(keys):
                if any(key is not None and (key is use or _is_name_of(key, use)) for key in keys):
                    return True
            case ast.JoinedStr():
                if any(part is use for part in ast.walk(node)):
                    return True
            case ast.Call(func, args):
                if dotted(func).rpartition(".")[2] in TELLING and any(
                    part is use for given in args for part in ast.walk(given)
                ):
                    return True
            case _:
                pass
    return False


def _is_name_of(key: ast.AST, use: ast.Name) -> bool:
    return isinstance(key, ast.Attribute) and key.attr == "name" and key.value is use
