"""Strategy: go through what configures piece by piece where it is made.

A generator, a ``map`` and the like do nothing before something goes through them. Where one that configures is kept,
and first gone through after the start, it becomes a list: ``devices = list(claim_gpus())``. Where more may be done with
it than to go through it once, it becomes an iterator over that list. What is made of it stays the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import dedent

import libcst as cst
from libcst import matchers

from tfmemlint.fixes.access_paths import overlap
from tfmemlint.fixes.concrete_tree import walk
from tfmemlint.fixes.def_use import DefUse, def_use_of
from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.iterator_uses import is_gone_through_once
from tfmemlint.fixes.order.problem import Candidate, OrderProblem
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Span
from tfmemlint.model.records import dataclass

_CALLING = frozenset(
    ["map", "filter", "itertools.starmap", "itertools.filterfalse", "itertools.takewhile", "itertools.dropwhile"]
)
"""Functions that return an iterator and call a function for each item."""
_LAZY = _CALLING | {"zip", "enumerate", "iter", "itertools.chain", "itertools.islice", "itertools.chain.from_iterable"}
_ENDLESS = matchers.Name("count") | matchers.Name("cycle") | matchers.Name("repeat")
_PLAIN_DECORATORS = matchers.Decorator(matchers.Name("staticmethod") | matchers.Name("classmethod"))


@dataclass(frozen=True, slots=True)
class _Lazy:
    """An expression that runs nothing until it is gone through.

    Attributes:
        node: the expression. body: of a generator, with the file that it is in.
    """

    file: CodeFile
    node: cst.BaseExpression
    body: cst.FunctionDef | None = None
    body_file: CodeFile | None = None


def consume_early(problem: OrderProblem) -> Iterator[Candidate]:
    """Make a list of what configures when it is gone through, where it is made."""
    reason: Withheld | None = None
    for lazy in _lazy_parts(problem):
        try:
            yield _candidate(problem, lazy)
        except Withheld as found:
            reason = reason or found
    if reason is not None:
        raise reason


def _candidate(problem: OrderProblem, lazy: _Lazy) -> Candidate:
    file, node = lazy.file, lazy.node
    once = is_gone_through_once(file, node)
    _check_ends(lazy)
    _check_effects(problem, lazy)
    editor = problem.editor(file)
    made: cst.BaseExpression = cst.Call(cst.Name("list"), [cst.Arg(node)])
    if isinstance(node, cst.GeneratorExp):
        made = cst.ListComp(elt=node.elt, for_in=node.for_in)
    editor.replace(node, made if once else cst.Call(cst.Name("iter"), [cst.Arg(made)]))
    return Candidate({file.path: editor.finish()}, f"Run {_words(file, node)} to its end where it is made")


def _words(file: CodeFile, node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Call):
        return f"{file.tree.code(node.func)}({'...' if node.args else ''})"
    return f"the generator expression in line {file.tree.span(node).row}"


def _lazy_parts(problem: OrderProblem) -> Iterator[_Lazy]:
    """Yield what is gone through on the way to the configuration, the outermost first."""
    places = [(step.path, step.span) for step in problem.late] or [(problem.finding.path, problem.finding.span)]
    for index, (path, span) in enumerate(places):
        if not path.endswith((".py", ".ipynb")):
            continue
        try:
            file = problem.files.get(path)
        except Withheld:
            continue
        inner = _body(problem, *places[index + 1]) if index + 1 < len(places) else None
        yield from _lazy_at(file, span, inner)


def _body(problem: OrderProblem, path: str, span: Span) -> tuple[CodeFile, cst.FunctionDef] | None:
    """Return the generator function that a step is in."""
    try:
        file = problem.files.get(path)
        function = file.tree.function_of(file.tree.statement_at(span))
    except Withheld:
        return None
    return (file, function) if isinstance(function, cst.FunctionDef) and _yields(function) else None


def _lazy_at(file: CodeFile, span: Span, inner: tuple[CodeFile, cst.FunctionDef] | None) -> Iterator[_Lazy]:
    below: cst.CSTNode | None = None
    for node in file.tree.at(span):
        if not isinstance(node, cst.Call):
            continue
        below = node
        if inner is not None and file.tree.code(node.func).rpartition(".")[2] == inner[1].name.value:
            yield _Lazy(file, node, inner[1], inner[0])
        elif _full_name(file, node) in _LAZY:
            # The step of what an iterator over another one runs may be the place of the outer one.
            parts = (part for part in walk(node) if isinstance(part, cst.Call) and _full_name(file, part) in _CALLING)
            yield from (_Lazy(file, part) for part in parts)
    while below is not None and not isinstance(below, cst.BaseStatement):
        around = file.tree.parents.get(below)
        if isinstance(around, cst.GeneratorExp) and not (below is around.for_in and _is_head(file, around, span)):
            yield _Lazy(file, around)
        elif isinstance(below, cst.Lambda):
            call = file.tree.parents.get(around) if isinstance(around, cst.Arg) else None
            if not isinstance(call, cst.Call) or _full_name(file, call) not in _CALLING:
                return
            yield _Lazy(file, call)
        below = around


def _full_name(file: CodeFile, call: cst.Call) -> str:
    return file.imports.resolve(file.tree.code(call.func))


def _is_head(file: CodeFile, node: cst.GeneratorExp, span: Span) -> bool:
    """True if a place is in the first iterable, which is made at once."""
    return file.tree.span(node.for_in.iter).contains(span)


def _yields(function: cst.FunctionDef) -> list[cst.Yield]:
    """Return the places at which a function itself gives a value."""
    inner = [node for node in walk(function.body) if isinstance(node, (cst.FunctionDef, cst.Lambda))]
    nested = {id(part) for node in inner for part in walk(node)}
    return [node for node in walk(function.body) if isinstance(node, cst.Yield) and id(node) not in nested]


def _check_ends(lazy: _Lazy) -> None:
    """Refuse what may never end, what is sent values, and what cleans up after its last value."""
    if matchers.findall(lazy.node, matchers.Call(func=_ENDLESS | matchers.Attribute(attr=_ENDLESS))):
        raise Withheld("it may never end")
    function, file = lazy.body, lazy.body_file
    if function is None or file is None:
        return
    name = function.name.value
    if function.asynchronous is not None or any(
        not matchers.matches(each, _PLAIN_DECORATORS) for each in function.decorators
    ):
        raise Withheld(f"{name} is more than a generator")
    endless = matchers.While() | matchers.Call(func=_ENDLESS | matchers.Attribute(attr=_ENDLESS))
    if matchers.findall(function, endless):
        raise Withheld(f"{name}() may never end")
    for node in _yields(function):
        if not isinstance(file.tree.parents.get(node), cst.Expr):
            raise Withheld(f"{name}() is sent values")
        around = file.tree.ancestors(node)
        if any(isinstance(each, (cst.With, cst.Try)) for each in around):
            raise Withheld(f"{name}() has values while it is in a block that it has to leave")


def _check_effects(problem: OrderProblem, lazy: _Lazy) -> None:
    """Refuse what does more than configure, or needs what is changed before it is gone through today.

    Raises:
        Withheld: it does.
    """
    file = lazy.body_file or lazy.file
    names = _does(lazy)
    foreign = file.hoist.unrelated_call(names, allow_pure=True)
    if foreign:
        raise Withheld(f"it does more than configure: {foreign}")
    entry = file.hoist.entry_of(None, names.copy(), 0)
    if (entry.prints or entry.calls_print) and not problem.files.output_may_move:
        raise Withheld("what it prints would come earlier")
    if lazy.file is not file:
        return
    tree = lazy.file.tree
    function = tree.function_of(lazy.node)
    steady = file.imports.imported() | set(file.hoist.bodies)
    row = tree.span(lazy.node).row
    own = tree.statement_of(lazy.node)
    lines = tree.statements_within(function) if isinstance(function, cst.FunctionDef) else []
    for statement in lines or tree.statements(tree.module):
        if statement is own or tree.span(statement).end_row <= row or isinstance(statement, cst.FunctionDef):
            continue
        later = file.hoist.entry_of(statement, file.hoist.read(statement).copy(), 0)
        bound = later.names.binds & entry.names.reads - _bound_by(file, own)
        changed = overlap(later.touched, entry.parts) - steady
        if bound - steady or changed or later.changes & entry.names.reads:
            raise Withheld(f"line {tree.span(statement).row} changes what it uses")


def _bound_by(file: CodeFile, statement: cst.BaseStatement | cst.BaseSmallStatement) -> set[str]:
    return file.hoist.read(statement).binds


def _does(lazy: _Lazy) -> DefUse:
    """Return what going through it does."""
    if lazy.body is not None and lazy.body_file is not None:
        code = lazy.body_file.tree.code(lazy.body.with_changes(leading_lines=[], decorators=[]))
        bodies = def_use_of(dedent(code)).bodies
        return bodies[lazy.body.name.value].copy()
    names = def_use_of(f"({lazy.file.tree.code(lazy.node)})")
    lazily = {name for name in names.called if lazy.file.imports.resolve(name) in _LAZY}
    names.called = [name for name in names.called if name not in lazily and name.rpartition(".")[2] != "partial"]
    for node in walk(lazy.node):
        if isinstance(node, cst.Call) and node.args:
            name = lazy.file.imports.resolve(lazy.file.tree.code(node.func))
            given = node.args[0].value
            if (name in _CALLING or name == "functools.partial") and isinstance(given, (cst.Name, cst.Attribute)):
                names.called.append(lazy.file.tree.code(given))
    return names
