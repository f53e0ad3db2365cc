"""Make several GPUs visible by one call, instead of one after the other in a loop."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.call_context import own_statement
from tfmemlint.fixes.rewrites.split_loop import assigned_values, is_consumed
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding

if TYPE_CHECKING:
    from tfmemlint.fixes.concrete_tree import Statement
    from tfmemlint.fixes.editor import Editor

_MORE = "the loop does more than choose GPUs"
_LISTS = ("list_physical_devices", "get_visible_devices")


def show_at_once(editor: Editor, finding: Finding) -> None:
    """Make the GPUs of all passes of a loop visible by one call behind it.

    Raises:
        Withheld: the loop does more than choose GPUs and let their memory grow, or there is no loop.
    """
    if not finding.details["loop"]:
        raise Withheld("it is not known which of the two choices is meant")
    if not finding.details["own"]:
        raise Withheld("the loop is where the function is called")
    call = editor.call_to_rewrite(finding.span, "set_visible_devices")
    statement, loop = own_statement(editor, call), editor.nearest(call, cst.For)
    if statement is None or loop is None or loop.orelse is not None or loop.asynchronous is not None:
        raise Withheld(_MORE)
    if editor.span(loop) != finding.anchors["loop"] or editor.parent(statement) is not loop.body:
        raise Withheld(_MORE)
    if not isinstance(loop.body, cst.IndentedBlock):
        raise Withheld(_MORE)
    growth, assigned = _others(editor, loop.body, statement)
    devices = _devices(call)
    editor.replace(devices, _list_of_passes(editor, loop, devices, assigned))
    code = f"{editor.code(call)}\n"
    if growth:
        if is_consumed(ast.parse(f"({editor.code(loop.iter)})", mode="eval").body, assigned_values(editor)):
            raise Withheld("the loop's iterator can be consumed only once")
        editor.remove(statement)
        editor.insert_after(loop, code)
    else:
        editor.replace_statement(loop, code)
    editor.unsafe("Make the GPUs of all passes visible by one call")


def _devices(call: cst.Call) -> cst.BaseExpression:
    """Return the devices that a call gets."""
    for argument in call.args:
        if argument.keyword is not None and argument.keyword.value == "devices":
            return argument.value
    return call.args[0].value


def _others(
    editor: Editor, body: cst.IndentedBlock, statement: Statement
) -> tuple[list[cst.Call], dict[str, cst.BaseExpression]]:
    """Return the calls of ``set_memory_growth`` in a loop, and the names that it assigns.

    Raises:
        Withheld: it does more.
    """
    growth: list[cst.Call] = []
    assigned: dict[str, cst.BaseExpression] = {}
    for line in body.body:
        if line is statement:
            continue
        match line:
            case cst.SimpleStatementLine(body=[cst.Assign(targets=[target], value=value)]):
                assigned[editor.code(target.target)] = value
            case cst.SimpleStatementLine(body=[cst.Expr(cst.Call() as other)]) if _is_growth(editor, other):
                growth.append(other)
            case _:
                raise Withheld(_MORE)
    return growth, assigned


def _is_growth(editor: Editor, call: cst.Call) -> bool:
    return editor.code(call.func).endswith("set_memory_growth")


def _list_of_passes(
    editor: Editor, loop: cst.For, devices: cst.BaseExpression, assigned: dict[str, cst.BaseExpression]
) -> str:
    """Return the code of the list of the GPUs that the passes of a loop choose."""
    names = dict(assigned)
    while isinstance(devices, cst.Name) and devices.value in names:
        devices = names.pop(devices.value)
    item = devices
    if isinstance(devices, cst.List) and len(devices.elements) == 1 and isinstance(devices.elements[0], cst.Element):
        item = devices.elements[0].value
    while isinstance(item, cst.Name) and item.value in names:
        item = names.pop(item.value)
    code, target, listed = editor.code(item), editor.code(loop.target), editor.code(loop.iter)
    used = {node.id for node in ast.walk(ast.parse(f"({code})")) if isinstance(node, ast.Name)}
    if not used.isdisjoint(names):
        raise Withheld(_MORE)
    return listed if code == target and _is_list(editor, loop.iter) else f"[{code} for {target} in {listed}]"


def _is_list(editor: Editor, listed: cst.BaseExpression) -> bool:
    """True if devices are gone through as TensorFlow lists them, which is a list."""
    match listed:
        case cst.Name() | cst.Attribute():
            return True
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Slice())]):
            return _is_list(editor, value)
        case cst.Call(func=func):
            return editor.code(func).endswith(_LISTS)
        case _:
            return False
