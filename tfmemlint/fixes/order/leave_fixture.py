"""Strategy: configure at the top of a module of tests, where a fixture that is always used does it too late.

The modules of the tests are imported before the first fixture is set up, so that these, and what they import, have
started the runtime by then. An ``autouse`` fixture, or a ``setUpClass``, that does nothing but configure becomes
statements of its module, above the import or the class that starts it. A fixture of a ``conftest.py`` becomes
statements in its own place if modules of tests start the runtime: pytest imports these later.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from pathlib import Path

import libcst as cst

from tfmemlint.fixes.concrete_tree import Statement
from tfmemlint.fixes.def_use import def_use_of
from tfmemlint.fixes.imports import is_docstring
from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.problem import Candidate, OrderProblem, code_of, describe
from tfmemlint.fixes.unused_imports import drop_imports
from tfmemlint.fixes.users import is_used_by_tests, mentions
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Step


def leave_fixture(problem: OrderProblem) -> Iterator[Candidate]:
    """Move the body of a fixture above the import that leads to the start, or to the top level of its conftest.py."""
    # pytest reads the module: the step below that is the statement.
    start = next((step for step in problem.early if not step.words.startswith("pytest ")), problem.early[-1])
    file = problem.files.get(problem.finding.path)
    is_before_tests = Path(file.path).name == "conftest.py" and start.path != file.path
    tree = file.tree
    function = tree.function_of(tree.statement_at(problem.finding.span))
    block = function.body if isinstance(function, cst.FunctionDef) else None
    if (
        not isinstance(function, cst.FunctionDef)
        or not isinstance(block, cst.IndentedBlock)
        or not _is_automatic(file, function)
    ):
        raise Withheld("it is in no fixture that is always used")
    name = function.name.value
    place = function if is_before_tests else _above_start(file, start)
    is_hook = name in _HOOKS
    # Its own text may have the word in its docstring.
    others_text = file.source.text.replace(tree.code(function), f"def {name}\n")
    is_used = mentions(file.path, others_text, name) != 1 or (
        Path(file.path).name == "conftest.py" and is_used_by_tests(file.path, name)
    )
    if not is_hook and (function.params.params or is_used):
        raise Withheld(f"{name} is used elsewhere")
    lines = [line for line in tree.statements(block) if not is_docstring(line)]
    if lines and tree.code(lines[-1]).strip() == "yield":
        lines = lines[:-1]
    body = "".join(code_of(file, line) for line in lines)
    names = def_use_of(body)
    if not lines or names.leaves or any(file.hoist.unrelated_call(file.hoist.read(line)) for line in lines):
        raise Withheld(f"{name}() does more than configure")
    above = tree.statements(tree.module)
    known = {bound for line in above[: above.index(place)] for bound in file.hoist.read(line).binds}
    if missing := names.reads - names.binds - known - set(dir(builtins)):
        raise Withheld(f"it needs {min(missing)}, which is below")
    inside = tree.span(function)
    others = {node.value for node in tree.ranges if isinstance(node, cst.Name) and not inside.contains(tree.span(node))}
    if taken := names.binds & others:
        raise Withheld(f"{min(taken)} has another meaning at the top level")
    if is_hook and len(tree.statements(tree.block_of(function))) == 1:
        raise Withheld("nothing else is in the class")
    editor = problem.editor(file)
    drop_imports(editor, [function], body)
    if is_before_tests:
        editor.put_in_place(body, function)
        yield Candidate({file.path: editor.finish()}, f"Configure at the top level of {file.path}, before the tests")
        return
    editor.discard(function)
    editor.put_up(body, place, problem.why)
    yield Candidate({file.path: editor.finish()}, f"Configure at the top level, above {describe(file, place)}")


def _above_start(file: CodeFile, start: Step) -> Statement:
    """Return the statement of the top level that starts the runtime.

    Raises:
        Withheld: it is in another file, or in a function.
    """
    tree = file.tree
    if start.path != file.path or tree.function_of(tree.statement_at(start.span)) is not tree.module:
        raise Withheld("what starts the runtime is not at the top level")
    lines = tree.statements(tree.module)
    return next((line for line in lines if tree.span(line).contains(start.span)), lines[0])


_HOOKS = frozenset({"setUpClass", "setUpModule", "setup_module", "setup_class"})
"""Functions that unittest and pytest call by their names, once."""


def _is_automatic(file: CodeFile, function: cst.FunctionDef) -> bool:
    """True for a fixture of the top level with ``autouse=True``, and for what is called by its name."""
    if function.name.value in _HOOKS:
        return [file.tree.code(each.decorator) for each in function.decorators] in ([], ["classmethod"])
    if file.tree.block_of(function) is not file.tree.module or len(function.decorators) != 1:
        return False
    code = file.tree.code(function.decorators[0].decorator)
    return file.imports.resolve(code.partition("(")[0]) == "pytest.fixture" and "autouse=True" in code.replace(" ", "")
