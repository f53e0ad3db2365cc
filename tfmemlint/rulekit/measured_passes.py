"""Loops over sizes or models whose passes each tell a peak of the GPU memory.

Read off the syntax: a loop counts if the values that it goes through are written out, as they say what is compared.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise

from tfmemlint.facts.syntax import dotted
from tfmemlint.model.records import dataclass

_MOST_CALLS = 3
"""Functions that call each other, from the loop to the one that reads the peak."""
_SAY = frozenset({"print", "info", "debug", "log", "append", "writerow", "write", "format", "get_memory_info"})
_DEVICE = re.compile(r"(?i)\b[gc]pu:?\d*$")


@dataclass(frozen=True, slots=True)
class MeasuredPasses:
    """A loop whose passes tell a peak.

    Attributes:
        loop: it. read: the call of ``get_memory_info``. home: the loop, or the function that it calls, with the read.
    """

    loop: ast.For
    read: ast.Call
    home: ast.For | ast.FunctionDef


def measured_passes(tree: ast.Module, reads: Collection[int]) -> Iterator[MeasuredPasses]:
    """Yield the loops in which each pass reads one of some peaks, given by the ids of their calls.

    The caller has made sure that nothing in the file resets a peak.
    """
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    lists = _lists_of(tree)
    told: set[int] = set()
    for loop in (node for node in ast.walk(tree) if isinstance(node, ast.For)):
        if not _compares(loop, lists):
            continue
        names = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
        for home, read in _reads_in(loop, loop.body, functions, reads, _MOST_CALLS):
            if id(read) not in told and _works_with(loop, names) and _is_told(loop, read, home):
                told.add(id(read))
                yield MeasuredPasses(loop, read, home)


def _lists_of(tree: ast.Module) -> dict[str, ast.expr]:
    """Return the lists that names are bound to once, and those that are defaults of options, by ``.name``."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign([ast.Name(name)], value):
                found.setdefault(name, []).append(value)
            case ast.Call(ast.Attribute(attr="add_argument"), [*_, ast.Constant(str(flag))], keywords):
                default = next((keyword.value for keyword in keywords if keyword.arg == "default"), None)
                if default is not None:
                    found.setdefault("." + flag.lstrip("-").replace("-", "_"), []).append(default)
            case ast.Name(name, ast.Store()):
                found.setdefault(name, [])
            case _:
                pass
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def _compares(loop: ast.For, lists: Mapping[str, ast.expr]) -> bool:
    """True if a loop goes through several different constants, which do not rise from pass to pass."""
    iterated: ast.expr | None = loop.iter
    if isinstance(iterated, ast.Call) and dotted(iterated.func) == "enumerate" and iterated.args:
        iterated = iterated.args[0]
    if isinstance(iterated, ast.Name):
        iterated = lists.get(iterated.id)
    elif isinstance(iterated, ast.Attribute):
        iterated = lists.get(f".{iterated.attr}")
    if not isinstance(iterated, (ast.Tuple, ast.List)):
        return False
    values = [each.value for each in iterated.elts if isinstance(each, ast.Constant)]
    if len(values) < 2 or len(values) != len(iterated.elts) or len(set(values)) != len(values):
        return False
    if all(isinstance(value, str) and _DEVICE.search(value) for value in values):
        return False
    numbers = [value for value in values if isinstance(value, (int, float))]
    return len(numbers) != len(values) or not all(first < then for first, then in pairwise(numbers))


def _reads_in(
    home: ast.For | ast.FunctionDef,
    body: list[ast.stmt],
    functions: Mapping[str, ast.FunctionDef],
    reads: Collection[int],
    left: int,
) -> Iterator[tuple[ast.For | ast.FunctionDef, ast.Call]]:
    for node in (node for part in body for node in ast.walk(part)):
        if not isinstance(node, ast.Call):
            continue
        if id(node) in reads:
            yield home, node
        elif isinstance(node.func, ast.Name) and node.func.id in functions and left:
            called = functions[node.func.id]
            yield from _reads_in(called, called.body, functions, reads, left - 1)


def _works_with(loop: ast.For, names: Collection[str]) -> bool:
    """True if a call that does more than tell something is given what a pass is about."""
    for node in (node for part in loop.body for node in ast.walk(part)):
        if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] not in _SAY:
            given = (*node.args, *(keyword.value for keyword in node.keywords))
            if any(isinstance(part, ast.Name) and part.id in names for each in given for part in ast.walk(each)):
                return True
    return False


def _is_told(loop: ast.For, read: ast.Call, home: ast.AST) -> bool:
    """True if what a pass reads is used in that pass, and not only kept for what comes after the loop."""
    if home is not loop:
        return True
    for statement in loop.body:
        inside = any(node is read for node in ast.walk(statement))
        if not inside:
            continue
        if isinstance(statement, ast.Assign) and all(isinstance(target, ast.Name) for target in statement.targets):
            names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
            later = loop.body[loop.body.index(statement) + 1 :]
            used = (node for part in later for node in ast.walk(part))
            return any(isinstance(node, ast.Name) and node.id in names for node in used)
        return not any(isinstance(node, ast.Call) and dotted(node.func) == "max" for node in ast.walk(statement))
    return False
