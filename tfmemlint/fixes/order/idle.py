"""Find the calls of a function that does nothing any more, once what it configures is called above what starts the
runtime.
"""

from __future__ import annotations

import re

import libcst as cst

from tfmemlint.fixes.callees import is_instance
from tfmemlint.fixes.concrete_tree import Statement, comments_in
from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.orphans import LIVING
from tfmemlint.fixes.users import others_that_mention

_PLAIN_BASES = frozenset({"object", "ABC", "abc.ABC"})
"""Base classes that call no method of their own accord."""
_PLAIN_DECORATORS = frozenset({"staticmethod", "classmethod"})


def idle_calls(file: CodeFile, function: cst.FunctionDef, place: Statement) -> list[Statement]:
    """Return the calls of a function that would do nothing any more; none if something else may need it.

    Args:
        file: the file of the function. function: it does nothing but what is called above ``place`` as well.
        place: a statement of the same file. Whoever gets to the calls has to come by it.

    Raises:
        Withheld: the project is too large to see who uses the function.
    """
    tree = file.tree
    name = function.name.value
    owner = tree.parents.get(tree.block_of(function))
    owner = owner if isinstance(owner, cst.ClassDef) else None
    if any(tree.code(each.decorator).strip() not in _PLAIN_DECORATORS for each in function.decorators):
        return []
    if owner is not None:
        bases = {tree.code(base.value).strip() for base in owner.bases}
        if name.startswith("__") or owner.keywords or not bases <= _PLAIN_BASES or len(owner.body.body) == 1:
            return []
    if re.search(rf"['\"]{re.escape(name)}['\"]", tree.text) or others_that_mention(file.path, name):
        return []
    found: list[Statement] = []
    for node in tree.ranges:
        if not isinstance(node, cst.Name) or node.value != name or tree.parents.get(node) is function:
            continue
        call = _call_of(file, node, owner)
        if call is None or not _comes_below(file, call, place):
            return []
        found.append(call)
    gone = [comment for line in (function, *found) for comment in comments_in(line)]
    return [] if any(map(LIVING.search, gone)) else found


def _call_of(file: CodeFile, name: cst.Name, owner: cst.ClassDef | None) -> Statement | None:
    """Return the statement that is nothing but a call of the function that is meant; None where it is not."""
    tree = file.tree
    parent = tree.parents.get(name)
    func: cst.CSTNode = name
    if owner is not None:
        if not isinstance(parent, cst.Attribute) or parent.attr is not name:
            return None
        if not is_instance(file.tree, parent, owner.name.value):
            return None
        func = parent
    call = tree.parents.get(func)
    if not isinstance(call, cst.Call) or call.func is not func or not isinstance(tree.parents.get(call), cst.Expr):
        return None
    if any(re.search(r"\(|:=|\bawait\b", tree.code(argument.value)) for argument in call.args):
        return None
    line = tree.statement_of(call)
    return line if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None


def _comes_below(file: CodeFile, call: Statement, place: Statement) -> bool:
    """True if a program makes a call only below a statement that it has come by."""
    tree = file.tree
    if tree.block_of(place) is tree.module:
        return tree.function_of(call) is not None or tree.span(place) < tree.span(call)
    function = tree.function_of(place)
    if not isinstance(function, cst.FunctionDef) or tree.function_of(call) is not function:
        return False
    return tree.block_of(place) is function.body and tree.span(place) < tree.span(call)
