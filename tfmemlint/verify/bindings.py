"""Which statement gives a name its value: the relations between a program's statements that a slice follows."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from tfmemlint.finding import Span

Function = ast.FunctionDef | ast.AsyncFunctionDef | None
"""A function, or None for the top level (class bodies count as the place that they stand in)."""

_FLAGS = {"FLAGS", "flags"}


class Bindings:
    """The statements of a module, and what each of them binds, changes and contains.

    Attributes:
        tree: the module. parent: the statement whose block a statement stands in, None at the top level.
        function: the innermost function that a statement stands in. outer: the function around a function.
        exits: the statements that leave a block early, or may: assertions.
        assigned_attributes: by name of the attribute, the statements that give it a value: assignments
            (``self.gpus = ...``), and those in the body of a class, its methods among them.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.parent: dict[ast.stmt, ast.stmt | None] = {}
        self.function: dict[ast.stmt, Function] = {}
        self.exits: list[ast.stmt] = []
        self.assigned_attributes: dict[str, list[ast.stmt]] = defaultdict(list)
        self._bound: dict[tuple[str, Function], list[ast.stmt]] = defaultdict(list)
        self._locals: dict[Function, set[str]] = defaultdict(set)
        self._outside: dict[Function, dict[str, Function]] = defaultdict(dict)
        self.outer: dict[Function, Function] = {None: None}
        self._by_row: dict[int, list[ast.stmt]] = defaultdict(list)
        self._children: dict[ast.stmt, list[ast.stmt]] = defaultdict(list)
        self._modules: set[str] = set()
        self._aliases: dict[tuple[str, Function], set[str]] = defaultdict(set)
        self._changes: list[tuple[str, ast.stmt]] = []
        self._changing: set[tuple[str, Function]] = set()
        self._used: dict[str, list[ast.stmt]] = defaultdict(list)
        self._walk(tree.body, None, None)
        for statement in self.parent:
            self._read(statement)
        # Only now is it known which names are whose.
        for name, statement in self._changes:
            self._bound[name, self._home(name, self.function[statement])].append(statement)
        for statement in self.parent:
            for name in self._handed_over(statement):
                self._bound[name, self._home(name, self.function[statement])].append(statement)

    def at(self, span: Span) -> ast.stmt | None:
        """The innermost statement that contains a place."""
        best: ast.stmt | None = None
        for statement in self.parent:
            first = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", []))])
            inside = first <= span.row <= (statement.end_lineno or statement.lineno)
            if inside and statement.lineno == span.row and statement.col_offset >= span.column:
                # Another one of the same line, unless it is the very one.
                inside = statement.col_offset == span.column - 1
            if inside and (best is None or self._within(statement, best)):
                best = statement
            elif inside and best is not None and statement.lineno == best.lineno:
                best = statement if statement.col_offset < span.column else best
        return best

    def of_row(self, row: int) -> list[ast.stmt]:
        """The statements that begin in a row; the innermost that goes on there where none does."""
        found = self._by_row[row]
        if found:
            return found
        around = [one for one in self.parent if one.lineno <= row <= (one.end_lineno or one.lineno)]
        return [max(around, key=lambda one: (one.lineno, one.col_offset))] if around else []

    def definitions(self, name: str, function: Function) -> list[ast.stmt]:
        """The statements that may give ``name`` the value that it has in ``function``, or change that value."""
        place = self._home(name, function)
        found = list(self._bound.get((name, place), ())) or list(self._bound.get(("*", None), ()))
        for other_name in self._aliases.get((name, place), ()):
            found += self._bound.get((other_name, place), ())
        return found

    def uses(self, function: ast.stmt) -> list[ast.stmt]:
        """The statements that may call a function of the module: those that have its name, or the name of the class
        that calls it by itself."""
        assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        around = self.parent[function]
        if isinstance(around, ast.ClassDef) and function.name.startswith("__"):
            return self._used[around.name]
        return self._used[function.name]

    def inside(self, definition: ast.stmt) -> Iterator[ast.stmt]:
        """All statements in the blocks of a statement."""
        for child in self._children[definition]:
            yield child
            yield from self.inside(child)

    def beside(self, statement: ast.stmt) -> list[ast.stmt]:
        """The other simple statements that begin in a line of this one."""
        if hasattr(statement, "body"):
            return []
        rows = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
        return [
            other
            for row in rows
            for other in self._by_row[row]
            if other is not statement and not hasattr(other, "body")
        ]

    def _within(self, inner: ast.stmt, outer: ast.stmt) -> bool:
        one = self.parent[inner]
        while one is not None:
            if one is outer:
                return True
            one = self.parent[one]
        return False

    def _walk(self, block: list[ast.stmt], parent: ast.stmt | None, function: Function) -> None:
        for statement in block:
            self.parent[statement] = parent
            self.function[statement] = function
            self._by_row[statement.lineno].append(statement)
            if parent is not None:
                self._children[parent].append(statement)
            inner = function
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                inner = statement
                self.outer[statement] = function
                arguments = statement.args
                every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
                every += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
                self._locals[statement].update(one.arg for one in every)
            for child in blocks_of(statement):
                self._walk(child, statement, inner)

    def _read(self, statement: ast.stmt) -> None:
        function = self.function[statement]
        leaves = (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Assert)
        if isinstance(statement, leaves) or _is_exit(statement):
            self.exits.append(statement)
        if isinstance(statement, (ast.Global, ast.Nonlocal)):
            for name in statement.names:
                home = self._home(name, self.outer[function]) if isinstance(statement, ast.Nonlocal) else None
                self._outside[function][name] = home
                self._bound[name, home].append(statement)
            return
        for name in _bound_names(statement):
            home = self._outside[function].get(name, function)
            self._locals[home].add(name)
            self._bound[name, home].append(statement)
            if isinstance(self.parent[statement], ast.ClassDef):
                self.assigned_attributes[name].append(statement)
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                self._modules.add(name)
        if isinstance(statement, ast.Assign) and isinstance(statement.value, (ast.Name, ast.Attribute)):
            # What is done to the one is done to the other.
            for name in _base(statement.value) - self._modules:
                self._aliases[name, function].update(_bound_names(statement))
        for name in _changed_names(statement):
            if name not in self._modules or name in _FLAGS or _initialises(statement):
                self._changes.append((name, statement))
                self._changing.add((name, function))
        for node in own_nodes(statement):
            if isinstance(node, ast.Attribute):
                self._used[node.attr].append(statement)
                if isinstance(node.ctx, ast.Store):
                    self.assigned_attributes[node.attr].append(statement)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._used[node.id].append(statement)

    def _home(self, name: str, function: Function) -> Function:
        """The function that a name belongs to, None for the module."""
        while function is not None and name not in self._locals[function]:
            if name in self._outside[function]:
                return self._outside[function][name]
            function = self.outer[function]
        return function

    def _handed_over(self, statement: ast.stmt) -> Iterator[str]:
        """The names whose values are changed by the functions of this module that a statement hands them to."""
        for node in own_nodes(statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                names = {one for part in [*node.args, *(word.value for word in node.keywords)] for one in _base(part)}
                for called in self._bound.get((node.func.id, None), ()) if names else ():
                    if isinstance(called, ast.FunctionDef) and any(
                        (argument.arg, called) in self._changing for argument in called.args.args
                    ):
                        yield from names - self._modules


def own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement without those of the statements in its blocks."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                continue
            if isinstance(child, ast.arg) and child.annotation is None:
                continue
            waiting.append(child)


def blocks_of(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a compound statement, in the order of the text."""
    blocks: list[list[ast.stmt]] = []
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        part = getattr(statement, name, [])
        blocks += [one.body for one in part] if name in ("handlers", "cases") else [part]
    return [block for block in blocks if block]


def _bound_names(statement: ast.stmt) -> set[str]:
    """The names that a statement (its header, if it has blocks) gives a value."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {one.asname or one.name.split(".")[0] for one in statement.names}
    found: set[str] = set()
    for node in own_nodes(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            found.add(node.id)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            found.add(node.name)
    return found


def _changed_names(statement: ast.stmt) -> set[str]:
    """The names whose values a statement changes without binding them: ``config.gpu_options.allow_growth = True``,
    ``limits[0] = 1``, ``parser.add_argument(...)``, and calls of functions with them as arguments."""
    found: set[str] = set()
    for node in own_nodes(statement):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            found |= _base(node)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        found |= _base(call.func) if isinstance(call.func, ast.Attribute) else set()
        if isinstance(call.func, ast.Name):
            for argument in [*call.args, *(keyword.value for keyword in call.keywords)]:
                if isinstance(argument, (ast.Name, ast.Attribute)):
                    found |= _base(argument)
        if found & {"flags"} or "DEFINE_" in ast.unparse(call.func):
            found |= _FLAGS
    return found


def _base(node: ast.AST) -> set[str]:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def _initialises(statement: ast.stmt) -> bool:
    """``pynvml.nvmlInit()``, ``hvd.init()``: without it nothing else of the module works."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and "init" in call.func.attr.lower()


def _is_exit(statement: ast.stmt) -> bool:
    """``sys.exit()``, ``exit()``, ``os._exit()`` as a statement."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    function = statement.value.func
    if isinstance(function, ast.Name):
        return function.id in ("exit", "quit")
    return (
        isinstance(function, ast.Attribute)
        and function.attr in ("exit", "_exit", "abort")
        and isinstance(function.value, ast.Name)
        and function.value.id in ("sys", "os")
    )
