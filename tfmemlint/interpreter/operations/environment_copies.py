"""Variables that are put into a copy of the environment, which no process gets: ``env = os.environ.copy()`` and a
``subprocess.Popen(command)`` without ``env=env``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint.facts.syntax import dotted
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.program import EnvLost
from tfmemlint.interpreter.values import Value

STARTING = tuple(f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output", "Popen"))
"""Functions that start a process with the environment of this one, if they are not given another."""

_CHANGING = ("update", "setdefault", "pop")


def report_unpassed(context: Context, name: str, keywords: dict[str, Value], node: ast.AST) -> None:
    """Report the variables in copies of the environment that the function around a call makes, and gives to nothing."""
    around = context.frames[-1].node
    starts = name in STARTING and isinstance(node, ast.Call) and "env" not in keywords
    if not starts or not isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)) or context.state is None:
        return
    if any(keyword.arg is None for keyword in getattr(node, "keywords", ())):
        return  # its environment may be among them
    for copied in _copies(around):
        stores = list(_stores(around, copied))
        touched = {id(base) for base, _, _ in stores}
        if any(
            isinstance(each, ast.Name) and each.id == copied and isinstance(each.ctx, ast.Load)
            for each in ast.walk(around)
            if id(each) not in touched
        ):
            continue
        known = {event.span for event in context.events if isinstance(event, EnvLost)}
        for _, key, value in stores:
            if key is not None and isinstance(key.value, str) and context.span(key) not in known:
                _emit(context, key, value, copied, node)


def _emit(context: Context, key: ast.Constant, value: ast.expr, copied: str, node: ast.AST) -> None:
    known = value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None
    fields = event_fields(context, node) | {"span": context.span(key)}
    context.emit(
        EnvLost(
            name=str(key.value),
            value=known,
            why="copy",
            begun=context.span(node),
            program=copied,
            text=context.text(value),
            key=context.span(key),
            given=context.span(value),
            **fields,
        )
    )


def _copies(function: ast.AST) -> Iterator[str]:
    """Yield the names that a function binds once, to a copy of the environment."""
    bound: dict[str, int] = {}
    found = []
    for each in ast.walk(function):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            bound[each.id] = bound.get(each.id, 0) + 1
        if isinstance(each, ast.Assign) and len(each.targets) == 1 and isinstance(each.targets[0], ast.Name):
            found += [each.targets[0].id] if _is_copy(each.value) else []
        if isinstance(each, (ast.Global, ast.Nonlocal)):
            bound.update(dict.fromkeys(each.names, 2))
    yield from (name for name in found if bound[name] == 1)


def _is_copy(value: ast.expr) -> bool:
    """Return True for ``os.environ.copy()``, ``dict(os.environ)`` and ``{**os.environ}``."""
    match value:
        case ast.Call(func=ast.Attribute(value=source, attr="copy"), args=[]):
            return dotted(source) in _ENVIRONMENT
        case ast.Call(func=ast.Name(id="dict"), args=[source]):
            return dotted(source) in _ENVIRONMENT
        case ast.Dict(keys=keys, values=values):
            return any(key is None and dotted(each) in _ENVIRONMENT for key, each in zip(keys, values, strict=True))
        case _:
            return False


_ENVIRONMENT = ("os.environ", "environ")


def _stores(function: ast.AST, name: str) -> Iterator[tuple[ast.Name, ast.Constant | None, ast.expr]]:
    """Yield where a function changes a dictionary: the use of its name, the key (None for no constant), the value."""
    for each in ast.walk(function):
        match each:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=used) as base, slice=key)], value=value) if (
                used == name
            ):
                yield base, key if isinstance(key, ast.Constant) else None, value
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name(id=used) as base, attr=method), args=args) as call
            ) if used == name and method in _CHANGING:
                yield base, None, call
                if method == "setdefault" and len(args) == 2 and isinstance(args[0], ast.Constant):
                    yield base, args[0], args[1]
                for keyword in call.keywords:
                    if keyword.arg is not None:
                        place = ast.copy_location(ast.Constant(keyword.arg), keyword)
                        yield base, place, keyword.value
