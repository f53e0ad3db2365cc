"""``del`` statements."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.bindings import bind
from tfmemlint.interpreter.operations.changes import change
from tfmemlint.interpreter.operations.contents import alter, cells_of, forget_contents
from tfmemlint.interpreter.operations.environment import unset_env
from tfmemlint.interpreter.registry import visits
from tfmemlint.interpreter.values import UNKNOWN, Const, Dict, Ref, Seq


@visits(ast.Delete)
def visit_delete(context: Context, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            bind(context, target.id, UNKNOWN)
        elif isinstance(target, ast.Subscript):
            _delete_item(context, target)


def _delete_item(context: Context, target: ast.Subscript) -> None:
    base = context.evaluate(target.value)
    key = context.evaluate(target.slice)
    if base == Ref("os.environ"):
        if isinstance(key, Const):
            unset_env(context, str(key.value))
        return
    meant = cells_of(base)
    for container in meant:
        if not isinstance(container, (Seq, Dict)) or container.cell is None:
            continue
        place = target.slice
        if len(meant) > 1:
            forget_contents(context, container)
        elif isinstance(place, ast.Slice) and place.lower is None and place.upper is None and place.step is None:
            alter(context, container, lambda content: Seq((), "list", content.cell))
        elif isinstance(place, ast.Slice):
            alter(context, container, lambda _: UNKNOWN)
        else:
            change(context, container, "pop", [key], {})
