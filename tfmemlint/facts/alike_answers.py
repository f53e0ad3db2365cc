"""Functions that give the same answer to the same arguments throughout a run, as far as their own code tells."""

from __future__ import annotations

import ast

from tfmemlint.facts.syntax import dotted
from tfmemlint.facts.tree_walk import nodes

READS_ENVIRONMENT = frozenset({"os.environ.get", "environ.get", "os.getenv", "getenv"})
"""Calls that read a variable, which only the program itself changes."""
_BUILTINS = frozenset(
    {
        "abs",
        "all",
        "any",
        "bool",
        "float",
        "frozenset",
        "int",
        "isinstance",
        "len",
        "list",
        "max",
        "min",
        "repr",
        "round",
    }
    | {"set", "sorted", "str", "sum", "tuple"}
)
METHODS_OF_TEXTS = frozenset(
    {"capitalize", "casefold", "endswith", "find", "isalpha", "isdecimal", "isdigit", "isnumeric", "lower", "lstrip"}
    | {"partition", "removeprefix", "removesuffix", "replace", "rstrip", "rpartition", "split", "startswith", "strip"}
    | {"title", "upper"}
)
"""Methods of strings, which depend on nothing else."""
_STATEMENTS = (ast.Return, ast.If, ast.Expr, ast.Assign, ast.AnnAssign, ast.Pass, ast.Raise, ast.Try, ast.Assert)


def answers_alike(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
    """True if a function only computes its result from its arguments, from constants and from the environment.

    A name that it does not bind itself is taken for a constant if it is written in capital letters.
    """
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return False
    arguments = function.args
    bound = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    if arguments.vararg is not None or arguments.kwarg is not None:
        return False
    parts = [part for statement in function.body for part in nodes(statement)]
    bound |= {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    return all(_is_plain(part, bound) for part in parts)


def _is_plain(part: ast.AST, bound: set[str]) -> bool:
    match part:
        case ast.Call(func=ast.Name(id=name)):
            return name in _BUILTINS or name in READS_ENVIRONMENT
        case ast.Call(func=ast.Attribute(attr=name) as called):
            return name in METHODS_OF_TEXTS or dotted(called) in READS_ENVIRONMENT
        case ast.Call() | ast.Await() | ast.Yield() | ast.YieldFrom() | ast.Lambda() | ast.NamedExpr():
            return False
        case ast.Name(id=name, ctx=ast.Load()):
            return name in bound or name in _BUILTINS or name in {"os", "environ", "getenv"} or name.isupper()
        case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
            return False
        case ast.stmt():
            return isinstance(part, _STATEMENTS)
        case _:
            return True
