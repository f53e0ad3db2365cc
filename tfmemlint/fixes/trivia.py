"""Trivia: handle the blank lines and comments around statements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import dedent
from typing import TypeAlias, cast

import libcst as cst

from tfmemlint.fixes.concrete_tree import comments_in
from tfmemlint.model.patterns import late_pattern

Line: TypeAlias = cst.SimpleStatementLine | cst.If | cst.For | cst.While | cst.With | cst.Try | cst.TryStar
"""A statement of a block; definitions and ``match``, too, as all of them have ``leading_lines``."""
_NOQA = late_pattern(r"# ?noqa(?::\s?(?P<codes>[A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*))?", re.IGNORECASE)


def parse(lines: str) -> list[Line]:
    """Parse a piece of code into statements. Comments below the last of them are dropped."""
    module = cst.parse_module(dedent(lines).strip("\n") + "\n")
    body = [cast("Line", line) for line in module.body]
    if body and module.header:
        # The parser gives the first comments to the module.
        body[0] = body[0].with_changes(leading_lines=[*module.header, *body[0].leading_lines])
    return body


def own_line(comment: str) -> cst.EmptyLine:
    """Return a comment on a line of its own."""
    return cst.EmptyLine(comment=cst.Comment(comment))


def split_lines(lines: Sequence[cst.EmptyLine]) -> tuple[list[cst.EmptyLine], list[cst.EmptyLine]]:
    """Split the lines above a statement into those up to the last blank one and the comments of the statement."""
    cut = max((index + 1 for index, line in enumerate(lines) if line.comment is None), default=0)
    return list(lines[:cut]), list(lines[cut:])


def group_comment(
    lines: Sequence[cst.EmptyLine],
) -> tuple[list[cst.EmptyLine], list[cst.EmptyLine], list[cst.EmptyLine]]:
    """Split the lines above a statement in three.

    They are the lines that belong to the statement above; a comment between blank lines, which is about all that
    follows, with the blank lines below it; and the comments of the statement.
    """
    loose, tight = split_lines(lines)
    first = next((index for index, line in enumerate(loose) if line.comment is None), len(loose))
    start = next((index for index in range(first, len(loose)) if loose[index].comment is not None), None)
    return (loose, [], tight) if start is None else (loose[:start], loose[start:], tight)


def join_lines(first: Sequence[cst.EmptyLine], second: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
    """Join two runs of lines without adding up the blank lines where they meet."""
    above, below = list(first), list(second)
    ends = next((count for count, line in enumerate(reversed(above)) if line.comment is not None), len(above))
    starts = next((count for count, line in enumerate(below) if line.comment is not None), len(below))
    drop = min(ends, starts)
    return above[: len(above) - drop] + below


def goes_on(body: Sequence[Line], lead: Sequence[cst.EmptyLine], line: Line) -> bool:
    """True if a statement sets something of the same namespace as the last of ``body``, with nothing but blank lines
    in between: ``tf.config.threading.set_intra_op_parallelism_threads(2)``, and the same for ``inter_op``.
    """
    if not body or any(above.comment is not None for above in [*lead, *line.leading_lines]):
        return False
    namespace = _namespace(line)
    return namespace != "" and namespace == _namespace(body[-1])


def _namespace(line: Line) -> str:
    """Return the dotted name of which a statement calls a function; "" if it is another statement."""
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1 or not isinstance(line.body[0], cst.Expr):
        return ""
    call = line.body[0].value
    if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
        return ""
    return cst.Module([]).code_for_node(call.func.value)


def join_small_statements(small: Sequence[cst.BaseSmallStatement]) -> list[cst.BaseSmallStatement]:
    """Return small statements that share a line, the last without a semicolon."""
    return [*small[:-1], small[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)]


def comments_inside(line: Line) -> list[str]:
    """Return the comments inside or at the end of a statement, without those above it."""
    return comments_in(line.with_changes(leading_lines=[]))


def with_comments(line: Line, notes: Sequence[str]) -> Line:
    """Return a line with comments added at its end; above it if it is a compound statement."""
    if not notes:
        return line
    if not isinstance(line, cst.SimpleStatementLine):
        return line.with_changes(leading_lines=[*line.leading_lines, *map(own_line, notes)])
    return line.with_changes(trailing_whitespace=append_comments(line.trailing_whitespace, notes))


def append_comments(tail: cst.TrailingWhitespace, notes: Sequence[str]) -> cst.TrailingWhitespace:
    """Return the end of a line with comments added to it."""
    text = tail.comment.value if tail.comment is not None else ""
    for note in notes:
        text = _with_note(text, note)
    return tail.with_changes(whitespace=cst.SimpleWhitespace("  "), comment=cst.Comment(text))


def _with_note(text: str, note: str) -> str:
    """Return a comment with another one appended. Codes of ``noqa`` join the first ``noqa``, as only that counts."""
    there, new = _NOQA.search(text), _NOQA.match(note)
    if there is None or new is None:
        return text if text == note else "  ".join(filter(None, [text, note]))
    codes, code = there["codes"], new["codes"]
    if not codes or code in codes:
        return text
    return f"{text[: there.end()]}, {code}{text[there.end() :]}"


def replacement_lines(
    old: Line, new: Sequence[Line], leading: Sequence[cst.EmptyLine], notes: Sequence[str]
) -> list[Line]:
    """Return ``new`` as the replacement of ``old``. Its comment at the end stays there, those inside go above."""
    tail = old.trailing_whitespace if isinstance(old, cst.SimpleStatementLine) else None
    kept = comments_in(tail) if tail is not None else []
    known = [comment for line in new for comment in comments_in(line)]
    inside = comments_inside(old)
    for comment in [*known, *kept]:
        if comment in inside:
            inside.remove(comment)
    last = new[-1]
    if not isinstance(last, cst.SimpleStatementLine):
        inside, kept = [*inside, *kept], []
    body = [*new[:-1], with_comments(last, [*kept, *notes])]
    first = body[0].with_changes(leading_lines=[*leading, *map(own_line, inside), *body[0].leading_lines])
    return [first, *body[1:]]


def at_the_top(line: Line, was: cst.CSTNode) -> Line:
    """Return the first line of a file or block without the blank lines that separated it from removed code."""
    lead = list(line.leading_lines)
    before = getattr(was, "leading_lines", ())
    if lead and lead[0].comment is None and not (before and before[0].comment is None):
        while lead and lead[0].comment is None:
            lead.pop(0)
    return line.with_changes(leading_lines=lead)
