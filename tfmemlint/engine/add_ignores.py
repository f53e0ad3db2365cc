"""Write comments that silence what is found."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfmemlint.model.codes import COMMENT_CODES, RUN_CODES
from tfmemlint.sources.kinds import PYTHON
from tfmemlint.sources.suppressions import IGNORE, read_suppressions

if TYPE_CHECKING:
    from tfmemlint.engine.context import RunContext
    from tfmemlint.engine.results import FileResult
    from tfmemlint.sources import Source

NOT_PYTHON = "comments are added to files of Python alone: use per-file-ignores"
NO_ROOM = "a comment that silences it can't be added to its line"
_LINE_ENDS = re.compile(r"[\r\n#]+")


def add_ignores(results: Sequence[FileResult], reason: str, context: RunContext) -> tuple[int, int]:
    """Add a comment to the line of each finding in files of Python, and take it out of the results.

    Args:
        results: of the run; a file that could not be written gets a problem.
        reason: the reason to give, or "".
        context: the run: files with changes that git does not have are left as its options say.

    Returns:
        The number of findings that are silenced now, and of the others.
    """
    added = left = 0
    reason = _LINE_ENDS.sub(" ", reason).strip()
    for result in results:
        findings = [finding for finding in result.findings if finding.code not in RUN_CODES | COMMENT_CODES]
        if not findings or result.source is None:
            left += len(findings)
            continue
        if result.source.language != PYTHON or not result.path.endswith((".py", ".pyw", ".pyi")):
            result.remark = NOT_PYTHON
            left += len(findings)
            continue
        rows: dict[int, set[str]] = {}
        for finding in findings:
            rows.setdefault(finding.noqa_row or finding.span.end_row, set()).add(finding.code)
        text, silenced = _with_comments(result.source, rows, reason)
        result.problem = _write(result.source, text, context) if text != result.source.text else ""
        if result.problem:
            left += len(findings)
            continue
        kept = [finding for finding in findings if (finding.noqa_row or finding.span.end_row) not in silenced]
        if kept:
            result.remark = f"line {kept[0].span.row}: {NO_ROOM}"
        added, left = added + len(findings) - len(kept), left + len(kept)
        result.findings = [finding for finding in result.findings if finding in kept or finding not in findings]
    return added, left


def _with_comments(source: Source, rows: dict[int, set[str]], reason: str) -> tuple[str, set[int]]:
    """Return a text with the comments, and the rows that have one; the program stays the same."""
    text, done = source.text, set()
    for row, codes in sorted(rows.items()):
        lines = text.split("\n")
        lines[row - 1] = _silenced(text, row, sorted(codes), reason)
        changed = "\n".join(lines)
        comments = read_suppressions(changed).comments
        is_there = all(any(comment.row == row and comment.silences(code) for comment in comments) for code in codes)
        if is_there and _same_program(text, changed):
            text = changed
            done.add(row)
    return text, done


def _silenced(text: str, row: int, codes: Sequence[str], reason: str) -> str:
    """Return a line of a text with the codes in its comment."""
    line = text.split("\n")[row - 1]
    for comment in read_suppressions(text).comments:
        if comment.row == row and comment.word == IGNORE and comment.codes and not comment.broken:
            end = comment.codes[-1][1].end_column - 1
            return f"{line[:end]}, {', '.join(codes)}{line[end:]}"
    return f"{line}  # tfmemlint: ignore[{', '.join(codes)}] {reason}".rstrip()


def _same_program(old: str, new: str) -> bool:
    try:
        return ast.dump(ast.parse(old)) == ast.dump(ast.parse(new))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _write(source: Source, text: str, context: RunContext) -> str:
    """Write a file; return why that was not done, or ""."""
    from tfmemlint.engine.fix_file import objection
    from tfmemlint.fixes.write import CHANGED, ChangedError, replace_file

    problem = objection(source.path, context)
    if problem:
        return problem
    try:
        replace_file(source.path, source.encode(text), expected=source.encode(source.text))
    except ChangedError:
        return CHANGED
    except (OSError, ValueError) as error:
        return f"could not be written, and was left unchanged: {getattr(error, 'strerror', None) or error}"
    return ""
