"""The number of a process on its own machine, in the place of that among all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.concrete_tree import walk
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor


def make_local(editor: Editor, finding: Finding) -> None:
    """``hvd.rank()`` becomes ``hvd.local_rank()`` where it picks a GPU; what else a variable of it is for stays.

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
        # The field that is set stands for what it is set to.
        given = statement.value
    pick: cst.CSTNode = rank if any(part is rank for part in walk(given)) else _variable(editor, given, rank)
    if pick is not rank and not finding.details["function"]:
        raise Withheld("the rank comes from another function")
    editor.replace(pick, f"{editor.code(rank.func.value)}.local_rank()")
    editor.unsafe("Use the rank on the machine")


def _variable(editor: Editor, given: cst.BaseExpression, rank: cst.Call) -> cst.CSTNode:
    """The variable in what picks the GPU, whose value is the rank."""
    assigned = editor.parent(rank)
    target = assigned.targets[0].target if isinstance(assigned, cst.Assign) else None
    if isinstance(target, cst.Name):
        found = [part for part in walk(given) if isinstance(part, cst.Name) and part.value == target.value]
        if len(found) == 1:
            return found[0]
    raise Withheld("the rank comes by more than one variable")
