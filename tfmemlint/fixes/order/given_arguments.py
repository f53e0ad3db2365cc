"""The arguments that a function which is taken out of another one is to be called with."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from textwrap import dedent

import libcst as cst

from tfmemlint.fixes.access_paths import Path, overlap, path_of
from tfmemlint.fixes.concrete_tree import Statement
from tfmemlint.fixes.def_use import def_use_of
from tfmemlint.fixes.order.entry_place import entry_place
from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.problem import OrderProblem
from tfmemlint.fixes.withheld import Withheld


def parameters_of(file: CodeFile, function: cst.FunctionDef) -> set[str]:
    """Return the names of the parameters of a function."""
    empty = function.with_changes(body=cst.SimpleStatementSuite([cst.Pass()]), leading_lines=[], decorators=[])
    node = ast.parse(dedent(file.tree.code(empty))).body[0]
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    return {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}


def given_arguments(
    problem: OrderProblem, file: CodeFile, function: cst.FunctionDef, names: Sequence[str], body: str
) -> dict[str, str]:
    """Return the parameters that the configuration needs, with the code of what they are given.

    Args:
        problem: the configuration that comes too late. file, function: where it is.
        names: the parameters that it needs. body: its code.

    Raises:
        Withheld: the call that leads to the configuration gives what is not known where the new call is to be.
    """
    step = problem.late[-2] if len(problem.late) > 1 else None
    if step is None:
        raise Withheld(f"it needs {names[0]}, a parameter of {function.name.value}()")
    caller = problem.files.get(step.path)
    call = next((node for node in caller.tree.at(step.span) if isinstance(node, cst.Call)), None)
    values = dict(_positional(file, function))
    defined = list(values)
    if defined[:1] in (["self"], ["cls"]):
        defined = defined[1:]
    for number, argument in enumerate(call.args if call is not None else ()):
        if argument.star:
            raise Withheld(f"it needs {names[0]}, a parameter of {function.name.value}()")
        name = argument.keyword.value if argument.keyword is not None else (defined[number : number + 1] or [""])[0]
        values[name] = caller.tree.code(argument.value)
    found = {name: values.get(name, "") for name in names}
    for name, value in found.items():
        if not _is_literal(value) and not (call is not None and _is_known_above(problem, call, name, value, body)):
            raise Withheld(f"it needs {name}, a parameter of {function.name.value}()")
    return found


def _is_literal(value: str) -> bool:
    try:
        ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return False
    return True


def _is_known_above(problem: OrderProblem, call: cst.Call, name: str, value: str, body: str) -> bool:
    """True if an argument has the same value already where the new call is to be."""
    file = problem.file
    tree, hoist = file.tree, file.hoist
    if len(problem.late) != 2 or call not in tree.ranges:
        return False
    place, statement = entry_place(problem), tree.statement_of(call)
    path = path_of(ast.parse(value, mode="eval").body) if value else ()
    block = tree.statements(tree.block_of(place))
    if not path or statement not in block or place not in block:
        return False
    effects = hoist.effects
    read: set[Path] = {(*path, *part[1:]) for part in effects.parts(def_use_of(body)) if part[0] == name}
    between: Sequence[Statement] = block[block.index(place) : block.index(statement)]
    entries = [hoist.entry_of(line, hoist.read(line), 0) for line in between]
    return not any(path[0] in entry.names.binds or overlap(read, entry.touched) for entry in entries)


def _positional(file: CodeFile, function: cst.FunctionDef) -> list[tuple[str, str]]:
    """Return the parameters of a function with the code of their defaults, "" where there is none."""
    every = [*function.params.posonly_params, *function.params.params, *function.params.kwonly_params]
    return [
        (parameter.name.value, file.tree.code(parameter.default) if parameter.default is not None else "")
        for parameter in every
    ]
