"""Choose a GPU for a session by its number, where ``device_count`` was meant to do so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor


def choose_by_number(editor: Editor, finding: Finding) -> None:
    """Set ``visible_device_list`` on the message in place of the argument ``device_count``.

    Raises:
        Withheld: its GPU options come from elsewhere, or it is made in another way than by its name.
    """
    node: cst.CSTNode = editor.expression_at(finding.span)
    while not (isinstance(node, cst.Call) and editor.code(node.func).endswith("ConfigProto")):
        parent = editor.parent(node)
        if parent is None:
            raise Withheld("the message is made elsewhere")
        node = parent
    names = [each.keyword.value if each.keyword is not None else "" for each in node.args]
    if names.count("device_count") != 1 or "gpu_options" in names or "" in names:
        raise Withheld("its gpu_options are made elsewhere")
    text = str(finding.details["text"])
    number = editor.quoted(text) if finding.details["constant"] else f"str({text})"
    others = [
        editor.code(each).strip().rstrip(",")
        for each, name in zip(node.args, names, strict=True)
        if name != "device_count"
    ]
    statement = editor.statement_at(finding.span)
    line = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
    if isinstance(line, cst.Assign) and line.value is node and len(line.targets) == 1:
        target = editor.code(line.targets[0].target)
        editor.insert_after(statement, f"{target}.gpu_options.visible_device_list = {number}")
    elif isinstance(node.func, cst.Attribute):
        others.append(f"gpu_options={editor.code(node.func.value)}.GPUOptions(visible_device_list={number})")
    else:
        raise Withheld("the message has no name here")
    editor.replace_args(node, *others)
    editor.unsafe("Choose the GPU by its number, with visible_device_list")
