"""Expressions whose values differ from one pass of a loop to the next."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)
_TAKING = frozenset({"next", "choice", "get_nowait", "pop", "popleft", "popitem", "randint", "randrange", "rotate"})
"""Functions, and methods, that have something else to give each time."""
_TAKING_WITHOUT_KEY = frozenset({"get", "recv", "getone", "blpop"})
"""Methods that do so if they get no key: those of queues."""


def varies(expressions: Iterable[ast.expr], within: ast.AST) -> bool:
    """Return True if some expression in a loop, or in a function, has another value each time, as its text tells.

    It depends on what the loop goes over, or on what it takes out of an iterator or a queue.
    """
    counted = {name for part in _of_loop(within) for name in _stored(part)}
    return any(
        _takes(node) if isinstance(node, ast.Call) else isinstance(node, ast.Name) and node.id in counted
        for expression in origins(expressions, within)
        for node in ast.walk(expression)
    )


def origins(expressions: Iterable[ast.expr], within: ast.AST) -> list[ast.expr]:
    """Return expressions, and all that is assigned in a loop, or in a function, to the names that they read."""
    assigned = _assigned(within)
    found, waiting, seen = list[ast.expr](), list(expressions), set[str]()
    while waiting:
        found.append(waiting.pop())
        for name in names_in(found[-1:]) - seen:
            seen.add(name)
            waiting += assigned.get(name, ())
    return found


def names_in(expressions: Iterable[ast.expr]) -> frozenset[str]:
    """Return the names that expressions read."""
    return frozenset(
        node.id for expression in expressions for node in ast.walk(expression) if isinstance(node, ast.Name)
    )


def given_for(function: ast.AST, call: ast.Call, names: frozenset[str]) -> list[ast.expr] | None:
    """Return what a call gives for parameters with these names; None if it is not plain which argument is whose."""
    arguments = getattr(function, "args", None)
    if not isinstance(arguments, ast.arguments):
        return None
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return None
    parameters = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    if parameters[:1] in (["self"], ["cls"]):
        parameters = parameters[1:]
    given = [value for name, value in zip(parameters, call.args, strict=False) if name in names]
    return [*given, *(each.value for each in call.keywords if each.arg in names)]


def _of_loop(loop: ast.AST) -> Iterator[ast.AST]:
    if isinstance(loop, _LOOPS):
        yield loop.target
    yield from (each.target for each in getattr(loop, "generators", ()))


def _stored(target: ast.AST) -> Iterator[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _assigned(within: ast.AST) -> Mapping[str, list[ast.expr]]:
    """Return what a loop, or a function, assigns to names each time."""
    found: dict[str, list[ast.expr]] = {}
    body = getattr(within, "body", ())
    for statement in body if isinstance(body, list) else ():
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    for name in _stored(target):
                        found.setdefault(name, []).append(node.value)
            elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
                for name in _stored(node.target):
                    found.setdefault(name, []).append(node.value)
            elif isinstance(node, _LOOPS):
                for name in _stored(node.target):
                    found.setdefault(name, []).append(node.iter)
    return found


def _takes(call: ast.Call) -> bool:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in _TAKING:
        # ``kwargs.pop("gpu", 0)`` is the same each time.
        return not any(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in call.args)
    return name in _TAKING_WITHOUT_KEY and isinstance(function, ast.Attribute) and not call.args
