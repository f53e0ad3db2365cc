"""Strategy: let a new process begin with nothing of its parent, so that what it configures is in time.

A process that is forked has the runtime that its parent has started, on which nothing can be set any more (measured
with TensorFlow 2.21 on Linux). One that is spawned imports the program's main module anew, and configures its own
runtime.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from tfmemlint.fixes.concrete_tree import Statement
from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.problem import Candidate, OrderProblem
from tfmemlint.fixes.withheld import Withheld


def spawn_processes(problem: OrderProblem) -> Iterator[Candidate]:
    """Replace the start method that the program states, or state one first thing in its ``__main__`` block."""
    made_in = problem.finding.details.get("process")
    if not isinstance(made_in, str):
        return  # nothing is forked
    file = problem.files.get(made_in)
    stated = [call for call in file.tree.ranges if isinstance(call, cst.Call) and _names_method(file, call)]
    if stated:
        if len(stated) > 1 or not _is_fork(stated[0]):
            raise Withheld("how processes are started is stated in several places, or computed")
        editor = problem.editor(file)
        editor.replace(stated[0].args[0].value, editor.quoted("spawn"))
    else:
        if made_in != problem.entry or made_in.endswith(".ipynb"):
            raise Withheld("the process is made in another file than the one that is run")
        editor = problem.editor(file)
        module = editor.add_import("multiprocessing")
        line = f"{module}.set_start_method({editor.quoted('spawn')})\n"
        editor.insert_before(_first_of_main(file, problem), line)
    _check_targets(file)
    yield Candidate({file.path: editor.finish()}, "Spawn the processes: a forked one has the runtime of its parent")


def _names_method(file: CodeFile, call: cst.Call) -> bool:
    """Return True for ``get_context(...)`` and ``set_start_method(...)``."""
    return file.tree.code(call.func).rpartition(".")[2] in ("get_context", "set_start_method")


def _is_fork(call: cst.Call) -> bool:
    value = call.args[0].value if call.args else None
    return isinstance(value, cst.SimpleString) and value.evaluated_value == "fork"


def _first_of_main(file: CodeFile, problem: OrderProblem) -> Statement:
    """Return the first statement of ``if __name__ == "__main__":``, which holds all that starts processes.

    Raises:
        Withheld: there is none, or the process is made when the module is imported: a spawned one would import it.
    """
    made = problem.finding.anchors["process"]
    for statement in file.tree.module.body:
        if isinstance(statement, cst.If) and _MAIN.match(file.tree.code(statement.test)):
            if isinstance(statement.body, cst.IndentedBlock) and isinstance(statement.body.body[0], _STATEMENTS):
                return statement.body.body[0]
        elif file.tree.span(statement).contains(made) and not isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            break
    raise Withheld('a process that is spawned needs a main module with `if __name__ == "__main__":`')


_MAIN = re.compile(r"""^__name__\s*==\s*["']__main__["']$""")
_STATEMENTS = (cst.SimpleStatementLine, cst.BaseCompoundStatement)


def _check_targets(file: CodeFile) -> None:
    """Refuse where a process runs what cannot be handed to a spawned one.

    Raises:
        Withheld: a target is a lambda, or is defined within a function.
    """
    for argument in file.tree.ranges:
        if not isinstance(argument, cst.Arg) or argument.keyword is None or argument.keyword.value != "target":
            continue
        nested = isinstance(argument.value, cst.Name) and not any(
            isinstance(statement, cst.FunctionDef) and statement.name.value == argument.value.value
            for statement in file.tree.module.body
        )
        if isinstance(argument.value, cst.Lambda) or (nested and file.tree.code(argument.value) not in file.bound):
            raise Withheld("a process that is spawned cannot run a function that is defined within another")
