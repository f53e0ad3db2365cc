"""Correct shares of a GPU's memory in the options of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor


def percent_to_fraction(editor: Editor, finding: Finding) -> None:
    """Replace 50 by 0.5; divide by 100 what has a name, or is looked up among settings.

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
    elif isinstance(value, (cst.Name, cst.Attribute)) or _is_looked_up(value):
        editor.replace(value, f"{editor.code(value)} / 100")
    else:
        raise Withheld("the rewriter does not know how the value is computed")
    editor.unsafe("Convert percent to a fraction")


_ASKED = frozenset({"get", "getfloat", "getint", "float", "int"})
"""Functions and methods that return a setting as it is."""


def _is_looked_up(value: cst.BaseExpression) -> bool:
    """True for ``settings["percent"]`` and ``section.getfloat("percent")``, with no share as the default."""
    if isinstance(value, cst.Subscript):
        return True
    if not isinstance(value, cst.Call):
        return False
    name = value.func.attr if isinstance(value.func, cst.Attribute) else value.func
    if not isinstance(name, cst.Name) or name.value not in _ASKED:
        return False
    plain = [arg.value for arg in value.args]
    if name.value in ("float", "int") and isinstance(value.func, cst.Name):
        return len(plain) == 1 and (isinstance(plain[0], (cst.Name, cst.Attribute)) or _is_looked_up(plain[0]))
    return not any(isinstance(each, cst.Float) and 0 < each.evaluated_value <= 1 for each in plain)
