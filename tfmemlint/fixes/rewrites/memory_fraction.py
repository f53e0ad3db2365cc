"""Shares of a GPU's memory in a session's options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor


def percent_to_fraction(editor: Editor, finding: Finding) -> None:
    """50 becomes 0.5; a name or an expression is divided by 100.

    Raises:
        Withheld: the value stands elsewhere.
    """
    value = editor.expression_at(finding.span)
    target = editor.parent(value)
    if isinstance(target, cst.AssignTarget):
        statement = editor.parent(target)
        if not isinstance(statement, cst.Assign) or len(statement.targets) > 1:
            raise Withheld("the value is given to something else as well")
        value = statement.value
    number = finding.details["value"]
    assert isinstance(number, (int, float))
    if isinstance(value, (cst.Integer, cst.Float)):
        editor.replace(value, f"{number / 100:g}")
    elif isinstance(value, (cst.Name, cst.Attribute)):
        editor.replace(value, f"{editor.code(value)} / 100")
    else:
        raise Withheld("how the value is computed isn't known to the rewriter")
    editor.unsafe("Turn percent into a share")
