"""Give the calls that configure logical devices one physical device each."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.call_context import index_guard, own_statement, set_applicability
from tfmemlint.fixes.rewrites.render_intent import all_gpus, free_name, limit_for_all, number_of_gpu
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding

if TYPE_CHECKING:
    from tfmemlint.fixes.concrete_tree import Statement
    from tfmemlint.fixes.editor import Editor

_ASSIGNMENT = (cst.Assign, cst.AnnAssign)


def fix_device(editor: Editor, finding: Finding) -> None:
    """Pass the device instead of its name or a list of it alone, or call the function for every device of a list."""
    details = finding.details
    node = editor.expression_at(finding.span)
    if details["kind"] == "name":
        editor.replace(node, str(details["device"]).removesuffix(".name"))
        set_applicability(editor, "Configure the device itself", caught=details["caught"])
        return
    if details["kind"] == "single":
        if not isinstance(node, (cst.List, cst.Tuple)):
            raise Withheld("the list is made elsewhere")
        editor.replace(node, editor.code(node.elements[0].value))
        set_applicability(editor, "Configure the device itself", caught=details["caught"])
        return
    call = editor.call_to_rewrite(finding.anchors["call"])
    if details["kind"] == "string":
        _name_gpu(editor, call, node, details)
        return
    statement = own_statement(editor, call)
    if statement is None:
        raise Withheld("its result is used, and a setting has none")
    devices, gpu = editor.code(node), free_name(editor, "gpu")
    editor.replace(node, gpu)
    code = editor.code(call).replace("\n", "\n    ")
    editor.replace_statement(statement, f"for {gpu} in {devices}:\n    {code}\n")
    set_applicability(editor, "Configure every GPU of the list", caught=details["caught"])


def limit_every_gpu(editor: Editor, finding: Finding) -> None:
    """Give every GPU the limit of a configuration that stands alone."""
    call = editor.call_to_rewrite(finding.span)
    statement = own_statement(editor, call) or _only_assignment(editor, call)
    if statement is None:
        raise Withheld("its result is used")
    if len(call.args) > 1:
        raise Withheld("it has other settings, too")
    editor.replace_statement(statement, limit_for_all(editor, str(finding.details["mib"]), "mib"))
    editor.unsafe("Configure every GPU with this limit")


def _only_assignment(editor: Editor, call: cst.Call) -> Statement | None:
    """Return the statement that assigns ``call``, or a list of it, and does nothing else; None if it does more."""
    above = list(itertools.takewhile(lambda node: not isinstance(node, _ASSIGNMENT), editor.ancestors(call)))
    wrapped = all(isinstance(node, (cst.Element, cst.List, cst.Tuple)) for node in above)
    return editor.statement_of(call) if wrapped else None


def _name_gpu(editor: Editor, call: cst.Call, node: cst.BaseExpression, details: Mapping[str, object]) -> None:
    """Take the GPU that a string names from the list of all."""
    statement = own_statement(editor, call)
    number = number_of_gpu(node.evaluated_value) if isinstance(node, cst.SimpleString) else None  # type: ignore[arg-type]
    if number is None:
        raise Withheld("it is not known which GPU is meant")
    if statement is None:
        raise Withheld("its result is used, and a setting has none")
    guard, gpu, _ = index_guard(editor, f"{all_gpus(editor)}[{number}]", {"guarded": False})
    editor.replace(node, gpu)
    code = editor.code(call).replace("\n", "\n    ")
    editor.replace_statement(statement, f"{guard}\n    {code}\n")
    set_applicability(editor, f"Configure GPU {number} of the list", caught=details["caught"], doubtful=True)
