"""Comparisons of TensorFlow's release that take texts for numbers: ``tf.__version__ >= "2.4"`` is false for 2.21.

A comparison is evaluated twice: as Python does, and by the numbers of the release. Where the two differ and a condition
depends on it, another branch runs than the one that is meant.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tfmemlint.facts.statements import blocks_of, own_nodes
from tfmemlint.facts.syntax import leaves_block
from tfmemlint.facts.tree_walk import nodes
from tfmemlint.knowledge import names
from tfmemlint.knowledge.releases import KNOWN, Target
from tfmemlint.model.patterns import late_pattern
from tfmemlint.model.records import dataclass
from tfmemlint.rulekit.gpu_purposes import purposes_in
from tfmemlint.rulekit.release_values import UNKNOWN, Place, ReleaseValues, Scope

if TYPE_CHECKING:
    from tfmemlint.model.intent import Purpose

_PROBE = "3.7.5"
_NUMBERS = late_pattern(r"\d{1,4}(?:\.\d{1,4}){0,3}\.?")
_MAX_STEPS = 12
"""Names and functions that lead from a condition to a comparison."""
_OPERATIONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: lambda left, right: left < right,
    ast.LtE: lambda left, right: left <= right,
    ast.Gt: lambda left, right: left > right,
    ast.GtE: lambda left, right: left >= right,
    ast.Eq: lambda left, right: left == right,
    ast.NotEq: lambda left, right: left != right,
}
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of the release.

    Attributes:
        place: the comparison. side: the side that is about the release. op: the operation, if that side is on the left.
        shape: the number of parts of the release that the side has: 3 and 2 from the start, 0 for the minor number
            alone. numbers: what it is compared with.
    """

    place: Place
    side: ast.expr
    op: type[ast.cmpop]
    shape: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ReleaseTest:
    """A comparison that leads to the wrong branch.

    Attributes:
        comparison: the comparison. release: a release for which it is wrong. is_true: what Python makes of it then.
        purpose: what is configured in the other branch only. configured: where.
    """

    comparison: Comparison
    release: Target
    is_true: bool
    purpose: Purpose
    configured: ast.AST


def release_tests(tree: ast.Module, target: Target) -> Iterator[ReleaseTest]:
    """Yield the comparisons that keep a module from configuring GPUs on one of the releases that it is for."""
    values = ReleaseValues(tree)
    reported: set[int] = set()
    first = target.oldest.index if target.oldest is not None else target.index
    releases = [Target.parse(known) for known in reversed(KNOWN[first : target.index + 1])]
    for site in _sites(tree):
        for release in releases:
            found = _judged(site, values, release)
            if found is not None:
                if id(found.comparison.place.node) not in reported:
                    reported.add(id(found.comparison.place.node))
                    yield found
                break


@dataclass(frozen=True, slots=True)
class _Site:
    """A condition, with what runs if it holds and if it doesn't, and the block that it is in."""

    test: ast.expr
    then: Sequence[ast.AST]
    otherwise: Sequence[ast.AST]
    scope: Scope
    around: ast.stmt


def _sites(tree: ast.Module) -> Iterator[_Site]:
    pending: list[tuple[Scope, Sequence[ast.stmt]]] = [(tree, tree.body)]
    while pending:
        scope, body = pending.pop()
        for number, statement in enumerate(body):
            if isinstance(statement, ast.If):
                rest = [] if statement.orelse or not _leaves(statement.body) else body[number + 1 :]
                yield _Site(statement.test, statement.body, [*statement.orelse, *rest], scope, statement)
            for node in own_nodes(statement):
                if isinstance(node, ast.IfExp):
                    yield _Site(node.test, [node.body], [node.orelse], scope, statement)
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.BoolOp):
                *tests, last = statement.value.values
                both = isinstance(statement.value.op, ast.And)
                test = tests[0] if len(tests) == 1 else ast.BoolOp(op=statement.value.op, values=tests)
                yield _Site(test, [last] if both else [], [] if both else [last], scope, statement)
            within = statement if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) else scope
            pending += [(within, block) for block in blocks_of(statement)]


def _leaves(body: Sequence[ast.stmt]) -> bool:
    """True if a block leaves the one around it, and not by an error, which is seen."""
    return leaves_block(body) and isinstance(body[-1], (ast.Return, ast.Continue, ast.Break))


def _judged(site: _Site, values: ReleaseValues, release: Target) -> ReleaseTest | None:
    wrong: list[Comparison] = []
    place = Place(site.test, site.scope)
    runs = _truth(place, values, release, None)
    if runs is UNKNOWN:
        return None
    meant = _truth(place, values, release, wrong)
    if not wrong or meant is runs:
        return None
    here, there = (site.then, site.otherwise) if runs else (site.otherwise, site.then)
    missed = purposes_in(there, values.functions)
    made = purposes_in(here, values.functions)
    if all(_is_there(node, values, release) for node in here):
        elsewhere = purposes_in(_around(site), values.functions)
        missed = {purpose: node for purpose, node in missed.items() if purpose not in {*made, *elsewhere}}
    for purpose, node in missed.items():
        comparison = wrong[0]
        is_true = _compared(comparison, values, release)
        return ReleaseTest(comparison, release, bool(is_true), purpose, node)
    return None


def _around(site: _Site) -> list[ast.AST]:
    """Return the other statements that run in any case where the condition is asked."""
    own = {id(node) for node in (site.around, *site.then, *site.otherwise)}
    return [statement for statement in site.scope.body if not any(id(node) in own for node in nodes(statement))]


def _is_there(node: ast.AST, values: ReleaseValues, release: Target) -> bool:
    """True if a release has all names of TensorFlow in a piece of code."""
    for part in nodes(node):
        if isinstance(part, ast.Attribute):
            name = values.name_of(part)
            if name.startswith("tf.") and names.missing_part(name, release) is not None:
                return False
    return True


def _truth(place: Place, values: ReleaseValues, release: Target, wrong: list[Comparison] | None, steps: int = 0) -> Any:
    """Return whether a condition holds; with ``wrong``, by the numbers of the release, to which the comparisons are
    added that Python answers otherwise."""
    if steps > _MAX_STEPS:
        return UNKNOWN
    node = place.node

    def inner(part: ast.expr, scope: Scope = place.scope) -> Any:
        return _truth(Place(part, scope), values, release, wrong, steps + 1)

    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            found = inner(operand)
            return found if found is UNKNOWN else not found
        case ast.BoolOp(op=op, values=parts):
            return _all_or_any([inner(part) for part in parts], is_and=isinstance(op, ast.And))
        case ast.Call(func=ast.Name(id="bool"), args=[only]):
            return inner(only)
        case ast.Compare(ops=[_]):
            comparison = _comparison(place, values)
            if comparison is None:
                return UNKNOWN
            runs = _compared(comparison, values, release)
            if wrong is None or runs is UNKNOWN:
                return runs
            meant = _meant(comparison, release)
            if meant is None or meant is runs:
                return runs
            wrong.append(comparison)
            return meant
        case ast.Name() | ast.Attribute() | ast.Call():
            led = values.returned(node) if isinstance(node, ast.Call) else values.definition(node, place.scope)
            return inner(led.node, led.scope) if led is not None else UNKNOWN
        case _:
            return UNKNOWN


def _all_or_any(parts: list[Any], *, is_and: bool) -> Any:
    if any(part is (not is_and) for part in parts):
        return not is_and
    return UNKNOWN if UNKNOWN in parts else is_and


def _comparison(place: Place, values: ReleaseValues) -> Comparison | None:
    node = place.node
    assert isinstance(node, ast.Compare)
    op = type(node.ops[0])
    if op not in _OPERATIONS:
        return None
    for side, other, operation in ((node.left, node.comparators[0], op), (node.comparators[0], node.left, _TURNED[op])):
        seen = [values.value(side, place.scope, probe) for probe in (_PROBE, "4.8.6")]
        fixed = [values.value(other, place.scope, probe) for probe in (_PROBE, "4.8.6")]
        if UNKNOWN in seen or UNKNOWN in fixed or seen[0] == seen[1] or fixed[0] != fixed[1]:
            continue
        shape = {(3, 7, 5): 3, (3, 7): 2, (7,): 0}.get(_numbers(seen[0]))
        if shape is not None:
            return Comparison(place, side, operation, shape, _numbers(fixed[0], other))
        return Comparison(place, side, operation, -1, ())
    return None


def _numbers(value: object, node: ast.expr | None = None) -> tuple[int, ...]:
    """Return the numbers that a value has; none where they aren't clear."""
    if isinstance(value, (tuple, list)):
        found = [_numbers(part) for part in value]
        return tuple(part[0] for part in found) if all(len(part) == 1 for part in found) else ()
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ()
    text = str(value)
    if node is not None and isinstance(value, float) and len(text.partition(".")[2]) == 1 and _is_tenth(node):
        return ()
    return tuple(int(part) for part in text.rstrip(".").split(".")) if _NUMBERS.fullmatch(text) else ()


def _is_tenth(node: ast.expr) -> bool:
    """True for 2.10, which Python reads as 2.1, and where the text of a number isn't there."""
    if not isinstance(node, ast.Constant):
        return True
    return (node.end_col_offset or 0) - node.col_offset != len(repr(node.value))


def _compared(comparison: Comparison, values: ReleaseValues, release: Target) -> Any:
    """Return what Python makes of a comparison."""
    node, scope = comparison.place.node, comparison.place.scope
    assert isinstance(node, ast.Compare)
    left = values.value(node.left, scope, release.version)
    right = values.value(node.comparators[0], scope, release.version)
    if UNKNOWN in (left, right):
        return UNKNOWN
    try:
        return bool(_OPERATIONS[type(node.ops[0])](left, right))
    except TypeError:
        return UNKNOWN


def _meant(comparison: Comparison, release: Target) -> bool | None:
    """Return what a comparison is by the numbers of the release; None if it isn't clear."""
    own = (release.minor,) if comparison.shape == 0 else (release.major, release.minor)
    given, op = comparison.numbers, comparison.op
    if not given or comparison.shape < 0 or (comparison.shape == 0 and len(given) > 1):
        return None
    size = min(len(own), len(given))
    if own[:size] != given[:size]:
        return _OPERATIONS[op](own[:size], given[:size])
    if op in (ast.GtE, ast.Lt) and not any(given[size:]):
        return op is ast.GtE
    if size < len(own) or len(given) > size:
        return None
    if op in (ast.Eq, ast.NotEq):
        return op is ast.Eq
    return op is ast.LtE if comparison.shape in (0, 2) else None


def base_of(comparison: Comparison, values: ReleaseValues) -> ast.expr | None:
    """Return the expression for the text of the release that a comparison is about, if its place sees it."""
    waiting = [Place(comparison.side, comparison.place.scope)]
    for _ in range(_MAX_STEPS * 4):
        if not waiting:
            return None
        place = waiting.pop()
        for node in nodes(place.node):
            if isinstance(node, ast.expr) and values.is_version(node):
                return node
            if isinstance(node, (ast.Name, ast.Attribute, ast.Call)):
                led = values.returned(node) if isinstance(node, ast.Call) else values.definition(node, place.scope)
                if led is not None:
                    waiting.append(led)
    return None


def code_of(comparison: Comparison, code: Callable[[ast.expr], str], parser: str, base: str) -> str:
    """Return the comparison of numbers; "" if it would need more than Python.

    Args:
        comparison: what it replaces. code: returns the text of an expression. parser: a function of the file that makes
            a comparable version of a text; "" for none. base: the code of the text of the release.
    """
    given, op = comparison.numbers, comparison.op
    if comparison.shape == 0:
        side = code(comparison.side)
        part = side if isinstance(comparison.side, ast.Name) else f'{base}.split(".")[1]'
        return f"int({part}) {_SIGNS[op]} {given[0]}"
    while len(given) > 2 and given[-1] == 0 and op in (ast.GtE, ast.Lt):
        given = given[:-1]
    if comparison.shape == 3 and len(given) == 2:
        # "2.4.0" is greater than "2.4".
        op = {ast.Gt: ast.GtE, ast.LtE: ast.Lt}.get(op, op)
    if parser and op not in (ast.Eq, ast.NotEq) and (comparison.shape == 3 or op in (ast.GtE, ast.Lt)):
        return f'{parser}({base}) {_SIGNS[op]} {parser}("{".".join(map(str, given))}")'
    if len(given) > 2:
        return ""
    numbers = ", ".join(map(str, given)) + ("," if len(given) == 1 else "")
    return f'tuple(int(part) for part in {base}.split(".")[:{len(given)}]) {_SIGNS[op]} ({numbers})'


_SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


def parser_of(tree: ast.Module) -> str:
    """Return the code of a function that a module imports at its top, and that makes a comparable version of a text."""
    for statement in tree.body:
        for name in _parsers(statement):
            return name
    return ""


def _parsers(statement: ast.stmt) -> Iterable[str]:
    match statement:
        case ast.ImportFrom(module="packaging", names=[*aliases]):
            return [f"{each.asname or each.name}.parse" for each in aliases if each.name == "version"]
        case ast.ImportFrom(module="packaging.version", names=[*aliases]):
            return [each.asname or each.name for each in aliases if each.name in ("parse", "Version")]
        case ast.Import(names=[*aliases]):
            return [f"{each.asname or each.name}.parse" for each in aliases if each.name == "packaging.version"]
        case ast.ImportFrom(module="pkg_resources", names=[*aliases]):
            return [each.asname or each.name for each in aliases if each.name == "parse_version"]
        case _:
            return []


__all__ = ["Comparison", "ReleaseTest", "base_of", "code_of", "parser_of", "release_tests"]
