"""Python's library as far as it calls what it is given: models in Python, interpreted as the program's own code.

The models are in ``tfmemlint/knowledge/data/library.txt``. One is parsed when a program first names what is in it. They
bind nothing outside of the objects that they make, so that all programs share them.
"""

from __future__ import annotations

import ast
from functools import cache

from tfmemlint.facts.reach import Reach
from tfmemlint.facts.shapes import Shapes
from tfmemlint.interpreter.unit import ParsedModule
from tfmemlint.interpreter.values import Class, Function, Ref, Scope, Value
from tfmemlint.knowledge.library import ALIASES, MODELLED, sections
from tfmemlint.sources import Source

INTRINSICS = (
    *("unknown", "background", "await", "kind", "parameter", "is_text", "is_function", "namespace", "hydra_config"),
    *("is_dict", "known_items", "without_known", "as_command", "end_of"),
    *("defaults", "modules_in", "awaitable", "signal", "signal_of"),
)
"""The parts of the models that cannot be written in Python: handlers in ``builtins/library.py`` and beside it."""


def in_library(value: Ref) -> Value:
    """Return the model of what a name refers to; the reference itself where there is none."""
    name = ALIASES.get(value.name, value.name)
    module, _, inner = name.rpartition(".")
    if module not in MODELLED or inner.startswith("_"):
        return value
    found = _scope(module).names.get(inner)
    return value if found is None or isinstance(found, Ref) else found


@cache
def _scope(module: str) -> Scope:
    """Return the names of the model of a module."""
    text, _ = sections()[module]
    source = Source(f"<{module}>", text, is_ascii=True)
    tree = ast.parse(text)
    unit = ParsedModule(source, tree, Reach(tree, source.lines), Shapes(source)).unit(module, None)
    unit.library = True
    scope = unit.scope
    scope.names.update({f"_{name}": Ref(f"tfmemlint.{name}") for name in INTRINSICS})
    for node in tree.body:
        match node:
            case ast.FunctionDef(name):
                scope.names[name] = Function(node, scope)
            case ast.ClassDef(name):
                scope.names[name] = _class(node, scope)
            case ast.Import(names):
                scope.names.update({alias.name: Ref(alias.name) for alias in names})
    return scope


def _class(node: ast.ClassDef, scope: Scope) -> Class:
    bases = tuple(scope.names.get(base.id, Ref(base.id)) for base in node.bases if isinstance(base, ast.Name))
    inner = Scope(scope, is_class=True)
    cls = Class(node, scope, bases, inner.names)
    for method in node.body:
        if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inner.names[method.name] = Function(method, inner, owner=cls)
    return cls
