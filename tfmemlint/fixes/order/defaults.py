"""Strategy: take a tensor out of a definition.

A default argument becomes ``None``, and the function makes the tensor when it is called; the default of a dataclass
becomes a factory. Only tensors that are the same whenever they are made are taken out, so that nothing else changes.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.fixes.editor import Editor
from tfmemlint.fixes.order.entry_place import extend_import
from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.problem import Candidate, OrderProblem
from tfmemlint.fixes.order.tensors import first_statement, is_constant_tensor, is_fresh_object
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Span


def take_out_of_definition(problem: OrderProblem) -> Iterator[Candidate]:
    """Make the tensor of a default argument, or of a dataclass, when it is needed."""
    start = problem.early[-1]
    file = problem.files.get(start.path)
    for around in _around(file, start.span):
        if isinstance(around, cst.Param) and around.default is not None:
            yield _default_argument(problem, file, around)
            return
        if isinstance(around, cst.AnnAssign) and around.value is not None:
            yield _dataclass_default(problem, file, around)
            return
    raise Withheld("what starts the runtime is in no default argument")


def _around(file: CodeFile, span: Span) -> list[cst.CSTNode]:
    nodes = file.tree.at(span)
    return [*nodes, *(file.tree.ancestors(nodes[0]) if nodes else ())]


def _default_argument(problem: OrderProblem, file: CodeFile, parameter: cst.Param) -> Candidate:
    default = parameter.default
    assert default is not None
    function = next((node for node in file.tree.ancestors(parameter) if isinstance(node, cst.FunctionDef)), None)
    name = parameter.name.value
    if function is None:
        raise Withheld("the default is that of a lambda")
    fresh = is_fresh_object(file, default)
    if not fresh and not is_constant_tensor(file, default):
        raise Withheld(f"the default of {name} may be another value each time")
    editor = problem.editor(file)
    editor.replace(default, "None")
    value = file.tree.code(default)
    editor.insert_before(first_statement(file, function), f"if {name} is None:\n    {name} = {value}\n")
    when = "anew in each call" if fresh else "when it is called"
    return Candidate({file.path: editor.finish()}, f"Make the default of {name} in {function.name.value}() {when}")


def _dataclass_default(problem: OrderProblem, file: CodeFile, field: cst.AnnAssign) -> Candidate:
    value = field.value
    assert value is not None
    owner = next((node for node in file.tree.ancestors(field) if isinstance(node, cst.ClassDef)), None)
    decorators = (
        [file.tree.code(each.decorator).split("(")[0].split(".")[-1] for each in owner.decorators] if owner else []
    )
    if owner is None or "dataclass" not in decorators:
        raise Withheld("the class is not a dataclass")
    if not isinstance(field.target, cst.Name):
        raise Withheld("the default may be another value each time")
    editor = problem.editor(file)
    given = _given(file, value)
    if not is_constant_tensor(file, value if given is None else given.value):
        raise Withheld("the default may be another value each time")
    if given is not None:
        factory = cst.Lambda(cst.Parameters(), given.value)
        editor.replace(given, given.with_changes(keyword=cst.Name("default_factory"), value=factory))
    else:
        spelled = _field(editor, file)
        editor.replace(value, f"{spelled}(default_factory=lambda: {file.tree.code(value)})")
    name = field.target.value
    return Candidate({file.path: editor.finish()}, f"Make the default of {owner.name.value}.{name} by a factory")


def _given(file: CodeFile, value: cst.BaseExpression) -> cst.Arg | None:
    """Return the argument ``default`` of a call of ``dataclasses.field``; None for all else."""
    if not isinstance(value, cst.Call) or file.imports.resolve(file.tree.code(value.func)) != "dataclasses.field":
        return None
    return next((each for each in value.args if each.keyword is not None and each.keyword.value == "default"), None)


def _field(editor: Editor, file: CodeFile) -> str:
    """Return how the file names ``dataclasses.field``; it is imported if it is not yet."""
    for node in file.tree.ranges:
        if not isinstance(node, cst.ImportFrom) or isinstance(node.names, cst.ImportStar):
            continue
        known = [file.tree.code(alias.name) for alias in node.names if alias.asname is None]
        if file.module_of(node) == "dataclasses" and node.lpar is None and "field" not in known:
            if "field" in file.imports.taken:
                break
            extend_import(editor, file, node, "field")
            return "field"
    return editor.add_import("dataclasses", "field")
