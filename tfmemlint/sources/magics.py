"""IPython's own syntax: lines and cells that are no Python, written so that Python can read the rest.

Source: IPython's documentation of its input transformations (line magics, cell magics, shell escapes, help).
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field

KEPT = "#@tfmemlint:"
"""Begins the comment that holds a line as it was."""
PYTHON = frozenset({"capture", "debug", "prun", "python", "python3", "time", "timeit"})
"""Cell magics whose cells are Python that runs here (``%%python`` runs it elsewhere, and it is read all the same)."""
_CELL = re.compile(r"%%(\w[\w.]*)")
_LINE = re.compile(
    r"(?P<indent>\s*)(?:(?P<target>[\w.,\[\]'\" ]+?)\s*=\s*)?(?P<kind>%{1,2}|!{1,2})(?P<rest>(?![=%]).*)"
)
_HELP = re.compile(r"\s*(?:\?{1,2}\s*[\w.*%]+|[%\w.*\[\]'\"()]+\?{1,2})\s*;?\s*")
_AUTO = re.compile(r"(?:pip3?|conda|cd|ls|pwd|mkdir|rmdir|rm|cp|mv|cat|less|man)\s+[^=(\s].*")
"""Commands that IPython takes without a sign before them, where no variable is called so."""
_ENV = re.compile(r"(?:set_)?env\s+(?P<name>[A-Za-z_]\w*)(?:\s*=\s*|\s+)(?P<value>.+?)\s*$")
_SET = re.compile(
    rf"\s*import os; os\.environ\[(['\"])(?P<name>\w+)\1\] = (['\"])(?P<value>[^'\"\\$={{}}]*)\3  {KEPT}(?P<old>.*)"
)
_TIMED = re.compile(r"(?:time|timeit(?:\s+-\w+(?:\s*\d+)?)*)\s+(?P<code>\S.*)$")


@dataclass(frozen=True, slots=True)
class Python:
    """A cell as Python.

    Attributes:
        lines: its lines, as many as the cell has. instead: those that differ, each with what it stands for.
        problem: where and why it is no Python even so; then all lines are comments.
    """

    lines: list[str]
    instead: dict[str, str] = field(default_factory=dict)
    problem: tuple[int, str] | None = None


def as_python(source: str) -> Python:
    """The code of a cell as Python."""
    lines = source.split("\n")
    if "\r" in source.replace("\r\n", ""):
        return _silent(lines, (1, "its lines end in different ways"))
    if KEPT in source:
        return _silent(lines, (1, "it has tfmemlint's own marks in it"))
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    magic = _CELL.match(first)
    if magic is not None and magic[1] not in PYTHON:
        return _silent(lines, None)
    if magic is None and _error(source) is None:
        return Python(lines)
    made: list[str] = []
    instead: dict[str, str] = {}
    state, goes_on = _State(), False
    indent = _indent(first)
    for line in lines:
        plain = line.removeprefix(indent)
        new = f"{KEPT}{line}" if goes_on else plain if state.inside else _one(plain)
        if new != line:
            # IPython takes the indentation of the first line away from all.
            instead[new] = line
        made.append(new)
        if new == plain:
            state.read(plain)
            goes_on = False
        else:
            # A command goes on behind a backslash, as in a shell.
            goes_on = line.endswith("\\")
    error = _error("\n".join(made))
    if error is None and [instead.get(line, line) for line in made] != lines:
        return _silent(lines, (1, "its lines are indented in different ways"))
    if error is None:
        return Python(made, instead)
    row = getattr(error, "lineno", None) or 1
    words = getattr(error, "msg", None) or str(error)
    # The row of the cell that Python names is none of the text as a whole.
    return _silent(lines, (min(row, len(lines)), re.sub(r" on line \d+|\(at line \d+\)", "", words)))


def _silent(lines: list[str], problem: tuple[int, str] | None) -> Python:
    """All of a cell as comments."""
    made = [f"{KEPT}{_printable(line)}" if line.strip(" \t") else line for line in lines]
    return Python(made, {new: old for new, old in zip(made, lines, strict=True) if new != old}, problem)


def _printable(line: str) -> str:
    """A line as it can stand in a comment: what Python takes for the end of a line is spelled out."""
    return line if line.isprintable() else line.encode("unicode_escape").decode("ascii")


def _one(line: str) -> str:
    """A line outside of strings and brackets: what IPython does with it, as far as it matters, and the line itself."""
    match = _LINE.fullmatch(line)
    if match is None and _AUTO.fullmatch(line) and _error(line) is not None:
        return f"pass  {KEPT}{line}"
    if match is None:
        return f"{_indent(line)}pass  {KEPT}{line}" if _HELP.fullmatch(line) and "?" in line else line
    indent, target, rest = match["indent"], match["target"], match["rest"]
    code = "pass"
    if target is not None:
        code = f"{target.strip()} = None"
    elif match["kind"] == "%":
        setting, timed = _ENV.fullmatch(rest), _TIMED.fullmatch(rest)
        if setting is not None and not re.search(r"[$={}]", setting["value"]):
            code = f"import os; os.environ[{setting['name']!r}] = {setting['value']!r}"
        elif timed is not None and _error(timed["code"]) is None:
            code = timed["code"]
    return f"{indent}{code}  {KEPT}{line}"


def restored(line: str, instead: Mapping[str, str]) -> str:
    """What stands in the file for a line of Python; ``instead`` is that of `Python`.

    Raises:
        ValueError: it stands for what is no Python, and has been changed.
    """
    if line in instead:
        return instead[line]
    if KEPT in line:
        setting = changed_setting(line)
        if setting is None:
            raise ValueError("what is no Python would change")
        return setting
    return line


def changed_setting(line: str) -> str | None:
    """The ``%env`` line for one whose Python has been changed; None where it was none, or is none any more."""
    made = _SET.fullmatch(line)
    old = _LINE.fullmatch(made["old"]) if made is not None else None
    setting = _ENV.fullmatch(old["rest"]) if old is not None else None
    if made is None or old is None or setting is None:
        return None
    rest = old["rest"]
    name, value = setting.span("name"), setting.span("value")
    new = f"{rest[: name[0]]}{made['name']}{rest[name[1] : value[0]]}{made['value']}{rest[value[1] :]}"
    return f"{old['indent']}%{new}"


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _error(text: str) -> SyntaxError | ValueError | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError) as error:
        return error
    except (RecursionError, MemoryError):
        return ValueError("nested too deeply")
    return None


_TOKEN = re.compile(r"#.*|\"\"\"|'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[()\[\]{}]|\\$")


@dataclass(slots=True)
class _State:
    """Whether the next line begins inside of a string, of brackets, or goes on behind a backslash."""

    quote: str = ""
    depth: int = 0
    joined: bool = False

    @property
    def inside(self) -> bool:
        return bool(self.quote) or self.depth > 0 or self.joined

    def read(self, line: str) -> None:
        at, self.joined = 0, False
        while at < len(line):
            if self.quote:
                end = line.find(self.quote, at)
                if end < 0:
                    return
                at, self.quote = end + 3, ""
                continue
            match = _TOKEN.search(line, at)
            if match is None:
                return
            token, at = match[0], match.end()
            if token in ('"""', "'''"):
                self.quote = token
            elif token in "([{":
                self.depth += 1
            elif token in ")]}":
                self.depth = max(0, self.depth - 1)
            elif token == "\\":
                self.joined = True
