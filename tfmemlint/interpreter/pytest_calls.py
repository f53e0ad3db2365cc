"""The functions that pytest itself calls: hooks of ``conftest.py``, and fixtures of its tests."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from tfmemlint.facts.syntax import dotted
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.frames import Frame
from tfmemlint.interpreter.operations.function_bodies import run_function
from tfmemlint.interpreter.values import Function, ModuleInstance, Ref, Value
from tfmemlint.model.finding import Span, Step
from tfmemlint.project.entries import is_test

_BEFORE = ("pytest_configure", "pytest_sessionstart")
"""Hooks that pytest calls before it imports the tests."""
_AFTER = ("pytest_collection_modifyitems", "pytest_collection_finish", "pytest_runtest_setup")
"""Hooks that pytest calls when it has imported the tests."""


def call_hooks_before(context: Context, conftests: list[ModuleInstance]) -> None:
    """Call what pytest calls between the ``conftest.py`` files and the tests."""
    if _has_tests(context.main):
        for unit in conftests:
            for name in _BEFORE:
                _call(context, unit, unit.scope.names.get(name), f"pytest calls {name}()")


def call_fixtures(context: Context, conftests: list[ModuleInstance]) -> None:
    """Call what pytest calls before the tests of a file that it has imported.

    Fixtures that only some tests ask for say nothing of the others: what they start is forgotten.
    """
    if not _has_tests(context.main) or context.state is None:
        return
    for unit in conftests:
        for name in _AFTER:
            _call(context, unit, unit.scope.names.get(name), f"pytest calls {name}()")
    asked = _asked_for(context.main.tree)
    for unit in conftests:
        for function, always in _fixtures_of(unit):
            before = context.state
            name = getattr(function.node, "name", "")
            if always or name in asked:
                _call(context, unit, function, f"pytest calls the fixture {name}()")
            if not always:
                context.state = before


def _has_tests(unit: ModuleInstance) -> bool:
    return is_test(os.path.basename(unit.source.path)) and any(
        isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name.lower().startswith("test")
        for node in unit.tree.body
    )


def _fixtures_of(unit: ModuleInstance) -> Iterator[tuple[Function, bool]]:
    """Yield the fixtures of a file, each with True if all tests get it."""
    for value in unit.scope.names.values():
        if not isinstance(value, Function) or isinstance(value.node, ast.Lambda):
            continue
        for written in value.node.decorator_list:
            named = dotted(written.func if isinstance(written, ast.Call) else written)
            root, _, rest = named.partition(".")
            package = unit.scope.names.get(root)
            if isinstance(package, Ref) and f"{package.name}.{rest}".rstrip(".") == "pytest.fixture":
                yield value, _is_autouse(written)


def _is_autouse(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and any(
        keyword.arg == "autouse" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
        for keyword in decorator.keywords
    )


def _asked_for(tree: ast.Module) -> frozenset[str]:
    """Return the names that tests have as parameters, or hand to ``usefixtures``."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name, args=args) if name.startswith("test"):
                found.update(argument.arg for argument in args.args)
            case ast.Call(func=ast.Attribute(attr="usefixtures"), args=names):
                found.update(str(item.value) for item in names if isinstance(item, ast.Constant))
            case _:
                pass
    return frozenset(found)


def _call(context: Context, unit: ModuleInstance, function: Value | None, words: str) -> None:
    """Interpret a function of a ``conftest.py`` as pytest calls it; one that fails ends its own tests alone."""
    if not isinstance(function, Function) or context.state is None:
        return
    before, here, statement, loops = context.state, context.unit, context.statement, context.loops
    row = function.node.lineno
    step = Step(unit.source.path, Span(row, 1, row, 1), words)
    context.frames.append(Frame("", unit.scope, unit.tree, step))
    context.unit, context.loops, context.statement = unit, [], None
    try:
        run_function(context, function, [], {}, None)
    finally:
        context.frames.pop()
        context.unit, context.statement, context.loops = here, statement, loops
    if context.state is None:
        context.state, context.end_state, context.surely_left = before, None, False
