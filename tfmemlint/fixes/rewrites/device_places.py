"""Name logical devices where physical ones, numbers, or names of other libraries stand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import libcst as cst

from tfmemlint.fixes.rewrites import render_intent
from tfmemlint.fixes.unused_imports import drop_imports
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.knowledge.device_names import BEFORE_NUMBER

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.model.finding import Finding

_QUOTE = re.compile(r"""[fF]["']""")


def name_devices(editor: Editor, finding: Finding) -> None:
    """Replace what ``tf.device`` or a strategy gets by the names of logical devices.

    Raises:
        Withheld: the devices stand elsewhere, or their names aren't known.
    """
    node = editor.expression_at(finding.span)
    code, form = editor.code(node), str(finding.details["form"])
    names = cast(Sequence[str], finding.details["names"])
    if form == "every":
        new = f"{editor.tf('tf.config.list_logical_devices')}({editor.quoted('GPU')})"
    elif form in ("list", "texts"):
        part = "name" if form == "texts" else "gpu.name"
        each = "name" if form == "texts" else "gpu"
        new = f"[{part}.replace({editor.quoted('/physical_device:')}, {editor.quoted('')}) for {each} in {code}]"
    elif form == "numbered":
        quote = _QUOTE.match(code)
        before = BEFORE_NUMBER.match(code, quote.end()) if quote is not None else None
        if quote is None or before is None or code[before.end()] != "{":
            raise Withheld("the name is made elsewhere")
        new = f"{quote[0]}GPU:{code[before.end() :]}"
    elif form == "device":
        index = finding.details["index"]
        new = render_intent.logical_name(code.removesuffix(".name"), index, guarded=True, editor=editor)
    elif not isinstance(node, (cst.SimpleString, cst.Integer, cst.List, cst.Tuple)):
        raise Withheld("the device stands elsewhere")
    elif finding.details["several"]:
        new = f"[{', '.join(map(editor.quoted, names))}]"
    else:
        new = editor.quoted(names[0])
    editor.replace(node, new)
    drop_imports(editor, {node}, new)
    editor.unsafe("Name the logical devices" if finding.details["several"] else "Name the logical device")
