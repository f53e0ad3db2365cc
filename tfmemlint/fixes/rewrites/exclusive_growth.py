"""Set memory growth only where no limit is set: the two exclude each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.concrete_tree import walk
from tfmemlint.fixes.opposites import opposite_of
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor, Statement

WHY_NOT = "the limit is not set on every path; on the others, growth is in force"
_THROUGH = (cst.For, cst.With, cst.Try)
"""Statements around a limit in which it is set all the same."""


def exclude(editor: Editor, finding: Finding, growth: cst.Call) -> None:
    """Set growth under the opposite of the condition under which a limit is set.

    Raises:
        Withheld: the limit is not set by a plain ``if`` beside the growth.
    """
    place = finding.anchors.get("limit")
    if place is None:
        raise Withheld(WHY_NOT)
    limit = editor.call_at(place, "set_logical_device_configuration")
    block, growing, limiting = _beside(editor, growth, limit)
    first, second = block.index(growing), block.index(limiting)
    condition = _condition(editor, limiting, limit)
    asked = {part.value for part in walk(condition.test) if isinstance(part, cst.Name)}
    if _operands(editor, condition.test) & _operands(editor, growth):
        # Growth is wanted where the limit is set.
        raise Withheld(WHY_NOT)
    between = block[min(first, second) : max(first, second) + 1]
    if not _only_grows(growing, growth) or any(_binds(each, asked) for each in between if each is not condition):
        raise Withheld(WHY_NOT)
    if first == second + 1:
        _join(editor, condition, growing)
    else:
        _guard(editor, growing, opposite_of(editor, condition.test))
    editor.unsafe("Grow the memory only where no limit is set")


def _beside(editor: Editor, growth: cst.Call, limit: cst.Call) -> tuple[list[Statement], Statement, Statement]:
    """Return the statements of the innermost block that has both calls, and those of them that have one each."""
    above = [limit, *editor.ancestors(limit)]
    child: cst.CSTNode = growth
    for around in editor.ancestors(growth):
        if around in above and isinstance(around, (cst.Module, cst.IndentedBlock)):
            other = above[above.index(around) - 1]
            if child is not other:
                return list(around.body), child, other  # type: ignore[return-value]
            break
        child = around
    raise Withheld(WHY_NOT)


def _condition(editor: Editor, statement: Statement, limit: cst.Call) -> cst.If:
    """Return the statement that sets a limit if it is an ``if`` without ``else`` in which the limit is always set."""
    if not isinstance(statement, cst.If) or statement.orelse is not None:
        raise Withheld(WHY_NOT)
    if any(isinstance(part, (cst.Call, cst.NamedExpr, cst.Await)) for part in walk(statement.test)):
        raise Withheld(WHY_NOT)
    for around in editor.ancestors(limit):
        if around is statement:
            break
        at_times = isinstance(around, (cst.ExceptHandler, cst.Else, cst.Finally))
        if at_times or (isinstance(around, cst.BaseCompoundStatement) and not isinstance(around, _THROUGH)):
            raise Withheld(WHY_NOT)
    return statement


def _only_grows(statement: cst.CSTNode, growth: cst.Call) -> bool:
    """True if a statement does nothing but set growth: the call, in a loop, under a condition, or both."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Expr(value=value)]):
            return value is growth
        case cst.For(body=cst.IndentedBlock(body=[inner]), orelse=None):
            return _only_grows(inner, growth)
        case cst.If(body=cst.IndentedBlock(body=[inner]), orelse=None):
            return _only_grows(inner, growth)
        case _:
            return False


def _operands(editor: Editor, node: cst.CSTNode) -> set[str]:
    """Return the names and attributes in an expression, each as a whole: ``args.limit``."""
    parts = [part for part in walk(node) if isinstance(part, (cst.Name, cst.Attribute))]
    inner = {id(name) for part in parts if isinstance(part, cst.Attribute) for name in (part.value, part.attr)}
    return {editor.code(part) for part in parts if id(part) not in inner} - {"None", "True", "False"}


def _binds(statement: cst.CSTNode, names: set[str]) -> bool:
    """True if a statement assigns one of these names, or an attribute or item of one."""
    for part in walk(statement):
        targets: Sequence[cst.CSTNode] = ()
        if isinstance(part, cst.Assign):
            targets = [target.target for target in part.targets]
        elif isinstance(part, (cst.AugAssign, cst.AnnAssign, cst.For, cst.NamedExpr)):
            targets = [part.target]
        if any(isinstance(name, cst.Name) and name.value in names for target in targets for name in walk(target)):
            return True
    return False


def _join(editor: Editor, condition: cst.If, statement: Statement) -> None:
    """Make the statement behind an ``if`` its ``elif``, or its ``else``."""
    lines = [line for line in getattr(statement, "leading_lines", ()) if line.comment is not None]
    if isinstance(statement, cst.If):
        orelse: cst.If | cst.Else = statement.with_changes(leading_lines=lines)
    else:
        inner = statement.with_changes(leading_lines=lines)
        orelse = cst.Else(body=cst.IndentedBlock(body=[inner]))  # type: ignore[list-item]
    whole = condition.with_changes(leading_lines=[], orelse=orelse)
    editor.replace_statement(condition, editor.module.code_for_node(whole))
    editor.discard(statement)


def _guard(editor: Editor, statement: Statement, test: cst.BaseExpression) -> None:
    """Put a statement under a condition, in front of that which it may have."""
    if isinstance(statement, cst.If):
        own = statement.test
        if isinstance(own, cst.BooleanOperation) and isinstance(own.operator, cst.Or) and not own.lpar:
            own = own.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.Or):
            test = test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        editor.replace(statement.test, cst.BooleanOperation(own, cst.And(), test))
        return
    inner = statement.with_changes(leading_lines=[])
    whole = cst.If(test, cst.IndentedBlock(body=[inner]))  # type: ignore[list-item]
    if isinstance(statement, cst.SimpleStatementLine):
        # The comment behind it stays there.
        whole = whole.with_changes(leading_lines=statement.leading_lines)
        editor.insert_before(statement, editor.module.code_for_node(whole))
        editor.discard(statement)
    else:
        editor.replace_statement(statement, editor.module.code_for_node(whole))
