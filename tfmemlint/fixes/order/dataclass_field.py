"""Strategy: a field of a dataclass whose factory starts the runtime becomes a cached property.

The object is then made without it, and the value when it is first used. Only where no call gives the field a value, and
nothing looks at the fields as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.problem import Candidate, OrderProblem
from tfmemlint.fixes.order.tensors import is_constant_tensor
from tfmemlint.fixes.unused_imports import drop_imports
from tfmemlint.fixes.users import users_of
from tfmemlint.fixes.withheld import Withheld

_LOOKED_AT = re.compile(
    r"__dict__|__slots__|__getattr|__setattr|__post_init__|\bslots\s*=|\border\s*=|"
    r"\b(?:vars|asdict|astuple|fields|replace|copy|deepcopy|pickle|InitVar|repr|tyro|HfArgumentParser)\b"
)
"""Code that sees the fields of an object otherwise than by their names."""
_GRAPHS = re.compile(r"tf\.function|Graph\(|\.scope\(")
"""Code in which what is made belongs to a graph, or to a strategy."""
_TEXT_MAKERS = re.compile(r"(?:^|\.)(?:p?print|str|repr|format|debug|info|warning|error|log|write)$")
"""Functions that make a text of what they are given."""
_DATACLASS = "dataclasses.dataclass"
_FIELD = "dataclasses.field"


def make_field_property(problem: OrderProblem) -> Iterator[Candidate]:
    """Replace a field of a dataclass by a cached property."""
    start = problem.early[-1]
    file = problem.files.get(start.path)
    tree = file.tree
    nodes = tree.at(start.span)
    around = [*nodes, *(tree.ancestors(nodes[0]) if nodes else ())]
    field = next((node for node in around if isinstance(node, cst.AnnAssign)), None)
    owner = next((node for node in around if isinstance(node, cst.ClassDef)), None)
    if field is None or owner is None or not isinstance(field.target, cst.Name) or field.value is None:
        raise Withheld("what starts the runtime is no field of a dataclass")
    statement = tree.statement_of(field)
    if tree.block_of(statement) is not owner.body or not _is_dataclass(file, owner):
        raise Withheld("what starts the runtime is no field of a dataclass")
    name, class_name = field.target.value, owner.name.value
    if owner.bases or _LOOKED_AT.search(tree.text) or _GRAPHS.search(tree.text):
        raise Withheld(f"{class_name}.{name} may be used otherwise than by its name")
    value = _made(problem, file, field.value)
    _check_not_given(file, owner, field, name)
    for user in users_of(file.path, class_name):
        if re.search(rf"\b{name}\s*=(?!=)", problem.files.get(user).source.text):
            raise Withheld(f"{user} may give {class_name}.{name} a value")
    editor = problem.editor(file)
    decorator = f"@{editor.add_import('functools')}.cached_property"
    text = f"{decorator}\ndef {name}(self):\n    return {value}\n"
    drop_imports(editor, [field.value, field.annotation], value)
    assert isinstance(owner.body, cst.IndentedBlock)
    lines = tree.statements(owner.body)
    if len(lines) == 1:
        editor.replace_statement(statement, text)
    else:
        editor.discard(statement)
        editor.insert_after(lines[-2] if statement is lines[-1] else lines[-1], text, apart=True)
    message = f"Make {class_name}.{name} a cached property, made when it is first used"
    yield Candidate({file.path: editor.finish()}, message)


def _is_dataclass(file: CodeFile, owner: cst.ClassDef) -> bool:
    """True if a class has no decorator but that of dataclasses."""
    codes = [file.tree.code(each.decorator).partition("(")[0] for each in owner.decorators]
    return [file.imports.resolve(code) for code in codes] == [_DATACLASS]


def _made(problem: OrderProblem, file: CodeFile, value: cst.BaseExpression) -> str:
    """Return the code of what the factory of a field makes.

    Raises:
        Withheld: it is no factory, or what it makes may be another thing later.
    """
    tree = file.tree
    if not isinstance(value, cst.Call) or file.imports.resolve(tree.code(value.func)) != _FIELD or len(value.args) != 1:
        raise Withheld("the field has no factory")
    argument = value.args[0]
    if argument.keyword is None or argument.keyword.value != "default_factory":
        raise Withheld("the field has no factory")
    factory = argument.value
    if isinstance(factory, cst.Lambda):
        if is_constant_tensor(file, factory.body):
            return tree.code(factory.body)
        called, code = _called(file, factory.body), tree.code(factory.body)
    else:
        called, code = [tree.code(factory)], f"{tree.code(factory)}()"
    if not called or not all(file.imports.resolve(each).startswith(("tf.", "keras.")) for each in called):
        raise Withheld("what the factory makes may be another thing later")
    if problem.files.is_seeded(file.path) or problem.files.is_seeded(problem.entry):
        raise Withheld("the order of random operations would be another one, and a seed is set")
    return code


def _called(file: CodeFile, node: cst.CSTNode) -> list[str]:
    inside = file.tree.span(node)
    calls = (each for each in file.tree.ranges if isinstance(each, cst.Call))
    return [file.tree.code(call.func) for call in calls if inside.contains(file.tree.span(call))]


def _check_not_given(file: CodeFile, owner: cst.ClassDef, field: cst.AnnAssign, name: str) -> None:
    """Refuse where an object gets the field as an argument, or may get it.

    Raises:
        Withheld: it does.
    """
    tree = file.tree
    fields = [
        line.body[0]
        for line in (tree.statements(owner.body) if isinstance(owner.body, cst.IndentedBlock) else ())
        if isinstance(line, cst.SimpleStatementLine) and isinstance(line.body[0], cst.AnnAssign)
    ]
    number = fields.index(field)
    for node in tree.ranges:
        if not isinstance(node, cst.Call) or tree.code(node.func) not in (owner.name.value, "cls"):
            continue
        plain = [argument for argument in node.args if argument.keyword is None]
        if len(plain) > number or any(argument.star for argument in node.args):
            raise Withheld(f"line {tree.span(node).row} may give {name} a value")
        if any(argument.keyword is not None and argument.keyword.value == name for argument in node.args):
            raise Withheld(f"line {tree.span(node).row} gives {name} a value")
        around = tree.parents.get(node)
        names = {tree.code(each.target) for each in around.targets} if isinstance(around, cst.Assign) else set[str]()
        _check_not_printed(file, {tree.code(node), *names})


def _check_not_printed(file: CodeFile, objects: set[str]) -> None:
    """Refuse where an object itself is made a text, which has all fields.

    Raises:
        Withheld: it is.
    """
    tree = file.tree
    for node in tree.ranges:
        if isinstance(node, cst.FormattedStringExpression):
            printed = [node.expression]
        elif isinstance(node, cst.Call) and _TEXT_MAKERS.search(tree.code(node.func)):
            printed = [argument.value for argument in node.args]
        else:
            continue
        if any(tree.code(each) in objects for each in printed):
            raise Withheld(f"line {tree.span(node).row} shows all fields of the object")
