"""Select the statements of a slice: those that are asked for, and all that they need."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from tfmemlint.facts.statements import blocks_of, own_nodes
from tfmemlint.model.finding import Span
from tfmemlint.verify.slicing.bindings import Bindings
from tfmemlint.verify.slicing.import_effects import ImportEffects
from tfmemlint.verify.slicing.statements import Function

_NAMESPACES = frozenset({"globals", "locals", "vars"})


@dataclass
class Slicer:
    """Selects the statements to keep.

    Attributes:
        tree: the module. lines: its text. bindings: what its statements bind and change.
        loaded: the statements that decide which module an import finds.
        kept: the statements to keep.
        ends: by function in which the last of all requested statements runs, the row of the last requested statement.
            What follows it in that function runs later and isn't needed.
    """

    tree: ast.Module
    lines: list[str]
    bindings: Bindings = field(init=False)
    loaded: ImportEffects = field(init=False)
    kept: set[ast.stmt] = field(default_factory=set)
    ends: dict[Function, int] = field(default_factory=dict)
    _waiting: list[ast.stmt] = field(default_factory=list)
    _needed: set[tuple[str, Function]] = field(default_factory=set)
    _attributes: set[str] = field(default_factory=set)
    _called: set[ast.stmt] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.bindings = Bindings(self.tree)
        self.loaded = ImportEffects(list(self.bindings.parent))
        for statement in self.tree.body:
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                self.keep(statement)  # it changes the meaning of all other code

    def ask(self, places: Iterable[Span], rows: Iterable[int], last: Iterable[Span]) -> None:
        """Keep the innermost statements at ``places``, and those that begin in ``rows``.

        ``last`` is what happens last, with the calls that lead there.
        """
        found = [self.bindings.at(place) for place in places]
        asked = [statement for statement in found if statement is not None]
        asked += [statement for row in rows for statement in self.bindings.of_row(row)]
        for statement in asked:
            self.keep(statement)
        chain = {
            self.bindings.function[statement] for statement in map(self.bindings.at, last) if statement is not None
        }
        for statement in asked:
            function = self.bindings.function[statement]
            if function in chain:
                self.ends[function] = max(self.ends.get(function, 0), self._end(statement))

    def ask_also(self, places: Iterable[Span]) -> None:
        """Keep the innermost statements at ``places``, whenever they run."""
        for statement in map(self.bindings.at, places):
            if statement is not None:
                self.keep(statement)

    def ask_calls(self, places: Iterable[Span]) -> None:
        """Keep the calls of the functions that contain ``places``, if it isn't known how they are reached."""
        for statement in map(self.bindings.at, places):
            if statement is not None:
                self._need_calls(self.bindings.function[statement], None)

    def _end(self, statement: ast.stmt) -> int:
        """Return the row up to which code may run before or during a statement: in a loop, the loop's last."""
        blocks = blocks_of(statement)
        last = blocks[0][0].lineno - 1 if blocks else statement.end_lineno or 0
        last = max(last, statement.lineno)
        around: ast.stmt | None = statement
        while around is not None and self.bindings.function[around] is self.bindings.function[statement]:
            if isinstance(around, (ast.For, ast.AsyncFor, ast.While)):
                last = around.end_lineno or last
            around = self.bindings.parent[around]
        return last

    def _late(self, statement: ast.stmt) -> bool:
        """True if a statement runs when everything that was asked for is done.

        How a ``try`` continues after an error isn't late.
        """
        if statement.lineno <= self.ends.get(self.bindings.function[statement], statement.lineno):
            return False
        return statement not in self.bindings.exits or not self._within_try(statement)

    def _within_try(self, statement: ast.stmt) -> bool:
        around: ast.stmt | None = statement
        while around is not None and self.bindings.function[around] is self.bindings.function[statement]:
            if isinstance(around, ast.Try):
                return True
            around = self.bindings.parent[around]
        return False

    def keep(self, statement: ast.stmt, *, late: bool = False) -> None:
        """Keep a statement with the headers of the blocks around it, unless it runs too late to be needed.

        ``late``: keep it even then.
        """
        if self._late(statement) and not late:
            return
        around: ast.stmt | None = statement
        while around is not None and around not in self.kept:
            self.kept.add(around)
            self._waiting.append(around)
            around = self.bindings.parent[around]

    def keep_rest(self, block: Iterable[ast.stmt]) -> None:
        """Keep all statements of a module.

        Of a function that contains requested statements, only those and what they need are kept.
        """
        for statement in block:
            self.keep(statement)
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._need_whole(statement)
                continue
            for inner in blocks_of(statement):
                self.keep_rest(inner)

    def share(self, others: Iterable[Slicer]) -> bool:
        """Keep what other modules of the program need of this one; True if there was anything."""
        before = len(self.kept)
        for other in others:
            for name in [attribute for attribute in other._attributes if not attribute.startswith(".")]:
                self._need_attribute(name, None)
                self._need_changes(name, None)
            for name in other._attributes | other.bindings.taken_by(other.kept):
                if self.bindings.gives(name):
                    self.need(name, None)
            # Values that others set in a module, and changes to objects that they import from it.
            names = {name for name, function in other._needed if function is None}
            for statement in self.bindings.sets_in_modules(names):
                self.keep(statement)
                self._need_calls(self.bindings.function[statement], None)
        self.close()
        return len(self.kept) > before

    def need(self, name: str, function: Function) -> None:
        """Keep the statements that give ``name`` its value in ``function`` (None: at the top level)."""
        if (name, function) in self._needed:
            return
        self._needed.add((name, function))
        for statement in self.bindings.definitions(name, function):
            self.keep(statement)
            self._need_calls(self.bindings.function[statement], function)
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self._need_whole(statement)

    def close(self) -> None:
        """Keep everything that kept statements need, until nothing is missing."""
        while True:
            while self._waiting:
                self._follow(self._waiting.pop())
            exits = [leaving for leaving in self.bindings.exits if self._belongs(leaving)]
            if not exits:
                return
            for leaving in exits:
                self.keep(leaving)

    def text(self) -> str:
        """Return the program's text with blank lines for all that isn't kept. A block left empty gets ``pass``."""
        keep_rows: set[int] = set()
        passes: set[int] = set()
        for statement in self.kept:
            keep_rows.update(self._rows(statement))
            for block in blocks_of(statement):
                if not any(inner in self.kept for inner in block):
                    passes.add(_first_row(block[0]))
        out: list[str] = []
        for row, line in enumerate(self.lines, 1):
            if row in keep_rows:
                out.append(line)
            elif row in passes:
                out.append(line[: len(line) - len(line.lstrip())] + "pass")
            else:
                out.append("")
        return "\n".join(out)

    def _rows(self, statement: ast.stmt) -> Iterable[int]:
        """Return the rows of a statement itself.

        For a compound statement they are those of its header, of ``else:``, ``except ...:`` and the like, and of a
        block that begins on the same line.
        """
        blocks = blocks_of(statement)
        if not blocks:
            return range(_first_row(statement), (statement.end_lineno or statement.lineno) + 1)
        rows: set[int] = set()
        after = _first_row(statement) - 1
        for block in blocks:
            first = _first_row(block[0])
            rows.update(range(after + 1, first + self._shares_its_line(block[0])))
            after = block[-1].end_lineno or block[-1].lineno
        return rows

    def _shares_its_line(self, statement: ast.stmt) -> bool:
        """True if other code precedes a statement on its line."""
        line = self.lines[statement.lineno - 1]
        return len(line) - len(line.lstrip()) < statement.col_offset

    def _follow(self, statement: ast.stmt) -> None:
        function = self.bindings.function[statement]
        for node in own_nodes(statement):
            read = isinstance(getattr(node, "ctx", None), ast.Load)
            read = read or (isinstance(statement, ast.AugAssign) and node is statement.target)
            if read and isinstance(node, ast.Name):
                self.need(node.id, function)
            elif read and isinstance(node, ast.Attribute):
                self._need_attribute(node.attr, function)
                if not self.bindings.is_of_a_module(node):
                    self._need_changes(node.attr, function)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _NAMESPACES:
                for key in own_nodes(statement):
                    # A name may be asked for by its text: globals()["name"].
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        self.need(key.value, None if node.func.id == "globals" else function)
        for other in self.loaded.needed_by(statement):
            self.keep(other)
            self._need_calls(self.bindings.function[other], None)
        if isinstance(statement, ast.ClassDef):
            for method in statement.body:
                # Python calls these methods itself.
                if isinstance(method, ast.FunctionDef) and method.name.startswith("__"):
                    self.keep(method)
                    self._need_whole(method)
                elif isinstance(method, ast.AnnAssign) and (statement.decorator_list or statement.bases):
                    # What makes the class may make parameters of all its fields.
                    self.keep(method)
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            # Without them it would be no generator.
            for inner in self.bindings.yields[statement]:
                self.keep(inner, late=True)
        # Code on the same line is kept with it, so it must be able to run.
        for block in blocks_of(statement):
            for inner in block:
                if _first_row(inner) in self._rows(statement):
                    self.keep(inner)
        for other in self.bindings.beside(statement):
            self.keep(other)

    def _need_calls(self, changing: Function, asking: Function) -> None:
        """Keep the calls of a function that changes something outside of it: without them the change does not
        happen.
        """
        inside = [asking]
        while inside[-1] is not None:
            inside.append(self.bindings.outer[inside[-1]])
        while changing not in inside and changing is not None and changing not in self._called:
            self._called.add(changing)
            for statement in self.bindings.uses(changing):
                self.keep(statement)
                self._need_calls(self.bindings.function[statement], asking)
            changing = self.bindings.outer[changing]

    def _need_attribute(self, name: str, function: Function) -> None:
        if name not in self._attributes:
            self._attributes.add(name)
            for statement in self.bindings.assigned_attributes.get(name, ()):
                self.keep(statement, late=self.bindings.function[statement] is not function)
                if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    self._need_whole(statement)

    def _need_changes(self, name: str, function: Function) -> None:
        """Keep the statements that change an object that is reached by this attribute."""
        if f".{name}" in self._attributes:
            return
        self._attributes.add(f".{name}")
        for statement in self.bindings.changes(f".{name}", None):
            # Another function may read it after everything that was asked for has happened.
            self.keep(statement, late=self.bindings.function[statement] is not function)
            self._need_calls(self.bindings.function[statement], function)

    def _need_whole(self, definition: ast.stmt) -> None:
        """Keep a function or class as a whole if it is referred to, unless an intent in it has selected its parts."""
        if any(inner in self.kept for inner in self.bindings.inside(definition)):
            return
        for inner in self.bindings.inside(definition):
            self.keep(inner)

    def _belongs(self, leaving: ast.stmt) -> bool:
        """True if an early exit must be kept: the blocks around it are kept, or their headers need nothing more."""
        if leaving in self.kept or self._late(leaving):
            return False
        around = self.bindings.parent[leaving]
        while around is not None and around not in self.kept:
            if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                return False
            if not self._known(around):
                return False
            around = self.bindings.parent[around]
        function = self.bindings.function[leaving]
        if isinstance(leaving, ast.Assert) and not self._known(leaving):
            return False
        return function in self.kept if function is not None else not isinstance(leaving, ast.Return)

    def _known(self, statement: ast.stmt) -> bool:
        """True if everything that a statement reads is kept anyway, or is written out."""
        function = self.bindings.function[statement]
        names = {node.id for node in own_nodes(statement) if isinstance(node, ast.Name)}
        return all(
            (name, function) in self._needed
            or all(given in self.kept or _is_literal(given) for given in self.bindings.definitions(name, function))
            for name in names
        )


def _is_literal(statement: ast.stmt) -> bool:
    """True if a statement binds a name to a value that is written out."""
    value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
    plain = (ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.UnaryOp, ast.unaryop, ast.expr_context)
    return value is not None and all(isinstance(node, plain) for node in ast.walk(value))


def _first_row(statement: ast.stmt) -> int:
    decorators = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(int(decorator.lineno) for decorator in decorators)])
