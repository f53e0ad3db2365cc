"""Strategy: move configuration out of the statement whose head or first part starts the runtime.

That is a ``with`` whose head makes a device scope, a ``try`` of which it is in the ``finally`` or ``else``, a loop
whose head is a dataset. It moves above the whole statement. The configuration then also runs where the part above it
raises, or where the loop makes no turn; all else keeps its order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from tfmemlint.fixes.concrete_tree import Statement
from tfmemlint.fixes.def_use import DefUse
from tfmemlint.fixes.hoist import HoistEntry
from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.problem import Candidate, OrderProblem, code_of, describe
from tfmemlint.fixes.withheld import Withheld


def leave_block(problem: OrderProblem) -> Iterator[Candidate]:
    """Move the configuration above the statement that holds both it and the start."""
    file = problem.file
    tree, hoist = file.tree, file.hoist
    line = tree.statement_at(problem.then)
    holder = next(
        (
            around
            for around in (line, *tree.ancestors(line))
            if isinstance(around, (cst.With, cst.Try, cst.For)) and tree.span(around).contains(problem.first)
        ),
        None,
    )
    if holder is None or line is holder:
        raise Withheld("no one statement holds both")
    row = _way_in(file, holder, problem)
    moved = hoist.select_moved(row, [row[-1].node] if row[-1].node is not None else [])
    editor = problem.editor(file)
    rest = _without_empty_finally(file, holder, moved)
    if rest is None:
        editor.move_up(moved, holder, problem.why)
    else:
        editor.replace_statement(holder, "".join(code_of(file, line) for line in moved) + rest)
    kind = {cst.With: "with", cst.Try: "try", cst.For: "for"}[type(holder)]
    yield Candidate({file.path: editor.finish()}, f"Move the configuration above the {kind!r} in {_line(file, holder)}")


def _without_empty_finally(file: CodeFile, holder: Statement, moved: Sequence[Statement]) -> str | None:
    """Return the code of a ``try`` whose ``finally`` has only what moves, without it; None for all else."""
    if not isinstance(holder, cst.Try) or holder.finalbody is None:
        return None
    if any(line not in moved for line in _lines(file, holder.finalbody.body)):
        return None
    if holder.handlers:
        return file.tree.code(holder.with_changes(finalbody=None, leading_lines=[]))
    return "".join(code_of(file, line) for line in _lines(file, holder.body))


def _line(file: CodeFile, statement: Statement) -> str:
    return describe(file, statement)


def _way_in(file: CodeFile, holder: Statement, problem: OrderProblem) -> list[HoistEntry]:
    """Return what runs from the head of ``holder`` to the configuration, which is the last entry."""
    tree, hoist = file.tree, file.hoist
    row: list[HoistEntry] = []
    block = holder
    while True:
        before, body = _parts(file, block, problem)
        row += [hoist.entry_of(None, names, tree.span(block).row) for names in before]
        inner = next((line for line in body if tree.span(line).contains(problem.then)), None)
        if inner is None:
            raise Withheld("the configuration is reached in another way")
        row += [hoist.entry_of(line, hoist.read(line), tree.span(line).row) for line in body[: body.index(inner)]]
        if not hoist.unrelated_call(hoist.read(inner)):
            row.append(hoist.entry_of(inner, hoist.read(inner), tree.span(inner).row))
            return row
        if not isinstance(inner, (cst.With, cst.Try, cst.For)):
            raise Withheld("the statement around it does more than configure")
        block = inner


def _parts(file: CodeFile, holder: Statement, problem: OrderProblem) -> tuple[list[DefUse], list[Statement]]:
    """Return what a statement does before the block of it that configures, and that block's statements."""
    tree, hoist = file.tree, file.hoist

    def holds(node: cst.CSTNode | None) -> bool:
        return node is not None and any(
            tree.span(line).contains(problem.then) for line in _lines(file, node) if line in tree.ranges
        )

    if isinstance(holder, cst.With):
        return [_head(file, holder)], _lines(file, holder.body)
    if isinstance(holder, cst.For) and holds(holder.body):
        return [_head(file, holder)], _lines(file, holder.body)
    if isinstance(holder, cst.Try):
        done = [hoist.read(line) for line in _lines(file, holder.body)]
        for part in (holder.orelse, holder.finalbody):
            if part is not None and holds(part.body):
                return done, _lines(file, part.body)
        if holds(holder.body):
            return [], _lines(file, holder.body)
    raise Withheld("the configuration is under a condition")


def _lines(file: CodeFile, block: cst.CSTNode) -> list[Statement]:
    return file.tree.statements(block) if isinstance(block, cst.IndentedBlock) else []


def _head(file: CodeFile, holder: cst.With | cst.For) -> DefUse:
    """Return what the head of a statement does."""
    empty = cst.IndentedBlock([cst.SimpleStatementLine([cst.Pass()])])
    if isinstance(holder, cst.For):
        head: cst.CSTNode = cst.For(target=holder.target, iter=holder.iter, body=empty)
    else:
        head = cst.With(items=holder.items, body=empty)
    from tfmemlint.fixes.def_use import def_use_of

    return def_use_of(file.tree.code(head))
