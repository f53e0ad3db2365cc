"""Correct the devices that ``set_visible_devices`` gets, and the listings that they come from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.call_context import set_applicability
from tfmemlint.fixes.rewrites.render_intent import all_gpus, spell
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding, Span

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor


def fix_devices(editor: Editor, finding: Finding) -> None:
    """Replace wrong devices, or a wrong type, by the intended ones.

    Raises:
        Withheld: the intended ones aren't known, or are set elsewhere.
    """
    details = finding.details
    kind = str(details["kind"])
    if kind == "type":
        editor.replace(editor.expression_at(finding.anchors["type"]), editor.quoted(str(details["type"])))
        message = f"Write the type as {details['type']!r}"
    elif kind == "count":
        count, listing = editor.expression_at(finding.span), editor.expression_at(finding.anchors["listing"])
        if not isinstance(listing, cst.Call):
            raise Withheld("the listing is not found")
        editor.replace(count, f"len({editor.code(listing.func)}({editor.quoted('GPU')}))")
        message = "Count the devices of type 'GPU'"
    else:
        call = editor.call_to_rewrite(finding.span, "set_visible_devices")
        message = _FIXES[kind](editor, call, finding.anchors)
    set_applicability(editor, message, caught=details["caught"], doubtful=bool(details["doubtful"]))


def _name_type(editor: Editor, call: cst.Call, anchors: Mapping[str, Span]) -> str:
    for argument in call.args:
        if argument.keyword is not None and argument.keyword.value == "device_type":
            editor.replace(argument.value, editor.quoted("GPU"))
            return "Name the type of the devices"
    arguments = [editor.code(argument).strip().rstrip(",") for argument in call.args]
    if len(arguments) == 2:
        editor.replace(call.args[1].value, editor.quoted("GPU"))
    elif call.args[0].keyword is not None:
        editor.replace_args(call, *arguments, f"device_type={editor.quoted('GPU')}")
    else:
        editor.replace_args(call, *arguments, editor.quoted("GPU"))
    return "Name the type of the devices"


def _take_device(editor: Editor, call: cst.Call, anchors: Mapping[str, Span]) -> str:
    """Replace a string or a number by a slice, which is empty on a machine without that GPU."""
    devices = editor.expression_at(anchors["devices"])
    number = int(re.sub(r"\D", "", editor.code(devices)) or -1)
    if number < 0 or not isinstance(devices, (cst.SimpleString, cst.Integer)):
        raise Withheld("the GPU is chosen elsewhere")
    edges = f":{number + 1}" if number == 0 else f"{number}:{number + 1}"
    if len(call.args) == 1:
        raise Withheld("it is not known whether a GPU is meant")
    editor.replace(devices, f"{all_gpus(editor)}[{edges}]")
    return "Give it the device from the list of GPUs"


def _take_numbered(editor: Editor, call: cst.Call, anchors: Mapping[str, Span]) -> str:
    """Replace a number, or the variable that has it, by a slice."""
    devices = editor.expression_at(anchors["devices"])
    if len(call.args) == 1 or not isinstance(devices, (cst.Name, cst.Attribute)):
        return _take_device(editor, call, anchors)
    number = editor.code(devices)
    editor.replace(devices, f"{all_gpus(editor)}[{number} : {number} + 1]")
    return "Give it the device from the list of GPUs"


def _drop_name(editor: Editor, call: cst.Call, anchors: Mapping[str, Span]) -> str:
    devices = editor.expression_at(anchors["devices"])
    if not isinstance(devices, cst.Attribute) or devices.attr.value != "name":
        raise Withheld("the name is taken elsewhere")
    editor.replace(devices, editor.code(devices.value))
    return "Give it the device itself"


def _make_list(editor: Editor, call: cst.Call, anchors: Mapping[str, Span]) -> str:
    devices = editor.expression_at(anchors["devices"])
    if not isinstance(devices, cst.Tuple):
        raise Withheld("the rewriter finds no tuple there")
    items = ", ".join(editor.code(element.value) for element in devices.elements)
    argument = next(given for given in call.args if given.value is devices)
    editor.replace(argument, argument.with_changes(value=cst.parse_expression(f"[{items}]")))
    return "Make it a list"


def _list_physical(editor: Editor, call: cst.Call, anchors: Mapping[str, Span]) -> str:
    listing = _listing(editor, anchors)
    if not editor.code(listing.func).endswith("list_logical_devices"):
        raise Withheld("the devices are listed elsewhere")
    editor.replace(listing.func, spell(editor, "tf.config.list_physical_devices"))
    return "List the physical devices"


def _list_gpus(editor: Editor, call: cst.Call, anchors: Mapping[str, Span]) -> str:
    listing = _listing(editor, anchors)
    if listing.args:
        raise Withheld("the devices are listed elsewhere")
    editor.replace_args(listing, editor.quoted("GPU"))
    return "List the GPUs only"


def _listing(editor: Editor, anchors: Mapping[str, Span]) -> cst.Call:
    """Return the listing that the devices, or some of them, are taken from directly."""
    node: cst.BaseExpression = editor.expression_at(anchors["devices"])
    while isinstance(node, cst.Subscript):
        node = node.value
    if not isinstance(node, cst.Call):
        raise Withheld("the devices are listed elsewhere")
    return node


_FIXES = {
    "hides": _name_type,
    "string": _take_device,
    "number": _take_numbered,
    "name": _drop_name,
    "tuple": _make_list,
    "logical": _list_physical,
    "all": _list_gpus,
}
