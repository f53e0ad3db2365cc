"""Uses of the words that ``parse_known_args`` leaves at which no option is looked at: those that only take words of
another kind (``[word for word in rest if word.startswith("+")]``), and those that only show them to people."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint.facts.tree_walk import all_nodes

_SHOWING = frozenset({"print", "pprint", "warn", "warning", "info", "debug"})
"""Functions that show something to people, and the methods of a log that do."""


def idle_uses(tree: ast.AST) -> frozenset[int]:
    """Return the ids of the names in a module whose value is only searched for words that are no options, or shown."""
    return frozenset(id(name) for node in all_nodes(tree) for name in _idle_in(node))


def _idle_in(node: ast.AST) -> Iterator[ast.Name]:
    match node:
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            for part in node.generators:
                if isinstance(part.iter, ast.Name) and isinstance(part.target, ast.Name):
                    name = part.target.id
                    if any(_is_no_option(test, name) for test in part.ifs):
                        yield part.iter
        case ast.For(ast.Name(name), ast.Name() as words, [ast.If(test, orelse=[])]) if _is_no_option(test, name):
            yield words
        case ast.Call(ast.Name("filter"), [ast.Lambda(arguments, test), ast.Name() as words]) if arguments.args:
            if _is_no_option(test, arguments.args[0].arg):
                yield words
        case ast.Expr(ast.Call() as call) if _shows(call):
            yield from _shown(call)
        case ast.If(ast.Name() as words, body, []) if all(map(_only_shows, body)):
            yield words
        case _:
            pass


def _only_shows(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and _shows(statement.value)


def _shows(call: ast.Call) -> bool:
    match call.func:
        case ast.Name(name) | ast.Attribute(ast.Name(), name):
            return name in _SHOWING
        case _:
            return False


def _shown(call: ast.Call) -> Iterator[ast.Name]:
    """Yield the names that a call shows as they are, or within a text."""
    waiting: list[ast.expr] = list(call.args)
    while waiting:
        match waiting.pop():
            case ast.Name() as words:
                yield words
            case ast.JoinedStr(values):
                waiting += [value.value for value in values if isinstance(value, ast.FormattedValue)]
            case ast.Call(ast.Attribute(ast.Constant(), "join" | "format"), arguments):
                waiting += arguments
            case ast.BinOp(left, ast.Mod() | ast.Add(), right):
                waiting += [left, right]
            case _:
                pass


def _is_no_option(test: ast.expr, name: str) -> bool:
    """True if a condition holds for no word that begins with a dash."""
    match test:
        case ast.BoolOp(ast.And(), values):
            return any(_is_begin(value, name) for value in values)
        case _:
            return _is_begin(test, name)


def _is_begin(test: ast.expr, name: str) -> bool:
    match test:
        case ast.Call(ast.Attribute(ast.Name(word), "startswith"), [begin]) if word == name:
            begins = begin.elts if isinstance(begin, ast.Tuple) else [begin]
            return bool(begins) and all(map(_is_no_dash, begins))
        case ast.UnaryOp(ast.Not(), ast.Call(ast.Attribute(ast.Name(word), "startswith"), [ast.Constant("-" | "--")])):
            return word == name
        case ast.Compare(ast.Subscript(ast.Name(word), ast.Constant(0)), [ast.Eq()], [first]) if word == name:
            return _is_no_dash(first)
        case ast.Compare(ast.Subscript(ast.Name(word), ast.Constant(0)), [ast.NotEq()], [ast.Constant("-")]):
            return word == name
        case _:
            return False


def _is_no_dash(node: ast.expr) -> bool:
    """True for a text that is not empty and does not begin with a dash."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value[:1] not in ("", "-")
