"""Stateless questions about the syntax tree: the effect of a handler, the name of a condition."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from tfmemlint.facts.tree_walk import all_nodes

_TALK = frozenset(
    {
        "print",
        "warn",
        "warning",
        "warnings.warn",
        "info",
        "debug",
        "error",
        "exception",
        "critical",
        "log",
        "print_exc",
        "write",
        "pprint",
    }
)
_WORDS = frozenset(
    {"str", "repr", "format", "format_exc", "type", "join", "len", "exc_info", "style", "upper", "colored"}
)
"""Functions that compose a message; any other call within a message does work of its own."""
_EXITS = frozenset({"exit", "quit", "sys.exit", "os._exit", "os.abort", "pytest.skip", "pytest.exit", "self.skipTest"})


def dotted(node: ast.expr) -> str:
    """Return ``a.b.c`` for a chain of names, "" for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    return ".".join(reversed(parts))


def last_word(node: ast.expr) -> str:
    """Return the last name of an expression: ``limit_gb`` of ``config["gpu"]["limit_gb"]``, and of
    ``config.get("limit_gb")``."""
    match node:
        case ast.Name(name) | ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(str() as name)):
            return name
        case ast.Call(
            func=ast.Attribute(attr="get" | "getint" | "getfloat" | "pop"), args=[ast.Constant(str() as name), *_]
        ):
            return name
        case ast.Call(func=ast.Name("getattr"), args=[_, ast.Constant(str() as name), *_]):
            return name
        case ast.Call(func=func, args=[only]) if isinstance(func, ast.Name) and func.id in ("int", "float", "round"):
            return last_word(only)
        case _:
            return ""


def handler_types(handler: ast.ExceptHandler) -> tuple[str, ...]:
    """Return the exceptions that a handler names, as written except for ``tensorflow``; ``("*",)`` for a bare
    ``except``."""
    if handler.type is None:
        return ("*",)
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return tuple(dotted(node).replace("tensorflow.", "tf.", 1) or "?" for node in types)


def is_idle(body: Sequence[ast.stmt]) -> bool:
    """Return True if statements only pass, print, log, or warn."""
    return all(_is_idle(statement) for statement in body)


def gives_up(body: Sequence[ast.stmt]) -> bool:
    """Return True if statements only report a failure: idle ones, and the return of a constant, or of nothing."""
    last = body[-1] if body else None
    returns = isinstance(last, ast.Return) and (last.value is None or isinstance(last.value, ast.Constant))
    return is_idle(body[:-1] if returns else body)


def is_silent(body: Sequence[ast.stmt]) -> bool:
    """Return True if statements do nothing at all."""
    return all(
        isinstance(statement, (ast.Pass, ast.Continue))
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for statement in body
    )


def _is_idle(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.Continue():
            return True
        case ast.Expr(value=ast.Call() as call):
            told = (*call.args, *(keyword for keyword in call.keywords if not _is_nowhere(keyword.value)))
            return talks(call) and all(_last(inner.func) in _WORDS for part in told for inner in _calls_in(part))
        case _:
            return False


def _is_nowhere(node: ast.expr) -> bool:
    """Return True for ``open(os.devnull, "w")``."""
    match node:
        case ast.Call(func=ast.Name("open"), args=[file, *_]):
            return dotted(file) == "os.devnull"
        case _:
            return False


def talks(node: ast.expr) -> bool:
    """Return True for a call that prints, logs, or warns."""
    func = node.func if isinstance(node, ast.Call) else None
    return func is not None and (dotted(func) in _TALK or (isinstance(func, ast.Attribute) and func.attr in _TALK))


def _calls_in(node: ast.AST) -> Iterator[ast.Call]:
    return (child for child in ast.walk(node) if isinstance(child, ast.Call))


def _last(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else dotted(func)


def ends_in_exit(body: Sequence[ast.stmt]) -> bool:
    """Return True if statements end by raising or by leaving the program."""
    if not body:
        return False
    match body[-1]:
        case ast.Raise():
            return True
        case ast.Expr(value=ast.Call(func=func)):
            return dotted(func) in _EXITS
        case _:
            return False


def leaves_block(body: Sequence[ast.stmt]) -> bool:
    """Return True if nothing behind the block that statements stand in is reached from their end."""
    return ends_in_exit(body) or (bool(body) and isinstance(body[-1], (ast.Return, ast.Continue, ast.Break)))


def times_bound(tree: ast.AST) -> Counter[str]:
    """Return how often each name is bound in some code, as a variable or as a parameter."""
    found = all_nodes(tree)
    stored = (node.id for node in found if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return Counter([*stored, *(node.arg for node in found if isinstance(node, ast.arg))])


def required_parameters(arguments: ast.arguments) -> tuple[list[str], list[str]]:
    """Return the parameters without a default: those that a call can give by position, and those by keyword alone."""
    plain = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return plain[: len(plain) - len(arguments.defaults)], [each.arg for each, default in named if default is None]


def may_exit(func: ast.expr) -> bool:
    """Return True if a call may end the program, judged by the last component of its name."""
    return (func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")) in _LAST_OF_EXITS


_LAST_OF_EXITS = frozenset(name.rpartition(".")[2] for name in _EXITS)


def is_exit(name: str) -> bool:
    """Return True if a call of this name ends the program, or the test."""
    return name in _EXITS


AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef


def function_around(tree: ast.AST, row: int) -> AnyFunction | None:
    """Return the innermost function around a row; None for the module itself."""
    found: AnyFunction | None = None
    for node in _functions(tree):
        if node.lineno <= row <= (node.end_lineno or 0):
            found = node  # Outer functions come first.
    return found


@lru_cache(maxsize=4)
def _functions(tree: ast.AST) -> list[AnyFunction]:
    """Return the functions of a module, outer ones first."""
    return [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def assigned_names(body: Sequence[ast.AST], *, expressions: bool = True) -> set[str]:
    """Return the plain names that statements bind, without those of nested functions and classes.

    Without ``expressions``, expressions are not searched, which is several times faster: only ``:=`` and comprehensions
    bind names in them, and those of comprehensions are not names of the function.
    """
    found: set[str] = set()
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.Starred):
            pending.append(node.value)
        elif not isinstance(node, ast.Lambda):
            for name in node._fields:
                child = getattr(node, name)
                if isinstance(child, list):
                    # `global` and class patterns have lists of plain text.
                    pending.extend(item for item in child if isinstance(item, ast.AST))
                elif isinstance(child, ast.AST) and (expressions or name not in _READ):
                    pending.append(child)
    return found


_READ = frozenset({"value", "test", "iter", "returns", "annotation", "exc", "cause", "msg", "subject", "context_expr"})
"""Fields of statements with expressions that are only read; they bind a name only by ``:=``."""


def does_nothing(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
    """True if a function only returns a constant."""
    if isinstance(function, ast.Lambda):
        return isinstance(function.body, ast.Constant)
    return all(
        isinstance(statement, ast.Pass)
        or (isinstance(statement, (ast.Expr, ast.Return)) and isinstance(statement.value, ast.Constant | None))
        for statement in function.body
    )
