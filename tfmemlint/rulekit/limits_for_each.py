"""A list with a configuration for each of several GPUs, which goes to one GPU, read off the syntax."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import last_word
from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.interpreter.values import Device
from tfmemlint.knowledge.functions import SET_LOGICAL, SET_VISIBLE
from tfmemlint.rulekit.gpu_listings import listings_of

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Call, Program

_CONFIGURATIONS = frozenset({"LogicalDeviceConfiguration", "VirtualDeviceConfiguration"})


def limits_for_each_gpu(program: Program) -> Iterator[tuple[Call, str, ast.expr]]:
    """Yield each call that gives one GPU a list with a configuration for each, with the name of the listing and the
    code of the list; nothing where the program configures another GPU, or shows this one alone."""
    calls = list(program.calls(*SET_LOGICAL))
    if len({call.span for call in calls}) != 1 or any(True for _ in program.calls(*SET_VISIBLE)):
        return
    listings = listings_of(program)
    call = calls[0]
    if call.path != program.source.path or call.node is None or call.devices_loop is not None or call.repeated:
        return
    device = call.value(0, "device")
    match call.node.args:
        case [ast.Subscript(ast.Name(name), ast.Constant(int())), given] if name in listings:
            pass
        case _:
            return
    if not isinstance(device, Device) or "len(" in "".join(text for text, _ in call.guards if "== 1" in text):
        return
    made = _assigned(program.tree, given)
    if made is not None and _is_for_each(made, name):
        yield call, name, made


def _assigned(tree: ast.AST, given: ast.expr) -> ast.expr | None:
    """Return a list, or what the variable for it is assigned, once."""
    if not isinstance(given, ast.Name):
        return given
    nodes = [node for node in all_nodes(tree) if isinstance(node, ast.Name) and node.id == given.id]
    values = [
        node.value
        for node in all_nodes(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == given.id
    ]
    # Nothing but the call uses it.
    return values[0] if len(values) == 1 and len(nodes) == 2 else None


def _is_for_each(made: ast.expr, name: str) -> bool:
    match made:
        case ast.ListComp(ast.Call(func), [ast.comprehension(_, ast.Name(listed), [])]):
            return listed == name and last_word(func) in _CONFIGURATIONS
        case ast.ListComp(ast.Call(func), [ast.comprehension(_, ast.Call(ast.Name("range"), [counted]), [])]):
            return _is_length(counted, name) and last_word(func) in _CONFIGURATIONS
        case ast.BinOp(ast.List([ast.Call(func)]), ast.Mult(), counted):
            return _is_length(counted, name) and last_word(func) in _CONFIGURATIONS
        case _:
            return False


def _is_length(counted: ast.expr, name: str) -> bool:
    match counted:
        case ast.Call(ast.Name("len"), [ast.Name(listed)]):
            return listed == name
        case _:
            return False
