"""The number of the only GPU that stays visible, which a program carries to where it names the GPU.

``set_visible_devices(gpus[n], "GPU")`` makes ``GPU:0`` of the GPU, whatever ``n`` is: ``get_memory_info(f"GPU:{n}")``
raises, and ``tf.device`` quietly takes another device. The number may get there by a parameter, an attribute or a
variable (`tfmemlint.rulekit.value_origins`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import AnyFunction, last_word
from tfmemlint.facts.tree_walk import nodes, unparsed
from tfmemlint.interpreter.program import Call
from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge.functions import NAMING_A_GPU, SET_LOGICAL, SET_VISIBLE
from tfmemlint.rulekit.chosen_gpus import name_in
from tfmemlint.rulekit.gpu_listings import listings_of
from tfmemlint.rulekit.number_twice import is_in_another_branch
from tfmemlint.rulekit.value_origins import Origins

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.model.finding import Span

_WORDS = ("get_memory_info", "reset_memory_stats", "get_memory_usage", "device(", "OneDeviceStrategy")


def numbers_carried(program: Program) -> Iterator[tuple[Call, ast.expr, str, Span]]:
    """Yield each name of a GPU with the number that has left one GPU visible, with the call that has left it, and the
    code of the number and what is to be replaced."""
    text = program.source.text
    if program.configuration is not None or not any(word in text for word in _WORDS):
        return
    calls = [call for call in program.calls(*SET_VISIBLE) if call.path == program.source.path and call.node is not None]
    if len({call.span for call in calls}) != 1 or any(True for _ in program.calls(*SET_LOGICAL)):
        return
    call = calls[0]
    kind = call.value(1, "device_type")
    if call.effect is not None or call.repeated or call.devices_loop is not None or call.node is None:
        return
    number = _shown(call.node, listings_of(program))
    if number is None or (isinstance(kind, Const) and kind.value == "CPU"):
        return
    origins = Origins(program.tree)
    origin = origins.of(number)
    conditions = _conditions(origins, call.node, number, listings_of(program))
    if origin is None:
        return
    for name in _names(origins):
        choice = name_in(name)
        if choice is None or origins.of(choice.number) != origin or _is_counted(origins, name):
            continue
        around = {unparsed(test) for test in _tests_around(origins, name)}
        if is_in_another_branch(program, call, name):
            continue
        if conditions <= around and (
            origins.scope(name) is not origins.scope(call.node) or program.source.span(name) > call.span
        ):
            yield call, name, unparsed(choice.number), program.source.span(name)


def _shown(call: ast.Call, listings: frozenset[str]) -> ast.expr | None:
    """Return the number of the only GPU that a call leaves visible."""
    match call.args[:1]:
        case [ast.Subscript(ast.Name(name), slice=number)] | [ast.List([ast.Subscript(ast.Name(name), slice=number)])]:
            if name not in listings or isinstance(number, (ast.Constant, ast.UnaryOp)):
                return None
        case _:
            return None
    match number:
        case ast.Slice(ast.expr() as first, ast.BinOp(above, ast.Add(), ast.Constant(1)), None):
            return first if unparsed(first) == unparsed(above) else None
        case ast.Slice():
            return None
        case ast.BinOp(inner, ast.Mod(), ast.Call(ast.Name("len"))):
            return inner
        case _:
            return number


def _names(origins: Origins) -> Iterator[ast.expr]:
    """Yield what calls are given as the name of a GPU: directly, by a variable, an attribute or a parameter, or by a
    function that returns it."""
    for node in origins.nodes:
        if isinstance(node, ast.Call) and node.args and last_word(node.func) in NAMING_A_GPU:
            yield from _made(origins, node.args[0])


def _made(origins: Origins, given: ast.expr) -> Iterator[ast.expr]:
    """Yield the expressions that make a value."""
    pending, seen = [given], set[ast.AST]()
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        match node:
            case ast.IfExp(body=body, orelse=other):
                pending += [body, other]
            case ast.Call(func) if name_in(node) is None:
                pending += _returned(origins, last_word(func))
            case ast.Name() | ast.Attribute(ast.Name("self")):
                pending += _values(origins, node)
            case _:
                yield node


def _returned(origins: Origins, name: str) -> list[ast.expr]:
    """Return what the functions of a name return."""
    functions = [node for node in origins.nodes if isinstance(node, AnyFunction) and node.name == name]
    if len(functions) != 1:
        return []
    return [
        node.value
        for node in origins.nodes
        if isinstance(node, ast.Return) and node.value is not None and origins.scope(node) is functions[0]
    ]


def _values(origins: Origins, node: ast.Name | ast.Attribute) -> list[ast.expr]:
    """Return what a variable, a parameter or an attribute may be."""
    if isinstance(node, ast.Attribute):
        stores = origins.attributes.get(node.attr, [])
        return [*origins.assigned_each(stores), *_returned(origins, node.attr)]
    return origins.bound_to(node)


def _conditions(origins: Origins, call: ast.Call, number: ast.expr, listings: frozenset[str]) -> set[str]:
    """Return the conditions of a call that ask neither for GPUs nor for the number."""
    texts = set()
    for test in _tests_around(origins, call):
        names = {inner.id for inner in nodes(test) if isinstance(inner, ast.Name)}
        about = unparsed(number)
        if not names & listings and about not in {unparsed(inner) for inner in nodes(test)}:
            texts.add(unparsed(test))
    return texts


def _tests_around(origins: Origins, node: ast.AST) -> Iterator[ast.expr]:
    inner: ast.AST = node
    around = origins.parents.get(node)
    while around is not None and not isinstance(around, AnyFunction):
        if isinstance(around, (ast.If, ast.IfExp)) and inner is not around.test:
            yield around.test
        inner, around = around, origins.parents.get(around)


def _is_counted(origins: Origins, node: ast.AST) -> bool:
    """True if a name is made under a condition that asks how many GPUs there are."""
    return any(
        isinstance(part, ast.Call) and last_word(part.func) == "len"
        for test in _tests_around(origins, node)
        for part in nodes(test)
    )
