"""Find the conditions under which a TF1 session's options are set, and the statements that can be removed with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.concrete_tree import walk
from tfmemlint.fixes.def_use import HARMLESS
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Span

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor, Statement

Guards = tuple[tuple[cst.If, bool], ...]
"""The conditions under which a place is reached, outermost first, each with the truth value that it needs."""

_BLOCKS = (cst.For, cst.While, cst.Try, cst.TryStar, cst.With, cst.Match)


def guards_of(editor: Editor, node: cst.CSTNode, place: cst.CSTNode) -> Guards:
    """Return the conditions under which ``node`` is reached when ``place`` is, within the function of ``node``.

    Raises:
        Withheld: it is inside a loop, a handler or the like.
    """
    found: list[tuple[cst.If, bool]] = []
    below = node
    for around in editor.ancestors(node):
        if isinstance(around, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
            break
        if any(inner is place for inner in walk(around)):
            break
        if isinstance(around, _BLOCKS):
            raise Withheld("an option is set in a loop, a handler or a with")
        if isinstance(around, cst.If):
            found.append((around, below is around.body))
        below = around
    return tuple(reversed(found))


def are_exclusive(guards: Guards, other: Guards) -> bool:
    """True if two sets of conditions can't both hold."""
    return any(first is second and yes != no for first, yes in guards for second, no in other)


def with_emptied_conditions(editor: Editor, doomed: set[Statement]) -> set[Statement]:
    """Return ``doomed``, with each condition that would be left empty as a whole.

    Raises:
        Withheld: a condition that stays would be evaluated twice, and evaluating it may have effects.
    """
    found = set(doomed)
    while True:
        ifs = {
            parent
            for statement in found
            for parent in [_block_holder(editor, statement)]
            if isinstance(parent, cst.If) and parent not in found
        }
        more = {
            condition
            for condition in ifs
            if all(line in found for line in _lines(condition)) and _is_statement(editor, condition)
        }
        if not more:
            break
        found = {statement for statement in found if not any(statement in set(walk(whole)) for whole in more)} | more
    for statement in found:
        parent = _block_holder(editor, statement)
        if isinstance(parent, cst.If) and any(isinstance(node, cst.Call) for node in walk(parent.test)):
            raise Withheld("a condition that calls something would be evaluated twice")
    return found


def _block_holder(editor: Editor, statement: cst.CSTNode) -> cst.CSTNode | None:
    """Return the compound statement that contains a statement; for an ``else``, its ``if``."""
    for around in editor.ancestors(statement):
        if isinstance(around, (cst.If, cst.FunctionDef, cst.ClassDef, *_BLOCKS)):
            while isinstance(around, cst.If) and not _is_statement(editor, around):
                parent = editor.parent(around)
                assert parent is not None
                around = parent
            return around
    return None


def _is_statement(editor: Editor, node: cst.If) -> bool:
    return isinstance(editor.parent(node), (cst.Module, cst.IndentedBlock))


def _lines(node: cst.If) -> Iterator[cst.CSTNode]:
    """Yield the statements in the blocks of an ``if``, line by line."""
    bodies = [node.body]
    rest = node.orelse
    while rest is not None:
        bodies.append(rest.body)
        rest = rest.orelse if isinstance(rest, cst.If) else None
    for body in bodies:
        for line in body.body:
            small = line.body if isinstance(line, cst.SimpleStatementLine) else ()
            if not (len(small) == 1 and isinstance(small[0], cst.Pass)):
                yield line


def bare_statement(editor: Editor, statement: Statement, span: Span) -> cst.BaseSmallStatement:
    """Return ``statement`` if it only calls the expression at ``span`` and keeps or returns the result.

    Raises:
        Withheld: it does more.
    """
    small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement
    value = small.value if isinstance(small, (cst.Expr, cst.Assign, cst.AnnAssign, cst.Return)) else None
    if isinstance(value, cst.Call) and span in (editor.span(value), editor.span(value.func)):
        assert isinstance(small, cst.BaseSmallStatement)
        return small
    raise Withheld("the session is part of a statement that does more")


def check_helper(editor: Editor, helper: cst.FunctionDef, doomed: set[Statement]) -> None:
    """Refuse a helper function that does more than make the options, as its call is to be removed.

    Raises:
        Withheld: it does more.
    """
    inside = {id(node) for gone in doomed for node in walk(gone)}
    for node in walk(helper.body):
        if id(node) in inside:
            continue
        value = node.value if isinstance(node, (cst.Assign, cst.Expr)) else None
        calls = [part for part in walk(value) if isinstance(part, cst.Call)] if value is not None else []
        harmless = all(editor.code(call.func) in HARMLESS - {"print"} for call in calls)
        quiet = isinstance(node, (cst.Return, cst.Import, cst.ImportFrom, cst.Pass)) or (value is not None and harmless)
        if isinstance(node, cst.Assign) and not all(isinstance(target.target, cst.Name) for target in node.targets):
            quiet = False
        if isinstance(node, cst.Return) and _block_holder(editor, node) is not helper:
            raise Withheld(f"{helper.name.value} returns in several places")
        if isinstance(node, (cst.BaseSmallStatement, *_BLOCKS)) and not quiet:
            raise Withheld(f"{helper.name.value} does more than make the options")


def ends_function(editor: Editor, statement: cst.CSTNode) -> bool:
    """True if the function ends after ``statement``, whatever the blocks around it."""
    node = statement
    for parent in editor.ancestors(statement):
        if isinstance(parent, (cst.IndentedBlock, cst.SimpleStatementSuite)) and parent.body[-1] is not node:
            return False
        if isinstance(parent, (cst.For, cst.While, cst.Try, cst.TryStar)):
            return False
        if isinstance(parent, cst.FunctionDef):
            return True
        if not isinstance(parent, (cst.IndentedBlock, cst.SimpleStatementSuite, cst.Else)):
            node = parent
        if isinstance(parent, cst.If):
            # An `elif` or `else` ends where the first `if` does.
            while not _is_statement(editor, parent):
                above = editor.parent(parent)
                assert isinstance(above, cst.If)
                parent = above
            node = parent
    return True
