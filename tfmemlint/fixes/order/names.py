"""Names that a file reads and nothing binds: a rewrite must not bring any."""

from __future__ import annotations

import ast
import builtins

from tfmemlint.fixes.order.files import Files
from tfmemlint.sources import Source

_KNOWN = frozenset(dir(builtins)) | {
    "__file__", "__name__", "__doc__", "__path__", "__spec__", "__package__", "__loader__", "__builtins__", "__class__",
    "__qualname__", "__module__", "__annotations__", "display", "get_ipython",
}  # fmt: skip


def unresolved_names(files: Files, path: str, text: str) -> set[str]:
    """Return the names that a new text of a file reads and binds nowhere, and that were bound in the old one."""
    old = files.read(path)
    before = _free(old.text) | _early(old.text) if isinstance(old, Source) else set()
    return (_free(text) | _early(text)) - before


def _early(text: str) -> set[str]:
    """Return the names that the top level reads above the statement that binds them."""
    bound = set(_KNOWN)
    found: set[str] = set()
    for statement in ast.parse(text).body:
        reads: set[str] = set()
        binds: set[str] = set()
        _at_top(statement, reads, binds)
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
            return found
        # Within a compound statement the order is not looked at.
        early = reads - bound
        found |= early if isinstance(statement, _SIMPLE) else early - binds
        bound |= binds
    return found


_SIMPLE = (ast.Assign, ast.Expr, ast.AugAssign, ast.AnnAssign, ast.Assert, ast.Delete)


def _at_top(node: ast.AST, reads: set[str], binds: set[str]) -> None:
    """Collect the names that are read and bound when a statement of the top level runs."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            binds.add(node.name)
            parts: list[ast.AST] = [*node.decorator_list, *node.args.defaults]
            parts += [default for default in node.args.kw_defaults if default is not None]
        case ast.ClassDef():
            # Its body has a scope of its own: the names that it binds are not looked at.
            binds.add(node.name)
            inner: set[str] = set()
            own: set[str] = set()
            for child in node.body:
                _at_top(child, inner, own)
            reads |= inner - own
            parts = [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]
        case ast.Lambda():
            parts = [*node.args.defaults]
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            inner, own = set(), set()
            for part in ast.iter_child_nodes(node):
                _at_top(part, inner, own)
            reads |= inner - own
            return
        case ast.Name():
            (binds if isinstance(node.ctx, ast.Store) else reads).add(node.id)
            return
        case ast.Import() | ast.ImportFrom():
            binds.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
            return
        case ast.ExceptHandler(name=str(name)):
            binds.add(name)
            parts = list(ast.iter_child_nodes(node))
        case _:
            parts = list(ast.iter_child_nodes(node))
    for part in parts:
        _at_top(part, reads, binds)


def _free(text: str) -> set[str]:
    """Return the names that a scope reads and that neither it nor a scope around it binds."""
    import symtable

    tree = ast.parse(text)
    if any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(tree)):
        return set()
    top = symtable.symtable(text, "code", "exec")
    bound = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            bound.update(node.names)
    found: set[str] = set()
    pending = [top]
    while pending:
        table = pending.pop()
        pending.extend(table.get_children())
        for symbol in table.get_symbols():
            unbound = symbol.is_global() or (table is top and not symbol.is_assigned() and not symbol.is_imported())
            if symbol.is_referenced() and unbound and symbol.get_name() not in bound | _KNOWN:
                found.add(symbol.get_name())
    return found


__all__ = ["unresolved_names"]
