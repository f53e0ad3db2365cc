"""Divide a limit by the number of those who get it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding
from tfmemlint.model.patterns import late_pattern

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor

_LISTED = late_pattern(r"^len\((\w+)\)$")
_SIMPLE = late_pattern(r"^[\w.]+(?:\(\w*\))?$")
_PLAIN = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.Integer)


def divide(editor: Editor, finding: Finding) -> None:
    """Divide a limit by the number of processes, or of logical devices, that get it.

    Raises:
        Withheld: the number has no name that the place of the limit knows.
    """
    number, total = str(finding.details["number"]), str(finding.details["total"])
    value = editor.expression_at(finding.span)
    known = _constants(editor.module)
    named = finding.details["made_in"] == finding.path and _LISTED.sub(r"\1", number) in known
    if not (number.isdecimal() or named or finding.details.get("beside")):
        raise Withheld("the number of processes is not known where the limit is set")
    code = editor.code(value)
    if isinstance(value, (cst.Integer, cst.Float)):
        if total not in known:
            raise Withheld("the memory of the GPU has no name in this file")
        code = total
    elif not isinstance(value, _PLAIN):
        code = f"({code})"
    divisor = number if _SIMPLE.match(number) else f"({number})"
    editor.replace(value, f"{code} // {divisor}")
    editor.unsafe("Divide the limit by the number of those who get it")


def _constants(module: cst.Module) -> set[str]:
    """Return the names that a module binds once, to a number or an expression, at its top level."""
    found: list[str] = []
    for line in module.body:
        for statement in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            if isinstance(statement, cst.Assign) and isinstance(statement.targets[0].target, cst.Name):
                found.append(statement.targets[0].target.value)
            elif isinstance(statement, cst.AnnAssign) and isinstance(statement.target, cst.Name):
                found.append(statement.target.value)
    return {name for name in found if found.count(name) == 1}
