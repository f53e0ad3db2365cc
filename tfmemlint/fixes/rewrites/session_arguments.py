"""Hand a session the options that were made for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.finding import Finding

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor

_POSITIONS_BEFORE = 2
"""A session takes its target and its graph before its configuration."""


def hand_over(editor: Editor, finding: Finding) -> bool:
    """Give the session of ``finding`` the message that a name stands for; False if that is not plain to see."""
    made = editor.expression_at(finding.span)
    statement = editor.statement_of(made)
    name = _name_of(statement, made)
    call = editor.expression_at(finding.anchors["session"])
    if not name or not isinstance(call, cst.Call) or editor.parent(statement) not in list(editor.ancestors(call)):
        return False
    positional = sum(arg.keyword is None for arg in call.args)
    given = {arg.keyword.value for arg in call.args if arg.keyword is not None}
    if positional > _POSITIONS_BEFORE or "config" in given or any(arg.star for arg in call.args):
        return False
    if finding.details["kind"] == "GPUOptions":
        proto = editor.code(made).partition("(")[0].replace("GPUOptions", "ConfigProto")
        name = f"{proto}(gpu_options={name})"
    arguments = [editor.module.code_for_node(arg).rstrip().rstrip(",") for arg in call.args]
    editor.replace_args(call, *arguments, f"config={name}")
    editor.unsafe("Hand it to the session")
    return True


def _name_of(statement: cst.CSTNode, made: cst.BaseExpression) -> str:
    """Return the one name that a statement gives to a message, or nothing."""
    match statement:
        case cst.SimpleStatementLine(
            body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value)]
        ) if value is made:
            return name
        case _:
            return ""
