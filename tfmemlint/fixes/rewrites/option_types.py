"""Give an option of a session a value of the type that it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.call_context import set_applicability
from tfmemlint.fixes.rewrites import call_arguments
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor


def give_right_type(editor: Editor, finding: Finding) -> None:
    """Write the value in the right type, copy a message instead of assigning it, or put options into a message.

    Raises:
        Withheld: it is assigned to something else as well.
    """
    details = finding.details
    how = str(details["how"])
    if how == "name":
        call = editor.call_to_rewrite(finding.anchors["call"], "ConfigProto")
        call_arguments.name_argument(editor, call, finding, "gpu_options")
        return
    if how == "value":
        value = editor.expression_at(finding.anchors["value"])
        editor.replace(value, str(details["written"]))
        message = f"Write {details['written']}"
    elif how == "wrap":
        value = editor.expression_at(finding.anchors["value"])
        config = editor.tf("tf.compat.v1.ConfigProto", value)
        editor.replace(value, f"{config}(gpu_options={editor.code(value)})")
        message = "Put the options into a ConfigProto"
    else:
        message = _copy(editor, finding, how)
    set_applicability(editor, message, caught=details["caught"], doubtful=bool(details["doubtful"]))


def _copy(editor: Editor, finding: Finding, how: str) -> str:
    target = editor.parent(editor.expression_at(finding.anchors["target"]))
    assign = editor.parent(target) if isinstance(target, cst.AssignTarget) else None
    if not isinstance(assign, cst.Assign) or len(assign.targets) > 1:
        raise Withheld("it is assigned to something else as well")
    field, value = editor.code(assign.targets[0].target), editor.code(assign.value)
    if how == "update":
        method, message = "update", "Update the map"
    else:
        method, message = "CopyFrom", "Copy the message"
        if how == "copy dict":
            value = f"{editor.tf('tf.compat.v1.GPUOptions', assign)}(**{value})"
    editor.replace(assign, cst.Expr(cst.parse_expression(f"{field}.{method}({value})")))
    return message


def merge_instead(editor: Editor, finding: Finding) -> None:
    """Merge a message into another one, where ``CopyFrom`` replaces all that is set.

    Raises:
        Withheld: it is not called as a method.
    """
    call = editor.expression_at(finding.span)
    if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
        raise Withheld("it is not called as a method")
    editor.replace(call.func.attr, "MergeFrom")
    editor.unsafe("Merge it, which keeps what is set")
