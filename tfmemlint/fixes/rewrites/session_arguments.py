"""Hand a session the options that were made for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst
from libcst import matchers

from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor

_POSITIONS_BEFORE = 2
"""A session takes its target and its graph before its configuration."""


def hand_over(editor: Editor, finding: Finding) -> bool:
    """Give the session of ``finding`` the message that a name stands for; False if that is not plain to see."""
    made = editor.expression_at(finding.span)
    statement = editor.statement_of(made)
    kept = str(finding.details.get("kept", ""))
    name = kept or _name_of(statement, made)
    call = editor.expression_at(finding.anchors["session"])
    if not name or not isinstance(call, cst.Call):
        return False
    if not kept and editor.parent(statement) not in list(editor.ancestors(call)):
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


def hand_beside(editor: Editor, finding: Finding) -> None:
    """Give a message to the calls that take options for sessions, in the function that has it under a name."""
    keyword, name = str(finding.details["keyword"]), str(finding.details["beside"])
    for anchor, span in finding.anchors.items():
        if anchor.startswith("taker:"):
            call = editor.call_at(span)
            arguments = [editor.code(each.with_changes(comma=cst.MaybeSentinel.DEFAULT)) for each in call.args]
            editor.replace_args(call, *arguments, f"{keyword}={name}")
    editor.unsafe("Hand it to the session" if keyword == "config" else "Hand it to the RunConfig")


def _name_of(statement: cst.CSTNode, made: cst.BaseExpression) -> str:
    """Return the one name that a statement gives to a message, or nothing."""
    match statement:
        case cst.SimpleStatementLine(
            body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value)]
        ) if value is made:
            return name
        case _:
            return ""


def can_hand_to_first(editor: Editor, finding: Finding) -> bool:
    """True if the configuration of a session is known at the call before it that makes the GPU devices."""
    given = _config_of(editor, finding)
    return given is not None and _is_known_at(editor, given, editor.call_at(finding.anchors["first"]))


def _config_of(editor: Editor, finding: Finding) -> cst.BaseExpression | None:
    session = editor.call_at(finding.span)
    return next((each.value for each in session.args if each.keyword and each.keyword.value == "config"), None)


def hand_to_first(editor: Editor, finding: Finding) -> None:
    """Hand the configuration of a session to the call before it that makes the GPU devices.

    Raises:
        Withheld: the configuration is not made by a function without arguments, nor known where that call stands.
    """
    given = _config_of(editor, finding)
    first = editor.call_at(finding.anchors["first"])
    if given is None or not _is_known_at(editor, given, first):
        raise Withheld("the configuration of the session is not known there")
    keyword = str(finding.details["keyword"])
    positional = sum(each.keyword is None for each in first.args)
    named_there = {each.keyword.value for each in first.args if each.keyword is not None}
    unclear = any(each.star for each in first.args)
    if unclear or keyword in named_there or positional > int(str(finding.details["position"])):
        raise Withheld("it is given a configuration already")
    arguments = [editor.code(each.with_changes(comma=cst.MaybeSentinel.DEFAULT)) for each in first.args]
    editor.replace_args(first, *arguments, f"{keyword}={editor.code(given)}")
    editor.unsafe(f"Hand the same configuration to {editor.code(first.func)}")


def _is_known_at(editor: Editor, given: cst.BaseExpression, place: cst.CSTNode) -> bool:
    """True for the call of a function of the file without arguments, and for a name that its top level binds above."""
    body = editor.module.body
    if isinstance(given, cst.Call) and isinstance(given.func, cst.Name) and not given.args:
        return any(isinstance(line, cst.FunctionDef) and line.name.value == given.func.value for line in body)
    if not isinstance(given, cst.Name):
        return False
    target = matchers.AssignTarget(matchers.Name(given.value))
    targets = matchers.findall(editor.module, target)
    tops = [line for line in body if isinstance(line, cst.SimpleStatementLine) and matchers.findall(line, target)]
    return len(targets) == len(tops) == 1 and editor.span(tops[0]) < editor.span(place)
