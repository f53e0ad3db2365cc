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
    local = f"{editor.code(rank.func.value)}.local_rank()"
    if any(part is rank for part in walk(given)):
        editor.replace(rank, local)
        editor.unsafe("Use the local rank")
        return
    pick: cst.CSTNode | None = _field(editor, given, rank)
    if pick is None:
        pick = _variable(editor, given, rank)
        if not finding.details["function"]:
            raise Withheld("the rank comes from another function")
    around = editor.parent(rank)
    if isinstance(around, cst.IfExp):
        local = editor.code(around).replace(editor.code(rank), local)
    editor.replace(pick, local)
    editor.unsafe("Use the local rank")


def _variable(editor: Editor, given: cst.BaseExpression, rank: cst.Call) -> cst.CSTNode:
    """Return the variable with the rank in the expression that selects the GPU."""
    assigned = editor.parent(rank)
    if isinstance(assigned, cst.IfExp):
        # ``rank = hvd.rank() if hvd else 0``
        assigned = editor.parent(assigned)
    target = assigned.targets[0].target if isinstance(assigned, cst.Assign) else None
    if isinstance(target, cst.Name):
        found = [part for part in walk(given) if isinstance(part, cst.Name) and part.value == target.value]
        if len(found) == 1:
            return found[0]
    raise Withheld("the rank comes through more than one variable")


def _field(editor: Editor, given: cst.BaseExpression, rank: cst.Call) -> cst.Attribute | None:
    """Return the field with the rank (``context.rank``) in what selects the GPU, where a module that is
    imported at the top of the file gives the rank; None for anything else."""
    assigned = editor.parent(rank)
    target = assigned.targets[0].target if isinstance(assigned, cst.Assign) else None
    if not isinstance(target, cst.Attribute) or not isinstance(rank.func, cst.Attribute):
        return None
    name = editor.code(rank.func.value)
    imported = [
        alias
        for statement in editor.module.body
        if isinstance(statement, cst.SimpleStatementLine)
        for line in statement.body
        if isinstance(line, cst.Import)
        for alias in line.names
        if alias.evaluated_alias == name
    ]
    found = [part for part in walk(given) if isinstance(part, cst.Attribute) and part.attr.value == target.attr.value]
    return found[0] if len(found) == 1 and imported else None
