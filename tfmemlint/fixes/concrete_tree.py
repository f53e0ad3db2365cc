"""Parse a file into LibCST's concrete syntax tree, with positions and parents, once per text."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import TypeAlias, cast

import libcst as cst
from libcst.metadata import CodePosition, CodeRange, MetadataWrapper, PositionProvider

from tfmemlint.fixes.child_nodes import child_nodes
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Span

Block: TypeAlias = cst.Module | cst.IndentedBlock | cst.SimpleStatementSuite
"""A node that contains statements."""

Statement: TypeAlias = cst.BaseStatement | cst.BaseSmallStatement
"""A whole line, a compound statement, or one of several small statements that share a line."""

_COMPOUND = (cst.If, cst.For, cst.While, cst.With, cst.Try, cst.TryStar, cst.FunctionDef, cst.ClassDef, cst.Match)
_PARTS = (cst.Else, cst.If, cst.ExceptHandler, cst.ExceptStarHandler, cst.Finally, cst.MatchCase)

MAX_CHARACTERS = 2**20
"""Characters of a text that is rewritten. The concrete parser takes about 10 s and 1 GiB for as many; programs that
people write have a tenth of it."""

MAX_DEPTH = 300
"""Syntax nodes within each other, as LibCST nests them. It calls itself three times for each, and Python allows 1,000
calls. Programs that people write have a tenth of it."""

MIN_BLANK_ROWS = 100
"""Blank rows around the code of a text from which on they are left out of its tree."""


def _is_deep(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pending: list[tuple[ast.AST, int]] = [(ast.parse(text), 0)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    while pending:
        node, depth = pending.pop()
        if depth >= MAX_DEPTH:
            return True
        # One node to Python, `a and b and c` is nested by LibCST as `a + b + c` is.
        below = depth + (len(node.values) - 1 if isinstance(node, ast.BoolOp) else 1)
        pending.extend((child, below) for child in ast.iter_child_nodes(node))
    return False


class ConcreteTree:
    """A parsed text.

    Attributes:
        text: the text. module: its tree, without the rows above and below.
        above, below: blank rows that are not in the tree.
        ranges: the position of each node in the text. parents: the node around each node.

    Raises:
        Withheld: the text is larger than `MAX_CHARACTERS`, the concrete parser can't read it, or would not write it
            back as it was.
    """

    def __init__(self, text: str) -> None:
        if len(text) > MAX_CHARACTERS:
            size = f"{len(text) / 2**20:.1f} MiB of code, more than {MAX_CHARACTERS / 2**20:g} MiB"
            raise Withheld(f"this file has {size}: the rewriter would take minutes; change it by hand")
        if _is_deep(text):
            raise Withheld(f"this file is nested more than {MAX_DEPTH} deep: change it by hand")
        self.above, self.below = _blank_rows(text)
        code = text[self.above : len(text) - self.below]
        try:
            parsed = cst.parse_module(code)
        except cst.ParserSyntaxError as error:
            raise Withheld(f"the rewriter can't read this file (line {self.above + error.raw_line})") from error
        if parsed.code != code:
            raise Withheld("the rewriter would not write this file back as it was")
        parents = _parents(parsed)
        # A copy costs more than the parsing. Only trees in which one node is in two places need it.
        wrapper = MetadataWrapper(parsed, unsafe_skip_copy=parents is not None)
        self.text = text
        self.module = wrapper.module
        self.ranges = _lowered(cast("dict[cst.CSTNode, CodeRange]", wrapper.resolve(PositionProvider)), self.above)
        found = parents if parents is not None else _parents(self.module)
        assert found is not None
        self.parents = found
        self._codes: dict[cst.CSTNode, str] = {}
        self._spans: dict[cst.CSTNode, Span] = {}
        self._starts: dict[cst.CSTNode, tuple[list[tuple[int, int]], list[Statement]]] = {}
        self._at: dict[Span, list[cst.CSTNode]] = {}
        for node, place in self.ranges.items():
            self._at.setdefault(_span(place), []).append(node)
            if isinstance(node, cst.Tuple) and node.lpar:
                # To Python the parentheses are part of a tuple.
                start, end = _span(self.ranges[node.lpar[-1]]), _span(self.ranges[node.rpar[0]])
                self._at.setdefault(Span(start.row, start.column, end.end_row, end.end_column), []).append(node)

    @cached_property
    def places(self) -> dict[cst.CSTNode, int]:
        """Return the index of each line of the top level."""
        return {line: index for index, line in enumerate(self.module.body)}

    @cached_property
    def rows(self) -> list[int]:
        """Return how many rows are above each line of the top level, with the comments above it."""
        counts = (self.code_of_line(line).count("\n") for line in (*self.module.header, *self.module.body))
        return list(accumulate(counts, initial=self.above))[len(self.module.header) :]

    @cached_property
    def quote(self) -> str:
        """Return the quote of most of the file's short strings; ``"``, as formatters write it, if it has none."""
        strings = (node for node in self.ranges if isinstance(node, cst.SimpleString))
        quotes = Counter(node.quote for node in strings if len(node.quote) == 1)
        return "'" if quotes["'"] and quotes["'"] >= quotes['"'] else '"'

    def code_of_line(self, line: cst.CSTNode) -> str:
        """Return the text of a line of a module's top level; that of a line of this tree is made once."""
        code = self._codes.get(line)
        if code is None:
            code = self.module.code_for_node(line)
            if line in self.parents:
                self._codes[line] = code
        return code

    def span(self, node: cst.CSTNode) -> Span:
        """Return the position of ``node``, from its first decorator if it is a definition."""
        span = self._spans.get(node)
        if span is None:
            span = _span(self.ranges[node])
            if isinstance(node, (cst.FunctionDef, cst.ClassDef)) and node.decorators:
                first = self.span(node.decorators[0])
                span = Span(first.row, first.column, span.end_row, span.end_column)
            self._spans[node] = span
        return span

    def at(self, span: Span) -> list[cst.CSTNode]:
        """Return the nodes at exactly ``span``, outermost first."""
        return sorted(self._at.get(span, ()), key=lambda node: sum(1 for _ in self.ancestors(node)))

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield the nodes around ``node``, innermost first."""
        parent = self.parents.get(node)
        while parent is not None:
            yield parent
            parent = self.parents.get(parent)

    def code(self, node: cst.CSTNode) -> str:
        """Return the text of ``node``."""
        return self.module.code_for_node(node)

    def statement_of(self, node: cst.CSTNode) -> Statement:
        """Return the smallest whole statement that is ``node`` or contains it."""
        for around in (node, *self.ancestors(node)):
            parent = self.parents.get(around)
            if isinstance(around, cst.BaseSmallStatement) and parent is not None:
                line = isinstance(parent, cst.SimpleStatementLine) and len(parent.body) == 1
                return cast("cst.SimpleStatementLine", parent) if line else around
            if isinstance(around, cst.SimpleStatementLine):
                return around.body[0] if len(around.body) > 1 else around
            # An `elif` is an `If` too, but not a statement of its own.
            if isinstance(around, _COMPOUND) and isinstance(parent, (cst.Module, cst.IndentedBlock)):
                return around
        raise Withheld("the rewriter finds no statement there")

    def statement_at(self, span: Span) -> Statement:
        """Return the smallest whole statement that contains ``span``."""
        best: Statement | None = None
        blocks: list[Block] = [self.module]
        while blocks:
            found = self._in_block(blocks.pop(), span)
            if found is not None:
                best, blocks = found, _blocks_of(found)
        if best is None:
            raise reading_differs(span)
        return best

    def _in_block(self, block: Block, span: Span) -> Statement | None:
        """Return the statement of a block that contains ``span``; the first of several that share the line, if no
        single one does.
        """
        if block not in self._starts:
            statements = self.statements(block)
            starts = [(found.row, found.column) for found in map(self.span, statements)]
            self._starts[block] = starts, statements
        starts, statements = self._starts[block]
        index = bisect_right(starts, (span.row, span.column)) - 1
        if index < 0:
            return None
        if self.span(statements[index]).contains(span):
            return statements[index]
        line = self.parents.get(statements[index])
        if isinstance(line, cst.SimpleStatementLine) and len(line.body) > 1 and self.span(line).contains(span):
            return line.body[0]
        return None

    def emptied_by(self, statement: Statement) -> Statement:
        """Return the outermost loop, condition or handler that does nothing without ``statement``; else
        ``statement``.
        """
        while True:
            line = self.parents.get(statement) if isinstance(statement, cst.BaseSmallStatement) else statement
            block = self.parents.get(line) if line is not None else None
            holder = self.parents.get(block) if isinstance(block, cst.IndentedBlock) and len(block.body) == 1 else None
            if not isinstance(holder, _COMPOUND) or not self._only_asks_for_devices(holder):
                return statement
            if not isinstance(self.parents.get(holder), (cst.Module, cst.IndentedBlock)):
                return statement
            statement = holder

    def _only_asks_for_devices(self, holder: cst.CSTNode) -> bool:
        """True if a compound statement does nothing but ask for devices, apart from its body."""
        if isinstance(holder, (cst.For, cst.If)) and holder.orelse is None:
            head = holder.iter if isinstance(holder, cst.For) else holder.test
            if isinstance(holder, cst.For) and self._is_read_after(holder.target, holder):
                return False
            calls = [node for node in walk(head) if isinstance(node, (cst.Call, cst.NamedExpr, cst.Await))]
            return all(
                isinstance(call, cst.Call) and self.code(call.func).split(".")[-1] in _DEVICE_QUERIES for call in calls
            )
        if isinstance(holder, cst.Try):
            return holder.orelse is None and holder.finalbody is None
        return False

    def _is_read_after(self, target: cst.CSTNode, loop: cst.CSTNode) -> bool:
        names = {node.value for node in walk(target) if isinstance(node, cst.Name)}
        inside = self.span(loop)
        places = [node for node in self.ranges if isinstance(node, cst.Name) and node.value in names]
        others = [node for node in places if not inside.contains(self.span(node))]
        return bool(others) and not any(
            isinstance(self.parents.get(node), (cst.For, cst.CompFor, cst.AssignTarget, cst.Param)) for node in others
        )

    def block_of(self, statement: Statement) -> Block:
        """Return the block that contains ``statement``."""
        for parent in self.ancestors(statement):
            if isinstance(parent, (cst.Module, cst.IndentedBlock, cst.SimpleStatementSuite)):
                return parent
        raise AssertionError("a statement stands in a block")

    def statements(self, block: Block) -> list[Statement]:
        """Return the statements of a block in order. Those that share a line are listed one by one."""
        found: list[Statement] = []
        for child in block.body:
            if isinstance(child, cst.SimpleStatementLine) and len(child.body) > 1:
                found.extend(child.body)
            else:
                found.append(child)
        return found

    def statements_within(self, definition: cst.FunctionDef | cst.ClassDef) -> list[Statement]:
        """Return the statements of a function or class in order; none of one that is written in a single line."""
        return self.statements(definition.body) if isinstance(definition.body, cst.IndentedBlock) else []

    def function_of(self, node: cst.CSTNode) -> cst.CSTNode:
        """Return the function or lambda whose body contains ``node``, or the module."""
        below = node
        for parent in self.ancestors(node):
            if isinstance(parent, (cst.FunctionDef, cst.Lambda)) and below is parent.body:
                return parent
            below = parent
        return self.module


_DEVICE_QUERIES = frozenset({"list_physical_devices", "get_visible_devices", "len", "range", "enumerate"})


def _blocks_of(statement: cst.CSTNode) -> list[Block]:
    """Return the blocks right within a compound statement; nothing for any other."""
    found: list[Block] = []
    pending = child_nodes(statement) if isinstance(statement, _COMPOUND) else []
    while pending:
        child = pending.pop()
        if isinstance(child, (cst.IndentedBlock, cst.SimpleStatementSuite)):
            found.append(child)
        elif isinstance(child, _PARTS):
            pending.extend(child_nodes(child))
    return found


def _parents(module: cst.Module) -> dict[cst.CSTNode, cst.CSTNode] | None:
    """Return the parent of each node; None if some node is in two places."""
    found: dict[cst.CSTNode, cst.CSTNode] = {}
    pending: list[cst.CSTNode] = [module]
    while pending:
        node = pending.pop()
        for child in child_nodes(node):
            if child in found:
                return None
            found[child] = node
            pending.append(child)
    return found


def walk(node: cst.CSTNode) -> list[cst.CSTNode]:
    """Return ``node`` and all nodes in it, in no particular order."""
    found: list[cst.CSTNode] = []
    pending = [node]
    while pending:
        current = pending.pop()
        found.append(current)
        pending.extend(child_nodes(current))
    return found


def reading_differs(span: Span) -> Withheld:
    """Return the error for code that ``ast`` and LibCST read differently."""
    return Withheld(f"the rewriter reads the code differently in line {span.row}")


def comments_in(node: cst.CSTNode) -> list[str]:
    """Return the comments within ``node``, in order."""
    if isinstance(node, cst.Comment):
        return [node.value]
    if not any(isinstance(part, cst.Comment) for part in walk(node)):
        return []  # which is quickly seen, as most have none
    return [comment for child in node.children for comment in comments_in(child)]


@lru_cache(maxsize=16)
def comments_of(text: str) -> tuple[str, ...]:
    """Return the comments of a whole text, in order.

    Raises:
        Withheld: it is no Python.
    """
    try:
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        return tuple(token.string for token in tokens if token.type == tokenize.COMMENT)
    except (tokenize.TokenError, SyntaxError) as error:
        raise Withheld("the new code would not parse") from error


def _blank_rows(text: str) -> tuple[int, int]:
    """Return how many blank rows at the beginning and at the end of a text are left out of its tree: none of a few.

    A program in a document has the rows of the document, and the concrete parser makes a node of each.
    """
    above, below = len(text) - len(text.lstrip("\n")), len(text) - len(text.rstrip("\n"))
    if above == len(text) or above + below < MIN_BLANK_ROWS:
        return 0, 0
    # The last of the signs below ends the last line of the code.
    return above, max(below - 1, 0)


def _lowered(ranges: dict[cst.CSTNode, CodeRange], rows: int) -> dict[cst.CSTNode, CodeRange]:
    """Return positions that are this many rows further below."""
    if not rows:
        return ranges
    return {
        node: CodeRange(
            CodePosition(place.start.line + rows, place.start.column),
            CodePosition(place.end.line + rows, place.end.column),
        )
        for node, place in ranges.items()
    }


def _span(place: CodeRange) -> Span:
    return Span(place.start.line, place.start.column + 1, place.end.line, place.end.column + 1)


@lru_cache(maxsize=8)
def syntax_nodes(text: str) -> tuple[ast.AST, ...]:
    """Return all nodes of the plain syntax tree of ``text``. All rewrites of the text share them.

    Raises:
        SyntaxError, ValueError, RecursionError: Python can't parse it.
    """
    return tuple(ast.walk(ast.parse(text)))


@lru_cache(maxsize=16)
def tree_of(text: str) -> ConcreteTree:
    """Return the tree of ``text``. All rewrites of the text share it; it never changes."""
    return ConcreteTree(text)
