"""Environment variables that a program gives to the processes that it starts.

Dictionaries for ``env=`` of ``subprocess`` and its kin, and Ray's ``env_vars``. TensorFlow in the child process reads
them as it reads those of its own process; to this process they do nothing, so that they are no event of its run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.interpreter.program import EnvWrite
from tfmemlint.interpreter.state import State
from tfmemlint.interpreter.values import Amount, Const, Value

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program

_Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_Pair = tuple[ast.expr | ast.keyword, ast.expr, ast.AST]
"""A name, its value, and the code that holds both."""


def child_writes(program: Program) -> Iterator[EnvWrite]:
    """Yield the variables with constant names that child processes get, one event for each place.

    Their values are constants, and numbers that a loop counts or that an annotation tells:
    ``env["CUDA_VISIBLE_DEVICES"] = gpu``.
    """
    if program.configuration is not None or not _may_start_processes(program.source.text):
        return
    with_ray = "ray" in program.source.text
    for scope in all_nodes(program.tree):
        if isinstance(scope, (ast.Module, *_SCOPES)):
            counted = None if _makes_texts(scope) else _counted(scope)
            for key, value, statement in _pairs_of(scope, with_ray):
                write = _write(program, key, value, statement, counted)
                if write is not None:
                    yield write


def _may_start_processes(text: str) -> bool:
    return "env_vars" in text or ("env" in text and "subprocess" in text)


def _pairs_of(scope: _Scope, with_ray: bool) -> Iterator[_Pair]:
    nodes = list(_own_nodes(scope))
    names: set[str] = set()
    for node in nodes:
        for given in _environments(node, with_ray):
            if isinstance(given, ast.Name):
                names.add(given.id)
            else:
                yield from _entries(given)
    for node in nodes:
        yield from _changes(node, names)


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a scope without those of the scopes in it, decorators with what they decorate."""
    for child in ast.iter_child_nodes(scope):
        if isinstance(child, _SCOPES):
            for decorator in getattr(child, "decorator_list", ()):
                yield decorator
                yield from _own_nodes(decorator)
            continue
        yield child
        yield from _own_nodes(child)


def _environments(node: ast.AST, with_ray: bool) -> Iterator[ast.expr]:
    """Yield the expressions for the environment of a child process."""
    if isinstance(node, ast.Call):
        is_start = isinstance(node.func, (ast.Attribute, ast.Name))
        for keyword in node.keywords:
            if is_start and ((keyword.arg == "env" and _starts(node.func)) or (keyword.arg == "env_vars" and with_ray)):
                yield keyword.value
    elif isinstance(node, ast.Dict) and with_ray:
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == "env_vars":
                yield value


_STARTS = frozenset({"run", "call", "check_call", "check_output", "Popen", "getoutput"})
_ASYNC_STARTS = frozenset({"create_subprocess_exec", "create_subprocess_shell"})


def _starts(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in _STARTS or name in _ASYNC_STARTS


def _entries(given: ast.expr) -> Iterator[_Pair]:
    """Yield the variables of a dictionary as it is written: ``{...}``, ``dict(os.environ, A="b")``, ``a | {...}``."""
    if isinstance(given, ast.Dict):
        for key, value in zip(given.keys, given.values, strict=True):
            if key is None:
                yield from _entries(value)
            else:
                yield key, value, given
    elif isinstance(given, ast.BinOp) and isinstance(given.op, ast.BitOr):
        yield from _entries(given.left)
        yield from _entries(given.right)
    elif isinstance(given, ast.Call) and isinstance(given.func, ast.Name) and given.func.id == "dict":
        for argument in given.args:
            yield from _entries(argument)
        for keyword in given.keywords:
            if keyword.arg is None:
                yield from _entries(keyword.value)
            else:
                yield keyword, keyword.value, given


def _changes(node: ast.AST, names: set[str]) -> Iterator[_Pair]:
    """Yield the variables that a statement puts into dictionaries with these names."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id in names:
            yield from _entries(node.value)
        elif isinstance(target, ast.Subscript) and _is_named(target.value, names):
            yield target.slice, node.value, node
    elif isinstance(node, ast.AnnAssign) and node.value is not None and _is_named(node.target, names):
        yield from _entries(node.value)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_named(node.func.value, names):
        if node.func.attr == "update":
            for argument in node.args:
                yield from _entries(argument)
            for keyword in node.keywords:
                if keyword.arg is not None:
                    yield keyword, keyword.value, node
        elif node.func.attr == "setdefault" and len(node.args) == 2:
            yield node.args[0], node.args[1], node


def _is_named(node: ast.expr, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _makes_texts(scope: _Scope) -> bool:
    """Return True if a scope makes texts of all values of some dictionary: ``{key: str(value) for ...}``."""
    return any(
        isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "str"
        for node in _own_nodes(scope)
        if isinstance(node, (ast.DictComp, ast.GeneratorExp))
        for part in ast.walk(node)
    )


def _counted(scope: _Scope) -> frozenset[str]:
    """Return the names of a scope that are numbers: those that a loop counts, and parameters that say so."""
    bound: list[str] = []
    numbers: set[str] = set()
    if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        for parameter in (*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs):
            if isinstance(parameter.annotation, ast.Name) and parameter.annotation.id in ("int", "float"):
                numbers.add(parameter.arg)
                bound.append(parameter.arg)
    for node in _own_nodes(scope):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.append(node.id)
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name):
            target, how = node.target, node.iter.func.id
            if how == "enumerate" and isinstance(target, ast.Tuple):
                target, how = target.elts[0], "range"
            if how == "range" and isinstance(target, ast.Name):
                numbers.add(target.id)
    return frozenset(name for name in numbers if bound.count(name) == 1)


def _value_of(node: ast.expr, counted: frozenset[str] | None) -> Value | None:
    """Return the value that a child process gets, or is refused; None if it is not known.

    ``counted``: names that are numbers; None if numbers are made texts of later.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return Const(node.value)
    if counted is None:
        return None
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return Const(node.value)
    return Amount("number") if isinstance(node, ast.Name) and node.id in counted else None


def _write(
    program: Program, key: ast.expr | ast.keyword, value: ast.expr, statement: ast.AST, counted: frozenset[str] | None
) -> EnvWrite | None:
    name = key.arg if isinstance(key, ast.keyword) else key.value if isinstance(key, ast.Constant) else None
    got = _value_of(value, counted)
    if not isinstance(name, str) or got is None:
        return None
    if "env_vars" in program.source.text and not (isinstance(got, Const) and isinstance(got.value, str)):
        # Ray tells of a number in words of its own.
        return None
    source = program.source
    key_span = None if isinstance(key, ast.keyword) else source.span(key)
    given = source.span(value)
    return EnvWrite(
        path=source.path,
        span=source.span(key) if key_span is None else key_span,
        statement=source.span(statement),
        state=State(),
        name=name,
        value=got,
        text=source.segment(given),
        how="child",
        key=key_span,
        given=given,
    )
