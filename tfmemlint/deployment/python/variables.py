"""The variables that a Python file gives to a process that it starts."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint.deployment.python.scopes import MAX_DEPTH, Scope
from tfmemlint.deployment.python.texts import text_of
from tfmemlint.facts.syntax import dotted

Variables = dict[str, "tuple[str | None, ast.AST | None]"]
"""The value of each variable, None if it is not known, and the code that sets it."""
_OWN = frozenset({"os.environ", "environ"})


def variables_given(environment: ast.expr | None, call: ast.Call, scope: Scope) -> Variables | None:
    """Return the variables that are set for a process, besides those that the program itself was started with; None if
    that is not known.

    Args:
        environment: what is given for ``env``; None if nothing is.
        call: what starts the process. scope: where that stands.
    """
    if environment is None or (isinstance(environment, ast.Constant) and environment.value is None):
        return _own(call, scope)
    return _of(environment, call, scope, 0)


def _own(before: ast.AST, scope: Scope) -> Variables:
    """Return the variables that the program has set for itself before a place in a scope."""
    found: Variables = {}
    outer: Scope | None = scope
    chain: list[Scope] = []
    while outer is not None:
        chain.insert(0, outer)
        outer = outer.outer
    for each in chain:
        for target, name, value, place in _changes(each):
            if dotted(target) in _OWN and (each is not scope or _is_before(place, before)):
                found[name] = (None if _may_not_run(place, before, each) else text_of(value, each), place)
    return found


def _of(node: ast.expr, call: ast.AST, scope: Scope, depth: int) -> Variables | None:
    if depth > MAX_DEPTH:
        return None
    below = depth + 1
    match node:
        case _ if dotted(node) in _OWN:
            return _own(call, scope)
        case ast.Dict(keys=keys, values=values):
            found: Variables = {}
            for key, value in zip(keys, values, strict=True):
                if key is None:
                    inner = _of(value, call, scope, below)
                    if inner is None:
                        return None
                    found |= inner
                elif isinstance(key, ast.Constant) and isinstance(key.value, str):
                    found[key.value] = text_of(value, scope), value
            return found
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            first, second = _of(left, call, scope, below), _of(right, call, scope, below)
            return None if first is None or second is None else first | second
        case ast.Call(func=ast.Attribute(value=base, attr="copy"), args=[]):
            return _of(base, call, scope, below)
        case ast.Call(func=ast.Name(id="dict") | ast.Attribute(attr="copy" | "deepcopy"), args=args, keywords=keywords):
            found = {}
            for each in [*args, *(keyword.value for keyword in keywords if keyword.arg is None)]:
                inner = _of(each, call, scope, below)
                if inner is None:
                    return None
                found |= inner
            return found | {
                each.arg: (text_of(each.value, scope), each.value) for each in keywords if each.arg is not None
            }
        case ast.Call(func=ast.Name(id=name)) if len(scope.file.functions.get(name, ())) == 1:
            return _returned(node, scope, below)
        case ast.Name(id=name):
            return _named(name, call, scope, below)
        case _:
            return None


def _named(name: str, call: ast.AST, scope: Scope, depth: int) -> Variables | None:
    """Return the variables of a dictionary with a name, with those that are put into it before it is given."""
    if name in scope.given:
        given, outer, is_item = scope.given[name]
        return None if is_item else _of(given, given, outer, depth)
    bound = scope.bound(name)
    if bound is None or not isinstance(bound[1], ast.Name):
        outer_scope = scope.outer
        return None if scope.holds(name) or outer_scope is None else _named(name, call, outer_scope, depth)
    found = _of(bound[0], call, scope, depth)
    if found is None:
        return None
    for target, key, value, place in _changes(scope):
        if isinstance(target, ast.Name) and target.id == name and _is_before(place, call):
            found[key] = (None if _may_not_run(place, call, scope) else text_of(value, scope), place)
    return found


def _returned(call: ast.Call, scope: Scope, depth: int) -> Variables | None:
    """Return the variables of the dictionary that a function of the file makes."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    (function,) = scope.file.functions[name]
    given = next((given for each, given in scope.file.calls_of(function) if each is call), None)
    returns = [each for each in ast.walk(function) if isinstance(each, ast.Return)]
    if given is None or len(returns) != 1 or returns[0].value is None:
        return None
    own = {name: (value, scope, is_item) for name, (value, _, is_item) in given.items()}
    return _of(returns[0].value, returns[0], Scope(scope.file, function, own), depth)


def _changes(scope: Scope) -> Iterator[tuple[ast.expr, str, ast.expr, ast.AST]]:
    """Yield what a scope puts into dictionaries: the dictionary, the key, the value, and the place."""
    for node in scope.own_nodes():
        match node:
            case ast.Assign(targets=[ast.Subscript(value=base, slice=ast.Constant(value=str() as key))], value=value):
                yield base, key, value, node
            case ast.Call(func=ast.Attribute(value=base, attr="update"), args=args, keywords=keywords):
                for given in args:
                    if isinstance(given, ast.Dict):
                        for inner, value in zip(given.keys, given.values, strict=True):
                            if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                                yield base, inner.value, value, value
                yield from ((base, each.arg, each.value, each.value) for each in keywords if each.arg is not None)
            case _:
                pass


def _is_before(place: ast.AST, call: ast.AST) -> bool:
    return getattr(place, "lineno", 0) < getattr(call, "lineno", 0)


_BRANCHES = (ast.If, ast.Try, ast.While, ast.ExceptHandler, ast.Match)


def _may_not_run(place: ast.AST, call: ast.AST, scope: Scope) -> bool:
    """True if a statement may not run, although what comes after it does."""
    around = set(scope.file.around(call))
    for each in scope.file.around(place):
        if each in around or each is scope.function:
            return False
        if isinstance(each, _BRANCHES):
            return True
    return False
