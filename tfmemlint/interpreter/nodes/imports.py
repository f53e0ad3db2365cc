"""Import statements."""

from __future__ import annotations

import ast

from tfmemlint.facts.names import canonical, is_tensorflow
from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.bindings import bind
from tfmemlint.interpreter.operations.command_line import known_argv
from tfmemlint.interpreter.operations.events import name_event_fields, report_use
from tfmemlint.interpreter.operations.imports import import_module
from tfmemlint.interpreter.operations.module_names import ask_module_getattr, named_in_module
from tfmemlint.interpreter.operations.third_party import third_party_import
from tfmemlint.interpreter.program import Use
from tfmemlint.interpreter.registry import visits
from tfmemlint.interpreter.values import UNKNOWN, Const, Module, Ref, Seq, Value
from tfmemlint.knowledge.functions import KERAS_BACKEND

_TYPING_ONLY = frozenset({"typing.TYPE_CHECKING", "typing_extensions.TYPE_CHECKING"})
"""False whenever a program runs."""


@visits(ast.Import)
def visit_import(context: Context, node: ast.Import) -> None:
    for alias in node.names:
        if context.state is None:
            return
        top = alias.name.split(".")[0]
        own = import_module(context, alias.name, node)
        if own is not None:
            if alias.asname is None and isinstance(own, Module):
                own = import_module(context, top, node)
            bind(context, alias.asname or top, own or UNKNOWN)
        elif alias.asname:
            bind(context, alias.asname, Ref(canonical(alias.name)))
            report_use(context, alias, canonical(alias.name), origin="import")
        else:
            bind(context, top, Ref(canonical(top)))
            report_use(context, alias, canonical(alias.name), origin="import")
        if own is None:
            third_party_import(context, alias.name, node)
            _report_backend(context, alias.name, alias)


@visits(ast.ImportFrom)
def visit_import_from(context: Context, node: ast.ImportFrom) -> None:
    written = "." * node.level + (node.module or "")
    name = _absolute_name(context, node.module or "", node.level)
    own = import_module(context, name, node) if name is not None else None
    if context.state is None:
        return
    if own is None and not node.level:
        third_party_import(context, written, node)
    for alias in node.names:
        if context.state is None:
            return
        if own is not None:
            if alias.name == "*":
                _import_all(context, own)
            else:
                bind(context, alias.asname or alias.name, _taken_name(context, own, alias.name, node))
        elif alias.name == "*":
            if not node.level:
                context.stars.append(canonical(written))
        else:
            _take_third_party(context, f"{written}.{alias.name}", alias, node)


def _take_third_party(context: Context, written: str, alias: ast.alias, node: ast.ImportFrom) -> None:
    name = canonical(written)
    if is_tensorflow(name):
        report_use(context, alias, name, origin="import")
    elif not node.level:
        third_party_import(context, name, node)
        _report_backend(context, written, alias)
    known = known_argv(context) if name == "sys.argv" else None
    bind(context, alias.asname or alias.name, known or (Const(False) if name in _TYPING_ONLY else Ref(name)))


def _report_backend(context: Context, name: str, node: ast.alias) -> None:
    """Report the import of a module of Keras's own that handles sessions."""
    if f"{name}.".startswith(f"{KERAS_BACKEND}.") and context.state is not None:
        fields = name_event_fields(context, node, name)
        context.emit(Use(name=name, text=context.text(node), origin="import", **fields))


def _absolute_name(context: Context, module: str, level: int) -> str | None:
    """Return the absolute name that an import asks for; None if the module is in no known package."""
    if not level:
        return module
    if context.unit.package is None:
        return None
    parts = context.unit.package.split(".")
    if level > len(parts):
        return None
    base = ".".join(parts[: len(parts) - level + 1])
    return f"{base}.{module}" if module else base


def _taken_name(context: Context, module: Value, name: str, node: ast.AST) -> Value:
    """Return the value that ``from module import name`` binds."""
    if not isinstance(module, Module):
        return UNKNOWN
    found = named_in_module(context, module, name)
    if found is None:
        # Python asks in this way first, and looks for a module of that name where it gets an AttributeError.
        found = ask_module_getattr(context, module, name, node, caught=True)
    if context.state is None or (found is not None and (found != UNKNOWN or name in module.scope.names)):
        return found or UNKNOWN
    return import_module(context, f"{module.name}.{name}", node) or UNKNOWN


def _import_all(context: Context, module: Value) -> None:
    if not isinstance(module, Module):
        return
    names = module.scope.names
    context.modules_looked_at.add(module.name)
    if module.scope.unit is not None and module.scope.unit.running:
        context.circular_imports.add(module.name)
    listed = context.current(names["__all__"]) if "__all__" in names else None
    if listed is None:
        chosen = [name for name in names if not name.startswith("_")]
    elif isinstance(listed, Seq):
        chosen = [item.value for item in listed.items if isinstance(item, Const) and isinstance(item.value, str)]
    else:
        chosen = list(names)
    for name in chosen:
        bind(context, name, names.get(name, UNKNOWN))
    if module.scope.unit is not None:
        context.stars.extend(star for star in module.scope.unit.stars if star not in context.stars)
