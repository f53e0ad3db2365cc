"""A number that chooses the only visible GPU, and then is used to choose among the visible ones as well.

``os.environ["CUDA_VISIBLE_DEVICES"] = str(args.gpu)`` leaves one GPU, which TensorFlow calls number 0:
``gpus[args.gpu]`` is right for number 0 alone. So does ``set_visible_devices(gpus[args.gpu], "GPU")``, by which the
logical GPU is number 0, not the physical one: ``list_logical_devices("GPU")[args.gpu]`` is past the end. The number is
not known; that it is the same one is read off the syntax.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import function_around, last_word, leaves_block
from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.interpreter.program import Call, EnvWrite
from tfmemlint.interpreter.state import Tri
from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge.functions import NAMING_A_GPU, SET_LOGICAL, SET_VISIBLE
from tfmemlint.knowledge.variables import VISIBLE
from tfmemlint.rulekit.gpu_listings import listings_of

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.model.finding import Span

_ONE_NUMBER = re.compile(r"str\(([A-Za-z_][\w.]{0,60})\)\Z|f(['\"])\{([A-Za-z_][\w.]{0,60})\}\2\Z")
_NUMBER = re.compile(r"[A-Za-z_][\w.]{0,60}")
_LISTS = "list_logical_devices"
_SHOWS = "set_visible_devices"
_GPU = re.compile(r"/?(?:device:)?gpu:", re.IGNORECASE)


def numbers_used_twice(program: Program) -> Iterator[tuple[EnvWrite | Call, ast.expr, str, Span]]:
    """Yield each item of a listing of GPUs, and each name of a device, with the number that has left one GPU visible:
    with what has left it, and the code of the number and what is to be replaced.
    """
    if program.configuration is not None or not any(word in program.source.text for word in (VISIBLE, _SHOWS)):
        return
    numbers: dict[str, EnvWrite | Call] = {}
    numbers.update({number: call for call in program.calls(*SET_VISIBLE) if (number := _only_shown(program, call))})
    numbers.update({number: write for write in program.of(EnvWrite) if (number := _only_number(program, write))})
    if not numbers:
        return
    logical = _logical_listings(program.tree)
    listings = listings_of(program) | logical
    counted = _under_a_count(program.tree)
    for node in all_nodes(program.tree):
        used, number = _use_of_number(node, listings)
        write = numbers.get(number)
        if used is None or write is None or id(node) in counted:
            continue
        if isinstance(write, Call) and isinstance(used, ast.Subscript) and not _is_past(program, write, used, logical):
            continue
        if is_in_another_branch(program, write, used):
            continue
        place = program.source.span(used.slice if isinstance(used, ast.Subscript) else used)
        if place > write.span or _is_asked_elsewhere(program.tree, used, write):
            yield write, used, number, place


def is_in_another_branch(program: Program, write: EnvWrite | Call, used: ast.expr) -> bool:
    """True if the branch that leaves one GPU visible ends in a ``return`` or the like, and a number is used behind it,
    or is used in the other branch."""
    source = program.source
    for node in ast.walk(program.tree):
        if isinstance(node, ast.If):
            for body, other in ((node.body, node.orelse), (node.orelse, node.body)):
                if any(source.span(line).contains(write.span) for line in body):
                    place = source.span(used)
                    inside = any(source.span(line).contains(place) for line in body)
                    beside = any(source.span(line).contains(place) for line in other)
                    if beside or (not inside and leaves_block(body) and _is_in_function_of(program, write, used)):
                        return True
    return False


def _is_in_function_of(program: Program, write: EnvWrite | Call, used: ast.expr) -> bool:
    return function_around(program.tree, write.span.row) is function_around(program.tree, used.lineno)


def _use_of_number(node: ast.AST, listings: frozenset[str]) -> tuple[ast.expr | None, str]:
    """Return an item of a listing, or the formatted name of a GPU, with the code of its number."""
    match node:
        case ast.Subscript(ast.Name(name), number) if name in listings:
            return node, ast.unparse(number)
        case ast.Subscript(ast.Call() as listed, number) if _is_logical(listed, frozenset()):
            return node, ast.unparse(number)
        case ast.Call(ast.Attribute(attr=function), [ast.JoinedStr() as text, *_]) if function in NAMING_A_GPU:
            return _named(text)
        case ast.Return(ast.JoinedStr() as text) | ast.Assign(value=ast.JoinedStr() as text):
            return _named(text)
        case (
            ast.Return(ast.IfExp(body=ast.JoinedStr() as text))
            | ast.Assign(value=ast.IfExp(body=ast.JoinedStr() as text))
        ):
            return _named(text)
        case _:
            return None, ""


def _is_logical(listed: ast.expr, names: frozenset[str]) -> bool:
    """True for a listing of the logical GPUs, and for a name of one."""
    if isinstance(listed, ast.Name):
        return listed.id in names
    if not isinstance(listed, ast.Call) or last_word(listed.func) != _LISTS:
        return False
    kinds = [*listed.args, *(keyword.value for keyword in listed.keywords)]
    return len(kinds) == 1 and isinstance(kinds[0], ast.Constant) and kinds[0].value == "GPU"


def _logical_listings(tree: ast.AST) -> frozenset[str]:
    """Return the names that stand for the logical GPUs, and for nothing else."""
    stored: dict[str, int] = {}
    listed: set[str] = set()
    for node in all_nodes(tree):
        match node:
            case ast.Name(name, ast.Store()) | ast.arg(name):
                stored[name] = stored.get(name, 0) + 1
            case ast.Assign([ast.Name(name)], value) if _is_logical(value, frozenset()):
                listed.add(name)
            case _:
                pass
    return frozenset(name for name in listed if stored[name] == 1)


def _is_past(program: Program, call: Call, used: ast.Subscript, logical: frozenset[str]) -> bool:
    """True if an item is taken of the logical GPUs below a call, in its block or further in, and the call leaves one of
    these: none is split. The listing of the physical GPUs stays as it is."""
    if not _is_logical(used.value, logical) or any(True for _ in program.calls(*SET_LOGICAL)):
        return False
    source, place = program.source, program.source.span(used)
    for node in all_nodes(program.tree):
        for field in ("body", "orelse", "finalbody"):
            lines = getattr(node, field, None)
            block = lines if isinstance(lines, list) else []
            for number, line in enumerate(block):
                if isinstance(line, ast.Expr) and source.span(line).contains(call.span):
                    return any(source.span(below).contains(place) for below in block[number + 1 :])
    return False


def _named(text: ast.JoinedStr) -> tuple[ast.expr | None, str]:
    """Return a text that names a GPU, with the code of its number."""
    match text.values:
        case [ast.Constant(str() as before), ast.FormattedValue(number)] if _GPU.fullmatch(before):
            return text, ast.unparse(number)
        case _:
            return None, ""


def _only_shown(program: Program, call: Call) -> str:
    """Return the code of the number of the only GPU that a call leaves visible, if it is not known; "" for all else."""
    if call.path != program.source.path or call.node is None or call.effect is not None or call.repeated:
        return ""
    kind = call.value(1, "device_type")
    if isinstance(kind, Const) and kind.value == "CPU":
        return ""
    match call.node.args[:1]:
        case [ast.Subscript(slice=ast.Slice(ast.expr() as number, ast.BinOp(above, ast.Add(), ast.Constant(1)), None))]:
            if ast.unparse(above) != ast.unparse(number):
                return ""
        case [ast.Subscript(slice=number)] | [ast.List([ast.Subscript(slice=number)])]:
            pass
        case [ast.Name() | ast.Attribute() as kept] | [ast.List([ast.Name() | ast.Attribute() as kept])]:
            found = _number_of_kept(program.tree, kept)
            if found is None:
                return ""
            number = found
        case _:
            return ""
    match number:
        case ast.BinOp(inner, ast.Mod(), ast.Call(ast.Name("len"))):
            number = inner
        case _:
            pass
    if isinstance(number, (ast.Constant, ast.Slice, ast.UnaryOp)) or call.devices_loop is not None:
        return ""
    text = ast.unparse(number)
    return text if _NUMBER.fullmatch(text) and _is_bound_once(program, text) else ""


def _is_bound_once(program: Program, number: str) -> bool:
    """True if nothing assigns a number again: it may be another one by then."""
    _, dot, last = number.rpartition(".")
    kind = ast.Attribute if dot else ast.Name
    stores = [
        node
        for node in all_nodes(program.tree)
        if isinstance(node, kind)
        and isinstance(node.ctx, ast.Store)
        and last == (node.attr if isinstance(node, ast.Attribute) else node.id)
    ]
    return len(stores) <= 1


def _number_of_kept(tree: ast.AST, kept: ast.expr) -> ast.expr | None:
    """Return the number by which a GPU is taken from a listing that a name, or an attribute, is assigned once."""
    text = ast.unparse(kept)
    values = [
        node.value
        for node in all_nodes(tree)
        if isinstance(node, ast.Assign) and any(ast.unparse(target) == text for target in node.targets)
    ]
    found = [value for value in values if not (isinstance(value, ast.Constant) and value.value is None)]
    return found[0].slice if len(found) == 1 and isinstance(found[0], ast.Subscript) else None


def _is_asked_elsewhere(tree: ast.AST, used: ast.expr, write: EnvWrite | Call) -> bool:
    """True if another function than that which leaves one GPU returns a name that a call is given as that of a GPU."""
    around = function_around(tree, used.lineno)
    if around is None or around is function_around(tree, write.span.row):
        return False
    return any(
        isinstance(node, ast.Call)
        and last_word(node.func) in NAMING_A_GPU
        and any(last_word(part.func if isinstance(part, ast.Call) else part) == around.name for part in node.args[:1])
        for node in all_nodes(tree)
    )


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
    return number if _is_bound_once(program, number) else ""


def _under_a_count(tree: ast.AST) -> set[int]:
    """Return the ids of the nodes under a condition that asks how many GPUs there are: ``if len(gpus) > number``."""
    return {
        id(inner)
        for node in all_nodes(tree)
        if isinstance(node, (ast.If, ast.IfExp)) and _asks_how_many(node.test)
        for inner in ast.walk(node)
    }


def _asks_how_many(test: ast.expr) -> bool:
    compared = any(isinstance(part, ast.Compare) for part in ast.walk(test))
    return compared and any(
        isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "len"
        for part in ast.walk(test)
    )
