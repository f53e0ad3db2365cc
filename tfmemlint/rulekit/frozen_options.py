"""Options of a command line that change nothing: ``add_argument("--growth", action="store_false", default=False)``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from tfmemlint.facts.statements import blocks_of, own_nodes
from tfmemlint.facts.syntax import dotted, leaves_block
from tfmemlint.facts.tree_walk import nodes, scope_nodes
from tfmemlint.model.intent import Purpose
from tfmemlint.model.patterns import late_pattern
from tfmemlint.model.records import dataclass
from tfmemlint.rulekit.gpu_purposes import purposes_in
from tfmemlint.rulekit.option_names import destination_of, full_name

_NEGATIVE = late_pattern(r"-{0,2}(?:no|not|without|disable|skip|dont|never|off)[-_]", re.IGNORECASE)
_OTHER_SOURCES = frozenset({"set_defaults", "setattr", "__dict__", "configargparse", "jsonargparse", "set_default"})
"""Names in a file that may give an option a value in another way."""
_ACTIONS = {"store_true": True, "store_false": False}
_MAX_ROUNDS = 4
"""Names and parameters through which the value of an option goes."""
Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class FrozenOption:
    """An option that is the same with and without it.

    Attributes:
        call: where it is declared. name: as it is written. value: what it always is. action, default: the expressions
            to correct. negative: it is named for what it turns off. reads_positive: the name it is read under is not.
        purpose: what is configured depending on it. configured: where. runs: it is always configured, not never.
    """

    call: ast.Call
    name: str
    value: bool
    action: ast.expr
    default: ast.expr
    negative: bool
    reads_positive: bool
    purpose: Purpose
    configured: ast.AST
    runs: bool


@dataclass(frozen=True, slots=True)
class _Declared:
    call: ast.Call
    name: str
    destination: str
    action: ast.expr
    default: ast.expr
    value: bool


def frozen_options(tree: ast.Module) -> Iterator[FrozenOption]:
    """Yield the options that can't change whether a module configures GPUs."""
    everything = nodes(tree)
    declared = _declared(everything)
    if not declared or _has_other_source(everything):
        return
    functions: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
    for node in everything:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            functions.setdefault(node.name, []).append(node)
    for option in declared:
        if _is_stored(option.destination, everything):
            continue
        carriers = _carriers(option.destination, tree, functions)
        found = next(_decided(option, tree, carriers, functions), None)
        if found is None:
            continue
        runs, purpose, node = found
        negative, reads = _NEGATIVE.match(option.name) is not None, _NEGATIVE.match(option.destination) is None
        yield FrozenOption(
            *(option.call, option.name, option.value, option.action, option.default),
            *(negative, reads, purpose, node, runs),
        )


def _declared(everything: Sequence[ast.AST]) -> list[_Declared]:
    found: dict[str, list[_Declared | None]] = {}
    for node in everything:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr not in ("add_argument", "add_option"):
            continue
        words = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        given = keywords.get("dest")
        if not words or None in keywords or (given is not None and not isinstance(given, ast.Constant)):
            continue
        destination = destination_of(words, keywords)
        found.setdefault(destination, []).append(_frozen(node, full_name(words), destination, keywords))
    return [each[0] for each in found.values() if len(each) == 1 and each[0] is not None]


def _frozen(call: ast.Call, name: str, destination: str, keywords: dict[str | None, ast.expr]) -> _Declared | None:
    match keywords.get("action"), keywords.get("default"):
        case ast.Constant(value=str(action)) as written, ast.Constant(value=bool(default)) as said:
            if _ACTIONS.get(action) is default:
                return _Declared(call, name, destination, written, said, default)
    return None


def _has_other_source(everything: Sequence[ast.AST]) -> bool:
    """True if an option may get its value otherwise: from a file, or by its name."""
    for node in everything:
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name) if name in _OTHER_SOURCES:
                return True
            case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="vars")), attr="update" | "__setitem__")):
                return True
            case ast.Subscript(value=ast.Call(func=ast.Name(id="vars")), ctx=ast.Store()):
                return True
            case ast.keyword(arg="namespace" | "argument_default" | "fromfile_prefix_chars"):
                return True
            case ast.Call(func=func, args=args, keywords=keywords):
                # ``Namespace(**{**vars(args), **settings})``
                last = dotted(func).rpartition(".")[2]
                if last in ("Namespace", "SimpleNamespace") and (args or keywords):
                    return True
            case _:
                pass
    return False


def _is_stored(name: str, everything: Sequence[ast.AST]) -> bool:
    """True if something else of that name is assigned: a field, or the option itself."""
    for node in everything:
        match node:
            case ast.Attribute(value=owner, attr=attribute, ctx=ast.Store()) if attribute == name:
                if not dotted(owner).endswith("gpu_options"):
                    return True
            case ast.ClassDef(body=body):
                for statement in body:
                    if isinstance(statement, ast.AnnAssign) and getattr(statement.target, "id", "") == name:
                        return True
            case _:
                pass
    return False


Functions = dict[str, "list[ast.FunctionDef | ast.AsyncFunctionDef]"]


def _carriers(destination: str, tree: ast.Module, functions: Functions) -> set[tuple[int, str]]:
    """Return the names that have the value of an option: each with the id of the function or module that has it."""
    scopes: list[Scope] = [tree, *(function for group in functions.values() for function in group)]
    found: set[tuple[int, str]] = set()
    for _ in range(_MAX_ROUNDS):
        before = len(found)
        for scope in scopes:
            for node in scope_nodes(scope):
                match node:
                    case ast.Assign(targets=[ast.Name(id=name)], value=value):
                        if _is_option(value, destination, scope, tree, found) and _binds_once(scope, name):
                            found.add((id(scope), name))
                    case ast.Call(func=func):
                        called = functions.get(dotted(func), [])
                        if len(called) == 1:
                            found |= _parameters_of(node, called[0], destination, scope, tree, found, scopes)
                    case _:
                        pass
        if len(found) == before:
            break
    return found


def _binds_once(scope: Scope, name: str) -> bool:
    stores = [
        node
        for node in scope_nodes(scope)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
    ]
    return len(stores) == 1


def _parameters_of(
    call: ast.Call,
    function: ast.FunctionDef | ast.AsyncFunctionDef,
    destination: str,
    scope: Scope,
    tree: ast.Module,
    found: set[tuple[int, str]],
    scopes: Sequence[Scope],
) -> set[tuple[int, str]]:
    """Return the parameters that get the option, of a function that is called in one place."""
    plain = [*function.args.posonlyargs, *function.args.args]
    pairs = [(parameter.arg, value) for parameter, value in zip(plain, call.args, strict=False)]
    pairs += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
    given = {
        name
        for name, value in pairs
        if _is_option(value, destination, scope, tree, found) and not _stores(function, name)
    }
    if not given:
        return set()
    named = [
        node
        for each in scopes
        for node in scope_nodes(each)
        if isinstance(node, (ast.Name, ast.Attribute)) and dotted(node).rpartition(".")[2] == function.name
    ]
    return {(id(function), name) for name in given} if len(named) == 1 else set()


def _stores(function: Scope, name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for node in scope_nodes(function)
    )


def _is_option(
    node: ast.expr, destination: str, scope: Scope, tree: ast.Module, carriers: set[tuple[int, str]]
) -> bool:
    match node:
        case ast.Attribute(attr=name, ctx=ast.Load(), value=ast.Name() | ast.Attribute()):
            return name == destination and dotted(node.value) not in ("self", "cls", "tf")
        case ast.Name(id=name):
            if (id(scope), name) in carriers:
                return True
            return (id(tree), name) in carriers and scope is not tree and not _is_own(scope, name)
        case _:
            return False


def _is_own(scope: Scope, name: str) -> bool:
    if isinstance(scope, ast.Module):
        return True
    arguments = scope.args
    return _stores(scope, name) or any(
        each.arg == name for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    )


def _decided(
    option: _Declared, tree: ast.Module, carriers: set[tuple[int, str]], functions: Functions
) -> Iterator[tuple[bool, Purpose, ast.AST]]:
    """Yield what the option decides: whether that always runs, what is configured, and where."""
    pending: list[tuple[Scope, Sequence[ast.stmt]]] = [(tree, tree.body)]
    while pending:
        scope, body = pending.pop()
        for number, statement in enumerate(body):

            def is_option(node: ast.expr, scope: Scope = scope) -> bool:
                return _is_option(node, option.destination, scope, tree, carriers)

            if isinstance(statement, ast.If):
                holds = _needs(statement.test, is_option)
                if holds is not None:
                    rest = body[number + 1 :] if leaves_block(statement.body) and not statement.orelse else ()
                    then, other = statement.body, [*statement.orelse, *rest]
                    yield from _configured(option, then if holds else other, other if holds else then, functions)
            for node in (statement, *own_nodes(statement)):
                value = _setting(node)
                if value is not None and is_option(value[1]):
                    yield option.value, value[0], node
            within = statement if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) else scope
            pending += [(within, block) for block in blocks_of(statement)]


def _configured(
    option: _Declared, on: Sequence[ast.AST], off: Sequence[ast.AST], functions: Functions
) -> Iterator[tuple[bool, Purpose, ast.AST]]:
    """Yield what is configured in one of two branches only: ``on`` is that in which the option is true."""
    first, second = purposes_in(on, functions), purposes_in(off, functions)
    for own, other, runs in ((first, second, option.value), (second, first, not option.value)):
        for purpose, node in own.items():
            if purpose not in other:
                yield runs, purpose, node


def _needs(test: ast.expr, is_option: object) -> bool | None:
    """Return what the option has to be for a condition to hold, True or False; None if it isn't asked for alone."""
    assert callable(is_option)
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return False if is_option(operand) else None
        case ast.BoolOp(op=ast.And(), values=parts):
            return next((found for part in parts if (found := _needs(part, is_option)) is not None), None)
        case ast.Compare(left=left, ops=[ast.Is() | ast.Eq()], comparators=[ast.Constant(value=bool(value))]):
            return value if is_option(left) else None
        case _:
            return True if is_option(test) else None


def _setting(node: ast.AST) -> tuple[Purpose, ast.expr] | None:
    """Return what memory growth is set to, where that is a name."""
    match node:
        case ast.Call(func=func, args=[_, value]) if dotted(func).endswith("set_memory_growth"):
            return Purpose.GROWTH, value
        case ast.Assign(targets=[ast.Attribute(attr="allow_growth")], value=value):
            return Purpose.GROWTH, value
        case ast.keyword(arg="allow_growth", value=value):
            return Purpose.GROWTH, value
        case _:
            return None


__all__ = ["FrozenOption", "frozen_options"]
