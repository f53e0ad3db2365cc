"""Questions about the syntax tree that need no state: what a handler does, what a condition is called."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

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
"""What is called to put a message together; any other call within a message does work of its own."""
_EXITS = frozenset({"exit", "quit", "sys.exit", "os._exit", "os.abort", "pytest.skip", "pytest.exit", "self.skipTest"})


def dotted(node: ast.expr) -> str:
    """``a.b.c`` for a chain of names, "" for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    return ".".join(reversed(parts))


def handler_types(handler: ast.ExceptHandler) -> tuple[str, ...]:
    """The exceptions that a handler names, as written but for ``tensorflow``; ``("*",)`` for a bare ``except``."""
    if handler.type is None:
        return ("*",)
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return tuple(dotted(one).replace("tensorflow.", "tf.", 1) or "?" for one in types)


def is_idle(body: Sequence[ast.stmt]) -> bool:
    """Whether statements do nothing but pass, print, log, or warn."""
    return all(_is_idle(statement) for statement in body)


def gives_up(body: Sequence[ast.stmt]) -> bool:
    """Whether statements only tell that something did not work: idle ones, and the return of a constant, or of
    nothing."""
    last = body[-1] if body else None
    returns = isinstance(last, ast.Return) and (last.value is None or isinstance(last.value, ast.Constant))
    return is_idle(body[:-1] if returns else body)


def is_silent(body: Sequence[ast.stmt]) -> bool:
    """Whether statements do nothing at all."""
    return all(
        isinstance(one, (ast.Pass, ast.Continue)) or (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
        for one in body
    )


def _is_idle(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.Continue():
            return True
        case ast.Expr(value=ast.Call(func=func) as call):
            talks = dotted(func) in _TALK or (isinstance(func, ast.Attribute) and func.attr in _TALK)
            return talks and all(
                _last(one.func) in _WORDS for part in (*call.args, *call.keywords) for one in _calls_in(part)
            )
        case _:
            return False


def _calls_in(node: ast.AST) -> Iterator[ast.Call]:
    return (child for child in ast.walk(node) if isinstance(child, ast.Call))


def _last(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else dotted(func)


def ends_in_exit(body: Sequence[ast.stmt]) -> bool:
    """Whether statements end by raising or leaving the program."""
    if not body:
        return False
    match body[-1]:
        case ast.Raise():
            return True
        case ast.Expr(value=ast.Call(func=func)):
            return dotted(func) in _EXITS
        case _:
            return False


def may_exit(func: ast.expr) -> bool:
    """Whether a call may end the program, by the last part of its name."""
    return (func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")) in _LAST_OF_EXITS


_LAST_OF_EXITS = frozenset(name.rpartition(".")[2] for name in _EXITS)


def is_exit(name: str) -> bool:
    """Whether a call of this name ends the program, or the test."""
    return name in _EXITS


def assigned_names(body: Sequence[ast.AST], *, expressions: bool = True) -> set[str]:
    """The plain names that statements bind, nested functions and classes left out.

    Without ``expressions`` those are not looked into, which is several times faster: only ``:=`` and comprehensions
    bind names in them, and those of comprehensions are no names of the function.
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
                    pending.extend(one for one in child if isinstance(one, ast.AST))
                elif isinstance(child, ast.AST) and (expressions or name not in _READ):
                    pending.append(child)
    return found


_READ = frozenset({"value", "test", "iter", "returns", "annotation", "exc", "cause", "msg", "subject", "context_expr"})
"""Fields of statements that hold expressions which are read, and bind nothing but by ``:=``."""
