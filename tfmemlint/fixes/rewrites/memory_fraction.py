"""Correct shares of a GPU's memory in the options of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor


def percent_to_fraction(editor: Editor, finding: Finding) -> None:
    """Replace 50 by 0.5; divide a name or an attribute by 100.

    Raises:
        Withheld: the value is set elsewhere.
    """
    value = editor.expression_at(finding.span)
    target = editor.parent(value)
    if isinstance(target, cst.AssignTarget):
        statement = editor.parent(target)
        if not isinstance(statement, cst.Assign) or len(statement.targets) > 1:
            raise Withheld("the value is assigned to something else as well")
        value = statement.value
    number = finding.details["value"]
    assert isinstance(number, (int, float))
    if isinstance(value, (cst.Integer, cst.Float)):
        editor.replace(value, f"{number / 100:g}")
    elif isinstance(value, (cst.Name, cst.Attribute)):
        editor.replace(value, f"{editor.code(value)} / 100")
    else:
        raise Withheld("the rewriter does not know how the value is computed")
    editor.unsafe("Convert percent to a fraction")
