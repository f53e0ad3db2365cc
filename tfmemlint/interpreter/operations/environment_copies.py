"""Variables that a process does not get which the program starts: those put into a copy of the environment that it is
not given, and those that the program has set, where it is given others (``env={"PATH": ...}``).
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from typing import TypeGuard

from tfmemlint.facts.syntax import dotted, talks
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.program import EnvLost
from tfmemlint.interpreter.values import Const, Dict, Function, Value
from tfmemlint.knowledge.variables import hides_all

STARTING = tuple(f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output", "Popen"))
"""Functions that start a process with the environment of this one, if they are not given another."""

_CHANGING = ("update", "setdefault", "pop")


def report_unpassed(context: Context, name: str, keywords: dict[str, Value], node: ast.AST) -> None:
    """Report the variables in copies of the environment that the function around a call makes, and gives to nothing."""
    around = context.frames[-1].node
    if name in STARTING and isinstance(node, ast.Call) and isinstance(keywords.get("env"), Dict):
        _report_left_out(context, keywords["env"], node, around)
        return
    if name not in STARTING or not isinstance(node, ast.Call) or "env" in keywords:
        return
    if not isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)) or context.state is None:
        return
    if any(keyword.arg is None for keyword in getattr(node, "keywords", ())):
        return  # its environment may be among them
    _report_made_elsewhere(context, node, around)
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


def _report_made_elsewhere(context: Context, node: ast.Call, around: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Report the variables of a copy that another function makes for this one, which gives it to nothing."""
    known = {(event.name, event.span) for event in context.events if isinstance(event, EnvLost)}
    for copied, call in _bound_once(around):
        maker = context.last_values.get(id(call.func)) if isinstance(call, ast.Call) else None
        if not isinstance(maker, Function) or isinstance(maker.node, ast.Lambda):
            continue
        returned = {
            each.value.id if isinstance(each.value, ast.Name) else ""
            for each in ast.walk(maker.node)
            if isinstance(each, ast.Return)
        }
        printed = {
            id(part)
            for each in ast.walk(around)
            if isinstance(each, ast.Expr) and talks(each.value)
            for part in ast.walk(each)
        }
        uses = [each for each in ast.walk(around) if isinstance(each, ast.Name) and each.id == copied]
        if any(isinstance(use.ctx, ast.Load) and id(use) not in printed for use in uses):
            continue
        made = returned & {*_copies(maker.node)}
        for name in made if len(returned) == 1 else ():
            for _, key, value in _stores(maker.node, name):
                if key is None or not isinstance(key.value, str) or (key.value, context.span(call)) in known:
                    continue
                text = value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None
                context.emit(
                    EnvLost(
                        name=key.value,
                        value=text,
                        why="copy",
                        begun=context.span(node),
                        program=copied,
                        text=ast.unparse(value),
                        **event_fields(context, node) | {"span": context.span(call)},
                    )
                )


def _report_left_out(context: Context, given: Value, node: ast.Call, around: ast.AST) -> None:
    """Report the variables that the program has set before it starts another Python without them."""
    given = context.current(given)
    if not isinstance(given, Dict) or given.open or context.state is None or not _starts_python(context, node):
        return
    if _hides_all(given.items.get("CUDA_VISIBLE_DEVICES")):
        return
    place = next((keyword.value for keyword in node.keywords if keyword.arg == "env"), node)
    if isinstance(place, ast.Name):
        bound = [
            each.value
            for each in ast.walk(around)
            if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name) and each.targets[0].id == place.id
        ]
        place = bound[0] if len(bound) == 1 else place
    known = {(event.name, event.span) for event in context.events if isinstance(event, EnvLost)}
    for name, value in context.state.env.items():
        if _hides_all(value) and name == "CUDA_VISIBLE_DEVICES":
            continue
        if name not in given.items and (name, context.span(place)) not in known and isinstance(place, ast.Dict):
            fields = event_fields(context, node) | {"span": context.span(place)}
            text = str(value.value) if isinstance(value, Const) else ""
            context.emit(
                EnvLost(
                    name=name,
                    value=text or None,
                    why="left out",
                    begun=context.span(node),
                    program=context.text(node.func),
                    text=text,
                    **fields,
                )
            )


def _hides_all(value: Value | None) -> bool:
    return isinstance(value, Const) and isinstance(value.value, str) and hides_all(value.value)


def _starts_python(context: Context, node: ast.Call) -> bool:
    """Return True if a command names Python, or one of its files."""
    return bool(node.args) and re.search(r"sys\.executable|\bpython|\.py\b", context.text(node.args[0])) is not None


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
    yield from (name for name, value in _bound_once(function) if _is_copy(value))


def _bound_once(function: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that a function binds once, and are its own, with what is assigned to them."""
    bound: Counter[str] = Counter()
    found: list[tuple[str, ast.expr]] = []
    for each in ast.walk(function):
        match each:
            case ast.Name(id=name, ctx=ast.Store()):
                bound[name] += 1
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found.append((name, value))
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                bound.update(names * 2)
            case _:
                pass
    yield from ((name, value) for name, value in found if bound[name] == 1)


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


def _is_text(key: ast.expr | None) -> TypeGuard[ast.Constant]:
    return isinstance(key, ast.Constant) and isinstance(key.value, str)


def _stores(function: ast.AST, name: str) -> Iterator[tuple[ast.Name, ast.Constant | None, ast.expr]]:
    """Yield where a function changes a dictionary: the use of its name, the key (None for no constant), the value."""
    for each in ast.walk(function):
        match each:
            case ast.Assign(targets=[ast.Name(id=used) as base], value=ast.Dict(keys=keys, values=values)) if (
                used == name
            ):
                yield from ((base, key, value) for key, value in zip(keys, values, strict=True) if _is_text(key))
            case ast.Assign(targets=[ast.Name(id=used) as base], value=ast.Call(keywords=keywords)) if used == name:
                for keyword in keywords:
                    yield base, ast.copy_location(ast.Constant(keyword.arg), keyword), keyword.value
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
