"""Strategy: move the call, the import or the statements that configure above what leads to the start.

It keeps the order of everything else: what moves does nothing but configure, and takes along what it needs. Nothing in
between may bind, read or change what it uses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from tfmemlint.fixes.concrete_tree import Statement
from tfmemlint.fixes.hoist_out_of_function import FunctionHoist
from tfmemlint.fixes.order.entry_place import check_flags
from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.problem import Candidate, OrderProblem, describe
from tfmemlint.fixes.withheld import Withheld


def move_in_scope(problem: OrderProblem) -> Iterator[Candidate]:
    """Move within the function, or the top level, in which the ways part."""
    file = problem.file
    line, above = file.hoist.locate_between(problem.then, problem.first, above_definitions=True)
    moved = file.hoist.plan([line], above)
    yield _candidate(problem, file, moved, line, above)


def move_to_top_level(problem: OrderProblem) -> Iterator[Candidate]:
    """Move from functions, or from under ``if __name__ == "__main__"``, to the top level that starts the runtime."""
    file = problem.file
    function_hoist = FunctionHoist(file.hoist, file.path, problem.first, problem.steps)
    above = function_hoist.above()
    if above is None:
        raise Withheld("what starts the runtime is not at the top level")
    moved, function = function_hoist.plan(above)
    out_of = f" out of {function}()" if function else ""
    yield _candidate(problem, file, moved, moved[-1], above, out_of)


def _candidate(
    problem: OrderProblem, file: CodeFile, moved: Sequence[Statement], line: Statement, above: Statement, out: str = ""
) -> Candidate:
    for statement in moved:
        runs = problem.files.import_does(file.path, statement)
        if runs:
            row = file.tree.span(statement).row
            raise Withheld(f"the import in line {row} does more than configure: {runs}")
        if problem.files.leads_back(file.path, statement):
            raise Withheld(f"the import in line {file.tree.span(statement).row} leads back to this file")
    for statement in moved:
        check_flags(file, above, _all_code(file, statement))
    _check_attributes(file, moved, above)
    _check_output(problem, file, moved, above)
    editor = problem.editor(file)
    editor.move_up(moved, above, problem.why)
    what = _what(file, line)
    return Candidate({file.path: editor.finish()}, f"Move {what}{out} above {describe(file, above)}")


def _all_code(file: CodeFile, statement: Statement) -> str:
    """Return the code of a statement, with that of the functions of its file that it calls."""
    names, found = list(file.hoist.read(statement).called), [file.tree.code(statement)]
    functions = {line.name.value: line for line in file.tree.module.body if isinstance(line, cst.FunctionDef)}
    while names:
        function = functions.pop(names.pop(), None)
        if function is not None:
            found.append(file.tree.code(function))
            names += file.hoist.bodies[function.name.value].called if function.name.value in file.hoist.bodies else ()
    return "\n".join(found)


def _check_output(problem: OrderProblem, file: CodeFile, moved: Sequence[Statement], above: Statement) -> None:
    """Refuse to pass an import that prints, if what moves prints in functions, or is such an import itself."""
    if problem.files.output_may_move:
        return
    entries = [file.hoist.entry_of(statement, file.hoist.read(statement), 0) for statement in moved]
    heard = any(entry.calls_print for entry in entries)
    if not heard and not any(problem.files.import_speaks(file.path, statement) for statement in moved):
        return
    block = file.tree.statements(file.tree.block_of(above))
    for statement in block[block.index(above) :]:
        if statement not in moved and problem.files.import_speaks(file.path, statement):
            raise Withheld(f"it would print before line {file.tree.span(statement).row} does")


def _what(file: CodeFile, line: Statement) -> str:
    node = line.body[0] if isinstance(line, cst.SimpleStatementLine) else line
    if isinstance(node, (cst.Import, cst.ImportFrom)) or (
        isinstance(node, cst.Expr) and isinstance(node.value, cst.Call)
    ):
        return describe(file, line)
    return "the configuration"


def _check_attributes(file: CodeFile, moved: Sequence[Statement], above: Statement) -> None:
    """Refuse to pass an assignment to an attribute of what the moved code calls: it may be a setting that it reads."""
    used = {name for statement in moved for name in file.hoist.read(statement).reads}
    start, end = file.tree.span(above).row, max(file.tree.span(statement).row for statement in moved)
    for node in file.tree.ranges:
        if isinstance(node, cst.AssignTarget) and isinstance(node.target, (cst.Attribute, cst.Subscript)):
            span = file.tree.span(node)
            root = file.tree.code(node.target).split(".")[0].split("[")[0]
            if start <= span.row < end and root in used and root in file.bound:
                raise Withheld(f"line {span.row} changes {root}, which it uses")
