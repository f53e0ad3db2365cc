"""Strategy: turn memory growth on in the module whose import starts the runtime, right above what starts it.

A package that makes tensors when it is imported leaves its users no place at which configuration is in time. It has to
configure by itself. The call that comes too late is removed where nothing else needs it; where it stays, it sets the
same value again, which TensorFlow accepts.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import libcst as cst

from tfmemlint.fixes.concrete_tree import Statement
from tfmemlint.fixes.editor import Editor
from tfmemlint.fixes.imports import is_docstring
from tfmemlint.fixes.order.entry_place import is_unconditional
from tfmemlint.fixes.order.environment import asks_for_growth, check_removable, others_that_use, remove_calls
from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.problem import Candidate, OrderProblem
from tfmemlint.fixes.orphans import Remover
from tfmemlint.fixes.rewrites.render_intent import growth_for_all
from tfmemlint.fixes.withheld import Withheld


def configure_at_start(problem: OrderProblem) -> Iterator[Candidate]:
    """Put the loop that sets memory growth above the top-level statement that starts the runtime."""
    asks_for_growth(problem)
    is_unconditional(problem)
    late = problem.files.get(problem.finding.path)
    check_removable(late, late.tree.statement_at(problem.finding.span))
    start, place = _start(problem)
    entry = problem.files.get(problem.finding.trace[0].path)
    strangers = others_that_use(start, entry) - others_that_use(late, entry)
    if strangers:
        raise Withheld(f"{min(strangers)} starts the runtime there, too, and asks for no memory growth")
    words = f"Turn memory growth on in {start.path}, above what starts the runtime"
    for remove in (True, False):
        editors = {start.path: problem.editor(start)}
        if remove and not _remove_late(problem, start, late, entry, editors):
            continue
        editor = editors[start.path]
        editor.put_up(growth_for_all(editor), place, problem.why)
        texts = {path: changed.finish() for path, changed in editors.items()}
        yield Candidate(texts, f"{words}, in place of the call that comes too late" if remove else words)


def _start(problem: OrderProblem) -> tuple[CodeFile, Statement]:
    """Return the innermost file whose top level leads to the start, and the statement there.

    Raises:
        Withheld: there is none.
    """
    for step in reversed(problem.early):
        file = problem.files.get(step.path)
        if (step.span.row, step.span.column) == (step.span.end_row, step.span.end_column):
            continue
        statement = file.tree.statement_at(step.span)
        if file.tree.block_of(statement) is file.tree.module:
            return file, statement
    raise Withheld("what starts the runtime is in no file of the program")


def _remove_late(
    problem: OrderProblem, start: CodeFile, late: CodeFile, entry: CodeFile, editors: dict[str, Editor]
) -> bool:
    """Remove the call that comes too late, with its function and all calls of that; False if something needs it."""
    if not _comes_with(late.path, start.path) and others_that_use(late, entry):
        return False
    here = editors.setdefault(late.path, problem.editor(late))
    statement = late.tree.statement_at(problem.finding.span)
    remover = Remover(here, late.path)
    emptied = remover.remove(statement, calls=late.path == entry.path)
    if emptied is not None:
        there = editors.setdefault(entry.path, problem.editor(entry))
        return remove_calls(problem, (late, here), (entry, there), emptied)
    function = late.tree.function_of(statement)
    return function in remover.gone or not _is_empty(function, remover.gone)


def _is_empty(function: cst.CSTNode, gone: set[cst.CSTNode]) -> bool:
    """True if a function is left with nothing to do."""
    body = function.body if isinstance(function, cst.FunctionDef) else None
    return isinstance(body, cst.IndentedBlock) and all(line in gone or is_docstring(line) for line in body.body)


def _comes_with(path: str, start: str) -> bool:
    """True if whoever imports a module imports the one that starts the runtime as well: that is its package."""
    if Path(path) == Path(start):
        return True
    first = Path(start)
    return first.name == "__init__.py" and first.parent in Path(path).parents
