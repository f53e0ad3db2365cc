"""The functions that pytest and unittest call: hooks of ``conftest.py``, fixtures, the set-up of classes."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tfmemlint.facts.statements import blocks_of, name_span
from tfmemlint.facts.syntax import dotted
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.forgotten_calls import configures
from tfmemlint.interpreter.frames import Frame
from tfmemlint.interpreter.operations.classes import class_member, derives_from
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.operations.function_bodies import run_function
from tfmemlint.interpreter.operations.never_run import configured_by
from tfmemlint.interpreter.program import NeverRun
from tfmemlint.interpreter.values import Class, Function, Instance, ModuleInstance, Ref, Value
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


_CASES = frozenset({"unittest.TestCase", "unittest.case.TestCase", "tf.test.TestCase"}) | {
    "absl.testing.absltest.TestCase"
}


def call_set_up(context: Context) -> None:
    """Call what unittest calls before the tests of a class, where that class inherits it from another file's: what the
    classes of this file define is looked at as functions that nothing calls.

    Each class may be the only one that is run: what it starts is forgotten.
    """
    if not is_test(os.path.basename(context.main.source.path)):
        return
    for value in list(context.main.scope.names.values()):
        if not isinstance(value, Class) or value.scope.module is not context.main.scope or context.state is None:
            continue
        if not derives_from(context, value, _CASES):
            continue
        before = context.state
        for name, receiver in (("setUpClass", value), ("setUp", Instance(value))):
            found = class_member(context, value, name)
            unit = found.scope.module.unit if isinstance(found, Function) else None
            if isinstance(found, Function) and unit is not None and unit is not context.main:
                _call(context, unit, replace(found, bound=receiver), f"unittest calls {value.node.name}.{name}()")
        context.state = before


def call_fixtures(context: Context, conftests: list[ModuleInstance]) -> None:
    """Call what pytest calls before the tests of a file that it has imported.

    Fixtures that only some tests ask for say nothing of the others: what they start is forgotten.
    """
    if not _has_tests(context.main) or context.state is None:
        return
    for unit in conftests:
        for name in _AFTER:
            _call(context, unit, unit.scope.names.get(name), f"pytest calls {name}()")
    fixtures = {fixture.name: fixture for unit in (*conftests, context.main) for fixture in _fixtures_of(unit)}
    done: set[str] = set()
    for name in _by_scope(fixtures, [name for name, fixture in fixtures.items() if fixture.always]):
        _set_up(context, fixtures, name, done)
    for asked in _asked_for(context.main.tree):
        before, made = context.state, set(done)
        for name in _by_scope(fixtures, asked):
            _set_up(context, fixtures, name, made)
        context.state = before
    if not any(map(configures, context.events)):
        _report_unused(context, fixtures)


def _report_unused(context: Context, fixtures: Mapping[str, _Fixture]) -> None:
    """Report the fixtures that configure GPUs and for which no test of the file, and no other fixture, asks."""
    for fixture in fixtures.values():
        node = fixture.function.node
        if isinstance(node, ast.Lambda) or fixture.always or id(node) in context.visited:
            continue
        called = configured_by(context, fixture.function)
        texts = {fixture.unit.source.text, context.main.source.text}
        # Its definition is the one place that names it.
        times = sum(len(re.findall(rf"\b{re.escape(fixture.name)}\b", text)) for text in texts)
        if not called or times > 1 or node.name != fixture.name:
            continue
        here, context.unit = context.unit, fixture.unit
        fields = {**event_fields(context, node), "span": name_span(fixture.unit.source, node)}
        # One that takes nothing, once for all tests, is as good for those that do not ask for it.
        may_use = not fixture.asks and (fixture.scope == "session" or not fixture.has_scope)
        context.emit(
            NeverRun(kind="fixture", called=called, text=fixture.name, arguments="" if may_use else None, **fields)
        )
        context.unit = here


_SCOPES = ("session", "package", "module", "class", "function")


@dataclass(frozen=True)
class _Fixture:
    """A function that pytest calls for the tests that ask for it.

    Attributes:
        name: what tests ask for. asks: the fixtures that it asks for itself. always: True if all tests get it.
        scope: one of `_SCOPES`, or another word where that is not known. has_scope: it is written there.
    """

    unit: ModuleInstance
    function: Function
    name: str
    asks: tuple[str, ...]
    always: bool
    scope: str
    has_scope: bool


def _by_scope(fixtures: Mapping[str, _Fixture], names: Iterable[str]) -> list[str]:
    """Return fixtures, and those that they ask for, as pytest orders them: those of the whole session first."""
    found = dict.fromkeys(name for name in names if name in fixtures)
    waiting = list(found)
    for name in waiting:
        for asked in fixtures[name].asks:
            if asked in fixtures and asked not in found:
                found[asked] = None
                waiting.append(asked)
    return sorted(found, key=lambda name: _rank(fixtures[name]))


def _rank(fixture: _Fixture) -> int:
    return _SCOPES.index(fixture.scope) if fixture.scope in _SCOPES else len(_SCOPES)


def _set_up(context: Context, fixtures: Mapping[str, _Fixture], name: str, done: set[str]) -> None:
    """Call a fixture after those that it asks for, each of them once."""
    if name in done:
        return
    done.add(name)
    fixture = fixtures[name]
    for asked in fixture.asks:
        if asked in fixtures:
            _set_up(context, fixtures, asked, done)
    _call(context, fixture.unit, fixture.function, f"pytest calls the fixture {fixture.name}()")


def _has_tests(unit: ModuleInstance) -> bool:
    return is_test(os.path.basename(unit.source.path)) and any(
        isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name.lower().startswith("test")
        for node in unit.tree.body
    )


def _fixtures_of(unit: ModuleInstance) -> Iterator[_Fixture]:
    """Yield the fixtures of a file."""
    for value in unit.scope.names.values():
        if not isinstance(value, Function) or isinstance(value.node, ast.Lambda):
            continue
        for written in value.node.decorator_list:
            named = dotted(written.func if isinstance(written, ast.Call) else written)
            root, _, rest = named.partition(".")
            package = unit.scope.names.get(root)
            if isinstance(package, Ref) and f"{package.name}.{rest}".rstrip(".") == "pytest.fixture":
                options = _options(written)
                name, asks = options.get("name") or value.node.name, _parameters(value.node)
                scope = options.get("scope", "function")
                always, has_scope = options.get("autouse") is True, "scope" in options
                yield _Fixture(unit, value, str(name), asks, always, str(scope), has_scope)


def _options(decorator: ast.expr) -> dict[str, object]:
    keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
    return {
        keyword.arg: keyword.value.value if isinstance(keyword.value, ast.Constant) else ""
        for keyword in keywords
        if keyword.arg is not None
    }


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    arguments = function.args
    return tuple(argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))


def _asked_for(tree: ast.Module) -> list[tuple[str, ...]]:
    """Return what the tests of a file ask for: the names of ``usefixtures``, then their parameters; each list once."""
    found: dict[tuple[str, ...], None] = {}

    def visit(body: Sequence[ast.stmt], marked: tuple[str, ...]) -> None:
        for node in body:
            match node:
                case ast.ClassDef(name=name, body=inner) if name.startswith("Test"):
                    visit(inner, (*marked, *_named_by_marks(node.decorator_list)))
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name.startswith("test"):
                    asked = (*marked, *_named_by_marks(node.decorator_list), *_parameters(node))
                    found[asked] = None
                case ast.If() | ast.Try() | ast.With() | ast.For() | ast.While() | ast.Match():
                    for block in blocks_of(node):
                        visit(block, marked)
                case _:
                    pass

    visit(tree.body, _named_by_marks(node.value for node in tree.body if isinstance(node, ast.Assign)))
    return list(found)


def _named_by_marks(marks: Iterable[ast.expr]) -> tuple[str, ...]:
    """Return the fixtures that ``usefixtures`` names in decorators, or in ``pytestmark``."""
    return tuple(
        str(item.value)
        for mark in marks
        for node in ast.walk(mark)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "usefixtures"
        for item in node.args
        if isinstance(item, ast.Constant)
    )


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
