"""Strategy: import the module that starts the runtime in the functions that use it.

Only names that no top-level statement uses, and modules whose import prints and opens nothing: its definitions come
later, and all else keeps its order.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.fixes.concrete_tree import Statement
from tfmemlint.fixes.imports import is_import
from tfmemlint.fixes.order.entry_place import is_guard
from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.problem import Candidate, OrderProblem, describe
from tfmemlint.fixes.order.tensors import containing, first_statement, uses_of
from tfmemlint.fixes.users import other_user
from tfmemlint.fixes.withheld import Withheld


def defer_import(problem: OrderProblem) -> Iterator[Candidate]:
    """Move the import that leads to the start into the functions that use what it imports."""
    file = problem.file
    tree = file.tree
    node = next((node for node in tree.at(problem.first) if isinstance(node, (cst.Import, cst.ImportFrom))), None)
    if node is None or isinstance(node.names, cst.ImportStar):
        raise Withheld("what leads to the start is not an import of names")
    statement = tree.statement_of(node)
    if tree.block_of(statement) is not tree.module:
        raise Withheld("the import is not at the top level")
    if problem.files.import_speaks(file.path, statement):
        raise Withheld("the import prints, or uses files")
    if problem.files.output_may_move and "environ" in file.source.text:
        raise Withheld("the environment may be another one by then")
    if problem.files.is_seeded(file.path):
        raise Withheld("the order of random operations may be another one, and a seed is set")
    for local in _locals(file, node):
        if user := other_user(file.path, local):
            raise Withheld(f"{user} may use {local} from here")
    late = _in_guard(problem, file, node)
    if late is not None:
        editor = problem.editor(file)
        editor.remove(statement)
        lines = tree.statements(tree.block_of(late))
        editor.insert_before(lines[lines.index(late) + 1], f"{tree.code(statement).strip()}\n", apart=True)
        yield Candidate({file.path: editor.finish()}, f"Move {describe(file, statement)} below {describe(file, late)}")
        return
    users = _users(file, node)
    editor = problem.editor(file)
    editor.remove(statement)
    code = tree.code(statement).strip()
    for function in users:
        place = _place(problem, file, function, users[function])
        editor.insert_before(place, f"{code}\n", apart=not is_import(place))
    names = " and ".join(sorted({f"{function.name.value}()" for function in users}))
    yield Candidate({file.path: editor.finish()}, f"Move {describe(file, statement)} into {names}")


def _in_guard(problem: OrderProblem, file: CodeFile, node: cst.Import | cst.ImportFrom) -> Statement | None:
    """Return the statement under ``if __name__ == "__main__"`` that leads to the configuration, if nothing but what is
    below it there uses the import."""
    if problem.depth:
        return None
    tree = file.tree
    late = tree.statement_at(problem.then)
    while (block := tree.block_of(late)) is not tree.module:
        around = tree.parents.get(block)
        if isinstance(around, cst.If) and is_guard(file, around) and tree.block_of(around) is tree.module:
            break
        if not isinstance(around, (cst.If, cst.For, cst.Try)):
            return None
        late = around
    else:
        return None
    uses = [use for local in _locals(file, node) for use in uses_of(file, local)]
    inside, limit = tree.span(block), tree.span(late)
    if uses and all(
        use.function is None and inside.contains(tree.span(use.node)) and tree.span(use.node).row > limit.end_row
        for use in uses
    ):
        return late
    return None


def _locals(file: CodeFile, node: cst.Import | cst.ImportFrom) -> list[str]:
    """Return the names that an import binds."""
    assert not isinstance(node.names, cst.ImportStar)
    return [
        file.tree.code(alias.asname.name) if alias.asname else file.tree.code(alias.name).split(".")[0]
        for alias in node.names
    ]


def _users(file: CodeFile, node: cst.Import | cst.ImportFrom) -> dict[cst.FunctionDef, list[cst.Name]]:
    """Return the functions that use what an import binds.

    Raises:
        Withheld: nothing uses it, or something at the top level does.
    """
    assert not isinstance(node.names, cst.ImportStar)
    found: dict[cst.FunctionDef, list[cst.Name]] = {}
    for local in _locals(file, node):
        if sum(binding.local == local for binding in file.imports.bindings) > 1:
            raise Withheld(f"{local} is imported more than once")
        for use in uses_of(file, local):
            if use.function is None:
                raise Withheld(f"line {file.tree.span(use.node).row} uses {local} at the top level")
            found.setdefault(use.function, []).append(use.node)
    if not found:
        raise Withheld("no function uses what it imports")
    return found


def _place(problem: OrderProblem, file: CodeFile, function: cst.FunctionDef, nodes: list[cst.Name]) -> Statement:
    """Return the statement of a function above which the import goes: below the configuration, if that is there."""
    first = min((containing(file, function, node) for node in nodes), key=file.tree.span)
    tree = file.tree
    assert isinstance(function.body, cst.IndentedBlock)
    for step in problem.steps:
        line = next((line for line in tree.statements(function.body) if tree.span(line).contains(step)), None)
        if line is not None:
            if tree.span(first) <= tree.span(line):
                raise Withheld(f"{function.name.value}() uses it before it configures")
            return first
    return first_statement(file, function)
