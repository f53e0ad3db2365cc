"""Tests of a number of a GPU for being there at all: ``if args.gpu:`` is as false for GPU 0 as for None."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from tfmemlint.facts.statements import blocks_of, own_nodes
from tfmemlint.facts.syntax import dotted, leaves_block
from tfmemlint.facts.tree_walk import all_nodes, unparsed
from tfmemlint.model.records import dataclass
from tfmemlint.rulekit.option_names import destination_of

_OF_GPUS = re.compile(r"gpu|device|card|accel", re.IGNORECASE)
_DEVICE_TEXT = re.compile(r"gpu:", re.IGNORECASE)
_VISIBLE = re.compile(r"VISIBLE_DEVICES|visible_device")
_CHOOSES = re.compile(r"(?i:visible_device|logical_device|virtual_device|memory_growth|gpu:)|\w\[")
"""Words of code that chooses a GPU."""
_HIDES = re.compile(r"""VISIBLE_DEVICES["']\]?\s{0,9}[=,]\s{0,9}["'](?:-1)?["']""")
"""Code that hides all GPUs."""
_COUNT = re.compile(
    r"(?i:(?:\A|_)(?:n|num|count|number_of|total|max|min|use|with|has|is|want|enable|no)(?:_|\Z)|gpus\Z|\Angpu)"
)
"""Names of counts, of lists, and of what is yes or no."""


@dataclass(frozen=True, slots=True)
class NumberTest:
    """A test that takes GPU 0 for none.

    Attributes:
        test: what has to be written otherwise: the number, or ``not`` and the number. number: the number.
        negated: it is ``not``. used: where it is used as the number of a GPU. default: what it is by default, if that
            is said. is_measured: the function asks how many GPUs there are, or whether there is one.
    """

    test: ast.expr
    number: ast.expr
    negated: bool
    used: ast.AST
    default: int | None
    is_measured: bool = False


def number_tests(tree: ast.Module) -> Iterator[NumberTest]:
    """Yield the tests of a module that take GPU 0 for none."""
    options = _options(tree)
    fields = _integer_fields(tree)
    for scope in all_nodes(tree):
        if isinstance(scope, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef)):
            numbers = _Numbers(scope, options, fields)
            for body in _blocks(scope):
                for position, statement in enumerate(body):
                    yield from _in_statement(statement, body[position + 1 :], numbers)


def _in_statement(statement: ast.stmt, after: Sequence[ast.stmt], numbers: _Numbers) -> Iterator[NumberTest]:
    if isinstance(statement, ast.If):
        for test, number, negated in _tested(statement.test):
            blocks = (statement.orelse, statement.body) if negated else (statement.body, statement.orelse)
            if negated and not blocks[0] and not leaves_block(blocks[1]):
                continue
            yield from _judged(test, number, negated, blocks[0] or after, blocks[1], numbers)
        return
    for node in own_nodes(statement):
        if isinstance(node, ast.IfExp):
            for test, number, negated in _tested(node.test):
                then, otherwise = (node.orelse, node.body) if negated else (node.body, node.orelse)
                # What the value of the expression is for is said around it.
                yield from _judged(test, number, negated, [then], [otherwise], numbers, around=statement)


def _judged(
    test: ast.expr,
    number: ast.expr,
    negated: bool,
    then: Sequence[ast.AST],
    otherwise: Sequence[ast.AST],
    numbers: _Numbers,
    around: ast.stmt | None = None,
) -> Iterator[NumberTest]:
    if _COUNT.search(dotted(number).rpartition(".")[2]) or _chooses(otherwise):
        return
    known, default = numbers.default_of(number)
    if not known or not unparsed(number) or numbers.is_counted(number):
        return
    used = next(_uses(then, number, around), None)
    if used is not None:
        listed = used.value if isinstance(used, ast.Subscript) else None
        measured = listed is not None and numbers.is_measured(unparsed(listed))
        yield NumberTest(test, number, negated, used, default, measured)


def _tested(test: ast.expr) -> Iterator[tuple[ast.expr, ast.expr, bool]]:
    """Yield the numbers that a test is false without, each with what is to be written otherwise."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        if isinstance(test.operand, (ast.Name, ast.Attribute)):
            yield test, test.operand, True
    elif isinstance(test, ast.BoolOp):
        for part in test.values:
            if isinstance(test.op, ast.And) and isinstance(part, (ast.Name, ast.Attribute)):
                yield part, part, False
            elif isinstance(test.op, ast.Or) and isinstance(part, ast.UnaryOp):
                yield from _tested(part)
    elif isinstance(test, (ast.Name, ast.Attribute)):
        yield test, test, False


def _uses(region: Sequence[ast.AST], number: ast.expr, around: ast.stmt | None) -> Iterator[ast.AST]:
    """Yield where a number is used as the number of a GPU."""
    same = unparsed(number)
    for statement in region:
        nodes = list(ast.walk(statement))
        visible = any(map(_VISIBLE.search, _texts([*nodes, *(ast.walk(around) if around is not None else ())])))
        for node in nodes:
            if isinstance(node, ast.Subscript) and _is_index(node.slice, same):
                if _OF_GPUS.search(unparsed(node.value)):
                    yield node
            elif _writes(node) and _has(node, same) and (visible or _names_device(node)):
                yield node


def _is_index(index: ast.expr, same: str) -> bool:
    """True for ``[number]`` and ``[number:number + 1]``; from 0 on ``[number:]`` leaves out none, as no slice does."""
    if isinstance(index, ast.Slice):
        return index.lower is not None and index.upper is not None and unparsed(index.lower) == same
    return unparsed(index) == same


def _writes(node: ast.AST) -> bool:
    """True for what makes a text of a number."""
    match node:
        case ast.JoinedStr() | ast.Call(func=ast.Name(id="str" | "repr")) | ast.Call(func=ast.Attribute(attr="format")):
            return True
        case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod()):
            return True
        case _:
            return False


def _names_device(node: ast.AST) -> bool:
    return any(map(_DEVICE_TEXT.search, _texts(ast.walk(node))))


def _has(node: ast.AST, same: str) -> bool:
    return any(isinstance(part, (ast.Name, ast.Attribute)) and unparsed(part) == same for part in ast.walk(node))


def _texts(nodes: Iterable[ast.AST]) -> list[str]:
    """Return the texts, and the names of attributes, in a piece of code."""
    found = []
    for node in nodes:
        match node:
            case ast.Constant(value=str(text)) | ast.Attribute(attr=text):
                found.append(text)
            case _:
                pass
    return found


def _chooses(code: Sequence[ast.AST]) -> bool:
    """True if code chooses a GPU, or configures it: that is what is wanted for GPU 0."""
    return any(_CHOOSES.search(text) and not _HIDES.search(text) for text in map(unparsed, code))


def _blocks(scope: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of a function or a module, without those of functions within."""
    pending: list[list[ast.stmt]] = [scope.body]
    while pending:
        body = pending.pop()
        yield body
        for statement in body:
            if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                pending += blocks_of(statement)


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The numbers in one function or module. ``options`` of the command line, and ``fields`` of classes, are there with
    what each is by default, by its name."""

    scope: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
    options: dict[str, int | None]
    fields: dict[str, int | None]

    def default_of(self, number: ast.expr) -> tuple[bool, int | None]:
        """Return whether an expression is a whole number or None, and what it is by default."""
        if isinstance(number, ast.Attribute):
            known = self.options if number.attr in self.options else self.fields
            return number.attr in known, known.get(number.attr)
        assert isinstance(number, ast.Name)
        found = _parameters(self.scope).get(number.id)
        if found is not None:
            return found
        given = _assigned(self.scope).get(number.id, [])
        return bool(given) and all(map(_is_read_as_integer, given)), None

    def is_measured(self, listed: str) -> bool:
        """True if a condition asks for a list, or for its length."""
        return any(
            isinstance(part, ast.expr) and unparsed(part) == listed
            for node in ast.walk(self.scope)
            if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert))
            for part in ast.walk(node.test)
        )

    def is_counted(self, number: ast.expr) -> bool:
        """True if it is used as a count, too: ``range(number)``, ``gpus[:number]``, ``number > 1``."""
        return unparsed(number) in _counted(self.scope)


@lru_cache(maxsize=2)
def _assigned(scope: ast.AST) -> Mapping[str, list[ast.expr]]:
    """Return what a scope assigns to each name. It is asked for once for each name that is tested."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(scope):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value):
                found.setdefault(target, []).append(value)
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value):
                found.setdefault(target, []).append(value)
            case _:
                pass
    return found


@lru_cache(maxsize=2)
def _counted(scope: ast.AST) -> frozenset[str]:
    """Return the expressions that a scope uses as counts."""
    found: set[str] = set()
    for node in ast.walk(scope):
        match node:
            case ast.Call(func=ast.Name(id="range"), args=[*_, last]):
                found.add(unparsed(last))
            case ast.Slice(lower=None, upper=ast.expr() as upper):
                found.add(unparsed(upper))
            case ast.Compare(left=left, ops=[ast.Gt() | ast.Eq()], comparators=[ast.Constant(value=1)]):
                found.add(unparsed(left))
            case _:
                pass
    return frozenset(found)


def _is_read_as_integer(value: ast.expr) -> bool:
    """True for ``int(...)``, and for None beside it; not where 0 may be said by nobody: ``int(get("GPU", "0"))``."""
    match value:
        case ast.Call(func=ast.Name(id="int"), args=[given]):
            return not any(isinstance(part, ast.Constant) and part.value in (0, "0") for part in ast.walk(given))
        case ast.IfExp(body=body, orelse=orelse):
            return any(map(_is_read_as_integer, (body, orelse))) and all(
                _is_read_as_integer(part) or _is_none(part) for part in (body, orelse)
            )
        case _:
            return False


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _parameters(scope: ast.AST) -> dict[str, tuple[bool, int | None]]:
    """Return of each parameter whether it is a whole number or None, and what it is by default."""
    if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return {}
    arguments = scope.args
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [*[None] * (len(plain) - len(arguments.defaults)), *arguments.defaults, *arguments.kw_defaults]
    found = {}
    for parameter, default in zip([*plain, *arguments.kwonlyargs], defaults, strict=True):
        value = _whole(default)
        integer = _is_integer(parameter.annotation) or (parameter.annotation is None and value is not None)
        found[parameter.arg] = integer, value
    return found


def _is_integer(annotation: ast.expr | None) -> bool:
    """True for ``int``, ``int | None`` and ``Optional[int]``."""
    match annotation:
        case ast.Name(id="int") | ast.Constant(value="int"):
            return True
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return (_is_integer(left) and _is_none(right)) or (_is_none(left) and _is_integer(right))
        case ast.Subscript(value=owner, slice=inner):
            return dotted(owner).rpartition(".")[2] == "Optional" and _is_integer(inner)
        case _:
            return False


def _whole(node: ast.expr | None) -> int | None:
    """Return a whole number that is written down."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        found = _whole(node.operand)
        return None if found is None else -found
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _options(tree: ast.Module) -> dict[str, int | None]:
    """Return the options of a command line that are whole numbers, by the names under which they are read."""
    found: dict[str, int | None] = {}
    others: set[str] = set()
    for node in all_nodes(tree):
        if not isinstance(node, ast.Call):
            continue
        function = dotted(node.func).rpartition(".")[2] or getattr(node.func, "attr", "")
        words = [given.value for given in node.args if isinstance(given, ast.Constant) and isinstance(given.value, str)]
        keywords = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        if function == "DEFINE_integer" and words:
            found[words[0]] = _whole(node.args[1] if len(node.args) > 1 else keywords.get("default"))
        elif function == "add_argument" and words:
            name = destination_of(words, keywords)
            type_ = keywords.get("type")
            if isinstance(type_, ast.Name) and type_.id == "int" and not {"action", "nargs"} & keywords.keys():
                found[name] = _whole(keywords.get("default"))
            else:
                others.add(name)
    return {name: default for name, default in found.items() if name not in others}


def _integer_fields(tree: ast.Module) -> dict[str, int | None]:
    """Return the fields of classes that are declared as whole numbers; those that another class declares as something
    else are left out."""
    found: dict[str, int | None] = {}
    others: set[str] = set()
    for node in all_nodes(tree):
        if isinstance(node, ast.ClassDef):
            for statement in node.body:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    if _is_integer(statement.annotation):
                        found[statement.target.id] = _whole(statement.value)
                    else:
                        others.add(statement.target.id)
    return {name: default for name, default in found.items() if name not in others}
