"""The interpreter stays a table: five floors, no circles, every handler is registered, and no syntax is forgotten."""

from __future__ import annotations

import ast
import importlib
from functools import cache
from pathlib import Path

import pytest

import tfmemlint.interpreter
from tfmemlint.interpreter import handlers, registry
from tfmemlint.interpreter.values import Const

ROOM = Path(tfmemlint.interpreter.__file__).parent
NAME = "tfmemlint.interpreter"
FLOORS = (
    (
        "values",
        "scopes",
        "state",
        "limits",
        "frames",
        "program",
        "unit",
        "observer",
        "settling",
        "place",
        "worker_records",
    ),
    ("registry", "context", "watching"),
    ("operations", "summaries", "replays"),
    ("nodes", "kinds", "builtins", "tensorflow"),
    (
        "handlers",
        "children",
        "worker_runs",
        "uncalled",
        "replaced_methods",
        "forgotten_calls",
        "pytest_calls",
        "interpreter",
        "",
        "modules",
    ),
)
"""From the lowest: the vocabulary; the context and its tables; operations; handlers; the entry."""
FLOOR_OF = {part: number for number, parts in enumerate(FLOORS) for part in parts}
HANDLERS = FLOORS[3]


def _modules() -> dict[str, Path]:
    """The modules of the room by their names within it."""
    found = {}
    for path in ROOM.rglob("*.py"):
        parts = path.relative_to(ROOM).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


MODULES = _modules()


def _imports(module: str) -> set[str]:
    """The modules of the room that one of them imports anywhere, also for type checking only."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and f"{node.module}.".startswith(f"{NAME}."):
            base = node.module[len(NAME) :].lstrip(".")
            for alias in node.names:
                inner = f"{base}.{alias.name}".lstrip(".")
                found.add(inner if inner in MODULES else base)
        elif isinstance(node, ast.Import):
            found.update(alias.name[len(NAME) + 1 :] for alias in node.names if alias.name.startswith(f"{NAME}."))
    return found - {module}


@cache
def _all_imports() -> dict[str, set[str]]:
    """What each module imports. Not at the top: every process of the tests loads this file, and one runs it."""
    return {module: _imports(module) for module in MODULES}


def test_no_import_runs_up() -> None:
    for module, imported in _all_imports().items():
        floor = FLOOR_OF[module.partition(".")[0]]
        for other in imported:
            assert FLOOR_OF[other.partition(".")[0]] <= floor, f"{module} must not import {other}, which is above it"


def test_handlers_know_nothing_of_each_other() -> None:
    for module, imported in _all_imports().items():
        if module.partition(".")[0] in HANDLERS:
            others = {other for other in imported if other.partition(".")[0] in HANDLERS}
            assert not others, f"{module} imports {others}: move what both need to operations/"


def test_there_are_no_circles() -> None:
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, f"a circle: {' -> '.join((*path, module))}"
        if module not in done:
            for other in _all_imports()[module]:
                visit(other, (*path, module))
            done.add(module)

    for module in MODULES:
        visit(module, ())


def test_every_module_of_handlers_is_loaded() -> None:
    written = {module for module in MODULES if "." in module and module.partition(".")[0] in HANDLERS}
    assert set(handlers.MODULES) == written
    for module in handlers.MODULES:
        assert importlib.import_module(f"{NAME}.{module}")


def test_only_handlers_register() -> None:
    for module, imported in _all_imports().items():
        if module.partition(".")[0] not in HANDLERS and "registry" in imported:
            tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
            names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
            decorators = {"visits", "assigns", "calls", "attribute_of", "item_of", "stores_in", "builtin", "models"}
            assert not names & decorators, f"{module} registers handlers"


def test_a_name_has_one_handler() -> None:
    with pytest.raises(ValueError, match="is handled by"):
        registry.builtin("zip")(lambda context, call: Const(None))


def test_every_statement_that_branches_has_a_handler() -> None:
    kinds = (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.Match, ast.Return, ast.Raise, ast.FunctionDef)
    assert all(kind in registry.VISITORS for kind in kinds)
    assert all(kind in registry.TARGETS for kind in (ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.Starred))


def test_no_module_is_too_long_to_read() -> None:
    long = {module: len(path.read_text(encoding="utf-8").splitlines()) for module, path in MODULES.items()}
    assert {module for module, lines in long.items() if lines > 430} == set()
