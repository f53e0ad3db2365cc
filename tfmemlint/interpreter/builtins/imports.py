"""Imports by name, and changes of where modules are found."""

from __future__ import annotations

import ast

from tfmemlint.facts.names import canonical, is_tensorflow
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.config_files import as_path, places_of
from tfmemlint.interpreter.operations.imports import import_module
from tfmemlint.interpreter.operations.third_party import third_party_import
from tfmemlint.interpreter.registry import Invocation, builtin
from tfmemlint.interpreter.values import UNKNOWN, Const, FileValue, Module, Ref, Value


def _import_by_name(
    context: Context, name: str, node: ast.AST, values: list[Value], keywords: dict[str, Value]
) -> Value:
    """Interpret ``importlib.import_module("core.model")``."""
    wanted, package = values[0], keywords.get("package", values[1] if len(values) > 1 else Const(None))
    if isinstance(wanted, FileValue) and isinstance(wanted.value, str):
        wanted = Const(wanted.value)
    if not (isinstance(wanted, Const) and isinstance(wanted.value, str)) or not isinstance(package, Const):
        return UNKNOWN
    full: str = wanted.value
    if name == "importlib.import_module" and full.startswith("."):
        level = len(full) - len(full.lstrip("."))
        parts = str(package.value or "").split(".")
        if not package.value or level > len(parts):
            return UNKNOWN
        full = ".".join([*parts[: len(parts) - level + 1], *filter(None, [full[level:]])])
    own = import_module(context, full, node)
    if own is None:
        third_party_import(context, full, node)
        if name == "importlib.import_module":
            return Ref(canonical(full))
        top = canonical(full.split(".")[0])
        # With a list of names it is the module itself, without one the package that it is in.
        return Ref(top) if is_tensorflow(top) and not keywords and len(values) == 1 else UNKNOWN
    if name == "__import__" and "." in full:
        return (import_module(context, full.split(".")[0], node) if isinstance(own, Module) else None) or UNKNOWN
    return own


@builtin("importlib.import_module", "__import__")
def import_by_its_name(context: Context, call: Invocation) -> Value | None:
    return _import_by_name(context, call.name, call.node, call.values, call.keywords) if call.values else None


@builtin("sys.path.insert", "site.addsitedir")
def change_search_path(context: Context, call: Invocation) -> Value | None:
    """Interpret ``sys.path.insert(0, ...)``; a directory of the project makes no difference if it hides nothing."""
    path = as_path(call.values[1]) if len(call.values) > 1 else None
    places = places_of(context, path) if path is not None else []
    if context.modules is None or not places or any(map(context.modules.would_hide, places)):
        context.path_changed = True
    return Const(None)
