"""Give Keras its session before it makes one of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.concrete_tree import walk
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor, Statement

_MAKES = re.compile(
    r"(?:[\w.]{0,80}\.)?(?:ConfigProto|GPUOptions|Session|InteractiveSession|set_session|get_session)\Z"
)
"""Functions that make a session, and hand it to Keras."""
_WHY = ("Keras has its session before", "it makes one of its own,", "which would take all of the memory")


def move_above_first(editor: Editor, finding: Finding) -> None:
    """Move ``set_session(...)``, and what makes its session, above what makes Keras take a session of its own.

    Raises:
        Withheld: they are in different blocks, or the session needs something else.
    """
    tree = editor.tree
    last, first = tree.statement_at(finding.span), tree.statement_at(finding.anchors["start"])
    block = tree.statements(tree.block_of(last))
    around = {first, *tree.ancestors(first)}
    above = next((statement for statement in block if statement in around), None)
    if above is None or block.index(above) >= block.index(last):
        raise Withheld("Keras makes its session in another block")
    between = block[block.index(above) : block.index(last)]
    needed, moved = _names(last), [last]
    for statement in reversed(between):
        if _bound(statement) & needed:
            needed |= _names(statement)
            moved.insert(0, statement)
    for statement in moved:
        calls = (editor.code(node.func) for node in walk(statement) if isinstance(node, cst.Call))
        other = next((call for call in calls if _MAKES.match(call) is None), "")
        if other or not isinstance(statement, cst.SimpleStatementLine):
            raise Withheld(f"the session needs more than its options: {other or 'a statement of several lines'}")
    if above in moved:
        raise Withheld("what makes the session needs the model")
    editor.move_up(moved, above, _WHY)
    editor.unsafe("Give Keras its session first")


def _names(statement: Statement) -> set[str]:
    return {node.value for node in walk(statement) if isinstance(node, cst.Name)}


def _bound(statement: Statement) -> set[str]:
    """Return the names that a statement binds, or whose objects it changes."""
    found: set[str] = set()
    for node in walk(statement):
        if isinstance(node, cst.AssignTarget):
            target: cst.BaseExpression = node.target
            while isinstance(target, (cst.Attribute, cst.Subscript)):
                target = target.value
            found |= {each.value for each in walk(target) if isinstance(each, cst.Name)}
        elif isinstance(node, cst.ImportAlias):
            found.add(node.evaluated_alias or node.evaluated_name.split(".")[0])
    return found
