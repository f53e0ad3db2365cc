"""Replace a process's rank among all processes by its rank on the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.concrete_tree import walk
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor


def make_local(editor: Editor, finding: Finding) -> None:
    """Replace ``hvd.rank()`` by ``hvd.local_rank()`` where it selects a GPU. Other uses of a variable of it stay.

    Raises:
        Withheld: the rank is imported by itself, or comes from elsewhere.
    """
    rank = editor.call_at(finding.anchors["rank"], "rank")
    if not isinstance(rank.func, cst.Attribute):
        raise Withheld("rank is imported by itself, local_rank is not")
    given = editor.expression_at(finding.anchors["given"])
    target = editor.parent(given)
    statement = editor.parent(target) if isinstance(target, cst.AssignTarget) else None
    if isinstance(statement, cst.Assign):
        # The span is that of the field; its value is what counts.
        given = statement.value
    pick: cst.CSTNode = rank if any(part is rank for part in walk(given)) else _variable(editor, given, rank)
    if pick is not rank and not finding.details["function"]:
        raise Withheld("the rank comes from another function")
    editor.replace(pick, f"{editor.code(rank.func.value)}.local_rank()")
    editor.unsafe("Use the local rank")


def _variable(editor: Editor, given: cst.BaseExpression, rank: cst.Call) -> cst.CSTNode:
    """Return the variable with the rank in the expression that selects the GPU."""
    assigned = editor.parent(rank)
    target = assigned.targets[0].target if isinstance(assigned, cst.Assign) else None
    if isinstance(target, cst.Name):
        found = [part for part in walk(given) if isinstance(part, cst.Name) and part.value == target.value]
        if len(found) == 1:
            return found[0]
    raise Withheld("the rank comes through more than one variable")
