"""A number that chooses the only visible GPU, and then is used to choose among the visible ones as well.

``os.environ["CUDA_VISIBLE_DEVICES"] = str(args.gpu)`` leaves one GPU, which TensorFlow calls number 0:
``gpus[args.gpu]`` is right for number 0 alone. The number is not known; that it is the same one is read off the syntax.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import EnvWrite
from tfmemlint.interpreter.state import Tri
from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge.variables import VISIBLE
from tfmemlint.rulekit.gpu_listings import listings_of

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.model.finding import Span

_ONE_NUMBER = re.compile(r"str\(([A-Za-z_][\w.]{0,60})\)\Z|f(['\"])\{([A-Za-z_][\w.]{0,60})\}\2\Z")
_GPU = re.compile(r"/?(?:device:)?gpu:", re.IGNORECASE)


def numbers_used_twice(program: Program) -> Iterator[tuple[EnvWrite, ast.expr, str, Span]]:
    """Yield each item of a listing of GPUs, and each name of a device, with the number that has left one GPU visible:
    with the assignment of the variable, and the code of the number and what is to be replaced.
    """
    if program.configuration is not None or VISIBLE not in program.source.text:
        return
    numbers = {number: write for write in program.of(EnvWrite) if (number := _only_number(program, write))}
    if not numbers:
        return
    listings = listings_of(program)
    counted = _under_a_count(program.tree)
    for node in ast.walk(program.tree):
        used, number = _use_of_number(node, listings)
        write = numbers.get(number)
        if used is None or write is None or id(node) in counted:
            continue
        place = program.source.span(used.slice if isinstance(used, ast.Subscript) else used)
        if place > write.span:
            yield write, used, number, place


def _use_of_number(node: ast.AST, listings: frozenset[str]) -> tuple[ast.expr | None, str]:
    """Return an item of a listing, or the formatted name of a GPU, with the code of its number."""
    match node:
        case ast.Subscript(ast.Name(name), number) if name in listings:
            return node, ast.unparse(number)
        case ast.Call(ast.Attribute(attr="device" | "OneDeviceStrategy"), [ast.JoinedStr() as text, *_]):
            match text.values:
                case [ast.Constant(str() as before), ast.FormattedValue(number)] if _GPU.fullmatch(before):
                    return text, ast.unparse(number)
                case _:
                    return None, ""
        case _:
            return None, ""


def _only_number(program: Program, write: EnvWrite) -> str:
    """Return the code of the number that a variable is set to in time, if it is not known; "" for any other value."""
    if write.name != VISIBLE or write.path != program.source.path or write.state.listed.has is not Tri.NO:
        return ""
    if write.how == "setdefault" or isinstance(write.value, Const):
        # Another value may be set already; a constant is judged as such.
        return ""
    text = program.source.segment(write.given) if write.given is not None else write.text
    match = _ONE_NUMBER.match(text.strip())
    number = (match[1] or match[3]) if match is not None else ""
    last = number.rpartition(".")[2]
    stores = [
        node
        for node in ast.walk(program.tree)
        if isinstance(node, (ast.Name, ast.Attribute))
        and isinstance(node.ctx, ast.Store)
        and last == (node.id if isinstance(node, ast.Name) else node.attr)
    ]
    # What is assigned again may be another number by then.
    return "" if len(stores) > 1 else number


def _under_a_count(tree: ast.AST) -> set[int]:
    """Return the ids of the nodes under a condition that asks how many GPUs there are: ``if len(gpus) > number``."""
    return {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, (ast.If, ast.IfExp)) and _asks_how_many(node.test)
        for inner in ast.walk(node)
    }


def _asks_how_many(test: ast.expr) -> bool:
    compared = any(isinstance(part, ast.Compare) for part in ast.walk(test))
    return compared and any(
        isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "len"
        for part in ast.walk(test)
    )
