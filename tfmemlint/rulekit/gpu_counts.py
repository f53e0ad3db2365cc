"""Numbers of GPUs that count the CPU as well: ``num_gpus = len(tf.config.list_physical_devices())``.

Read off the syntax: the name that gets the number, or the text beside it, speaks of GPUs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from tfmemlint.facts.syntax import dotted, times_bound
from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.knowledge.functions import LIST_LOGICAL, LIST_PHYSICAL
from tfmemlint.model.records import dataclass

_LISTS = frozenset(name.rpartition(".")[2] for name in (*LIST_PHYSICAL, *LIST_LOGICAL))
LISTS_LOCAL = "list_local_devices"
_OF_GPUS = re.compile(r"(?:\A|_|\d)gpus?(?:\Z|_|\d)|\Anum_?gpus?|\An_?gpus?\Z", re.IGNORECASE)
_SPEAKS = re.compile(r"\bGPUs?\b", re.IGNORECASE)
_OF_OTHERS = re.compile(r"cpu|device|tpu|total|all\b", re.IGNORECASE)
"""A name, or a text, that may well mean all devices."""


@dataclass(frozen=True, slots=True)
class CountOfAll:
    """A number of all devices that is taken for that of the GPUs.

    Attributes:
        listing: the call that lists them. count: ``len(...)``. name: what takes it for that, as written.
    """

    listing: ast.Call
    count: ast.Call
    name: str


def counts_of_all(tree: ast.Module) -> Iterator[CountOfAll]:
    """Yield each number of all devices that a module takes for that of the GPUs."""
    listed = _listings(tree)
    for node in all_nodes(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name) | ast.Attribute(attr=name)], value=value):
                if _OF_GPUS.search(name) and not _OF_OTHERS.search(name):
                    yield from _counts(value, listed, name)
            case ast.Call(func=func, args=[first, *rest]) if dotted(func).rpartition(".")[2] in _SHOWS:
                yield from _shown([first, *rest], listed)
            case _:
                pass


_SHOWS = frozenset({"debug", "info", "log", "print", "warning", "write"})


def _shown(args: list[ast.expr], listed: Mapping[str, ast.Call]) -> Iterator[CountOfAll]:
    """Yield the counts that are shown behind a text that says GPUs: within an f-string, or as the next argument."""
    text = ""
    for argument in args:
        parts = argument.values if isinstance(argument, ast.JoinedStr) else _formatted(argument)
        for part in parts:
            if isinstance(part, ast.Constant):
                text = part.value if isinstance(part.value, str) else ""
                continue
            value = part.value if isinstance(part, ast.FormattedValue) else part
            if isinstance(value, ast.Call) and _SPEAKS.search(text) and not _OF_OTHERS.search(text):
                yield from _counts(value, listed, f'"{text.strip()}"')


def _formatted(argument: ast.expr) -> list[ast.expr]:
    """Return a text and what is put into it: ``"%d GPUs" % count``, ``"{} GPUs".format(count)``; else the argument."""
    match argument:
        case ast.BinOp(left=ast.Constant() as text, op=ast.Mod(), right=ast.Tuple(elts=values)) if len(values) == 1:
            return [text, *values]
        case ast.BinOp(left=ast.Constant() as text, op=ast.Mod(), right=value):
            return [text, value]
        case ast.Call(func=ast.Attribute(value=ast.Constant() as text, attr="format"), args=[value], keywords=[]):
            return [text, value]
        case _:
            return [argument]


def _counts(value: ast.expr, listed: Mapping[str, ast.Call], name: str) -> Iterator[CountOfAll]:
    match value:
        case ast.Call(func=ast.Name(id="len"), args=[ast.Call() as listing]) if _lists_all(listing):
            yield CountOfAll(listing, value, name)
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=of)]) if of in listed:
            yield CountOfAll(listed[of], value, name)
        case ast.Call(func=ast.Name(id="max" | "min" | "int" | "str"), args=args):
            for argument in args:
                yield from _counts(argument, listed, name)
        case _:
            return


def _lists_all(call: ast.Call) -> bool:
    """True for a listing of all devices, of whichever type."""
    last = dotted(call.func).rpartition(".")[2]
    if last == LISTS_LOCAL:
        return not call.args or isinstance(call.args[0], ast.Constant)
    return last in _LISTS and not call.args and not call.keywords


def _listings(tree: ast.Module) -> Mapping[str, ast.Call]:
    """Return the names that are listings of all devices, wherever a module binds them."""
    bound = times_bound(tree)
    listed: dict[str, ast.Call] = {}
    for node in all_nodes(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if bound[name] == 1:
                if _lists_all(call):
                    listed[name] = call
    return listed
