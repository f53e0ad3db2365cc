"""The lines of a makefile: assignments, rules and their recipes, with the conditions that they are under.

Source: the manual of GNU Make, and its ``read.c``: a line that begins with a tab belongs to the recipe of the rule
above it; an assignment ends a rule. Nothing is expanded here, and nothing raises.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import field

from tfmemlint.model.records import dataclass

_ASSIGNMENT = re.compile(
    r"[ \t]*(?P<words>(?:(?:export|override|private)[ \t]+)*)"
    r"(?P<name>[.A-Za-z_][\w.-]*)[ \t]*(?P<sign>\+=|\?=|!=|:{0,3}=)[ \t]*"
)
_DIRECTIVE = re.compile(r"[ \t]*(-include|[a-z]+)(?=[ \t(]|$)")
_CONDITIONS = frozenset({"ifdef", "ifndef", "ifeq", "ifneq"})
_INCLUDES = frozenset({"include", "-include", "sinclude"})
_JOINED = re.compile(r"(?:(?<![ \t])[ \t]+)?\\\n[ \t]*")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_MAX_REFERENCE_CHARS = 500
_MAX_DEPTH = 100
"""Nested conditions; deeper ones are treated as this deep."""


@dataclass(frozen=True, slots=True)
class MakeVariable:
    """An assignment of a makefile.

    Attributes:
        name, sign: as written. words: those in front of the name: ``export``, ``override``, ``private``.
        start, end: the place of the name. given, stop: the place of the value; the value itself is ``text``.
        line: the place of all of it.
        path: the numbers of the conditions that it is under. targets: those that it is for; "" for all of them.
    """

    name: str
    sign: str
    words: tuple[str, ...]
    start: int
    end: int
    given: int
    stop: int
    text: str
    line: tuple[int, int]
    path: tuple[int, ...]
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MakeExport:
    """``export NAME ...`` or ``unexport NAME ...``: without a name, of all variables."""

    names: tuple[str, ...]
    exports: bool
    path: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RecipeLine:
    """One line of a recipe, with those that a backslash joins to it, from ``start`` to ``end``."""

    start: int
    end: int
    path: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MakeRule:
    """A rule: its targets as written, and its recipe."""

    targets: tuple[str, ...]
    recipe: list[RecipeLine] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class MakeOther:
    """A line that may define anything: an ``include``, or functions such as ``$(eval ...)``."""

    text: str


MakeItem = MakeVariable | MakeExport | MakeRule | MakeOther


def items_of(text: str) -> Iterator[MakeItem]:
    """Yield the items of a makefile, in order. The recipe of a rule is complete when all are read."""
    numbers = itertools.count(1)
    path: list[int] = []
    rule: MakeRule | None = None
    defining = 0
    for start, end in _lines(text):
        if text.startswith("\t", start) and rule is not None and not defining:
            rule.recipe.append(RecipeLine(start + 1, end, tuple(path)))
            continue
        raw = text[start:end]
        line = _on_one_row(raw)
        found = _DIRECTIVE.match(line)
        word = found[1] if found is not None else ""
        assigned = _ASSIGNMENT.match(line)
        if defining:
            if word in ("define", "endef"):
                defining += 1 if word == "define" else -1
            continue
        if assigned is None and (word == "define" or re.match(r"[ \t]*(?:(?:override|export)[ \t]+)+define\b", line)):
            defining, rule = 1, None
            name = line.partition("define")[2].split("=")[0].split()
            yield MakeOther(f"define {' '.join(name[:1])}")
        elif assigned is None and word in _CONDITIONS:
            path = [*path, next(numbers)][:_MAX_DEPTH]
        elif assigned is None and word == "else":
            path = [*path[:-1], next(numbers)] if path else path
        elif assigned is None and word == "endif":
            path = path[:-1]
        elif assigned is not None:
            rule = None
            yield _variable(text, start, end, assigned, tuple(path))
        elif word in ("export", "unexport"):
            rule = None
            yield MakeExport(tuple(_without_comment(line).split()[1:]), word == "export", tuple(path))
        elif not line.strip() or line.lstrip().startswith("#"):
            continue
        elif word in _INCLUDES or word in ("undefine", "vpath", "load"):
            rule = None
            yield MakeOther(line)
        else:
            colon = _colon(raw)
            if colon is None:
                rule = None
                yield MakeOther(line)
                continue
            targets = tuple(line[:colon].split())
            behind = start + colon + 1
            while text.startswith((":", "&"), behind) and behind < end and not text.startswith((":=", "::="), behind):
                behind += 1
            own = _ASSIGNMENT.match(_on_one_row(text[behind:end]))
            if own is not None:
                rule = None
                yield _variable(text, behind, end, own, tuple(path), targets, start)
                continue
            rule = MakeRule(targets)
            semicolon = text.find(";", behind, end)
            if semicolon >= 0 and "#" not in text[behind:semicolon]:
                rule.recipe.append(RecipeLine(semicolon + 1, end, tuple(path)))
            yield rule


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of lines, without their ends; a backslash at its end joins a line to the next one."""
    at, size = 0, len(text)
    while at < size:
        start = at
        while True:
            stop = text.find("\n", at)
            stop = stop if stop >= 0 else size
            begun = stop
            while begun > at and text[begun - 1] == "\\":
                begun -= 1
            at = stop + 1
            if (stop - begun) % 2 == 0 or at >= size:
                break
        yield start, stop


def _variable(
    text: str,
    start: int,
    end: int,
    found: re.Match[str],
    path: tuple[int, ...],
    targets: tuple[str, ...] = (),
    line: int | None = None,
) -> MakeVariable:
    """Return an assignment that begins at ``start``; ``found`` is the match of its line, by `_on_one_row`."""
    name = start + found.start("name")
    given = start + found.end()
    stop = given + len(_without_comment(found.string[found.end() :]))
    value = _JOINED.sub(" ", text[given:stop])
    return MakeVariable(
        found["name"],
        found["sign"],
        tuple(found["words"].split()),
        name,
        name + len(found["name"]),
        given,
        stop,
        value,
        (start if line is None else line, end),
        path,
        targets,
    )


def _on_one_row(text: str) -> str:
    """Return lines that backslashes join as one line, in which each character has the place that it has in them."""
    return text.replace("\\\n", "  ")


def _without_comment(value: str) -> str:
    """Return a value without the comment behind it; the blanks in front of the comment are part of the value."""
    at = value.find("#")
    while at > 0 and value[at - 1] == "\\":
        at = value.find("#", at + 1)
    return value if at < 0 else value[:at]


def _colon(line: str) -> int | None:
    """Return the place of the first colon that is in no reference to a variable; None if there is none."""
    depth = 0
    for found in re.finditer(r"\$[({]|[(){}:#]", line):
        mark = found[0]
        if mark[0] == "$" or (depth and mark in "({"):
            depth += 1
        elif mark in ")}":
            depth = max(depth - 1, 0)
        elif mark == ":" and not depth:
            return found.start()
        elif mark == "#" and not depth:
            return None
    return None


def reference(text: str, at: int, end: int | None = None) -> tuple[str, int]:
    """Return the name that is behind the dollar sign at ``at``, and the offset behind the reference: ``$`` for ``$$``,
    and "" for a function or anything else that isn't a name."""
    end = len(text) if end is None else end
    mark = text[at + 1 : at + 2] if at + 1 < end else ""
    if mark not in ("(", "{"):
        return mark, min(at + 2, end)
    other = ")" if mark == "(" else "}"
    depth, stop = 0, min(end, at + _MAX_REFERENCE_CHARS)
    for place in range(at + 1, stop):
        if text[place] == mark:
            depth += 1
        elif text[place] == other:
            depth -= 1
            if not depth:
                name = text[at + 2 : place]
                return name if _NAME.fullmatch(name) else "", place + 1
    return "", stop
