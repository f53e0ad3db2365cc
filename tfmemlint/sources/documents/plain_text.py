"""Plain texts: the stretches of Python in them, without any markup."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Sequence

from tfmemlint.sources.documents.blocks import PYTHON, Block
from tfmemlint.sources.documents.python_lines import QUOTES, Nesting, is_comment, looks_like_code

_ABOUT = re.compile(r"\btf\.|tensorflow|keras|CUDA_VISIBLE_DEVICES|\bTF_[A-Z]", re.IGNORECASE)
_PROMPT = re.compile(r"(\s*)(?:(?:>>>|\.\.\.)(?: |$)|In \[\d+\]: ?|\s{0,6}\.\.\.: ?)")
_NUMBER = re.compile(r"\s*(\d{1,4})(?:[.:|)]|)(?:[ \t]|$)")
_COMPOUND = re.compile(r"\s*(?:(?:async|if|for|while|with|try|def|class|match)\b|[@#])")
_MOST_BLANK = 2
_MAX_OPEN_LINES = 80
"""Lines for which a bracket or a string may stay open; after that, it was not one."""
_MAX_STRETCH_LINES = 500
"""Lines of one stretch. A stretch is parsed as a whole, again for each line that can't be read."""


def blocks(text: str) -> list[Block]:
    """Return the stretches of a text that are Python and mention TensorFlow, each as long as possible.

    Typographic quotes count as straight ones; a block with such quotes is not changed in place. Sessions of an
    interactive interpreter are read without their prompts, their output and line numbers.
    """
    if _ABOUT.search(text) is None:
        return []
    lines = text.translate(QUOTES).split("\n")
    fronts = _numbers(lines)
    bare = [line[front:] for line, front in zip(lines, fronts, strict=True)]
    found: list[Block] = []
    row = 0
    while row < len(bare):
        if _PROMPT.match(bare[row]):
            block, row = _session(bare, fronts, row)
        elif _begins(bare, row):
            block, row = _stretch(bare, fronts, row)
        else:
            row += 1
            continue
        if block is not None:
            found.append(_as_written(block, text))
    return found


def _begins(lines: Sequence[str], row: int) -> bool:
    if looks_like_code(lines[row]):
        return True
    # A comment of a program, not a heading or a list's number.
    return is_comment(lines[row]) and row + 1 < len(lines) and looks_like_code(lines[row + 1])


def _stretch(lines: Sequence[str], fronts: Sequence[int], first: int) -> tuple[Block | None, int]:
    """Return the longest stretch of Python that begins in a row, and the row to continue with."""
    last = _reach(lines, first)
    reached = max(last, _end_of_statement(lines, first))
    if not _is_about(lines[first:last]):
        return None, reached
    reached = first + 1
    while last > first:
        code = lines[first:last]
        wrong = _error(code)
        if wrong is None:
            return _block(code, fronts, first), last
        # The statement that is wrong ends the stretch; what is behind it is looked at anew.
        reached = max(reached, first + min(wrong, len(code) - 1) + 1)
        last = first + _start_of_statement(code, wrong)
    return None, reached


def _reach(lines: Sequence[str], first: int) -> int:
    """Return the last row of the lines that look like code."""
    nesting = Nesting()
    last = row = first
    blank = opened = 0
    base = _indent(lines[first])
    while row < len(lines) and row - first < _MAX_STRETCH_LINES:
        line = lines[row]
        if nesting.open:
            opened += 1
            if opened > _MAX_OPEN_LINES:
                break
        elif not line.strip():
            blank += 1
            if blank > _MOST_BLANK:
                break
            row += 1
            continue
        elif _PROMPT.match(line) or not (looks_like_code(line) or is_comment(line) or _is_inside(line, base)):
            break
        else:
            opened = 0
            simple = _indent(line) <= base and _COMPOUND.match(line) is None
            if simple and _error(lines[row : _end_of_statement(lines, row)]) is not None:
                break
        nesting.take(line)
        blank = 0
        row += 1
        last = row
    return last


def _is_about(code: Sequence[str]) -> bool:
    """Return True if code uses TensorFlow; a comment that mentions it does not count."""
    return any(_ABOUT.search(line.partition("#")[0]) for line in code)


def _end_of_statement(lines: Sequence[str], first: int) -> int:
    """Return the last row of the statement that begins in a row."""
    nesting = Nesting()
    for row in range(first, min(first + _MAX_OPEN_LINES, len(lines))):
        nesting.take(lines[row])
        if not nesting.open:
            return row + 1
    return first + 1


def _is_inside(line: str, base: int) -> bool:
    """Return True if a line may be an expression inside a statement, or a literal: it is indented, and not a
    sentence."""
    return _indent(line) > base and _error([line.strip()]) is None and " " not in line.strip()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _error(code: Sequence[str]) -> int | None:
    """Return the line, from 0, at which code stops being Python; None if it is Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(_dedented(code))
    except SyntaxError as error:
        return max((error.lineno or 1) - 1, 0)
    except (ValueError, RecursionError, MemoryError):
        return 0
    return None


def _dedented(code: Sequence[str]) -> str:
    return textwrap.dedent("\n".join(code))


def _start_of_statement(code: Sequence[str], wrong: int) -> int:
    """Return the first line of the outermost statement that contains a line, or that ends just before it."""
    base = _indent(code[0])
    nesting = Nesting()
    starts = [0]
    for number, line in enumerate(code[: wrong + 1]):
        outermost = not nesting.open and line.strip() and _indent(line) <= base
        if outermost and not re.match(r"\s*(?:else|elif|except|finally)\b|\s*[)\]}#]", line):
            starts.append(number)
        nesting.take(line)
    start = starts[-1]
    return start if start < len(code) else len(code) - 1


def _block(code: Sequence[str], fronts: Sequence[int], first: int, rows: Sequence[int] = ()) -> Block | None:
    """Return the block of these lines; None if they are not a program that can be judged."""
    if not _is_about(code):
        return None
    body = ast.parse(_dedented(code)).body
    alone = all(isinstance(line, ast.Expr) for line in body)
    if not body or (alone and len(body) < 2):
        # One call in a line of its own is a mention as much as a program.
        return None
    margin = min(_indent(line) for line in code if line.strip())
    places = tuple(rows) or tuple(range(first + 1, first + 1 + len(code)))
    starts = tuple(
        fronts[row - 1] + min(margin, len(line)) if line.strip() else fronts[row - 1]
        for row, line in zip(places, code, strict=True)
    )
    kept = [line[margin:] if line.strip() else "" for line in code]
    return Block(PYTHON, "".join(f"{line}\n" for line in kept), places, starts)


def _as_written(block: Block, text: str) -> Block:
    """Return the block; it is not fixable if its text differs from the file."""
    lines = text.split("\n")
    same = all(
        lines[row - 1][start:] == line or not line
        for row, start, line in zip(block.rows, block.starts, block.text.split("\n"), strict=False)
    )
    if same:
        return block
    return Block(block.language, block.text, block.rows, block.starts, fixable=False)


def _session(lines: Sequence[str], fronts: Sequence[int], first: int) -> tuple[Block | None, int]:
    """Return the interpreter session that begins in a row: the lines after its prompts."""
    code: list[str] = []
    rows: list[int] = []
    widths = list(fronts)
    row = first
    while row < len(lines) and lines[row].strip():
        prompt = _PROMPT.match(lines[row])
        if prompt is not None:
            code.append(lines[row][prompt.end() :])
            rows.append(row + 1)
            widths[row] += prompt.end()
        row += 1
    while code and (wrong := _error(code)) is not None:
        last = _start_of_statement(code, min(wrong, len(code) - 1))
        del code[last:], rows[last:]
    block = _block(code, widths, first, rows) if any(line.strip() for line in code) else None
    return block, row


def _numbers(lines: Sequence[str]) -> list[int]:
    """Return for each line the width of the line number that a listing has put before it."""
    fronts = [0] * len(lines)
    row = 0
    while row < len(lines):
        end = row
        match = _NUMBER.match(lines[row])
        while match is not None and int(match[1]) == int(_number(lines[row])) + end - row:
            end += 1
            match = _NUMBER.match(lines[end]) if end < len(lines) else None
        if end - row >= 3:
            ends = [_end_of_number(line) for line in lines[row:end]]
            inner = [line[width:] for line, width in zip(lines[row:end], ends, strict=True)]
            if 2 * sum(looks_like_code(line) or is_comment(line) for line in inner) > sum(
                bool(line.strip()) for line in inner
            ):
                for place in range(row, end):
                    fronts[place] = min(ends[place - row], len(lines[place]))
        row = max(end, row + 1)
    return fronts


def _number(line: str) -> str:
    match = _NUMBER.match(line)
    return match[1] if match is not None else "-1"


def _end_of_number(line: str) -> int:
    match = _NUMBER.match(line)
    return match.end() if match is not None else 0


def whole(lines: Sequence[str], row: int) -> Block | None:
    """Return the lines from a row on as one block of Python; None if they are not Python, or do not mention
    TensorFlow."""
    code = [line.translate(QUOTES) for line in lines]
    if any(_PROMPT.match(line) for line in code) or _error(code) is not None:
        return None
    return _block(code, [0] * (row + len(code)), row - 1)
