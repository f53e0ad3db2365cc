"""Strategy: what ``__init__`` gives to an attribute, and starts the runtime, is made when it is first used.

The attribute becomes a cached property. Only in a plain class whose objects nothing looks at as a whole, and only a
value that does not depend on the moment at which it is made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from tfmemlint.fixes.concrete_tree import Statement, comments_in
from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.move_starter import check_steady
from tfmemlint.fixes.order.problem import Candidate, OrderProblem
from tfmemlint.fixes.withheld import Withheld

_LOOKED_AT = re.compile(r"__dict__|__slots__|__getattr|__setattr|\b(?:vars|asdict|copy|deepcopy|pickle)\b")
"""Code that sees an attribute otherwise than by its name."""
_GRAPHS = re.compile(r"tf\.function|Graph\(|\.scope\(")
"""Code in which what is made belongs to a graph, or to a strategy."""


def make_cached_property(problem: OrderProblem) -> Iterator[Candidate]:
    """Replace an assignment to ``self.NAME`` in ``__init__`` by a cached property."""
    start = problem.early[-1]
    file = problem.files.get(start.path)
    tree = file.tree
    statement = tree.statement_at(start.span)
    function, owner = _method(file, statement)
    node = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement
    target = node.targets[0].target if isinstance(node, cst.Assign) and len(node.targets) == 1 else None
    if not isinstance(node, cst.Assign) or not isinstance(target, cst.Attribute) or tree.code(target.value) != "self":
        raise Withheld("what starts the runtime gives an attribute no value")
    name = target.attr.value
    if _LOOKED_AT.search(tree.text) or _GRAPHS.search(tree.text) or comments_in(statement):
        raise Withheld(f"self.{name} may be used otherwise than by its name")
    if problem.files.is_seeded(file.path) or problem.files.is_seeded(problem.entry):
        raise Withheld("the order of random operations would be another one, and a seed is set")
    check_steady(file, statement)
    value = _value(file, function, node.value, statement)
    again = [
        each
        for each in tree.ranges
        if isinstance(each, cst.Attribute) and each.attr.value == name and each is not target
        if isinstance(tree.parents.get(each), (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.Del))
    ]
    if again:
        raise Withheld(f"line {tree.span(again[0]).row} gives self.{name} another value")
    editor = problem.editor(file)
    decorator = f"@{editor.add_import('functools')}.cached_property"
    property_ = f"{decorator}\ndef {name}(self):\n    return {value}\n"
    if all(line is statement for line in tree.statements_within(function)):
        editor.replace_statement(function, property_)
    else:
        editor.discard(statement)
        editor.insert_after(function, property_, apart=True)
    yield Candidate(
        {file.path: editor.finish()}, f"Make {owner.name.value}.{name} a cached property, made when it is first used"
    )


def _method(file: CodeFile, statement: Statement) -> tuple[cst.FunctionDef, cst.ClassDef]:
    """Return the ``__init__`` of which a statement is part, and its class.

    Raises:
        Withheld: it is elsewhere, under a condition, or the class is not a plain one.
    """
    tree = file.tree
    function = tree.function_of(statement)
    owner = tree.parents.get(tree.block_of(function)) if isinstance(function, cst.FunctionDef) else None
    if not isinstance(function, cst.FunctionDef) or not isinstance(owner, cst.ClassDef):
        raise Withheld("what starts the runtime is in no __init__")
    if function.name.value != "__init__" or tree.block_of(statement) is not function.body:
        raise Withheld("what starts the runtime is in no __init__")
    if {tree.code(base.value) for base in owner.bases} - {"object"} or owner.decorators or owner.keywords:
        raise Withheld(f"{owner.name.value} is not a plain class")
    return function, owner


def _value(file: CodeFile, function: cst.FunctionDef, value: cst.BaseExpression, statement: Statement) -> str:
    """Return the code of a value for another method of the class.

    Raises:
        Withheld: it needs what only ``__init__`` has.
    """
    tree = file.tree
    lines = tree.statements_within(function)
    if re.search(r"\bself\b|\blambda\b|:=|\bawait\b", tree.code(value)):
        raise Withheld("it needs other attributes")
    own = {each.name.value for each in function.params.params if each.name.value != "self"}
    own |= {each.name.value for each in function.params.kwonly_params}
    own |= {name for line in lines for name in file.hoist.read(line).binds}
    needed = file.hoist.read(statement).reads & own
    code = tree.code(value)
    for name in sorted(needed):
        kept = [line for line in lines[: lines.index(statement)] if tree.code(line).strip() == f"self.{name} = {name}"]
        given = [line for line in lines if name in file.hoist.read(line).binds]
        others = re.findall(rf"\.{name}\s*(?:[-+*/|&]|//|\*\*)?=(?!=)", tree.text)
        if not kept or given or len(others) != 1:
            raise Withheld(f"it needs {name}, which only __init__ has")
        code = re.sub(rf"(?<![\w.'\"]){name}\b(?!\s*=(?!=))", f"self.{name}", code)
    return code
