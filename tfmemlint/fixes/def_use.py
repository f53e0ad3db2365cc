"""Find the names that a statement reads and binds, the objects that it may change, and jumps out of its block."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from tfmemlint.facts.syntax import dotted
from tfmemlint.fixes.access_paths import RECEIVER, Given, Path, path_of, paths_in
from tfmemlint.model.records import dataclass

_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef


@dataclass(slots=True)
class DefUse:
    """The definitions and uses of names in statements, as seen from the scope that contains them.

    Attributes:
        reads: names whose value from outside they need, in nested functions as well.
        binds: names that they bind or delete.
        touches: paths whose object they may change: by a method, an item or an attribute.
        given: paths that they give to calls, which may change them.
        parts: paths that they read, apart from those in ``given``, in nested functions as well.
        declared: names that they, or functions in them, declare ``global`` or ``nonlocal``.
        called: the dotted names that they call, as written; ``(...).name`` for a method of anything but a name, ""
            for a call of what another call returned and the like.
        keys: constant strings in statements about the environment. environment: they read or write it.
        leaves: ``return``, ``break`` and the like that would leave the block; "" for none.
        star: a star import: anything may be bound.
        bodies: of each function that they define: what its body does when it is called. Those of methods have the
            name of their class in front.
        parameters: of a body: the names of the parameters of its function, the positional ones first. Of these there
            are ``positional``. ``touches``, ``given`` and ``parts`` of a body have the parameters as well.
    """

    reads: set[str] = field(default_factory=set)
    binds: set[str] = field(default_factory=set)
    touches: set[Path] = field(default_factory=set)
    given: list[Given] = field(default_factory=list)
    parts: set[Path] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)
    called: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    environment: bool = False
    leaves: str = ""
    star: bool = False
    bodies: dict[str, DefUse] = field(default_factory=dict)
    parameters: tuple[str, ...] = ()
    positional: int = 0

    def copy(self) -> DefUse:
        """Return the same names, which can be changed apart from these; the bodies of functions are shared."""
        return DefUse(
            set(self.reads), set(self.binds), set(self.touches), list(self.given), set(self.parts), set(self.declared),
            list(self.called), set(self.keys), self.environment, self.leaves, self.star, dict(self.bodies),
            self.parameters, self.positional,
        )  # fmt: skip

    def forget_paths(self, without: AbstractSet[str]) -> None:
        """Forget the paths of some names."""
        self.touches = {path for path in self.touches if path[0] not in without}
        self.parts = {path for path in self.parts if path[0] not in without}
        self.given = [given for given in self.given if given.path[0] not in without]


def def_use_of(code: str) -> DefUse:
    """Return the definitions and uses in ``code``, which begins at the left margin."""
    collector = _Collector()
    collector.block(ast.parse(code).body)
    return collector.names


def target_names(target: ast.AST) -> set[str]:
    """Return the plain names that the target of an assignment binds."""
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


class _Collector:
    def __init__(self, first: str = "self") -> None:
        self.names = DefUse()
        # The first parameter of the function that the code is in, as far as that is seen.
        self._first = first
        self._hidden: list[set[str]] = []
        self._depth = 0
        self._loops = 0

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Visit statements in a row. A name that one binds for sure is not read from outside by the next."""
        with self._hiding(set()) as bound:
            for statement in body:
                self.visit(statement)
                bound |= _bound_for_sure(statement)

    @contextmanager
    def _hiding(self, names: set[str]) -> Iterator[set[str]]:
        self._hidden.append(names)
        yield names
        self._hidden.pop()

    def visit(self, node: ast.AST) -> None:
        """Visit one node."""
        _BY_TYPE.get(type(node), _Collector._children)(self, node)

    def _children(self, node: ast.AST) -> None:
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                self.block(value)
            elif isinstance(value, list):
                for child in value:
                    if isinstance(child, ast.AST):
                        self.visit(child)
            elif isinstance(value, ast.AST):
                self.visit(value)

    def _name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._read(node.id)
            self._part((node.id,))
        elif not self._depth:
            self.names.binds.add(node.id)

    def _read(self, name: str) -> None:
        if not any(name in hidden for hidden in self._hidden):
            self.names.reads.add(name)
        if name in ("environ", "getenv", "putenv"):
            self.names.environment = True

    def _part(self, path: Path) -> None:
        if not any(path[0] in hidden for hidden in self._hidden):
            self.names.parts.add(path)

    def _attribute(self, node: ast.Attribute) -> None:
        if node.attr in ("environ", "getenv", "putenv"):
            self.names.environment = True
        if not isinstance(node.ctx, ast.Load):
            self._touch(node)
        self._path(node)

    def _subscript(self, node: ast.Subscript) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._touch(node)
        self._path(node)

    def _path(self, node: ast.Attribute | ast.Subscript) -> None:
        """Visit an attribute or an item: of a path, only that part is read."""
        path = path_of(node)
        if not path:
            self._children(node)
            return
        self._read(path[0])
        self._part(path)
        for part in path[1:]:
            if part in ("environ", "getenv", "putenv"):
                self.names.environment = True
        self.names.keys.update(
            part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)
        )

    def _constant(self, node: ast.Constant) -> None:
        self.names.keys.update([node.value] if isinstance(node.value, str) else [])

    def _augmented(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self._read(node.target.id)
            self._touch(node.target)
        self._children(node)

    def _touch(self, node: ast.expr) -> None:
        while not (path := path_of(node)) and isinstance(node, (ast.Attribute, ast.Subscript, ast.Call, ast.Starred)):
            node = node.func if isinstance(node, ast.Call) else node.value
        if path:
            self.names.touches.add(path)

    def _call(self, node: ast.Call) -> None:
        name = dotted(node.func)
        if not name and isinstance(node.func, ast.Attribute):
            name = f"(...).{node.func.attr}"
        self.names.called.append(name)
        if name == "super" and not node.args:
            # A method of a base class reads and changes the object, which is not named.
            self._read(self._first)
            self._part((self._first,))
            self.names.touches.add((self._first,))
        if isinstance(node.func, ast.Attribute) and node.func.attr not in READS_ONLY:
            if path_of(node.func.value) == ("self",):
                self.names.given.append(Given(name, RECEIVER, ("self",), whole=True))
            else:
                self._touch(node.func.value)
        if name in HARMLESS or name.startswith("tf."):
            self._children(node)
            return
        self.visit(node.func)
        arguments: list[tuple[int | str, ast.expr]] = [
            *enumerate(node.args),
            *((keyword.arg or "**", keyword.value) for keyword in node.keywords),
        ]
        for key, argument in arguments:
            if key == "**" and isinstance(argument, ast.Call) and dotted(argument.func) in AS_DICT:
                # The call gets a new dictionary, and not the object whose fields are in it.
                if dotted(argument.func) == "vars":
                    self.names.called.append("vars")
                    self._children(argument)
                else:
                    self.visit(argument)
                continue
            path = path_of(argument)
            for given in paths_in(argument):
                self.names.given.append(Given(name, key, given, bool(path)))
            if path:
                # What is read of it depends on the function.
                self._read(path[0])
            else:
                self.visit(argument)

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        self.visit(node.target)
        self._loops += 1
        with self._hiding(target_names(node.target)):
            self.block(node.body)
        self._loops -= 1
        self.block(node.orelse)

    def _while(self, node: ast.While) -> None:
        self.visit(node.test)
        self._loops += 1
        self.block(node.body)
        self._loops -= 1
        self.block(node.orelse)

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        found: set[str] = set()
        for item in node.items:
            self.visit(item)
            if item.optional_vars is not None:
                found |= target_names(item.optional_vars)
        with self._hiding(found):
            self.block(node.body)

    def _handler(self, node: ast.ExceptHandler) -> None:
        if node.type is not None:
            self.visit(node.type)
        # The end of the handler unbinds the name.
        with self._hiding({node.name} if node.name else set()):
            self.block(node.body)

    def _scope(self, node: _Scope) -> None:
        if not isinstance(node, ast.Lambda):
            if not self._depth:
                self.names.binds.add(node.name)
            for decorator in node.decorator_list:
                self.visit(decorator)
        inside: set[str] = set()
        first = self._first
        if isinstance(node, ast.ClassDef):
            for base in [*node.bases, *node.keywords]:
                self.visit(base)
        else:
            for default in [*node.args.defaults, *node.args.kw_defaults]:
                if default is not None:
                    self.visit(default)
            every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
            inside = {argument.arg for argument in every if argument is not None}
            first = next((argument.arg for argument in every[:-2] if argument is not None), first)
        body: list[ast.stmt] = [ast.Expr(node.body)] if isinstance(node, ast.Lambda) else node.body
        inner = _Collector(first)
        inner.block(body)
        inner.names.reads -= inside
        local = inner.names.binds - inner.names.declared
        inner.names.reads -= local
        inner.names.forget_paths(local - inside)
        for name in inner.names.reads:
            self._read(name)
        outer = inner.names.copy()
        outer.forget_paths(inside)
        for path in [*outer.parts, *(given.path for given in outer.given)]:
            self._part(path)
        self.names.declared |= inner.names.declared
        self.names.environment |= inner.names.environment
        if isinstance(node, ast.ClassDef):
            self.names.called += inner.names.called
            self.names.touches |= inner.names.touches
            self.names.given += inner.names.given
            self.names.star |= inner.names.star
            self.names.bodies |= {
                f"{node.name}.{name}": body for name, body in inner.names.bodies.items() if "." not in name
            }
        elif not isinstance(node, ast.Lambda):
            self.names.bodies[node.name] = inner.names
            inner.names.parameters = tuple(argument.arg for argument in every if argument is not None)
            inner.names.positional = len(node.args.posonlyargs) + len(node.args.args)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        bound = {name for generator in node.generators for name in target_names(generator.target)}
        self._depth += 1
        with self._hiding(bound):
            self._children(node)
        self._depth -= 1

    def _walrus(self, node: ast.NamedExpr) -> None:
        # Inside a comprehension it binds in the enclosing scope.
        self.names.binds.add(node.target.id)
        self.visit(node.value)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name == "*":
                self.names.star = True
            else:
                self.names.binds.add((alias.asname or alias.name).split(".")[0])

    def _declaration(self, node: ast.Global | ast.Nonlocal) -> None:
        self.names.declared.update(node.names)

    def _leaving(self, node: ast.AST) -> None:
        self.names.leaves = self.names.leaves or type(node).__name__.lower()
        self._children(node)

    def _jump(self, node: ast.Break | ast.Continue) -> None:
        if not self._loops:
            self._leaving(node)


_BY_TYPE: dict[type[ast.AST], Callable[[_Collector, Any], None]] = {
    ast.Name: _Collector._name,
    ast.Attribute: _Collector._attribute,
    ast.Subscript: _Collector._subscript,
    ast.Constant: _Collector._constant,
    ast.AugAssign: _Collector._augmented,
    ast.Call: _Collector._call,
    ast.For: _Collector._for,
    ast.AsyncFor: _Collector._for,
    ast.While: _Collector._while,
    ast.With: _Collector._with,
    ast.AsyncWith: _Collector._with,
    ast.ExceptHandler: _Collector._handler,
    ast.FunctionDef: _Collector._scope,
    ast.AsyncFunctionDef: _Collector._scope,
    ast.Lambda: _Collector._scope,
    ast.ClassDef: _Collector._scope,
    ast.ListComp: _Collector._comprehension,
    ast.SetComp: _Collector._comprehension,
    ast.DictComp: _Collector._comprehension,
    ast.GeneratorExp: _Collector._comprehension,
    ast.NamedExpr: _Collector._walrus,
    ast.Import: _Collector._import,
    ast.ImportFrom: _Collector._import,
    ast.Global: _Collector._declaration,
    ast.Nonlocal: _Collector._declaration,
    ast.Return: _Collector._leaving,
    ast.Yield: _Collector._leaving,
    ast.YieldFrom: _Collector._leaving,
    ast.Await: _Collector._leaving,
    ast.Break: _Collector._jump,
    ast.Continue: _Collector._jump,
}


def _bound_for_sure(statement: ast.stmt) -> set[str]:
    match statement:
        case ast.Assign(targets=targets):
            return {name for target in targets for name in target_names(target)}
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            return {name}
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return {(alias.asname or alias.name).split(".")[0] for alias in aliases}
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case _:
            return set()


_BUILTINS = """
    print len range enumerate zip int float str bool round min max sum abs any all list tuple dict set sorted reversed
    isinstance hasattr getattr repr format type divmod map filter exit quit
"""
_FUNCTIONS = """
    os.environ.get os.getenv os.environ.setdefault os.environ.update os.putenv warnings.warn sys.exit
    logging.info logging.warning logging.error logging.debug logging.exception logging.critical
"""

_READING = """
    format split rsplit splitlines strip lstrip rstrip lower upper title replace join startswith endswith items keys get
    values index count copy info warning error debug exception critical
"""
READS_ONLY = frozenset(_READING.split())
"""Methods of strings, of Python's own collections and of loggers that change nothing."""
HARMLESS = frozenset(f"{_BUILTINS} {_FUNCTIONS}".split())
"""Calls that change none of their arguments and have no effect on configuration."""
COPYING = frozenset(["asdict", "astuple", "dataclasses.asdict", "dataclasses.astuple"])
"""Functions of ``dataclasses``, as they are written, that return the fields of an object and change nothing."""
AS_DICT = COPYING | {"vars"}
"""Functions that return the fields of an object."""
