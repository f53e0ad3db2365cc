"""Find statements that decide which module an import finds, without a name that leads from one to the other.

They put modules into ``sys.modules``, or change ``sys.path``.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from tfmemlint.facts.statements import own_nodes

ANY = ""
"""A module whose name isn't known."""

_CHANGING = frozenset({"append", "extend", "insert", "remove", "pop", "reverse", "clear"})
_PUTTING = frozenset({"setdefault", "update", "__setitem__", "pop"})
_IMPORTERS = frozenset({"import_module", "__import__", "reload"})
_OTHERS = frozenset({"tensorflow", "keras", "tf_keras", *sys.stdlib_module_names})
"""Modules that a computed name hardly ever refers to."""


class ImportEffects:
    """The statements of a module that change ``sys.modules`` or ``sys.path``, each with the modules that it affects."""

    def __init__(self, statements: list[ast.stmt]) -> None:
        self._tables = {name for statement in statements for name in _tables(statement)}
        self.about: dict[ast.stmt, set[str]] = {}
        for statement in statements:
            names = set(self._put(statement))
            if names:
                self.about[statement] = names

    def needed_by(self, statement: ast.stmt) -> list[ast.stmt]:
        """Return the statements that decide what the imports in ``statement`` find."""
        asked = set(_imported(statement)) if self.about else set()
        if not asked:
            return []
        any_of = ANY in asked or not all(name.split(".")[0] in _OTHERS for name in asked)
        return [
            other for other, names in self.about.items() if not names.isdisjoint(asked) or (any_of and ANY in names)
        ]

    def _is_table(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Constant):
            return node.value == "sys.modules"  # as `mock.patch.dict` takes it
        return _is_sys_modules(node) or (isinstance(node, ast.Name) and node.id in self._tables)

    def _put(self, statement: ast.stmt) -> Iterator[str]:
        for node in own_nodes(statement):
            if _changes_path(node):
                yield ANY
            match node:
                case ast.Subscript(value=table, slice=key, ctx=ast.Store() | ast.Del()) if self._is_table(table):
                    yield _text(key)
                case ast.Call(func=ast.Attribute(value=table, attr=name)) if name in _PUTTING and self._is_table(table):
                    yield from _keys(node.args[:1], plain=name != "update")
                    yield from (word.arg or ANY for word in node.keywords)
                case ast.Call(args=[table, *more]) if more and self._is_table(table):
                    yield from _keys(more[:1], plain=not isinstance(more[0], ast.Dict))
                case _:
                    pass


def _keys(given: list[ast.expr], *, plain: bool) -> Iterator[str]:
    for argument in given:
        if plain:
            yield _text(argument)
        elif isinstance(argument, ast.Dict):
            yield from (_text(key) for key in argument.keys)
        else:
            yield ANY


def _text(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ANY


def _changes_path(node: ast.AST) -> bool:
    """True for ``sys.path.insert(...)``, ``sys.path[:0] = ...``, ``sys.path = ...``, ``site.addsitedir(...)``."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="path", value=ast.Name()), attr=name)):
            return name in _CHANGING
        case ast.Call(func=ast.Attribute(attr="addsitedir")):
            return True
        case ast.Subscript(value=ast.Attribute(attr="path", value=ast.Name()), ctx=ast.Store() | ast.Del()):
            return True
        case ast.Attribute(attr="path", value=ast.Name(id=name), ctx=ast.Store()):
            return name in ("sys", "_sys")
        case _:
            return False


def _is_sys_modules(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "modules" and isinstance(node.value, ast.Name)


def _tables(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement gives to ``sys.modules``."""
    match statement:
        case ast.ImportFrom(module="sys", names=names):
            yield from (alias.asname or alias.name for alias in names if alias.name == "modules")
        case ast.Assign(targets=targets, value=value) if _is_sys_modules(value):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case _:
            pass


def _imported(statement: ast.stmt) -> Iterator[str]:
    """Yield the modules that a statement (its header, if it has blocks) may import, with the packages around them."""
    names: list[str] = []
    if isinstance(statement, ast.Import):
        names = [alias.name for alias in statement.names]
    elif isinstance(statement, ast.ImportFrom):
        module = statement.module or ""
        names = [module, *(f"{module}.{alias.name}" for alias in statement.names)]
    for node in own_nodes(statement):
        if isinstance(node, ast.Call) and node.args:
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            names += [_text(node.args[0])] if called in _IMPORTERS else []
    for name in names:
        parts = name.split(".")
        yield from (".".join(parts[:length]) for length in range(1, len(parts) + 1))
