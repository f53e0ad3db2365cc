"""``del`` statements."""

from __future__ import annotations

import ast

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.operations.bindings import bind
from tfmemlint.interpreter.operations.changes import change
from tfmemlint.interpreter.operations.classes import class_member
from tfmemlint.interpreter.operations.contents import alter, cells_of, forget_contents
from tfmemlint.interpreter.operations.environment import unset_env
from tfmemlint.interpreter.operations.objects import call_special
from tfmemlint.interpreter.registry import visits
from tfmemlint.interpreter.values import UNKNOWN, Const, Dict, Function, Instance, Property, Ref, Seq


@visits(ast.Delete)
def visit_delete(context: Context, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            bind(context, target.id, UNKNOWN)
        elif isinstance(target, ast.Attribute):
            _delete_attribute(context, target)
        elif isinstance(target, ast.Subscript):
            _delete_item(context, target)


def _delete_attribute(context: Context, target: ast.Attribute) -> None:
    base = context.evaluate(target.value)
    if not isinstance(base, Instance) or context.state is None:
        return
    if call_special(context, base, "__delattr__", [Const(target.attr)], target) is not None:
        return
    known = class_member(context, base.cls, target.attr)
    if isinstance(known, (Function, Property)) and known.deleter is not None:
        context.call(known.deleter, [base], {}, target)
    elif isinstance(known, Instance):
        call_special(context, known, "__delete__", [base], target)
    context.heap = {key: value for key, value in context.heap.items() if key != (base, target.attr)}


def _delete_item(context: Context, target: ast.Subscript) -> None:
    base = context.evaluate(target.value)
    key = context.evaluate(target.slice)
    if base == Ref("os.environ"):
        if isinstance(key, Const):
            unset_env(context, str(key.value))
        return
    if isinstance(base, Instance) and context.state is not None:
        call_special(context, base, "__delitem__", [key], target)
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
