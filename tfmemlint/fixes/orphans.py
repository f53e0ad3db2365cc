"""Remove a statement with all that is dead without it.

That is what is around it and does nothing else; listings of GPUs that nothing reads any more; a function that does
nothing any more, with its calls; and comments that are about nothing but the removed code.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import libcst as cst

from tfmemlint.fixes.callees import Callee, calls_of
from tfmemlint.fixes.concrete_tree import ConcreteTree, Statement, comments_in
from tfmemlint.fixes.editor import Editor
from tfmemlint.fixes.imports import is_docstring
from tfmemlint.fixes.statement_names import names_of
from tfmemlint.fixes.trivia import comments_inside
from tfmemlint.fixes.users import other_user

LIVING = re.compile(r"\b(?:TODO|FIXME|XXX|HACK|NOTE|type:|noqa|pylint|fmt:|isort|pragma|tfmemlint)|https?:|%%", re.I)
"""Comments that stay whatever is removed."""
_ABOUT_GROWTH = re.compile(r"\bgrow|按需|增长|动态(?:申请|分配)", re.I)
"""Comments that are about memory growth alone."""
_MOST_LINES = 3
"""Lines of comments that are about the code below them alone; more may tell of other things."""


def leaves_orphans(tree: ConcreteTree, statement: Statement, gone: Collection[cst.CSTNode]) -> bool:
    """True if the comments above a statement would be above nothing without it and all that is ``gone``.

    A comment at the end of a line stays: it may say more than what the line does.
    """
    holder = statement if hasattr(statement, "leading_lines") else tree.parents.get(statement)
    if not isinstance(holder, cst.SimpleStatementLine) or len(holder.body) > 1:
        return False
    comments = comments_in(holder)
    if not comments or len(comments) > _MOST_LINES or any(map(LIVING.search, comments)) or comments_inside(holder):
        return False
    lines = tree.statements(tree.block_of(statement))
    below = next((line for line in lines[lines.index(statement) + 1 :] if line not in gone), None)
    above = list(getattr(below, "leading_lines", ()))
    return below is None or (bool(above) and above[0].comment is None)


class Remover:
    """Removes statements of one file.

    Args:
        editor: the rewrite of the file. path: its name in reports.
    """

    def __init__(self, editor: Editor, path: str) -> None:
        self.editor = editor
        self.path = path
        self.tree: ConcreteTree = editor.tree
        self.gone: set[cst.CSTNode] = set()

    def remove(self, statement: Statement, *, calls: bool = True) -> cst.FunctionDef | None:
        """Remove a statement, and what is dead without it.

        Return the function that does nothing any more, where ``calls`` says to leave it and its calls.
        """
        tree = self.tree
        gone = tree.emptied_by(tree.statement_of(statement))
        self._take(gone)
        for listing in self._unread(gone):
            self._take(listing)
        function = self._emptied(gone)
        if function is None or not calls:
            return function
        used = calls_of(tree, Callee.of(tree, function, self.path))
        if used is not None and not other_user(self.path, function.name.value):
            self.take_function(function, used)
        return None

    def take_function(self, function: cst.FunctionDef, calls: list[Statement]) -> None:
        """Remove a function and its calls."""
        for line in self.tree.statements(function.body) if isinstance(function.body, cst.IndentedBlock) else ():
            # The function goes as a whole.
            self.editor.keep(line)
        self._take(function)
        for call in calls:
            self.remove(call)

    def _take(self, statement: Statement) -> None:
        """Remove a statement, with its comments if they are about nothing else."""
        self.gone.add(statement)
        if self._comments_go(statement):
            self.editor.discard(statement, forget=True)
        else:
            self.editor.remove(statement)

    def _comments_go(self, statement: Statement) -> bool:
        """True if all comments in and above a statement are about memory growth, or would be above nothing."""
        if leaves_orphans(self.tree, statement, self.gone):
            return True
        holder = statement if hasattr(statement, "leading_lines") else self.tree.parents.get(statement)
        if holder is None or (isinstance(holder, cst.SimpleStatementLine) and len(holder.body) > 1):
            return False
        return all(_ABOUT_GROWTH.search(comment) and not LIVING.search(comment) for comment in comments_in(holder))

    def _unread(self, gone: Statement) -> Iterator[Statement]:
        """Yield the listings of GPUs that only removed code reads."""
        tree = self.tree
        names = names_of(tree)
        block = tree.block_of(gone)
        lines = tree.statements(block)
        for line in lines[: lines.index(gone)]:
            node = line.body[0] if isinstance(line, cst.SimpleStatementLine) else line
            if line in self.gone or not isinstance(node, cst.Assign) or len(node.targets) != 1:
                continue
            bound = names.read(line).binds
            if len(bound) != 1 or not _is_listing(tree.code(node.value)):
                continue
            (name,) = bound
            if name not in names.read(gone).reads or not self._is_unread(name, gone, line):
                continue
            if block is tree.module and other_user(self.path, name):
                continue
            yield line

    def _is_unread(self, name: str, gone: Statement, listing: Statement) -> bool:
        """True if nothing that stays reads a name before another statement of the block binds it anew."""
        tree, names = self.tree, names_of(self.tree)
        block = tree.statements(tree.block_of(gone))
        again: list[cst.CSTNode] = []
        for line in block[block.index(gone) + 1 :]:
            read = names.read(line)
            if name in read.reads or any(name in body.reads for body in read.bodies.values()):
                break
            if name in read.binds and isinstance(line, cst.SimpleStatementLine):
                again = list(block[block.index(line) :])
                break
        inner = [node for node in again if isinstance(node, (cst.FunctionDef, cst.ClassDef))]
        return not inner and self._read_only_in(name, [*self.gone, listing, *again])

    def _read_only_in(self, name: str, without: list[cst.CSTNode]) -> bool:
        tree = self.tree
        spans = [tree.span(node) for node in without]
        return all(
            any(span.contains(tree.span(node)) for span in spans)
            for node in tree.ranges
            if isinstance(node, cst.Name) and node.value == name
        ) and not re.search(rf"['\"]{re.escape(name)}['\"]", tree.text)

    def _emptied(self, gone: Statement) -> cst.FunctionDef | None:
        tree = self.tree
        function = tree.function_of(gone)
        if not isinstance(function, cst.FunctionDef) or not isinstance(function.body, cst.IndentedBlock):
            return None
        owner = tree.parents.get(tree.block_of(function))
        if function.decorators or function.asynchronous is not None:
            return None
        if isinstance(owner, cst.ClassDef) and (owner.bases or function.name.value.startswith("__")):
            # A method that a base class has as well is called by that.
            return None
        rest = [line for line in function.body.body if not self._is_gone(line) and not is_docstring(line)]
        return None if rest else function

    def _is_gone(self, line: cst.CSTNode) -> bool:
        small = line.body if isinstance(line, cst.SimpleStatementLine) else ()
        return line in self.gone or (bool(small) and all(each in self.gone for each in small))


_LISTING = re.compile(
    r"(?:[\w.]*\.)?(?:list_physical_devices|list_logical_devices)\([^()]*\)(?:\[[-\w:]*\])?"
    r"|getattr\([\w.]+, *[\w'\"]+\)|tf\.[\w.]+"
)


def _is_listing(code: str) -> bool:
    return _LISTING.fullmatch(code.strip()) is not None
