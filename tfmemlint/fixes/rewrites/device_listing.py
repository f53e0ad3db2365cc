"""Replace listings of GPUs that take their memory by listings that only ask for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.concrete_tree import walk
from tfmemlint.fixes.rewrites import render_intent
from tfmemlint.fixes.unused_imports import drop_imports
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Span

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor

_KEPT = frozenset({"device_type", "name"})
"""The attributes of ``device_lib``'s devices that a physical device has, too."""


def replace_gpu_test(editor: Editor, span: Span) -> None:
    """Replace ``is_gpu_available()`` and ``gpu_device_name()`` by a test of the list of GPUs."""
    call = editor.call_to_rewrite(span, "is_gpu_available", "gpu_device_name")
    name = editor.code(call.func).rsplit(".", 1)[-1]
    if call.args:
        raise Withheld("its arguments ask for more than whether there is a GPU")
    gpus = render_intent.all_gpus(editor)
    if _is_test(editor, call):
        editor.replace(call, gpus)
    elif name == "gpu_device_name":
        editor.replace(call, f"{editor.quoted('/device:GPU:0')} if {gpus} else {editor.quoted('')}")
    else:
        editor.replace(call, f"bool({gpus})")
    editor.unsafe("List the physical GPUs, which takes no memory")


def _is_test(editor: Editor, call: cst.BaseExpression) -> bool:
    """True if only the truth value of an expression is used."""
    parent = editor.parent(call)
    if isinstance(parent, (cst.If, cst.While, cst.Assert, cst.IfExp)):
        return parent.test is call
    if isinstance(parent, cst.BooleanOperation):
        return _is_test(editor, parent)
    if isinstance(parent, cst.Arg):
        around = editor.parent(parent)
        return isinstance(around, cst.Call) and len(around.args) == 1 and editor.code(around.func) == "bool"
    return isinstance(parent, cst.UnaryOperation) and isinstance(parent.operator, cst.Not)


def replace_local_devices(editor: Editor, span: Span) -> None:
    """Replace ``device_lib.list_local_devices()`` by a listing of the physical devices.

    Attributes of the devices that the code reads are kept.

    Raises:
        Withheld: the code reads an attribute that a physical device doesn't have, or the list can't be followed.
    """
    call = editor.call_to_rewrite(span, "list_local_devices")
    if call.args:
        raise Withheld("its arguments have no place in list_physical_devices")
    for use in _uses(editor, call):
        if use.attr.value not in _KEPT:
            raise Withheld(f".{use.attr.value} is read of the devices, and a physical device has no such attribute")
        if use.attr.value == "name":
            editor.replace(
                use, f"{editor.code(use)}.replace({editor.quoted('/physical_device:')}, {editor.quoted('/device:')})"
            )
    comprehension = editor.parent(call)
    if isinstance(comprehension, cst.CompFor) and _keeps_gpus(editor, comprehension):
        gpus = cst.parse_expression(render_intent.all_gpus(editor))
        editor.replace(comprehension, comprehension.with_changes(iter=gpus, ifs=[]))
    else:
        editor.replace(call, f"{render_intent.spell(editor, 'tf.config.list_physical_devices')}()")
    drop_imports(editor, [call], render_intent.all_gpus(editor))
    editor.unsafe("List the physical devices, which takes no memory")


def _keeps_gpus(editor: Editor, comprehension: cst.CompFor) -> bool:
    """True if a comprehension keeps exactly the GPUs of a listing."""
    tests = [editor.code(condition.test).replace("'", '"') for condition in comprehension.ifs]
    return tests == [f'{editor.code(comprehension.target)}.device_type == "GPU"']


def _uses(editor: Editor, call: cst.Call) -> list[cst.Attribute]:
    """Return the attributes that the code reads of the devices.

    Raises:
        Withheld: the devices can't be followed.
    """
    parent = editor.parent(call)
    function = editor.nearest(call, cst.FunctionDef) or editor.module
    if isinstance(parent, cst.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0].target, cst.Name):
        holder = parent.targets[0].target.value
        readers = [
            node
            for node in walk(function)
            if isinstance(node, cst.Name) and node.value == holder and node is not parent.targets[0].target
        ]
    else:
        readers = [call]  # type: ignore[list-item]
    found: list[cst.Attribute] = []
    for reader in readers:
        around = editor.parent(reader)
        if isinstance(around, (cst.CompFor, cst.For)) and around.iter is reader:
            target = around.target
            if not isinstance(target, cst.Name):
                raise Withheld("the rewriter can't follow the devices")
            scope: cst.CSTNode | None = around if isinstance(around, cst.For) else editor.parent(around)
            while isinstance(scope, cst.CompFor):
                scope = editor.parent(scope)
            assert scope is not None
            found.extend(_attributes_of(editor, scope, target.value))
        elif not _is_shown(editor, reader, around):
            raise Withheld("the rewriter can't follow the devices")
    return found


def _is_shown(editor: Editor, reader: cst.CSTNode, around: cst.CSTNode | None) -> bool:
    """True if a list is only printed, counted, or thrown away."""
    if isinstance(around, cst.Expr):
        return True
    if isinstance(around, cst.Arg):
        call = editor.parent(around)
        return isinstance(call, cst.Call) and editor.code(call.func) in ("print", "len", "str", "repr", "pprint")
    return False


def _attributes_of(editor: Editor, scope: cst.CSTNode, name: str) -> list[cst.Attribute]:
    found = []
    for node in walk(scope):
        if not isinstance(node, cst.Name) or node.value != name:
            continue
        parent = editor.parent(node)
        if isinstance(parent, cst.Attribute) and parent.value is node:
            found.append(parent)
        elif (isinstance(parent, (cst.CompFor, cst.For)) and parent.target is node) or isinstance(
            parent, cst.Attribute
        ):
            continue
        elif not (isinstance(parent, cst.ListComp) and _is_shown(editor, parent, editor.parent(parent))):
            raise Withheld("the rewriter can't follow the devices")
    return found
