"""The arguments that a function which is taken out of another one is to be called with."""

from __future__ import annotations

import ast
import re
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
    return {name: given_at(problem, len(problem.late) - 1, file, function, name, body) for name in names}


def given_at(
    problem: OrderProblem, position: int, file: CodeFile, function: cst.FunctionDef, name: str, body: str
) -> str:
    """Return what a parameter is given, followed from call to call back to the file where the new call is to be.

    Args:
        problem: the configuration that comes too late.
        position: of the step towards the configuration that is in the function.
        file, function: where that step is. name: the parameter. body: the code that needs it.

    Raises:
        Withheld: a call on the way gives what is not known where the new call is to be.
    """
    unknown = Withheld(f"it needs {name}, a parameter of {function.name.value}()")
    value, called = name, function
    for number in range(position - 1, -1, -1):
        step = problem.late[number]
        caller = problem.files.get(step.path)
        call = next((node for node in caller.tree.at(step.span) if isinstance(node, cst.Call)), None)
        defaults = dict(_positional(file, called))
        defined = [each for each in defaults if each not in ("self", "cls")]
        if call is None or any(argument.star for argument in call.args):
            # What pytest or a command gives is not known, a default is.
            if call is None and number == len(problem.late) - 2 and _is_literal(defaults.get(name, "")):
                return defaults[name]
            raise unknown
        path = path_of(ast.parse(value, mode="eval").body)
        given = (defaults | _arguments(caller, call, defined)).get(path[0] if path else "", "")
        if _is_literal(given):
            if value != path[0]:
                raise unknown
            return given
        value = given + value[len(path[0]) :] if path and given and value.startswith(path[0]) else ""
        if not value or not path_of(ast.parse(value, mode="eval").body):
            raise unknown
        if caller.path == problem.file.path and _is_in_place(problem, call):
            if not is_the_same_above(problem, call, value, name, body):
                raise unknown
            return value
        around = caller.tree.function_of(caller.tree.statement_of(call))
        if not isinstance(around, cst.FunctionDef) or not _keeps(caller, around, call, value):
            raise unknown
        file, called = caller, around
    raise unknown


def _is_in_place(problem: OrderProblem, call: cst.Call) -> bool:
    """True if a call stands in the block of the new one."""
    tree = problem.file.tree
    return call in tree.ranges and tree.statement_of(call) in tree.statements(tree.block_of(entry_place(problem)))


def _keeps(file: CodeFile, function: cst.FunctionDef, call: cst.Call, value: str) -> bool:
    """True if a value is one of a function's parameter, or a part of it, and nothing above the call changes it."""
    path = path_of(ast.parse(value, mode="eval").body)
    if not path or path[0] not in parameters_of(file, function):
        return False
    lines = file.tree.statements_within(function)
    above = next(
        (number for number, line in enumerate(lines) if file.tree.span(line).contains(file.tree.span(call))), 0
    )
    entries = [file.hoist.entry_of(line, file.hoist.read(line).copy(), 0) for line in lines[:above]]
    return not any(path[0] in entry.names.binds or overlap({path}, entry.touched) for entry in entries)


def constructor_argument(
    problem: OrderProblem, file: CodeFile, function: cst.FunctionDef, attribute: str, body: str
) -> str:
    """Return the code, for the place of the new call, of what ``__init__`` gives an attribute.

    Args:
        problem: the configuration that comes too late. file, function: the method in which it is.
        attribute: of ``self``. body: the code that needs it.

    Raises:
        Withheld: ``__init__`` gives it no constant and no argument that is known where the new call is to be.
    """
    unknown = Withheld(f"it needs self.{attribute}")
    tree = file.tree
    owner = next((node for node in tree.ancestors(function) if isinstance(node, cst.ClassDef)), None)
    inside = tree.statements_within(owner) if owner is not None else []
    methods = {each.name.value: each for each in inside if isinstance(each, cst.FunctionDef)}
    constructor = methods.get("__init__")
    if owner is None or constructor is None:
        raise unknown
    of_self = re.findall(rf"\bself\.{attribute}\s*=(?!=)", tree.code(owner))
    of_others = re.findall(rf"(?<!\bself)\.{attribute}\s*=(?!=)", tree.text)
    if len(of_self) != 1 or of_others:
        raise unknown
    value = assigned_last(file, tree.statements_within(constructor), f"self.{attribute}") or ""
    if _is_literal(value):
        return value
    parameters = dict(_positional(file, constructor))
    calls = [
        node
        for node in problem.file.tree.ranges
        if isinstance(node, cst.Call) and problem.file.tree.code(node.func).rpartition(".")[2] == owner.name.value
    ]
    if value not in parameters or len(calls) != 1 or any(argument.star for argument in calls[0].args):
        raise unknown
    given = {**parameters, **_arguments(problem.file, calls[0], list(parameters)[1:])}[value]
    if not _is_literal(given) and not is_the_same_above(problem, calls[0], given, attribute, body):
        raise unknown
    return given


def assigned_last(file: CodeFile, lines: Sequence[Statement], target: str) -> str | None:
    """Return the code of the value that the last plain statement of some gives to an attribute.

    None if there is none, or if it makes a call that may do anything.
    """
    found = None
    for statement in lines:
        node = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement
        if isinstance(node, cst.Assign) and len(node.targets) == 1 and file.tree.code(node.targets[0].target) == target:
            if file.hoist.unrelated_call(file.hoist.read(statement)):
                return None
            found = file.tree.code(node.value)
    return found


def _arguments(file: CodeFile, call: cst.Call, names: Sequence[str]) -> dict[str, str]:
    """Return the code of the arguments of a call by the names of the parameters that get them."""
    found = {}
    for number, argument in enumerate(call.args):
        name = argument.keyword.value if argument.keyword is not None else "".join(names[number : number + 1])
        found[name] = file.tree.code(argument.value)
    return found


def is_the_same_above(problem: OrderProblem, call: cst.CSTNode, value: str, name: str, body: str) -> bool:
    """True if an argument of a call has the same value already where the new call is to be, above it."""
    file = problem.file
    tree, hoist = file.tree, file.hoist
    place = entry_place(problem)
    statement = call if isinstance(call, (cst.BaseStatement, cst.BaseSmallStatement)) else tree.statement_of(call)
    path = path_of(ast.parse(value, mode="eval").body) if value else ()
    block = tree.statements(tree.block_of(place))
    around = next((line for line in block if tree.span(line).contains(tree.span(statement))), None)
    if not path or around is None or block.index(around) < block.index(place):
        return False
    read: set[Path] = {(*path, *part[1:]) for part in hoist.effects.parts(def_use_of(body)) if part[0] == name}
    entries = [hoist.entry_of(line, hoist.read(line), 0) for line in block[block.index(place) : block.index(around)]]
    if path[0] in hoist.read(around).binds:
        return False
    return not any(path[0] in entry.names.binds or overlap(read, entry.touched) for entry in entries)


def _is_literal(value: str) -> bool:
    try:
        ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return False
    return True


def _positional(file: CodeFile, function: cst.FunctionDef) -> list[tuple[str, str]]:
    """Return the parameters of a function with the code of their defaults, "" where there is none."""
    every = [*function.params.posonly_params, *function.params.params, *function.params.kwonly_params]
    return [
        (parameter.name.value, file.tree.code(parameter.default) if parameter.default is not None else "")
        for parameter in every
    ]
