"""Write what was wanted of a missing attribute with what TensorFlow's objects have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.call_context import set_applicability
from tfmemlint.fixes.withheld import Withheld

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.model.finding import Finding


def replace_member(editor: Editor, finding: Finding) -> None:
    """Replace an attribute, or the call of one, by the code that does what was wanted."""
    details = finding.details
    node = editor.expression_at(finding.span)
    if not isinstance(node, (cst.Attribute, cst.Subscript)):
        raise Withheld("the rewriter finds no such attribute")
    template, base = str(details["code"]), editor.code(node.value)
    if not template:
        raise Withheld("there is no attribute for it")
    place: cst.CSTNode = node
    enable = "True"
    if details["called"]:
        call = editor.parent(node)
        if not isinstance(call, cst.Call) or "{1}" not in template or len(call.args) > 1:
            raise Withheld("it is called, and what there is instead is not a method")
        place = call
        enable = editor.code(call.args[0].value) if call.args else enable
    elif "{1}" in template:
        raise Withheld("it is not called")
    code = template.format(base, enable)
    if code.startswith("tf."):
        name, _, rest = code.partition("(")
        code = f"{editor.tf(name)}({rest}"
    if '["' in code:
        code = code.replace('"', editor.quoted("")[0])
    editor.replace(place, code)
    set_applicability(editor, f"Write {code}", caught=details["caught"], doubtful=not details["sure"])
