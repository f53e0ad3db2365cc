"""Places in which code chooses a GPU by a number, read off the syntax."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import last_word
from tfmemlint.facts.tree_walk import all_nodes, unparsed
from tfmemlint.knowledge.functions import LIST_PHYSICAL, NAMING_A_GPU
from tfmemlint.knowledge.variables import VISIBLE
from tfmemlint.model.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

_LISTS = frozenset(name.rpartition(".")[2] for name in LIST_PHYSICAL) | {"list_logical_devices"}
_GPU = re.compile(r"/?(?:device:)?gpu:", re.IGNORECASE)
_FORMAT = re.compile(r"/?(?:device:)?gpu:(?:%[dis]|\{0?\})", re.IGNORECASE)
_ALONE = re.compile(r"%[dis]|\{0?\}")


@dataclass(frozen=True, slots=True)
class Choice:
    """A GPU that is chosen by a number.

    ``how``: ``item`` of a listing, ``slice`` of one GPU, ``variable`` or ``name``. ``number``: the code of the number.
    ``place``: what is reported. ``end``: the end of the slice, which is the number and 1.
    """

    how: str
    number: ast.expr
    place: ast.expr
    end: ast.expr | None = None


def choices_in(nodes: list[ast.AST], listings: AbstractSet[str], named: AbstractSet[str]) -> Iterator[Choice]:
    """Yield each place in some nodes where a GPU is chosen by a number.

    ``named`` are the variables that hold the name of a device (`device_arguments`).
    """
    for node in nodes:
        match node:
            case ast.Subscript(
                listed, ast.Slice(ast.expr() as first, ast.BinOp(above, ast.Add(), ast.Constant(1)), None)
            ):
                if _is_listing(listed, listings) and unparsed(above) == unparsed(first):
                    assert isinstance(node.slice, ast.Slice)
                    yield Choice("slice", first, node, node.slice.upper)
            case ast.Subscript(listed, ast.expr() as number) if _is_listing(listed, listings):
                yield Choice("item", number, node)
            case ast.Assign([ast.Subscript(slice=ast.Constant(value=key))], value) if key == VISIBLE:
                yield from _variable(value)
            case ast.Dict(keys, values):
                for name, value in zip(keys, values, strict=True):
                    if isinstance(name, ast.Constant) and name.value == VISIBLE:
                        yield from _variable(value)
            case ast.Call(func, args, keywords):
                match args:
                    case [ast.Constant(value=key), value] if key == VISIBLE and last_word(func) != "get":
                        yield from _variable(value)
                for keyword in keywords:
                    if keyword.arg == VISIBLE:
                        yield from _variable(keyword.value)
                if last_word(func) in NAMING_A_GPU and args:
                    yield from _name(args[0])
            case ast.Assign([ast.Name(name)], value) if name in named:
                yield from _name(value)


def device_arguments(tree: ast.AST) -> set[str]:
    """Return the variables that are given to calls as the name of a device."""
    return {
        node.args[0].id
        for node in all_nodes(tree)
        if isinstance(node, ast.Call)
        and node.args
        and isinstance(node.args[0], ast.Name)
        and last_word(node.func) in NAMING_A_GPU
    }


def name_in(value: ast.expr) -> Choice | None:
    """Return the choice of a GPU by a text that is its name with a number."""
    return next(_name(value), None)


def _is_listing(listed: ast.expr, listings: AbstractSet[str]) -> bool:
    match listed:
        case ast.Name(name):
            return name in listings
        case ast.Call(func, [ast.Constant("GPU")]):
            return last_word(func) in _LISTS
        case _:
            return False


def _variable(value: ast.expr) -> Iterator[Choice]:
    """Yield the number of which a value is the text."""
    number = _number_alone(value)
    if number is not None:
        yield Choice("variable", number, value)


def _number_alone(value: ast.expr) -> ast.expr | None:
    match value:
        case ast.Call(ast.Name("str" | "repr"), [number]) | ast.JoinedStr([ast.FormattedValue(number)]):
            return number
        case ast.BinOp(ast.Constant(str() as text), ast.Mod(), number) if _ALONE.fullmatch(text):
            return _only(number)
        case ast.Call(ast.Attribute(ast.Constant(str() as text), "format"), [number]) if _ALONE.fullmatch(text):
            return number
        case _:
            return None


def _name(value: ast.expr) -> Iterator[Choice]:
    """Yield the number in the name of a device."""
    number: ast.expr | None = None
    match value:
        case ast.JoinedStr([ast.Constant(str() as text), ast.FormattedValue(inner)]) if _GPU.fullmatch(text):
            number = inner
        case ast.BinOp(ast.Constant(str() as text), ast.Mod(), inner) if _FORMAT.fullmatch(text):
            number = _only(inner)
        case ast.Call(ast.Attribute(ast.Constant(str() as text), "format"), [inner]) if _FORMAT.fullmatch(text):
            number = inner
        case ast.BinOp(ast.Constant(str() as text), ast.Add(), ast.Call(ast.Name("str"), [inner])) if _GPU.fullmatch(
            text
        ):
            number = inner
    if number is not None:
        yield Choice("name", number, value)


def _only(number: ast.expr) -> ast.expr:
    return number.elts[0] if isinstance(number, ast.Tuple) and len(number.elts) == 1 else number
