"""Correct what is called a unit and has the size of another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from libcst import matchers

from tfmemlint.fixes.rewrites.constants import assigned_once
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.knowledge.units import BYTES, factor_between

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor


def correct_unit(editor: Editor, name: str, unit: str) -> None:
    """Give a constant, by which bytes are divided to be told in ``unit``, the bytes of that unit.

    Raises:
        Withheld: it is not bound once in the file, or something else than a division uses it.
    """
    assigned = assigned_once(editor, name)
    uses = [editor.parent(node) for node in matchers.findall(editor.module, matchers.Name(name))]
    division = matchers.BinaryOperation(operator=matchers.Divide())
    divided = [node for node in uses if node is not None and matchers.matches(node, division)]
    if assigned is None or len(divided) + 1 != len(uses):
        raise Withheld(f"{name} is used in other ways, too")
    size = factor_between(BYTES, unit).lstrip("/ ")
    editor.replace(assigned, size)
    editor.unsafe(f"Make {name} {size}")
