"""Hand an estimator the ``RunConfig`` that was made for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor


def hand_over(editor: Editor, finding: Finding) -> None:
    """Give the estimator its ``RunConfig``, or keep the copy that ``replace`` returns.

    Raises:
        Withheld: the ``RunConfig`` has no name.
    """
    name = str(finding.details["run_config"])
    if finding.details["how"] == "keep":
        _keep_copy(editor, finding)
        return
    if finding.details["how"] == "other":
        editor.replace(editor.expression_at(finding.anchors["config"]), name)
        editor.unsafe(f"Hand {name} to the estimator")
        return
    call = editor.expression_at(finding.span)
    if not isinstance(call, cst.Call):
        raise Withheld("it is not made by a call that is written here")
    last = call.args[-1] if call.args else None
    argument = cst.Arg(
        keyword=cst.Name("config"),
        value=cst.Name(name),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
        comma=last.comma if last is not None else cst.MaybeSentinel.DEFAULT,
        whitespace_after_arg=last.whitespace_after_arg if last is not None else cst.SimpleWhitespace(""),
    )
    args = list(call.args)
    if last is not None:
        space = args[-2].comma if len(args) > 1 else cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        args[-1] = last.with_changes(comma=space, whitespace_after_arg=cst.SimpleWhitespace(""))
    editor.replace(call, call.with_changes(args=[*args, argument]))
    editor.unsafe(f"Hand {name} to the estimator")


def _keep_copy(editor: Editor, finding: Finding) -> None:
    call = editor.expression_at(finding.span)
    owner = call.func.value if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) else None
    around = editor.parent(call)
    plain = owner.value if isinstance(owner, cst.Attribute) else owner
    if not isinstance(plain, cst.Name) or not isinstance(owner, (cst.Name, cst.Attribute)):
        raise Withheld("the object has no plain name")
    if not isinstance(around, cst.Expr):
        raise Withheld("its result is used")
    editor.replace(around, cst.Assign([cst.AssignTarget(owner.deep_clone())], call))
    editor.unsafe("Keep what replace returns")
