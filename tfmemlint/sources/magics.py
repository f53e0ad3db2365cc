"""IPython's own syntax: lines and cells that are not Python, rewritten so that Python can read the rest.

Source: IPython's documentation of its input transformations (line magics, cell magics, shell escapes, help).
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import field

from tfmemlint.model.patterns import late_pattern
from tfmemlint.model.records import dataclass

KEPT = "#@tfmemlint:"
"""The beginning of the comment that keeps the original line."""
PYTHON = frozenset({"capture", "debug", "prun", "python", "python3", "time", "timeit"})
"""Cell magics whose cells are Python that runs here (``%%python`` runs it elsewhere, and it is read all the same)."""
_CELL = late_pattern(r"%%(\w[\w.]*)")
_LINE = late_pattern(
    r"(?P<indent>\s*)(?=\S)(?:(?P<target>[\w.,\[\]'\" ]*[\w.,\[\]'\"])\s*=\s*)?"
    r"(?P<kind>%{1,2}|!{1,2})(?P<rest>(?![=%]).*)"
)
_HELP = late_pattern(r"\s*(?:\?{1,2}\s*[\w.*%]+|[%\w.*\[\]'\"()]+\?{1,2})\s*(?:;\s*)?")
_AUTO = late_pattern(r"(?:pip3?|conda|cd|ls|pwd|mkdir|rmdir|rm|cp|mv|cat|less|man)\s+[^=(\s].*")
"""Commands that IPython accepts without a sign before them, unless a variable has that name."""
_CALL = late_pattern(r"\s*[,;/]\s*[A-Za-z_]")
"""Calls whose arguments have no quotes (``,f a b``, ``;f a b``) or parentheses (``/f a, b``)."""
_ENV = late_pattern(r"(?:set_)?env\s+(?P<name>[A-Za-z_]\w*)(?:\s*=\s*|\s+)(?P<value>\S(?:.*\S)?)\s*$")
_EXPORT = late_pattern(r"\s*export\s+[A-Za-z_]\w*=(?:[\w.,:/@%+-]*|'[^'\\$]*'|\"[^\"\\$`]*\")\s*")
_SET = late_pattern(
    r"\s*(?:import os; )?os\.environ\[(['\"])(?P<name>\w+)\1\] = "
    rf"(['\"])(?P<value>[^'\"\\$={{}}]*)\3  {KEPT}(?P<old>.*)"
)
_SPLIT_SETTING = late_pattern(rf"^([ \t]*)import os\n\1(?=os\.environ\[[^\n]*  {KEPT}%)", re.MULTILINE)
_TIMED = late_pattern(r"(?:time|timeit(?:\s+-\w+(?:\s+\d+)?)*)\s+(?P<code>\S.*)$")


@dataclass(frozen=True, slots=True)
class Python:
    """A cell as Python.

    Attributes:
        lines: its lines, as many as the cell has.
        instead: lines that replace other syntax, each with the original.
        problem: the place and the reason if it is still not Python; then all lines are comments.
        prefix: the indentation or prompt that IPython removes from each line.
        fixed: the reason why no line of it can be changed, or "".
    """

    lines: list[str]
    instead: dict[str, str] = field(default_factory=dict)
    problem: tuple[int, str] | None = None
    prefix: str = ""
    fixed: str = ""

    def restored(self, line: str, prefix: str | None = None) -> str:
        """Return the text to write for a line of Python that is new or was moved.

        Args:
            prefix: the prefix of the line; None for the prefix of most lines.

        Raises:
            ValueError: it replaces other syntax and was changed; or nothing here can be changed.
        """
        if line in self.instead:
            return self.instead[line]
        if self.fixed:
            raise ValueError(self.fixed)
        if prefix is None:
            prefix = self.prefix
            if prefix.endswith(_CLASSIC) and line[:1] in (" ", "\t", ")", "]", "}"):
                prefix = prefix.removesuffix(_CLASSIC) + "... "
        if KEPT in line:
            setting = changed_setting(line)
            if setting is None:
                raise ValueError("a line that is not Python would change")
            return prefix + setting
        return prefix + line if line.strip() else prefix.rstrip()


def as_python(source: str, *, prompts: bool = False) -> Python:
    """Return the code of a cell as Python.

    Args:
        prompts: prompts (``>>>``, ``In [1]:``) are taken away as IPython does; else they are no Python.
    """
    lines = source.split("\n")
    if "\r" in source:
        return _silent(lines, (1, "its lines end in different ways"))
    if KEPT in source:
        return _silent(lines, (1, "it has tfmemlint's own marks in it"))
    bare, prefix, fixed = _without_prefix(lines, prompts=prompts)
    if fixed and prefix.isspace() and _error(source) is None:
        # It is indented in no other way than Python's own: a comment stands first.
        return Python(lines)
    odd = any(line.splitlines() != [line] for line in bare if line)
    if odd and prefix:
        # IPython ends lines at characters where Python does not, and takes the prefix away behind those as well.
        fixed = UNEVEN
    first = next((line for line in bare if line.strip() and not line.startswith("#")), "")
    magic = _CELL.match(first)
    if magic is not None and magic[1] not in PYTHON:
        return _silent(lines, None)
    if magic is None and _error("\n".join(bare)) is None:
        return Python(bare, prefix=prefix, fixed=fixed)
    if odd:
        # What IPython takes for a line of its own may be a command.
        return _silent(lines, (1, "its lines end in different ways"))
    made: list[str] = []
    instead: dict[str, str] = {}
    state, goes_on = _State(), False
    for line, plain in zip(lines, bare, strict=True):
        new = f"{KEPT}{plain}" if goes_on else plain if state.inside else _as_pass(plain)
        made.append(new)
        if new == plain:
            state.read(plain)
            goes_on = False
        else:
            instead[new] = line
            # A command goes on behind a backslash, as in a shell.
            goes_on = line.endswith("\\")
    error = _error("\n".join(made))
    if error is None:
        return Python(made, instead, prefix=prefix, fixed=fixed)
    row = getattr(error, "lineno", None) or 1
    words = getattr(error, "msg", None) or str(error)
    # The row of the cell that Python names is none of the text as a whole.
    return _silent(lines, (min(row, len(lines)), re.sub(r" on line \d+|\(at line \d+\)", "", words)))


_CLASSIC = ">>> "
_CLASSIC_PROMPT = late_pattern(r"(?:>>>|\.\.\.)(?: |$)")
_IPYTHON_PROMPT = late_pattern(r"(?:(?:\[nav\]|\[ins\])? )?In \[\d+\]: |\s*\.{3,}: ?")
_DEDENTED = PYTHON - {"python", "python3"}
"""Cell magics that hand their cell to IPython, which takes its indentation away once more."""
UNEVEN = "its lines are indented in different ways: change it by hand"


def _without_prefix(lines: list[str], *, prompts: bool) -> tuple[list[str], str, str]:
    """Return the lines as IPython's own clean-up leaves them, what it takes away from each, and why none can be
    changed, or "".

    IPython up to 8 takes the indentation of the first line away from each line that has it, IPython 9 the indentation
    that all lines share; prompts likewise differ. Where the two come to different texts, the first is read, and
    nothing is changed.
    """
    start = next((number for number, line in enumerate(lines) if line.strip()), None)
    if start is None:
        return lines, "", ""
    head, body = lines[:start], lines[start:]
    prefix = body[0][: len(body[0]) - len(body[0].lstrip(" \t"))]
    fixed = ""
    if prefix:
        even = all(line.startswith(prefix) for line in body if line.strip())
        fixed = "" if even else UNEVEN
        body = [line.removeprefix(prefix) for line in body]
    magic = _CELL.match(body[0])
    if magic is not None and magic[1] in _DEDENTED:
        inner, more, uneven = _without_prefix(body[1:], prompts=prompts)
        return [*head, body[0], *inner], prefix + more, fixed or uneven
    if prompts:
        if body[0].rstrip() == ">>>" or body[0].startswith(_CLASSIC):
            body, uneven = _without_prompts(body, _CLASSIC_PROMPT)
            prefix, fixed = prefix + _CLASSIC, fixed or uneven
        if any(map(_IPYTHON_PROMPT.match, body[:2])):
            body, uneven = _without_prompts(body, _IPYTHON_PROMPT)
            prefix, fixed = prefix + "   ...: ", fixed or uneven
    return [*head, *body], prefix, fixed


def _without_prompts(lines: list[str], pattern: re.Pattern[str]) -> tuple[list[str], str]:
    """Return the lines without their prompts, and why they can't be changed, or ""."""
    bare = [pattern.sub("", line, count=1) if pattern.match(line) else line for line in lines]
    even = all(pattern.match(line) for line in lines if line.strip()) and not bare[0][:1].isspace()
    strings = any(quotes in line for quotes in ('"""', "'''") for line in lines)
    return bare, "" if even and not strings else UNEVEN


def _silent(lines: list[str], problem: tuple[int, str] | None) -> Python:
    """Return a whole cell as comments."""
    made = [f"{KEPT}{_printable(line)}" if line.strip(" \t") else line for line in lines]
    return Python(made, {new: old for new, old in zip(made, lines, strict=True) if new != old}, problem)


def _printable(line: str) -> str:
    """Return a line as it can be written in a comment: characters that end a line in Python are spelled out."""
    return line if line.isprintable() else line.encode("unicode_escape").decode("ascii")


def _as_pass(line: str) -> str:
    """Return the Python equivalent of a line outside strings and brackets, with the original as a comment; a line of
    Python is unchanged."""
    match = _LINE.fullmatch(line)
    if match is None and _AUTO.fullmatch(line) and _error(line) is not None:
        return f"pass  {KEPT}{line}"
    if match is None:
        escaped = (_HELP.fullmatch(line) and "?" in line) or _CALL.match(line)
        return f"{_indent(line)}pass  {KEPT}{line}" if escaped else line
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


def changed_setting(line: str) -> str | None:
    """Return the ``%env`` line for a line whose Python was changed; None if it was not one, or no longer is.

    A line that exports a variable in a shell of its own may become one, too.
    """
    made = _SET.fullmatch(line)
    old = _LINE.fullmatch(made["old"]) if made is not None else None
    if made is not None and old is not None and old["kind"] != "%" and _EXPORT.fullmatch(old["rest"]):
        return f"{old['indent']}%env {made['name']}={made['value']}"
    setting = _ENV.fullmatch(old["rest"]) if old is not None else None
    if made is None or old is None or setting is None:
        return None
    rest = old["rest"]
    name, value = setting.span("name"), setting.span("value")
    new = f"{rest[: name[0]]}{made['name']}{rest[name[1] : value[0]]}{made['value']}{rest[value[1] :]}"
    return f"{old['indent']}%{new}"


def exported_here(line: str, name: str, value: str) -> str | None:
    """Return the Python of a line that sets a variable here which the line, a shell's, exports; None for others."""
    code, kept, old = line.partition(f"  {KEPT}")
    command = _LINE.fullmatch(old) if kept and code.strip() == "pass" else None
    if command is None or command["kind"] == "%" or not _EXPORT.fullmatch(command["rest"]):
        return None
    return f"import os; os.environ[{name!r}] = {value!r}{kept}{old}"


def joined_settings(text: str) -> str:
    """Return Python text in which the two statements of each ``%env`` line are on one line again: a rewrite moves them
    as what they are in Python."""
    return _SPLIT_SETTING.sub(r"\1import os; ", text) if f"  {KEPT}%" in text else text


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


_TOKEN = late_pattern(r"#.*|\"\"\"|'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[()\[\]{}]|\\$")


@dataclass(slots=True)
class _State:
    """The state at the end of a line: inside a string, inside brackets, or after a continuation backslash."""

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
