"""Break the lines of a rewrite that are longer than the project allows, at brackets, as black and ruff break them.

Only lines that the rewrite has written or lengthened are broken.
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Container
from functools import lru_cache

from tfmemlint.model.patterns import late_pattern
from tfmemlint.model.records import dataclass

_BLACK_CHARACTERS = 88
"""Black's default. Black writes double quotes: a file with others is not formatted by it."""
_OTHER_CHARACTERS = 100
"""For other files; a bound for readability, without a deeper reason."""
_LONGEST_CHARACTERS = 120
"""Of a file that has longer lines already, new lines may be as long, up to this."""
_INDENT = "    "
_MAX_DEPTH = 6
"""Brackets within brackets that are broken; a bound for readability, without a deeper reason."""
_SIZE_NOTE = late_pattern(r"# .+ of [\d.]+ MiB")
"""The comment that explains a limit: the only one that a rewrite writes itself, but for directives."""
_PLAIN_IMPORT = late_pattern(r"(from [\w.]+ import )(\w[\w ]*(?:, *\w[\w ]*)*)")
"""An import at the left margin, without brackets."""
_CLAUSES = ("for ", "async for ")
_KEY_CHARACTERS = 20
"""A subscript in brackets that is shorter is a key or an index."""
_OPENING, _CLOSING = "([{", ")]}"


@lru_cache(maxsize=16)
def usual_length(text: str, quote: str) -> int:
    """Return how long the lines of a file may be whose project does not say it; ``quote`` is the one that it uses."""
    own = max((len(line) for line in text.strip("\n").split("\n") if "#" not in line), default=0)
    usual = _BLACK_CHARACTERS if quote == '"' else _OTHER_CHARACTERS
    return max(usual, min(own, _LONGEST_CHARACTERS))


def keep_length(known: Container[str], new: str, characters: int) -> str:
    """Return ``new`` with the lines broken that are longer than ``characters`` and are not ``known``.

    A line that can't be broken stays as it is.
    """
    lines = new.split("\n")
    if not any(len(line) > characters and line not in known for line in lines):
        return new
    inside = _breakable(new)
    broken = [
        part
        for row, line in enumerate(lines)
        for part in (
            _broken(line, characters, _MAX_DEPTH, inside=inside[row])
            if row in inside and len(line) > characters and line not in known
            else [line]
        )
    ]
    text = "\n".join(broken)
    return text if _same_code(new, text) else new


def _breakable(text: str) -> dict[int, bool]:
    """Return the indices of lines in which no string of several lines begins or ends, each with whether it begins
    within brackets.
    """
    found: dict[int, bool] = {}
    torn: set[int] = set()
    begun: list[int] = []
    depth = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            first, name = token.start[0], tokenize.tok_name[token.type]
            found.setdefault(first - 1, depth > 0)
            if name == "FSTRING_START":
                begun.append(first)
            elif name == "FSTRING_END":
                first = begun.pop()
            elif token.type == tokenize.OP and not begun:
                depth += (token.string in _OPENING) - (token.string in _CLOSING)
            if token.end[0] != first and (token.string.strip() or begun):
                torn |= set(range(first - 1, token.end[0]))
    except (tokenize.TokenError, SyntaxError):
        return {}
    return {row: inside for row, inside in found.items() if row not in torn}


@dataclass(frozen=True, slots=True)
class _Pair:
    """Brackets at the outermost level of a line, by the columns of the two characters."""

    start: int
    end: int


def _broken(line: str, characters: int, depth: int, *, inside: bool) -> list[str]:
    """Return a line in several lines, or as it is where it can't be broken; ``inside``: it begins within brackets."""
    if len(line) <= characters or depth == 0:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    code, comment = _split_comment(line)
    if comment and len(code) <= characters:
        return [indent + comment, code] if _SIZE_NOTE.fullmatch(comment) else [line]
    plain_import = _PLAIN_IMPORT.fullmatch(line)
    if plain_import is not None:
        names = [f"{_INDENT}{name.strip()}," for name in plain_import[2].split(",")]
        return [f"{plain_import[1]}(", *names, ")"]
    pairs = _pairs(line)
    if inside and pairs and not comment:
        parts = _parts(code.strip())
        if len(parts) > 1:
            return _each(parts, indent, characters, depth)
    for pair in sorted(pairs, key=lambda pair: (_is_key(line, pair), -pair.start)):
        body = line[pair.start + 1 : pair.end].strip()
        head, tail = line[: pair.start + 1], line[pair.end :]
        if not body or len(head) > characters:
            continue
        inner = indent + _INDENT
        if len(inner + body) <= characters and not body.endswith(","):
            return [head, inner + body, indent + tail]
        parts = _parts(body)
        lines = (
            _each(parts, inner, characters, depth)
            if len(parts) > 1
            else _broken(inner + body, characters, depth - 1, inside=True)
        )
        return [head, *lines, indent + tail]
    return [line]


def _each(parts: list[str], indent: str, characters: int, depth: int) -> list[str]:
    """Return the parts of what is within brackets, each on lines of its own."""
    comma = "" if any(part.startswith(_CLAUSES) for part in parts) else ","
    return [
        line
        for part in parts
        for line in _broken(f"{indent}{part}{comma}", characters, depth - 1, inside=len(parts) == 1)
    ]


def _is_key(line: str, pair: _Pair) -> bool:
    """True for ``["current"]``: to break it makes nothing shorter."""
    return line[pair.start] == "[" and pair.end - pair.start < _KEY_CHARACTERS


def _tokens(line: str) -> list[tokenize.TokenInfo]:
    """Return the tokens of one line, which may be a part of a statement; nothing of what is inside f-strings."""
    found: list[tokenize.TokenInfo] = []
    inside = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(line.strip() + "\n").readline):
            name = tokenize.tok_name[token.type]
            inside += name == "FSTRING_START"
            if not inside:
                found.append(token)
            inside -= name == "FSTRING_END"
    except (tokenize.TokenError, SyntaxError):
        return []
    return found


def _pairs(line: str) -> list[_Pair]:
    """Return the outermost brackets of a line; nothing if some of them are closed elsewhere."""
    shift = len(line) - len(line.lstrip())
    found: list[_Pair] = []
    open_at: list[int] = []
    for token in _tokens(line):
        if token.type == tokenize.OP and token.string in _OPENING:
            open_at.append(token.start[1] + shift)
        elif token.type == tokenize.OP and token.string in _CLOSING:
            if not open_at:
                return []
            start = open_at.pop()
            if not open_at:
                found.append(_Pair(start, token.start[1] + shift))
    return found if not open_at else []


def _parts(body: str) -> list[str]:
    """Return the elements of what is in brackets, or the element and the clauses of a comprehension."""
    depth = 0
    cuts = [0]
    comprehension = False
    for token in _tokens(body):
        start = token.start[1]
        if token.type == tokenize.NAME and depth == 0:
            if token.string == "lambda":
                return [body]
            if token.string in ("for", "async") or (comprehension and token.string == "if"):
                cuts = cuts if comprehension else [0]
                comprehension = True
                if not body[:start].rstrip().endswith("async"):
                    cuts.append(start)
        if token.type == tokenize.OP:
            depth += (token.string in _OPENING) - (token.string in _CLOSING)
            if token.string == "," and depth == 0 and not comprehension:
                cuts.append(start + 1)
    parts = [body[start:end].strip() for start, end in zip(cuts, [*cuts[1:], len(body)], strict=True)]
    found = [part if comprehension else part.rstrip(",").rstrip() for part in parts]
    return [part for part in found if part] if len(cuts) > 1 else [body]


def _split_comment(line: str) -> tuple[str, str]:
    """Return the code of a line, and its comment with the blanks before it."""
    shift = len(line) - len(line.lstrip())
    for token in _tokens(line):
        if token.type == tokenize.COMMENT:
            column = token.start[1] + shift
            return line[:column].rstrip(), line[column:]
    return line, ""


def _same_code(before: str, after: str) -> bool:
    """True if two texts are the same program."""
    import ast

    try:
        return ast.dump(ast.parse(before)) == ast.dump(ast.parse(after))
    except (SyntaxError, ValueError, RecursionError):
        return False


__all__ = ["keep_length"]
