"""Find names that may refer to the same object, or to a part of it, so that a change of the one changes the other.

``opts = config.gpu_options`` makes ``opts`` a part of ``config``: ``opts.allow_growth = True`` changes ``config``.
Names of attributes count as names, too, with a dot in front: ``self.config.log = True`` changes ``self``, and every
other ``.config``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from tfmemlint.facts.statements import own_nodes


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PASSING = _words(
    "cast chain closing copy dict enumerate filter getattr islice iter list map max min next nullcontext partial "
    "reduce reversed set sorted tuple vars zip"
)
"""Functions of Python and its libraries whose result is, contains or refers to their arguments."""

_GETTERS = _words("attrgetter itemgetter methodcaller partial")
"""Functions that return such a function."""

_PARTS = _words(
    "__enter__ __getattribute__ __getitem__ add add_argument add_argument_group add_mutually_exclusive_group "
    "add_option_group add_parser add_subparsers copy get items pop popitem setdefault values"
)
"""Methods whose result is a part of their object. Parsers of the command line hand out groups and commands."""

_STORING = _words("add append appendleft extend insert put setdefault update")
"""Methods that put their arguments into their object."""

_CHANGING = _words(
    "Clear ClearField CopyFrom MergeFrom MergeFromString ParseFromString SetInParent __setattr__ __setitem__ clear "
    "discard pop popitem remove reverse sort"
)
"""Methods that change their object, even if their result is used."""

_SETTERS = _words(
    "Merge MergeLines Parse ParseDict ParseLines __setattr__ __setitem__ delattr delitem heappush insort iadd setattr "
    "setitem shuffle"
)
"""Functions that change their arguments."""

Passed = Callable[[ast.Call], list[ast.expr]]
"""Returns the arguments that the result of a call of one of the program's own functions may be, or hold."""


def carried(node: ast.AST | None, modules: set[str], passed: Passed) -> set[str]:
    """Return the names of the objects that the value of an expression may be, be a part of, or hold.

    Args:
        modules: names of modules; what is reached through one of these is not followed.
        passed: the arguments that calls of the program's own functions return.
    """

    def of(part: ast.AST | None) -> set[str]:
        return carried(part, modules, passed)

    def of_all(several: list[ast.expr]) -> set[str]:
        return {name for part in several for name in of(part)}

    match node:
        case ast.Name(id=name):
            return {name}
        case ast.Attribute(value=value, attr=name):
            found = of(value)
            return found if found <= modules else {*found, f".{name}"}
        case ast.Subscript(value=value) | ast.Starred(value=value) | ast.Await(value=value):
            return of(value)
        case ast.NamedExpr(target=target, value=value):
            return of(target) | of(value)
        case ast.IfExp(body=body, orelse=orelse):
            return of(body) | of(orelse)
        case ast.BoolOp(values=several) | ast.Dict(values=several):
            return of_all(several)
        case ast.Tuple(elts=several) | ast.List(elts=several) | ast.Set(elts=several):
            return of_all(several)
        case ast.ListComp(elt=value, generators=loops) | ast.SetComp(elt=value, generators=loops):
            return of(value) | {name for loop in loops for name in of(loop.iter)}
        case ast.GeneratorExp(elt=value, generators=loops) | ast.DictComp(value=value, generators=loops):
            return of(value) | {name for loop in loops for name in of(loop.iter)}
        case ast.Lambda(body=body):
            return of(body)
        case ast.Call():
            return of_all(passed(node)) | _of_call(node, of, of_all)
        case _:
            return set()


def _of_call(
    call: ast.Call, of: Callable[[ast.AST | None], set[str]], of_all: Callable[[list[ast.expr]], set[str]]
) -> set[str]:
    match call.func:
        case ast.Attribute(value=value, attr=name) if name in _PARTS:
            return of(value) | (of_all(given(call)) if name in _PASSING else set())
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in _PASSING:
            return of_all(given(call))
        case ast.Call() | ast.Lambda() as function:
            return of(function) | of_all(given(call))
        case _:
            return set()


def given(call: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call."""
    return [*call.args, *(word.value for word in call.keywords)]


def is_getter(value: ast.expr | None) -> bool:
    """True if a value is a function that returns a part of its arguments."""
    if not isinstance(value, ast.Call):
        return isinstance(value, ast.Lambda)
    return isinstance(value.func, (ast.Name, ast.Attribute)) and _last(value.func) in _GETTERS


def pairs(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the targets that a statement (its header, if it has blocks) binds or stores into, each with its value."""
    match statement:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _unpacked(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.AugAssign(target=target, value=value):
            yield target, value
        case ast.For(target=target, iter=iterable) | ast.AsyncFor(target=target, iter=iterable):
            yield from _each(target, iterable)
        case ast.With(items=items) | ast.AsyncWith(items=items):
            for item in items:
                if item.optional_vars is not None:
                    yield from _unpacked(item.optional_vars, item.context_expr)
        case ast.Match(subject=subject, cases=cases):
            for case in cases:
                for node in ast.walk(case.pattern):
                    name = getattr(node, "name", None) or getattr(node, "rest", None)
                    if isinstance(name, str):
                        yield ast.Name(name, ast.Store()), subject
        case _:
            pass
    for node in own_nodes(statement):
        if isinstance(node, ast.NamedExpr):
            yield node.target, node.value
        elif isinstance(node, ast.comprehension):
            yield from _each(node.target, node.iter)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _STORING:
            for argument in given(node):
                yield node.func.value, argument


def _unpacked(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    several = isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List))
    if several and len(target.elts) == len(value.elts) and not _starred(target) and not _starred(value):  # type: ignore[attr-defined]
        for part, given_to_it in zip(target.elts, value.elts, strict=True):  # type: ignore[attr-defined]
            yield from _unpacked(part, given_to_it)
    else:
        yield target, value


def _each(target: ast.expr, iterable: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(iterable, (ast.Tuple, ast.List)) and not _starred(iterable):
        for element in iterable.elts:
            yield from _unpacked(target, element)
    else:
        yield target, iterable


def _starred(node: ast.expr) -> bool:
    return any(isinstance(child, ast.Starred) for child in ast.iter_child_nodes(node))


def changed(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the expressions whose objects a statement changes without binding them.

    They are those in ``config.gpu_options.allow_growth = True``, ``limits[0] = 1``, ``parser.add_argument(...)``,
    ``setattr(options, ...)``, and the arguments of calls whose result is not used.
    """
    for node in own_nodes(statement):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            yield node.value
            for call in _calls_of(node.value):
                yield from given(call)
        elif isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            name = _last(node.func)
            if name in _SETTERS:
                yield from given(node)
            if isinstance(node.func, ast.Attribute) and name in (_CHANGING | _STORING):
                yield node.func.value
    if isinstance(statement, ast.AugAssign):
        yield statement.target
    value = statement.value if isinstance(statement, ast.Expr) else None
    alone = value.value if isinstance(value, ast.Await) else value
    if isinstance(alone, ast.Call):
        if isinstance(alone.func, ast.Attribute):
            yield alone.func.value
            yield from (call.func for call in _calls_of(alone.func.value))
        if isinstance(alone.func, ast.Name):
            yield from given(alone)


def _calls_of(node: ast.expr) -> Iterator[ast.Call]:
    """Yield the calls through which an object is reached: ``made(config)`` in ``made(config).x.y``."""
    current: ast.expr = node
    while isinstance(current, (ast.Attribute, ast.Subscript, ast.Call)):
        if isinstance(current, ast.Call):
            yield current
        current = current.func if isinstance(current, ast.Call) else current.value


def stores(statement: ast.stmt) -> bool:
    """True if a statement calls a method that puts something into its object, or removes something."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    known = _STORING | _CHANGING
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in known


def called(statement: ast.stmt) -> str:
    """Return the name that a statement calls, if it does nothing else; "" if it does."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))):
            return name
        case _:
            return ""


def _last(function: ast.Name | ast.Attribute) -> str:
    return function.id if isinstance(function, ast.Name) else function.attr
