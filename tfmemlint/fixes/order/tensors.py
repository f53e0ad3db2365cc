"""Expressions that make the same tensor every time, and the places where a name is used."""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterable, Iterator

import libcst as cst

from tfmemlint.fixes.concrete_tree import Statement
from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.records import dataclass

_NAMES = """
    constant zeros ones fill range eye linspace convert_to_tensor cast reshape math.log log sqrt math.sqrt ones_like
    zeros_like stack concat expand_dims math.pow pow
"""
_MAKERS = frozenset(f"tf.{name}" for name in _NAMES.split())
"""Functions whose result depends on their arguments alone, and that keep no state."""


_LOGGERS = frozenset({"logging.getLogger", "tf.get_logger"})


_FRESH = re.compile(
    r"(?:tf\.)?keras\.(?:optimizers|losses|metrics|layers|initializers|regularizers|callbacks)\.(?:\w+\.)?[A-Z]\w*"
    r"|tf\.distribute\.(?:Mirrored|OneDevice)Strategy"
)
"""Classes whose objects are as good made later: what they do at first depends on their arguments alone."""


def is_fresh_object(file: CodeFile, node: cst.BaseExpression) -> bool:
    """True if an expression makes an object of Keras, or a strategy, from constants.

    It has a state of its own from then on: one that is made for each call, or for each object, is not shared any more.
    """
    if not isinstance(node, cst.Call) or not _FRESH.fullmatch(file.imports.resolve(file.tree.code(node.func))):
        return False
    given = [each.value for each in node.args if not each.star]
    return len(given) == len(node.args) and all(is_constant_tensor(file, value) for value in given)


def is_constant_tensor(file: CodeFile, node: cst.BaseExpression) -> bool:
    """True if an expression makes the same value whenever and however often it is evaluated."""
    try:
        tree = ast.parse(file.tree.code(node).strip(), mode="eval")
    except SyntaxError:
        return False
    for part in ast.walk(tree):
        if isinstance(part, ast.Call):
            if file.imports.resolve(ast.unparse(part.func)) not in _MAKERS:
                return False
        elif isinstance(part, ast.Name):
            if part.id not in file.imports.imported() and not is_steady(file, part.id):
                return False
        elif isinstance(part, (ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
            return False
    return True


def is_steady(file: CodeFile, name: str) -> bool:
    """True if a name is bound once in a file, to a constant or a logger at its top level."""
    bound = [
        statement for statement in file.tree.statements(file.tree.module) if name in file.hoist.read(statement).binds
    ]
    if len(bound) != 1 or name in file.hoist.declared:
        return False
    node = ast.parse(file.tree.code(bound[0])).body[0]
    if not isinstance(node, ast.Assign):
        return False
    if isinstance(node.value, ast.Call) and file.imports.resolve(ast.unparse(node.value.func)) in _LOGGERS:
        return True
    try:
        return isinstance(ast.literal_eval(node.value), (int, float, str, tuple, bool))
    except ValueError:
        return False


def check_kept_names(file: CodeFile, names: Iterable[str]) -> list[str]:
    """Refuse names that may have another value, or none yet, where a configuration is to go; return the constants.

    Raises:
        Withheld: a name is not an import, a function, or a constant that nothing changes.
    """
    constants = sorted(set(names) - file.imports.imported() - set(file.bound) - set(file.hoist.bodies))
    for name in constants:
        if not is_steady(file, name):
            raise Withheld(f"it needs {name}, which may have another value by then")
    return constants


@dataclass(frozen=True, slots=True)
class Use:
    """A place where a name of the module is read: in the body of ``function``, or at the top level (None)."""

    node: cst.Name
    function: cst.FunctionDef | None


def uses_of(file: CodeFile, name: str) -> Iterator[Use]:
    """Yield the places where a module's name is read.

    Raises:
        Withheld: it can't be said which function a place belongs to, or another scope has the same name.
    """
    tree = file.tree
    _check_not_local(tree.text, name)
    for node in tree.ranges:
        if not isinstance(node, cst.Name) or node.value != name:
            continue
        parent = tree.parents.get(node)
        if isinstance(parent, cst.Attribute) and parent.attr is node:
            continue
        if isinstance(parent, cst.Arg) and parent.keyword is node:
            continue
        if isinstance(parent, (cst.ImportAlias, cst.AsName)):
            continue
        if isinstance(parent, cst.CompFor) and parent.iter is node:
            yield Use(node, outermost_function(file, node))
            continue
        if isinstance(parent, (cst.Param, cst.Global, cst.NameItem, cst.AssignTarget, cst.CompFor)) and (
            not isinstance(parent, cst.AssignTarget) or tree.function_of(node) is not tree.module
        ):
            raise Withheld(f"{name} has another meaning in line {tree.span(node).row}")
        if isinstance(parent, cst.AssignTarget):
            continue
        yield Use(node, outermost_function(file, node))


def _check_not_local(text: str, name: str) -> None:
    """Refuse where a function has a variable of its own of this name.

    Raises:
        Withheld: it has.
    """
    pending = [symtable.symtable(text, "code", "exec")]
    while pending:
        scope = pending.pop()
        pending.extend(scope.get_children())
        own = (symbol for symbol in scope.get_symbols() if symbol.get_name() == name)
        if scope.get_type() == "function" and any(symbol.is_local() for symbol in own):
            raise Withheld(f"{name} has another meaning in line {scope.get_lineno()}")


def outermost_function(file: CodeFile, node: cst.CSTNode) -> cst.FunctionDef | None:
    """Return the outermost function whose body has a node; None if it is evaluated where the module is."""
    found = None
    below = node
    for around in file.tree.ancestors(node):
        if isinstance(around, cst.FunctionDef) and below is around.body:
            found = around
        below = around
    return found


def first_statement(file: CodeFile, function: cst.FunctionDef) -> Statement:
    """Return the first statement of a function below its docstring.

    Raises:
        Withheld: its body shares a line with its head.
    """
    from tfmemlint.fixes.imports import is_docstring

    if not isinstance(function.body, cst.IndentedBlock):
        raise Withheld(f"the body of {function.name.value} shares a line with its head")
    lines = file.tree.statements(function.body)
    return next((line for line in lines if not is_docstring(line)), lines[-1])


def containing(file: CodeFile, function: cst.FunctionDef, node: cst.CSTNode) -> Statement:
    """Return the statement of a function's own block that has a node."""
    span = file.tree.span(node)
    assert isinstance(function.body, cst.IndentedBlock)
    return next(line for line in file.tree.statements(function.body) if file.tree.span(line).contains(span))
