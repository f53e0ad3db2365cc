"""Memory growth that is set to the contrary of what a setting says: ``"false" if allow_growth else "true"``.

Read off the syntax: the name of the setting says what is meant.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from tfmemlint.facts.syntax import dotted
from tfmemlint.facts.tree_walk import unparsed
from tfmemlint.knowledge.variables import GROWTH
from tfmemlint.model.records import dataclass

_GROWS = re.compile(r"(?:\A|_)(?:growth|grow|allow_growth)(?:_(?:memory|mem|gpu|gpus))?\Z", re.IGNORECASE)
"""Names of settings that ask for growth."""
_CONTRARY = re.compile(
    r"(?:\A|_)(?:no|not|non|never|disable|disabled|dis|without|off|skip|stop|forbid|is|has|was|already|old|current|get"
    r"|prevent|deny)_",
    re.IGNORECASE,
)
"""Words of names that ask for the contrary, or say what is so."""
_YES, _NO = ("true", True), ("false", False)


@dataclass(frozen=True, slots=True)
class TurnedGrowth:
    """A place where growth is set to the contrary.

    Attributes:
        node: what has to be written otherwise. right: what it has to be. setting: the setting, as written.
        statement: the statement around it.
    """

    node: ast.expr
    right: str
    setting: str
    statement: ast.stmt


def turned_growth(tree: ast.Module) -> Iterator[TurnedGrowth]:
    """Yield each place of a module where growth is set to the contrary of a setting."""
    read = _names_that_were_asked(tree)
    for statement in ast.walk(tree):
        if isinstance(statement, ast.If):
            yield from _under_a_test(statement, read)
        elif isinstance(statement, ast.Expr | ast.Assign):
            value = _value_of_growth(statement)
            if value is not None:
                yield from _turned(value, statement, read)


def _value_of_growth(statement: ast.stmt) -> ast.expr | None:
    """Return what a statement sets growth to; None for any other statement."""
    match statement:
        case ast.Expr(value=ast.Call(func=func, args=args, keywords=keywords)):
            last = dotted(func).rpartition(".")[2] or getattr(func, "attr", "")
            if last == "set_memory_growth":
                named = [keyword.value for keyword in keywords if keyword.arg == "enable"]
                return args[1] if len(args) > 1 else named[0] if named else None
            if last in ("setdefault", "putenv") and len(args) == 2 and _is_growth_variable(args[0]):
                return args[1]
        case ast.Assign(targets=[ast.Attribute(attr="allow_growth")], value=value):
            return value
        case ast.Assign(targets=[ast.Subscript(slice=key)], value=value) if _is_growth_variable(key):
            return value
        case _:
            pass
    return None


def _is_growth_variable(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == GROWTH


def _turned(value: ast.expr, statement: ast.stmt, read: frozenset[str]) -> Iterator[TurnedGrowth]:
    match value:
        case ast.UnaryOp(op=ast.Not(), operand=operand) if asks_for_growth(operand, read):
            yield TurnedGrowth(value, unparsed(operand), unparsed(operand), statement)
        case ast.IfExp(test=test, body=ast.Constant(value=yes), orelse=ast.Constant(value=no)):
            setting = _setting_of(test)
            wanted = (_NO, _YES) if setting is test else (_YES, _NO)
            if asks_for_growth(setting, read) and _says(yes, wanted[0]) and _says(no, wanted[1]):
                right = f"{unparsed(value.orelse)} if {unparsed(test)} else {unparsed(value.body)}"
                yield TurnedGrowth(value, right, unparsed(setting), statement)
        case _:
            return


def _says(value: object, words: Sequence[object]) -> bool:
    return any(value is word or (isinstance(value, str) and value.lower() == word) for word in words)


def _setting_of(test: ast.expr) -> ast.expr:
    """Return what a test asks for, be it with ``not`` or without."""
    return test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test


def _under_a_test(statement: ast.If, read: frozenset[str]) -> Iterator[TurnedGrowth]:
    """Yield the values that are set where a setting says the contrary, and that nothing else in the statement sets."""
    test = statement.test
    setting = _setting_of(test)
    if not asks_for_growth(setting, read):
        return
    blocks = (statement.body, statement.orelse) if setting is test else (statement.orelse, statement.body)
    with_growth, without = map(_values_in, blocks)
    name = unparsed(setting)
    is_right = any(_says(value.value, _YES) for value, _ in with_growth)
    if is_right or any(_says(value.value, _NO) for value, _ in without):
        return
    for values, wrong, right in ((with_growth, _NO, "True"), (without, _YES, "False")):
        for value, inner in values:
            if _says(value.value, wrong) and (with_growth or setting is not test):
                word = right if not isinstance(value.value, str) else repr(right.lower()).replace("'", '"')
                yield TurnedGrowth(value, word, name, inner)


def _values_in(block: Sequence[ast.stmt]) -> list[tuple[ast.Constant, ast.stmt]]:
    found = []
    for statement in block:
        for node in ast.walk(statement):
            value = _value_of_growth(node) if isinstance(node, ast.stmt) else None
            if isinstance(value, ast.Constant) and isinstance(node, ast.stmt):
                found.append((value, node))
    return found


def asks_for_growth(node: ast.expr, read: frozenset[str]) -> bool:
    """True for a setting that asks for growth by its name: ``args.allow_growth``, ``config["memory_growth"]``."""
    name = ""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            if isinstance(node, ast.Name) and name in read:
                return False
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            pass
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(name)), *_]):
            pass
        case _:
            return False
    return _GROWS.search(name) is not None and _CONTRARY.search(name) is None


def _names_that_were_asked(tree: ast.Module) -> frozenset[str]:
    """Return the names that say what is so, or what has been done: ``growth = get_memory_growth(gpu)``."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            asked = "get_memory_growth" in unparsed(node.value) or isinstance(node.value, ast.Constant)
            found.update(target.id for target in targets if isinstance(target, ast.Name) and asked)
        elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return frozenset(found)
