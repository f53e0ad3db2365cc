"""Collect the changes that a rewrite makes, by node, and apply them in one pass over the tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import islice, takewhile
from operator import is_
from typing import cast

import libcst as cst

from tfmemlint.fixes.concrete_tree import comments_in
from tfmemlint.fixes.imports import group_of, is_import
from tfmemlint.fixes.trivia import (
    Line,
    at_the_top,
    comments_inside,
    goes_on,
    group_comment,
    join_lines,
    join_small_statements,
    own_line,
    parse,
    replacement_lines,
    split_lines,
    with_comments,
)
from tfmemlint.model.records import dataclass


class _Indented(cst.CSTTransformer):
    """Gives blocks without an indentation of their own one."""

    def __init__(self, indent: str) -> None:
        super().__init__()
        self._indent = indent

    def on_leave(  # type: ignore[override]
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode:
        """Give the block the indentation."""
        if isinstance(updated_node, cst.IndentedBlock) and updated_node.indent is None:
            return updated_node.with_changes(indent=self._indent)
        return updated_node


@dataclass(slots=True)
class Changes:
    """The changes to make, by the nodes of the shared tree.

    Attributes:
        replaced: expressions (or arguments), with their replacements.
        removed: statements to remove; their comments stay. moved: statements to move, with their comments.
        swapped: statements, with the lines that replace them.
        before: nodes to put above a statement: new lines, or statements of the tree (which are then in ``moved``).
        after: lines to put below a statement.
        above: comments that get a line of their own above a statement. trailing: comments at the end of a statement.
        top: new lines at the top of the module, by the index of the statement that they follow (-1: the very top).
        gap: the number of blank lines below the new lines at the top.
        apart: statements that a blank line separates from what is put above them.
        spaced: statements that a blank line separates from what is above them.
        fenced: imports above which code is put; True if such code is there already. Imports that come with it join
            those above, and a blank line follows.
    """

    replaced: dict[cst.CSTNode, cst.CSTNode] = field(default_factory=dict)
    removed: set[cst.CSTNode] = field(default_factory=set)
    moved: set[cst.CSTNode] = field(default_factory=set)
    swapped: dict[cst.CSTNode, list[Line]] = field(default_factory=dict)
    before: dict[cst.CSTNode, list[cst.CSTNode]] = field(default_factory=dict)
    after: dict[cst.CSTNode, list[Line]] = field(default_factory=dict)
    above: dict[cst.CSTNode, list[str]] = field(default_factory=dict)
    trailing: dict[cst.CSTNode, list[str]] = field(default_factory=dict)
    top: dict[int, list[Line]] = field(default_factory=dict)
    gap: int = 0
    apart: set[cst.CSTNode] = field(default_factory=set)
    spaced: set[cst.CSTNode] = field(default_factory=set)
    fenced: dict[cst.CSTNode, bool] = field(default_factory=dict)

    def nodes(self) -> set[cst.CSTNode]:
        """Return every node that is changed, or at which something is inserted."""
        return {node for group in (self.replaced, *self._groups()) for node in group}

    def concerns(self, statement: cst.CSTNode) -> bool:
        """True if ``statement`` as a whole is changed, or something is inserted at it."""
        return any(statement in group for group in self._groups())

    def splits(self, statement: cst.CSTNode) -> bool:
        """True if ``statement`` can't stay on the line that it shares with others."""
        return any(statement in group for group in (self.moved, self.swapped, self.before, self.after))

    def _groups(self) -> tuple[Iterable[cst.CSTNode], ...]:
        return self.removed, self.moved, self.swapped, self.before, self.after, self.above, self.trailing, self.spaced


@dataclass(slots=True)
class _Piece:
    """A unit of change: a line, or one of the statements that share a line. ``index`` is the index of that line."""

    handles: tuple[cst.CSTNode, ...]
    line: Line
    index: int


class ChangeTransformer(cst.CSTTransformer):
    """A LibCST transformer that makes `Changes`.

    ``done`` holds the nodes whose change was made. It tells of a change inside a replaced node, which would otherwise
    be lost silently.
    """

    def __init__(self, changes: Changes, parents: Mapping[cst.CSTNode, cst.CSTNode]) -> None:
        """Prepare the changes of a tree, whose nodes have these ``parents``: only what is around them is visited."""
        super().__init__()
        self.changes = changes
        self._around: set[cst.CSTNode] = set()
        self._changed = changes.nodes()
        for node in self._changed:
            around: cst.CSTNode | None = node
            while around is not None and around not in self._around:
                self._around.add(around)
                around = parents.get(around)
        self.done: set[cst.CSTNode] = set()
        self._carried: dict[cst.CSTNode, Line] = {}
        self._heads: dict[cst.CSTNode, list[cst.EmptyLine]] = {}

    def transform(self, module: cst.Module) -> cst.Module:
        """Return the module with all changes; its lines in which nothing changes are the same nodes."""
        body = [
            cast("Line", line.visit(self)) if line in self._around or self._is_concerned(line) else line
            for line in module.body
        ]
        new = self._block(module, module.with_changes(body=body))
        assert isinstance(new, cst.Module)
        return new

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Visit only the inside of nodes that are kept, and in which something changes."""
        return node in self._around and node not in self.changes.replaced and not self._swapped(node)

    def _swapped(self, node: cst.CSTNode) -> bool:
        small = _small(node)
        return node in self.changes.swapped or (len(small) == 1 and small[0] in self.changes.swapped)

    def on_leave(  # type: ignore[override]
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode:
        """Make the changes at this node."""
        if original_node in self.changes.replaced:
            self.done.add(original_node)
            return self.changes.replaced[original_node]
        if isinstance(original_node, (cst.Module, cst.IndentedBlock)):
            return self._block(original_node, cast("cst.Module | cst.IndentedBlock", updated_node))
        if isinstance(original_node, cst.SimpleStatementSuite):
            return self._suite(original_node, cast("cst.SimpleStatementSuite", updated_node))
        return updated_node

    def _block(self, original: cst.Module | cst.IndentedBlock, updated: cst.Module | cst.IndentedBlock) -> cst.CSTNode:
        top = self.changes.top if isinstance(original, cst.Module) else {}
        concerned = [index for index, line in enumerate(original.body) if self._is_concerned(line)]
        if not top and not concerned:
            return updated
        if isinstance(original, cst.IndentedBlock) and original.indent is not None:
            handles = [node for index in concerned for node in (original.body[index], *_small(original.body[index]))]
            self._indent_new_blocks(handles, original.indent)
        # All that is above the first change, or below the last, stays as it is; imports join the one above them.
        places = [*concerned, *(max(index, 0) for index in top)]
        start, end = max(min(places) - 1, 0), max(places) + 2
        pieces = [
            piece
            for index, (before, after) in enumerate(
                zip(original.body[start:end], updated.body[start:end], strict=True), start
            )
            for piece in self._pieces(before, cast("Line", after), index)
        ]
        body, rest = self._assemble(pieces, top)
        if updated.body[end:] and rest:
            raise AssertionError("the last of the pieces takes what remains")
        body = [*cast("Sequence[Line]", updated.body[:start]), *body, *cast("Sequence[Line]", updated.body[end:])]
        first = body and not top.get(-1) and (isinstance(original, cst.IndentedBlock) or not original.header)
        if first and body[0] is not original.body[0]:
            body[0] = at_the_top(body[0], original.body[0])
        if not body and isinstance(original, cst.IndentedBlock):
            body, rest = [parse("pass")[0].with_changes(leading_lines=rest)], []
        footer = [*rest, *updated.footer]
        while rest and footer and footer[-1].comment is None:
            # The last statement is gone: without this, blank lines would end the file or the block.
            footer.pop()
        return updated.with_changes(body=body, footer=footer)

    def _indent_new_blocks(self, handles: Sequence[cst.CSTNode], indent: str) -> None:
        """Give blocks in new lines the indentation of the block that they go to, where it is not that of the file."""
        changes, indented = self.changes, _Indented(indent)
        for handle in handles:
            for new in (changes.swapped, changes.after):
                if handle in new:
                    new[handle] = [cast("Line", line.visit(indented)) for line in new[handle]]
            if handle in changes.before:
                changes.before[handle] = [
                    node if node in changes.moved else cast("cst.CSTNode", node.visit(indented))
                    for node in changes.before[handle]
                ]

    def _is_concerned(self, line: cst.CSTNode) -> bool:
        """True if a line of a block as a whole, or one of the statements that share it, is changed."""
        return line in self._changed or not self._changed.isdisjoint(_small(line))

    def _suite(self, original: cst.SimpleStatementSuite, updated: cst.SimpleStatementSuite) -> cst.BaseSuite:
        changes = self.changes
        concerned = [statement for statement in original.body if changes.concerns(statement)]
        if not concerned:
            return updated
        if all(statement in changes.removed and not comments_in(statement) for statement in concerned):
            self.done.update(concerned)
            both = zip(original.body, updated.body, strict=True)
            kept = [after for before, after in both if before not in concerned]
            return updated.with_changes(body=join_small_statements(kept or [cst.Pass()]))
        line = cst.SimpleStatementLine(body=updated.body)
        body, rest = self._assemble(self._pieces(cst.SimpleStatementLine(body=original.body), line, 0), {})
        return cst.IndentedBlock(body=body or parse("pass"), header=updated.trailing_whitespace, footer=rest)

    def _pieces(self, original: cst.CSTNode, updated: Line, index: int) -> list[_Piece]:
        """Split a line into the pieces that are changed one by one."""
        if not isinstance(original, cst.SimpleStatementLine) or not isinstance(updated, cst.SimpleStatementLine):
            return [_Piece((original,), updated, index)]
        if len(original.body) == 1:
            return [_Piece((original, original.body[0]), updated, index)]
        kept: list[tuple[list[cst.CSTNode], list[cst.BaseSmallStatement]]] = []
        gone: list[_Piece] = []
        mergeable = False
        for before, after in zip(original.body, updated.body, strict=True):
            if before in self.changes.removed:
                line = cst.SimpleStatementLine(body=join_small_statements([after]))
                gone.append(_Piece((before,), line, index))
            elif self.changes.splits(before):
                kept.append(([before], [after]))
                mergeable = False
            elif mergeable:
                kept[-1][0].append(before)
                kept[-1][1].append(after)
            else:
                kept.append(([before], [after]))
                mergeable = True
        if not kept:
            return [_Piece(tuple(original.body), updated, index)]
        pieces = [
            _Piece(tuple(handles), cst.SimpleStatementLine(body=join_small_statements(small)), index)
            for handles, small in kept
        ]
        pieces[0].line = pieces[0].line.with_changes(leading_lines=updated.leading_lines)
        pieces[-1].line = pieces[-1].line.with_changes(trailing_whitespace=updated.trailing_whitespace)
        return [*gone, *pieces]

    def _assemble(self, pieces: Sequence[_Piece], top: dict[int, list[Line]]) -> tuple[list[Line], list[cst.EmptyLine]]:
        """Return the lines of the new block, and the blank lines and comments that remain for its end."""
        changes = self.changes
        for piece in pieces:
            for handle in changes.moved.intersection(piece.handles):
                self._carried[handle] = piece.line
        for number, piece in enumerate(pieces):
            if not changes.moved.isdisjoint(piece.handles) and (number or piece.index):
                self._head(piece, islice(pieces, number + 1, None))
        body: list[Line] = list(top.get(-1, ()))
        pending = self._gap(pieces[0].line) if body and pieces else []
        heads = False
        for number, piece in enumerate(pieces):
            handles = piece.handles
            if not pending and piece.index not in top and self._changed.isdisjoint(handles):
                body.append(piece.line)
                continue
            self.done.update(handle for handle in handles if changes.concerns(handle))
            loose, tight = split_lines(piece.line.leading_lines)
            above = [own_line(note) for handle in handles for note in changes.above.get(handle, ())]
            before = [new for handle in handles for new in self._above(handle)]
            swapped = next((changes.swapped[handle] for handle in handles if handle in changes.swapped), None)
            notes = [note for handle in handles for note in changes.trailing.get(handle, ())]
            if heads and (swapped is not None or (before and not self._moves_above(handles))):
                # The comment of removed code is about the code that takes its place.
                loose = [line for line in loose if line.comment is not None]
            if (
                body
                and not changes.spaced.isdisjoint(handles)
                and all(line.comment is not None for line in (*pending, *loose))
            ):
                loose = [cst.EmptyLine(indent=False), *loose]
            if before:
                lead = join_lines(pending, loose)
                fence = next((changes.fenced[handle] for handle in handles if handle in changes.fenced), None)
                if fence is None and not lead and body and self._was_apart(handles):
                    lead = [cst.EmptyLine(indent=False)]
                if fence is not None:
                    lead, before = _fenced(body, lead, before, more=fence)
                elif goes_on(body, lead, before[0]):
                    lead = []
                first = before[0].with_changes(leading_lines=[*lead, *before[0].leading_lines])
                body.extend([first, *before[1:]])
                # A comment about the code below must not look like the end of the inserted code.
                parted = bool(tight) or not changes.apart.isdisjoint(handles)
                # A function keeps its number of blank lines above.
                wide = isinstance(piece.line, (cst.FunctionDef, cst.ClassDef))
                blank = sum(line.comment is None for line in loose) if wide else 1
                pending, loose = [], [cst.EmptyLine(indent=False)] * (max(1, min(blank, 2)) if parted else 0)
            if changes.moved.intersection(handles):
                pending = join_lines(pending, loose)
            elif changes.removed.intersection(handles):
                pending = join_lines(pending, [*loose, *tight, *above, *map(own_line, comments_inside(piece.line))])
            elif swapped is not None:
                body.extend(
                    replacement_lines(piece.line, swapped, [*join_lines(pending, loose), *tight, *above], notes)
                )
                pending = []
            else:
                leading = [*join_lines(pending, loose), *tight, *above]
                # A line that stays as it is remains the same node, whose text is known.
                same = len(leading) == len(piece.line.leading_lines) and not notes
                same = same and all(map(is_, leading, piece.line.leading_lines))
                line = piece.line if same else piece.line.with_changes(leading_lines=leading)
                body.append(with_comments(line, notes) if notes else line)
                pending = []
            heads = bool(pending) and pending[-1].comment is not None and not changes.removed.isdisjoint(handles)
            for handle in handles:
                body.extend(changes.after.get(handle, ()))
            following = pieces[number + 1] if number + 1 < len(pieces) else None
            if piece.index in top and (following is None or following.index != piece.index):
                first, *others = top[piece.index]
                if any(line.comment is not None for line in pending):
                    # The comments of a removed import.
                    first = first.with_changes(leading_lines=join_lines(pending, first.leading_lines))
                body.extend([first, *others])
                pending = self._gap(following.line) if following is not None else []
        return body, pending

    def _moves_above(self, handles: Sequence[cst.CSTNode]) -> bool:
        """True if statements of the file move above these."""
        return any(new in self._carried for handle in handles for new in self.changes.before.get(handle, ()))

    def _was_apart(self, handles: Sequence[cst.CSTNode]) -> bool:
        """True if a blank line is above the first of the statements that move above these."""
        first = next((node for handle in handles for node in self.changes.before.get(handle, ())), None)
        line = self._carried.get(first) if first is not None else None
        return line is not None and any(lead.comment is None for lead in line.leading_lines)

    def _head(self, piece: _Piece, below: Iterable[_Piece]) -> None:
        """Move the comment above a group of statements with them, if the whole group moves."""
        moved = self.changes.moved
        left, head, tight = group_comment(piece.line.leading_lines)
        group = takewhile(lambda candidate: not _opens_a_group(candidate.line), below)
        if head and not any(moved.isdisjoint(candidate.handles) for candidate in group):
            line = piece.line.with_changes(leading_lines=[*left, *tight])
            for handle in moved.intersection(piece.handles):
                self._carried[handle] = piece.line
                self._heads[handle] = head
            piece.line = line

    def _gap(self, following: Line) -> list[cst.EmptyLine]:
        count = 0 if self.changes.gap == 1 and is_import(following) else self.changes.gap
        return [cst.EmptyLine(indent=False)] * count

    def _above(self, handle: cst.CSTNode) -> list[Line]:
        """Return the lines to put above ``handle``: new ones as they are, moved ones with their comments."""
        found: list[Line] = []
        for node in self.changes.before.get(handle, ()):
            if node in self._carried:
                self.done.add(node)
                line = self._carried[node]
                loose, tight = split_lines(line.leading_lines)
                blank = loose[-1:] if found else []
                tight = [*self._heads.get(node, ()), *tight]
                if isinstance(line, (cst.FunctionDef, cst.ClassDef)):
                    blank = [line for line in loose if line.comment is None][-2:]
                found.append(line.with_changes(leading_lines=[*blank, *tight]))
            else:
                found.append(cast("Line", node))
        return found


def _opens_a_group(line: Line) -> bool:
    """True if a line has a comment above it, and a blank line above the comment."""
    lead = line.leading_lines
    first = next((index for index, line in enumerate(lead) if line.comment is None), len(lead))
    return any(line.comment is not None for line in lead[first:])


def _fenced(
    body: Sequence[Line], lead: list[cst.EmptyLine], lines: Sequence[Line], *, more: bool
) -> tuple[list[cst.EmptyLine], list[Line]]:
    """Return the blank lines above the first of ``lines``, which are put below ``body``, and all of ``lines``.

    ``lines`` are imports, and the code that needs them.
    """
    found = list(lines)
    imports = next((index for index, line in enumerate(found) if not is_import(line)), len(found))
    below = bool(body) and is_import(body[-1])
    joins = group_of(found[0]) == group_of(body[-1]) if imports and below else more and not imports and not below
    if joins and all(line.comment is None for line in lead):
        lead = []
    blank = cst.EmptyLine(indent=False)
    for index in range(imports, len(found)):
        line = found[index]
        above = [*lead, *line.leading_lines] if not index else line.leading_lines
        wanted = 2 if index > imports and isinstance(found[index - 1], (cst.FunctionDef, cst.ClassDef)) else 0
        wanted = wanted or int(index == imports and (imports > 0 or below))
        if not any(line.comment is None for line in above):
            found[index] = line.with_changes(leading_lines=[*[blank] * wanted, *line.leading_lines])
    return lead, found


def _small(line: cst.CSTNode) -> Sequence[cst.BaseSmallStatement]:
    return line.body if isinstance(line, cst.SimpleStatementLine) else ()
