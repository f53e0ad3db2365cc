"""Memory growth that is set to the contrary of what a setting says: ``"false" if allow_growth else "true"``.

Read off the syntax: the name of the setting says what is meant.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from tfmemlint.facts.syntax import dotted
from tfmemlint.facts.tree_walk import all_nodes, unparsed
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
_REFUSES = re.compile(
    r"(?:\A|_)(?:no|non|disable|disabled|without|prevent|deny|skip|forbid)_(?:(?:allow|gpu|memory|mem|tf|the)_){0,3}"
    r"(?:growth|grow)(?:_(?:memory|mem|gpu|gpus))?\Z|\A(?:gpu_|mem_|memory_)?pre_?alloc(?:ate)?(?:_(?:all|gpu|memory|mem))*\Z",
    re.IGNORECASE,
)
"""Names of settings that refuse growth."""
_YES, _NO = ("true", True), ("false", False)


@dataclass(frozen=True, slots=True)
class TurnedGrowth:
    """A place where growth is set to the contrary.

    Attributes:
        node: what has to be written otherwise. right: what it has to be. setting: the setting, as written.
        statement: the statement around it. asks: the setting asks for growth; if not, it refuses it.
    """

    node: ast.expr
    right: str
    setting: str
    statement: ast.stmt
    asks: bool = True


def turned_growth(tree: ast.Module) -> Iterator[TurnedGrowth]:
    """Yield each place of a module where growth is set to the contrary of a setting."""
    read = _names_that_were_asked(tree)
    for statement in all_nodes(tree):
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
        case ast.UnaryOp(op=ast.Not(), operand=operand) if _wish(operand, read):
            yield TurnedGrowth(value, unparsed(operand), unparsed(operand), statement)
        case ast.IfExp(test=test, body=ast.Constant(value=yes), orelse=ast.Constant(value=no)):
            setting = _setting_of(test)
            wish = _wish(setting, read)
            wanted = (_NO, _YES) if (setting is test) is wish else (_YES, _NO)
            if wish is not None and _says(yes, wanted[0]) and _says(no, wanted[1]):
                right = f"{unparsed(value.orelse)} if {unparsed(test)} else {unparsed(value.body)}"
                yield TurnedGrowth(value, right, unparsed(setting), statement, wish)
        case ast.Call(func=ast.Attribute(attr="lower", value=inner), args=[]):
            yield from _turned(inner, statement, read)
        case ast.Call(func=ast.Name(id="str" | "bool"), args=[inner]):
            yield from _turned(inner, statement, read)
        case _ if _wish(value, read) is False:
            name = unparsed(value)
            yield TurnedGrowth(value, f"not {name}", name, statement, asks=False)
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
    wish = _wish(setting, read)
    if wish is None:
        return
    straight = (setting is test) is wish
    blocks = (statement.body, statement.orelse) if straight else (statement.orelse, statement.body)
    with_growth, without = map(_values_in, blocks)
    name = unparsed(setting)
    is_right = any(_says(value.value, _YES) for value, _ in with_growth)
    if is_right or any(_says(value.value, _NO) for value, _ in without):
        return
    for values, wrong, right in ((with_growth, _NO, "True"), (without, _YES, "False")):
        for value, inner in values:
            if _says(value.value, wrong) and (with_growth or not straight):
                word = right if not isinstance(value.value, str) else repr(right.lower()).replace("'", '"')
                yield TurnedGrowth(value, word, name, inner, wish)


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
    return _wish(node, read) is True


def _wish(node: ast.expr, read: frozenset[str]) -> bool | None:
    """Return True for a setting that asks for growth by its name, False for one that refuses it (``args.no_growth``);
    None for anything else."""
    name = ""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            if name in read:
                return None
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            pass
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(name)), *_]):
            pass
        case _:
            return None
    if _REFUSES.search(name) is not None:
        return False
    return True if _GROWS.search(name) is not None and _CONTRARY.search(name) is None else None


def _is_true_by_default(call: ast.Call) -> bool:
    """True for the declaration of an option that is true by default."""
    return any(
        (keyword.arg == "action" and isinstance(keyword.value, ast.Constant) and keyword.value.value == "store_false")
        or (keyword.arg == "default" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True)
        for keyword in call.keywords
    )


def _names_that_were_asked(tree: ast.Module) -> frozenset[str]:
    """Return the names that say what is so, or what has been done: ``growth = get_memory_growth(gpu)``.

    So do options that are true unless they are given: ``add_argument("--no-growth", action="store_false")``.
    """
    found: set[str] = set()
    for node in all_nodes(tree):
        if isinstance(node, ast.Call) and _is_true_by_default(node):
            words = (each.value for each in node.args if isinstance(each, ast.Constant))
            found.update(word.lstrip("-").replace("-", "_") for word in words if isinstance(word, str))
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            asked = "get_memory_growth" in unparsed(node.value) or isinstance(node.value, ast.Constant)
            found.update(target.id for target in targets if isinstance(target, ast.Name) and asked)
        elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return frozenset(found)
