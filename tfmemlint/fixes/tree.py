"""One file's concrete syntax tree with its positions and parents, computed once per text."""

from __future__ import annotations

import io
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import TypeAlias, cast

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, ParentNodeProvider, PositionProvider

from tfmemlint.finding import Span
from tfmemlint.fixes.withheld import Withheld

Block: TypeAlias = cst.Module | cst.IndentedBlock | cst.SimpleStatementSuite
"""What holds statements."""

Statement: TypeAlias = cst.BaseStatement | cst.BaseSmallStatement
"""A whole line, a compound statement, or one of several small statements that share a line."""

_COMPOUND = (cst.If, cst.For, cst.While, cst.With, cst.Try, cst.TryStar, cst.FunctionDef, cst.ClassDef, cst.Match)


class Tree:
    """A parsed text.

    Raises:
        Withheld: the concrete parser can't read the text, or would not write it back as it was.
    """

    def __init__(self, text: str) -> None:
        try:
            parsed = cst.parse_module(text)
        except cst.ParserSyntaxError as error:
            raise Withheld(f"the rewriter can't read this file (line {error.raw_line})") from error
        if parsed.code != text:
            raise Withheld("the rewriter would not write this file back as it was")
        wrapper = MetadataWrapper(parsed)
        self.text = text
        self.module = wrapper.module
        self.ranges = cast("dict[cst.CSTNode, CodeRange]", wrapper.resolve(PositionProvider))
        self.parents = cast("dict[cst.CSTNode, cst.CSTNode]", wrapper.resolve(ParentNodeProvider))
        self._at: dict[Span, list[cst.CSTNode]] = {}
        for node, place in self.ranges.items():
            self._at.setdefault(_span(place), []).append(node)

    @cached_property
    def quote(self) -> str:
        """The quotes that most of the file's short strings are in."""
        strings = (node for node in self.ranges if isinstance(node, cst.SimpleString))
        quotes = Counter(node.quote for node in strings if len(node.quote) == 1)
        return '"' if quotes['"'] > quotes["'"] else "'"

    def span(self, node: cst.CSTNode) -> Span:
        """Where ``node`` stands; the decorators of a definition are part of it."""
        span = _span(self.ranges[node])
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)) and node.decorators:
            first = self.span(node.decorators[0])
            return Span(first.row, first.column, span.end_row, span.end_column)
        return span

    def at(self, span: Span) -> list[cst.CSTNode]:
        """The nodes at exactly this place, outermost first."""
        return sorted(self._at.get(span, ()), key=lambda node: sum(1 for _ in self.ancestors(node)))

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes around ``node``, innermost first."""
        parent = self.parents.get(node)
        while parent is not None:
            yield parent
            parent = self.parents.get(parent)

    def code(self, node: cst.CSTNode) -> str:
        """The text of ``node``."""
        return self.module.code_for_node(node)

    def statement_of(self, node: cst.CSTNode) -> Statement:
        """The smallest whole statement that ``node`` stands in (or is)."""
        for one in (node, *self.ancestors(node)):
            parent = self.parents.get(one)
            if isinstance(one, cst.BaseSmallStatement) and parent is not None:
                line = isinstance(parent, cst.SimpleStatementLine) and len(parent.body) == 1
                return cast("cst.SimpleStatementLine", parent) if line else one
            if isinstance(one, cst.SimpleStatementLine):
                return one.body[0] if len(one.body) > 1 else one
            # An `elif` is an `If` too, but no statement of its own.
            if isinstance(one, _COMPOUND) and isinstance(parent, (cst.Module, cst.IndentedBlock)):
                return one
        raise Withheld("the rewriter finds no statement there")

    def statement_at(self, span: Span) -> Statement:
        """The smallest whole statement that contains ``span``."""
        best: Statement | None = None
        for node in self.ranges:
            if not isinstance(node, (cst.BaseSmallStatement, cst.SimpleStatementLine, *_COMPOUND)):
                continue
            if self.span(node).contains(span):
                found = self.statement_of(node)
                if best is None or self.span(best).contains(self.span(found)):
                    best = found
        if best is None:
            raise differs(span)
        return best

    def block_of(self, statement: Statement) -> Block:
        """The block that ``statement`` stands in."""
        for parent in self.ancestors(statement):
            if isinstance(parent, (cst.Module, cst.IndentedBlock, cst.SimpleStatementSuite)):
                return parent
        raise AssertionError("a statement stands in a block")

    def statements(self, block: Block) -> list[Statement]:
        """The whole statements of a block, in order; those that share a line one by one."""
        found: list[Statement] = []
        for child in block.body:
            if isinstance(child, cst.SimpleStatementLine) and len(child.body) > 1:
                found.extend(child.body)
            else:
                found.append(child)
        return found

    def function_of(self, node: cst.CSTNode) -> cst.CSTNode:
        """The function or lambda in whose body ``node`` stands, or the module."""
        below = node
        for parent in self.ancestors(node):
            if isinstance(parent, (cst.FunctionDef, cst.Lambda)) and below is parent.body:
                return parent
            below = parent
        return self.module


def differs(span: Span) -> Withheld:
    """What is said where the two readings of the code don't agree."""
    return Withheld(f"the rewriter reads the code differently in line {span.row}")


def comments_in(node: cst.CSTNode) -> list[str]:
    """The comments within ``node``, in order."""
    if isinstance(node, cst.Comment):
        return [node.value]
    return [comment for child in node.children for comment in comments_in(child)]


@lru_cache(maxsize=16)
def comments_of(text: str) -> tuple[str, ...]:
    """The comments of a whole text, in order.

    Raises:
        Withheld: it is no Python.
    """
    try:
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        return tuple(token.string for token in tokens if token.type == tokenize.COMMENT)
    except (tokenize.TokenError, SyntaxError) as error:
        raise Withheld("the new code would not parse") from error


def _span(place: CodeRange) -> Span:
    return Span(place.start.line, place.start.column + 1, place.end.line, place.end.column + 1)


@lru_cache(maxsize=16)
def tree(text: str) -> Tree:
    """The tree of ``text``; shared by all that rewrite it, and never changed."""
    return Tree(text)
