"""The loop in each pass of which a call gets another value, in the function that calls or in one that leads there.

Whether a value differs from pass to pass is read off the syntax: it is made of the loop's variable. Nothing is found
where the loop may reach the call once only, or where something that is not known uses what the call has set.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from tfmemlint.facts.tree_walk import all_nodes, parents_of, scope_nodes
from tfmemlint.model.records import dataclass
from tfmemlint.rulekit.loop_conditions import holds_often, names_in

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Call, Program
    from tfmemlint.interpreter.values import ModuleInstance
    from tfmemlint.model.finding import Span

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.GeneratorExp

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)
_ENDS = (ast.Break, ast.Return, ast.Yield, ast.YieldFrom, ast.Await)
_BUILTINS = (
    "print",
    "len",
    "int",
    "str",
    "list",
    "tuple",
    "range",
    "enumerate",
    "zip",
    "sorted",
    "reversed",
    "min",
    "max",
)
_METHODS = (
    "info",
    "debug",
    "warning",
    "error",
    "log",
    "append",
    "add",
    "join",
    "strip",
    "split",
    "get",
    "write",
    "format",
)
_CONFIGURING = (
    "set_visible_devices",
    "set_memory_growth",
    "list_physical_devices",
    "get_visible_devices",
    "get_device_details",
)
_PLAIN_CALLS = frozenset((*_BUILTINS, *_METHODS, *_CONFIGURING, "isinstance", "repr"))
"""Functions and methods that use no GPU and start no process."""


@dataclass(frozen=True, slots=True)
class LoopAround:
    """A loop around a call.

    Attributes:
        path: the file that it is in. span: its place. head: the place of what it goes through, or of its condition.
        text: that as written. own: it is in the function that calls.
    """

    path: str
    span: Span
    head: Span
    text: str
    own: bool


@dataclass(frozen=True, slots=True)
class _Level:
    """A function of the way to a call: its module, the parents of its nodes, and the call in it that leads on."""

    unit: ModuleInstance
    parents: Mapping[ast.AST, ast.AST]
    node: ast.Call

    def around(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """Yield the nodes around a node, each with the one in it that leads there, up to its function or module."""
        below = node
        while below in self.parents:
            above = self.parents[below]
            yield above, below
            if isinstance(above, (*_FUNCTIONS, ast.ClassDef)):
                return
            below = above


def loop_with_another(program: Program, call: Call, argument: ast.expr) -> LoopAround | None:
    """Return the innermost loop around a call in each pass of which an argument is another one.

    None if there is none, or if it is left early, may come to the call in one pass only, or calls what is not known.
    """
    wanted = names_in(argument)
    for number, level in enumerate(_levels(program, call)):
        found = _loop_in(level, wanted, own=number == 0)
        if found is not None:
            return found if found.text else None
        function = next((above for above, _ in level.around(level.node) if isinstance(above, _FUNCTIONS)), None)
        if function is None or not _is_plain(level, function):
            return None
        wanted = _with_sources(wanted, function)
        if not _is_passed_often(level, function, wanted):
            return None
        caller = _caller(program, call, number)
        if caller is None:
            return None
        wanted = frozenset[str]().union(*map(names_in, _given(function, caller, wanted, level)))
    return None


def _levels(program: Program, call: Call) -> Iterator[_Level]:
    """Yield the functions on the way to a call, from its own outwards."""
    for number in range(len(call.frames) + 1):
        unit = _unit(program, call.path if number == 0 else call.frames[-number].path)
        node = call.node if number == 0 else _caller(program, call, number - 1)
        if unit is None or node is None:
            return
        yield _Level(unit, parents_of(unit.tree), node)


def _unit(program: Program, path: str) -> ModuleInstance | None:
    return next((unit for unit in program.units if unit.source.path == path), None)


def _caller(program: Program, call: Call, number: int) -> ast.Call | None:
    """Return the call that leads into the function that is so many frames above the one of ``call``."""
    if number >= len(call.frames):
        return None
    frame = call.frames[-1 - number]
    unit = _unit(program, frame.path)
    if unit is None:
        return None
    calls = (node for node in all_nodes(unit.tree) if isinstance(node, ast.Call))
    return next((node for node in calls if unit.source.span(node) == frame.span), None)


def _loop_in(level: _Level, wanted: frozenset[str], *, own: bool) -> LoopAround | None:
    """Return the innermost loop in a function that gives a value; one without a text if it may come once only."""
    tests: list[ast.expr] = []
    for above, below in level.around(level.node):
        if isinstance(above, _FUNCTIONS):
            return None
        if isinstance(above, (ast.If, ast.IfExp)):
            tests.append(above.test)
        elif isinstance(above, (ast.ExceptHandler, ast.Match)):
            return LoopAround("", _span(level, above), _span(level, above), "", own)
        elif isinstance(above, (ast.For, ast.AsyncFor, ast.While, *_COMPREHENSIONS)):
            head = _head(above)
            sources = _with_sources(wanted, above)
            if below is head or (isinstance(above, (ast.For, ast.While)) and below in above.orelse):
                continue
            if sources.isdisjoint(_variables(above)):
                continue
            if isinstance(above, _COMPREHENSIONS):
                tests.extend(test for part in above.generators for test in part.ifs)
            often = _is_often(level, above, sources, tests)
            text = level.unit.source.segment(_span(level, head)) if often else ""
            return LoopAround(level.unit.source.path, _span(level, above), _span(level, head), text, own)
    return None


def _span(level: _Level, node: ast.AST) -> Span:
    return level.unit.source.span(node)


def _head(loop: ast.AST) -> ast.expr:
    match loop:
        case ast.For(iter=head) | ast.AsyncFor(iter=head) | ast.While(test=head):
            return head
        case ast.ListComp(generators=parts) | ast.SetComp(generators=parts) | ast.GeneratorExp(generators=parts):
            return parts[-1].iter
        case _:
            raise TypeError(loop)


def _variables(loop: ast.AST) -> frozenset[str]:
    """Return the names that are bound anew in each pass by the loop itself: of ``while``, those that are counted up."""
    targets: Sequence[ast.expr]
    match loop:
        case ast.For(target=target) | ast.AsyncFor(target=target):
            targets = [target]
        case ast.ListComp(generators=parts) | ast.SetComp(generators=parts) | ast.GeneratorExp(generators=parts):
            targets = [part.target for part in parts]
        case _:
            targets = [node.target for node in ast.walk(loop) if isinstance(node, ast.AugAssign)]
    return frozenset[str]().union(*map(names_in, targets))


def _with_sources(wanted: frozenset[str], around: ast.AST) -> frozenset[str]:
    """Return names with those that they are made of, by assignments in a loop or in a function."""
    made: list[tuple[frozenset[str], frozenset[str]]] = []
    for node in ast.walk(around):
        match node:
            case ast.Assign(targets=targets, value=value):
                made.extend((names_in(target), names_in(value)) for target in targets if isinstance(target, ast.Name))
            case ast.NamedExpr(target=target, value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                made.append((names_in(target), names_in(value)))
            case _:
                pass
    known: frozenset[str] = frozenset()
    while known != wanted:
        known = wanted
        for names, parts in made:
            wanted = wanted | parts if names & wanted else wanted
    return wanted


def _is_often(level: _Level, loop: ast.AST, sources: frozenset[str], tests: Sequence[ast.expr]) -> bool:
    """True if a loop comes to the call in more than one pass, and nothing unknown happens in between."""
    nodes = list(scope_nodes(loop))
    if any(isinstance(node, _ENDS) for node in nodes) or not _is_plain(level, loop):
        return False
    changing = _variables(loop) | _changed(nodes) | sources
    skips = [
        _test_around(level, node, loop) for node in nodes if isinstance(node, ast.Continue) and _is_before(node, level)
    ]
    return all(holds_often(test, changing, sources, level.unit.tree) for test in tests) and all(
        test is not None and holds_often(test, changing, sources, level.unit.tree, skips=True) for test in skips
    )


def _is_before(node: ast.stmt, level: _Level) -> bool:
    return (node.lineno, node.col_offset) < (level.node.lineno, level.node.col_offset)


def _test_around(level: _Level, node: ast.AST, loop: ast.AST) -> ast.expr | None:
    """Return the condition of the innermost ``if`` around a statement of a loop; None if it is not alone there."""
    tests = []
    for above, _ in level.around(node):
        if above is loop:
            break
        if isinstance(above, ast.ExceptHandler):
            # What fails is skipped; what the others do is not known to fail.
            return ast.Constant(True)
        if isinstance(above, ast.If):
            tests.append(above.test)
    return tests[0] if len(tests) == 1 else None


def _changed(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """Return the names that statements bind, and those of objects of which they set or call something."""
    found: set[str] = set()
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.Attribute(value=value, ctx=ast.Store()) | ast.Subscript(value=value, ctx=ast.Store()):
                found |= names_in(value)
            case ast.Expr(ast.Call(ast.Attribute(value=value))):
                found |= names_in(value)
            case _:
                pass
    return frozenset(found)


def _is_plain(level: _Level, around: ast.AST) -> bool:
    """True if a loop or a function calls nothing but what is known, and starts no process."""
    defined = {node.name for node in ast.walk(level.unit.tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    for node in scope_nodes(around):
        if not isinstance(node, ast.Call) or node is level.node:
            continue
        match node.func:
            case ast.Name(name) if name in defined:
                pass
            case ast.Name(name) | ast.Attribute(attr=name) if name in _PLAIN_CALLS:
                pass
            case _:
                return False
    return True


def _is_passed_often(level: _Level, function: Function, wanted: frozenset[str]) -> bool:
    """True if each call of a function comes to the call in it, whatever it is given."""
    tests = [above.test for above, _ in level.around(level.node) if isinstance(above, (ast.If, ast.IfExp))]
    tests += [
        above.test
        for node in scope_nodes(function)
        if isinstance(node, ast.Return) and _is_before(node, level)
        for above, _ in level.around(node)
        if isinstance(above, ast.If)
    ]
    handled = any(isinstance(above, (ast.ExceptHandler, ast.Match)) for above, _ in level.around(level.node))
    changing = wanted | _changed(list(scope_nodes(function)))
    return not handled and all(holds_often(test, changing, wanted, level.unit.tree) for test in tests)


def _given(function: Function, caller: ast.Call, wanted: frozenset[str], level: _Level) -> Iterator[ast.expr]:
    """Yield what a call gives the parameters of a function among some names."""
    names = [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)]
    if names and isinstance(level.parents.get(function), ast.ClassDef) and names[0] in ("self", "cls"):
        del names[0]
    for name, given in zip(names, caller.args, strict=False):
        if isinstance(given, ast.Starred):
            return
        if name in wanted:
            yield given
    yield from (keyword.value for keyword in caller.keywords if keyword.arg in wanted)
