"""Tables that a program writes: the column of a heading under which each cell of a row stands. Read off the syntax."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator, Mapping, Sequence

from tfmemlint.facts.syntax import dotted
from tfmemlint.facts.tree_walk import nodes
from tfmemlint.model.records import dataclass

_LINES = frozenset({"print", "write", "info", "debug", "warning", "log", "echo", "writerow", "add_row", "tee"})
"""The last names of functions that write one line of a table."""
_LISTED = {"DataFrame": "columns", "tabulate": "headers"}
"""Functions that get all rows of a table, with the keyword that names its columns."""
_CELL_EDGE = re.compile(r"\s*[|\t]\s*|\s{2,}|\s*,\s*")
_BETWEEN = re.compile(r"(?:ms|s|x|%)?[\s|,;&]{0,40}")
"""Text between the cells of a row: nothing that says what they are."""
_FIELD = re.compile(r"%[-+ #]{0,4}(\d{0,9})(?:\.\d{1,9})?[a-zA-Z]")
_WIDTH = re.compile(r"[<>^=+ -]{0,2}(\d{1,4})")
_LETTERS = re.compile(r"[A-Za-z]{3,40}")
_MAX_WORDS = 6
"""Words in the heading of one column; what has more is a sentence."""


@dataclass(frozen=True, slots=True)
class _Line:
    """One line that is written: a heading, whose texts are all known, or a row.

    Attributes:
        scope: the function in which it is written; None at the top of a module. sink: what writes it, as written.
        branches: the branches in which it is, from the outside.
        row: the line in the file. cells: its expressions, None for those that are parts of a text.
        texts: what each cell says, "" where that is not known. widths: how wide each is; "" where that is not said.
    """

    scope: ast.AST | None
    branches: tuple[tuple[int, bool], ...]
    sink: str
    row: int
    cells: tuple[ast.expr | None, ...]
    texts: tuple[str, ...]
    widths: tuple[str, ...]

    @property
    def says_something(self) -> bool:
        """True if it has words in it."""
        return any(map(_LETTERS.search, self.texts))

    @property
    def is_heading(self) -> bool:
        """True if all of it is known, and no cell of it is a sentence."""
        return self.says_something and all(text and len(text.split()) <= _MAX_WORDS for text in self.texts)

    def is_above(self, row: _Line) -> bool:
        """True if it is written wherever a row is."""
        return self.branches == row.branches[: len(self.branches)]


_Place = tuple[ast.AST | None, tuple[tuple[int, bool], ...]]
"""The scope and the branches of a line."""
_Cell = tuple[ast.expr | None, str, str]
"""An expression, what it says, and how wide it is."""


@dataclass(frozen=True, slots=True)
class Column:
    """The heading above a cell; ``listed``: the cell is an item of a list, and not put into a text."""

    heading: str
    listed: bool


def columns_of_cells(tree: ast.Module) -> Mapping[int, Column]:
    """Return the columns of a module's tables, by the id of the expression of each cell."""
    return _Tables(tree).found


class _Tables:
    def __init__(self, tree: ast.Module) -> None:
        self.found: dict[int, Column] = {}
        self._named = _assigned_once(tree)
        self._lines: list[_Line] = []
        calls: dict[ast.AST | None, list[ast.Call]] = {}
        for scope, branches, node in _calls(tree):
            calls.setdefault(scope, []).append(node)
            self._read((scope, branches), node)
            self._read_column((scope, branches), node)
        for scope, within in calls.items():
            self._read_lists(scope or tree, within)
        for row in self._lines:
            heading = None if row.says_something else self._heading_of(row)
            if heading is not None:
                self._match(heading.texts, row.cells, listed=".writerow " in f".{row.sink}")

    def _match(self, heading: Sequence[str], cells: Sequence[ast.expr | None], *, listed: bool) -> None:
        for text, cell in zip(heading, cells, strict=True):
            if cell is not None and not isinstance(cell, ast.Constant):
                self.found.setdefault(id(cell), Column(text, listed))

    def _read(self, place: _Place, call: ast.Call) -> None:
        """Note the line that a call writes, if it has several columns."""
        sink = dotted(call.func)
        last = sink.rpartition(".")[2]
        file = next((ast.unparse(each.value) for each in call.keywords if each.arg == "file"), "")
        if last == "zip" and len(call.args) == 2:
            heading = self._cells(call.args[0])
            row = self._cells(call.args[1])
            if heading and row and len(heading) == len(row) and all(text for _, text, _ in heading):
                self._match([text for _, text, _ in heading], [cell for cell, _, _ in row], listed=True)
        elif last in _LINES and call.args:
            parts = call.args
            cells = self._cells(parts[0]) if len(parts) == 1 else None
            if cells is None and len(parts) > 1:
                cells = self._log(parts) or [self._cell(part) for part in parts]
            if cells and len(cells) > 1:
                self._note(place, f"{sink} {file}", call.lineno, cells)

    def _note(self, place: _Place, sink: str, row: int, cells: Sequence[_Cell]) -> None:
        expressions, texts, widths = zip(*cells, strict=True)
        self._lines.append(_Line(*place, sink, row, expressions, texts, widths))

    def _read_column(self, place: _Place, call: ast.Call) -> None:
        """Note a column that is added to a table that rows are added to."""
        match call:
            case ast.Call(ast.Attribute(table, "add_column"), [heading, *_]):
                sink = f"{dotted(table)}.add_row "
                before = self._lines[-1] if self._lines else None
                cell = self._cell(heading)
                if before is not None and before.sink == sink and before.scope is place[0] and before.is_heading:
                    self._lines.pop()
                    self._note(
                        place,
                        sink,
                        call.lineno,
                        [*zip(before.cells, before.texts, before.widths, strict=True), cell],
                    )
                else:
                    self._note(place, sink, call.lineno, [cell])
            case _:
                pass

    def _read_lists(self, scope: ast.AST, calls: Sequence[ast.Call]) -> None:
        """Match the rows that a function adds to a list, and the columns of the table that it makes of that."""
        for call in calls:
            keyword = _LISTED.get(dotted(call.func).rpartition(".")[2])
            columns = next((each.value for each in call.keywords if each.arg == keyword), None)
            if keyword is None or columns is None or not call.args or not isinstance(call.args[0], ast.Name):
                continue
            heading, name = self._cells(columns), call.args[0].id
            rows = _rows_added(calls, name)
            alike = heading is not None and all(len(row) == len(heading) for row in rows)
            if heading and alike and all(text for _, text, _ in heading) and _is_bound_once(scope, name):
                for row in rows:
                    self._match([text for _, text, _ in heading], [told_part(cell) for cell in row], listed=True)

    def _heading_of(self, row: _Line) -> _Line | None:
        """Return the heading of a row: the last one of its function, or the only one of the file."""
        count = len(row.cells)
        own = [
            line for line in self._lines if line.scope is row.scope and line.sink == row.sink and line.says_something
        ]
        before = [line for line in own if line.row <= row.row]
        if before:
            last = before[-1]
            # Of several in branches nobody knows which is written.
            sure = last.is_above(row) or len(own) == 1
            return last if last.is_heading and sure and len(last.cells) == count else None
        word = row.sink.split(" ")[0].rpartition(".")[2]
        others = [
            line
            for line in self._lines
            if line.is_heading
            and line.scope is not row.scope
            and len(line.cells) == count
            and line.sink.split(" ")[0].rpartition(".")[2] == word
        ]
        if len(others) != 1 or others[0].sink.rpartition(" ")[2] != row.sink.rpartition(" ")[2]:
            return None
        return others[0] if _fits(others[0], row) else None

    def _cells(self, node: ast.expr) -> list[_Cell] | None:
        """Return the columns of a text or a list; None for one without."""
        match node:
            case ast.Name(name) if name in self._named:
                return self._cells(self._named[name])
            case ast.List(elements) | ast.Tuple(elements):
                starred = any(isinstance(element, ast.Starred) for element in elements)
                return None if starred else [self._cell(element) for element in elements]
            case ast.Constant(str(text)):
                return [(None, part, "") for part in _CELL_EDGE.split(text.strip(" \t\r\n|")) if part] or None
            case ast.JoinedStr(values):
                return self._of_f_string(values)
            case ast.BinOp(left, ast.Add(), ast.Constant("\n")):
                return self._cells(left)
            case ast.BinOp(left, ast.Mod(), ast.Tuple(given)):
                return self._of_percent(self._text(left), given)
            case ast.Call(ast.Attribute(text, "format"), given, []):
                return self._of_format(self._text(text), given)
            case ast.Call(ast.Attribute(ast.Constant(str()), "join"), [inner]):
                return self._cells(inner) if isinstance(inner, (ast.List, ast.Tuple, ast.Name)) else None
            case _:
                return None

    def _cell(self, node: ast.expr) -> _Cell:
        inner = told_part(node)
        return inner, self._text(inner), ""

    def _text(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            node = self._named.get(node.id, node)
        return node.value.strip() if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""

    def _of_f_string(self, values: Sequence[ast.expr]) -> list[_Cell] | None:
        cells: list[_Cell] = []
        for part in values:
            if isinstance(part, ast.FormattedValue):
                form = part.format_spec.values if isinstance(part.format_spec, ast.JoinedStr) else []
                width = _WIDTH.match(str(form[0].value)) if form and isinstance(form[0], ast.Constant) else None
                inner, text, _ = self._cell(part.value)
                cells.append((inner, text, width[1] if width is not None else ""))
            elif isinstance(part, ast.Constant) and not _BETWEEN.fullmatch(str(part.value)):
                return None
        return cells

    def _of_percent(self, text: str, given: Sequence[ast.expr]) -> list[_Cell] | None:
        fields = [*_FIELD.finditer(text)]
        if len(fields) != len(given) or not all(map(_BETWEEN.fullmatch, _FIELD.sub("\0", text).split("\0"))):
            return None
        return [(*self._cell(each)[:2], field[1]) for each, field in zip(given, fields, strict=True)]

    def _of_format(self, text: str, given: Sequence[ast.expr]) -> list[_Cell] | None:
        try:
            parts = [*string.Formatter().parse(text)]
        except ValueError:
            return None
        fields = [(field, form or "") for _, field, form, _ in parts if field is not None]
        plain = all(field in ("", str(number)) for number, (field, _) in enumerate(fields))
        if not plain or len(fields) != len(given) or not all(_BETWEEN.fullmatch(before) for before, *_ in parts):
            return None
        widths = [_WIDTH.match(form) for _, form in fields]
        return [
            (*self._cell(each)[:2], width[1] if width is not None else "")
            for each, width in zip(given, widths, strict=True)
        ]

    def _log(self, parts: Sequence[ast.expr]) -> list[_Cell] | None:
        text = self._text(parts[0])
        return self._of_percent(text, parts[1:]) if "%" in text else None


def _calls(tree: ast.Module) -> Iterator[tuple[ast.AST | None, tuple[tuple[int, bool], ...], ast.Call]]:
    """Yield the calls of a module in the order of the file, each with the function and the branches in which it is."""
    waiting: list[tuple[ast.AST, ast.AST | None, tuple[tuple[int, bool], ...]]] = [(tree, None, ())]
    while waiting:
        node, scope, branches = waiting.pop()
        if isinstance(node, ast.Call):
            yield scope, branches, node
        inner = node if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) else scope
        children = [(child, inner, branches) for child in ast.iter_child_nodes(node)]
        if isinstance(node, ast.If):
            children = [(node.test, inner, branches)]
            children += [(child, inner, (*branches, (id(node), True))) for child in node.body]
            children += [(child, inner, (*branches, (id(node), False))) for child in node.orelse]
        waiting.extend(reversed(children))


def _is_bound_once(scope: ast.AST, name: str) -> bool:
    bound = (node for node in nodes(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return sum(node.id == name for node in bound) == 1


def _assigned_once(tree: ast.Module) -> dict[str, ast.expr]:
    """Return what names are bound to that are bound once in a file, if that is written out."""
    bound: dict[str, list[ast.expr]] = {}
    for node in nodes(tree):
        match node:
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), value=ast.expr() as value):
                bound.setdefault(name, []).append(value)
            case ast.arg(name):
                bound.setdefault(name, []).extend((ast.Constant(None), ast.Constant(None)))
            case ast.For(target) | ast.comprehension(target) | ast.AugAssign(target):
                for part in ast.walk(target):
                    if isinstance(part, ast.Name):
                        bound.setdefault(part.id, []).extend((ast.Constant(None), ast.Constant(None)))
            case _:
                pass
    plain = (ast.List, ast.Tuple, ast.Constant)
    return {name: values[0] for name, values in bound.items() if len(values) == 1 and isinstance(values[0], plain)}


def _rows_added(calls: Sequence[ast.Call], name: str) -> list[Sequence[ast.expr]]:
    """Return the rows that a function adds to a list, one by one."""
    rows: list[Sequence[ast.expr]] = []
    for call in calls:
        match call:
            case ast.Call(ast.Attribute(ast.Name(listed), "append"), [ast.List(cells) | ast.Tuple(cells)]):
                if listed == name:
                    rows.append(cells)
            case _:
                pass
    return rows


def told_part(node: ast.expr) -> ast.expr:
    """Return what a cell tells: ``peak`` of ``f"{peak:.1f}"``, ``str(peak)`` and ``"%.1f" % peak``."""
    match node:
        case ast.JoinedStr([ast.FormattedValue(value)]):
            return value
        case ast.Call(ast.Name("str" | "round"), [value, *_]):
            return told_part(value)
        case _:
            return node


def _fits(heading: _Line, row: _Line) -> bool:
    """True if a row of another function has the widths of a heading, or names of its columns in its cells."""
    widths = [(above, below) for above, below in zip(heading.widths, row.widths, strict=True) if above and below]
    if widths:
        return all(above == below for above, below in widths)
    named = 0
    for text, cell in zip(heading.texts, row.cells, strict=True):
        words = {word.lower() for word in _LETTERS.findall(text)}
        said = {word.lower() for word in _LETTERS.findall(ast.unparse(cell))} if cell is not None else set()
        named += bool(words & said)
    return named * 2 >= len(row.cells)
