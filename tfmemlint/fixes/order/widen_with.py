"""Strategy: take what starts the runtime into the ``with`` right below it, whose head configures.

The head calls a context manager of the program that sets and restores variables of the environment, or asks for
memory, and does nothing else. The statements between the start and the ``with`` go along: in the ``with`` they run in
the same order as before, after its head.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst
from libcst import matchers

from tfmemlint.fixes.concrete_tree import Statement
from tfmemlint.fixes.def_use import DefUse, def_use_of
from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.problem import Candidate, OrderProblem, code_of, describe
from tfmemlint.fixes.withheld import Withheld


def widen_with(problem: OrderProblem) -> Iterator[Candidate]:
    """Move the statements from the start down to a ``with`` that configures to the beginning of its block."""
    file = problem.file
    tree = file.tree
    holder = _holder(problem, file)
    lines = tree.statements(tree.block_of(holder))
    early = next((line for line in lines if tree.span(line).contains(problem.first)), None)
    if early is None or lines.index(early) >= lines.index(holder):
        raise Withheld("what starts the runtime is in another block")
    between = lines[lines.index(early) : lines.index(holder)]
    _check_manager(problem, file, holder)
    _check_between(problem, file, holder, between)
    editor = problem.editor(file)
    for line in between:
        editor.discard(line)
    assert isinstance(holder.body, cst.IndentedBlock)
    editor.insert_before(tree.statements(holder.body)[0], "".join(code_of(file, line) for line in between))
    what = describe(file, early) if len(between) == 1 else f"{len(between)} statements"
    words = f"Move {what} into the 'with {tree.code(holder.items[0]).strip()}' that is below"
    yield Candidate({file.path: editor.finish()}, words)


def _holder(problem: OrderProblem, file: CodeFile) -> cst.With:
    """Return the ``with`` of one item whose head leads to the configuration.

    Raises:
        Withheld: there is none.
    """
    tree = file.tree
    line = tree.statement_at(problem.then)
    holder = next((node for node in (line, *tree.ancestors(line)) if isinstance(node, cst.With)), None)
    if (
        holder is None
        or holder.asynchronous is not None
        or len(holder.items) != 1
        or not isinstance(holder.body, cst.IndentedBlock)
        or tree.span(holder.body).contains(problem.then)
    ):
        raise Withheld("no head of a 'with' configures")
    return holder


def _check_manager(problem: OrderProblem, file: CodeFile, holder: cst.With) -> None:
    """Refuse a context manager that does more than configure: what it does to the code in it is not known.

    Raises:
        Withheld: it does.
    """
    item = holder.items[0].item
    name = file.tree.code(item.func) if isinstance(item, cst.Call) else ""
    target = problem.files.resolve(file.path, name) if name else None
    home = file if target is None else problem.files.get(target.path)
    name = name if target is None else target.name
    lines = home.tree.statements(home.tree.module)
    named = (line for line in lines if isinstance(line, (cst.FunctionDef, cst.ClassDef)) and line.name.value == name)
    manager = next(named, None)
    if isinstance(manager, cst.FunctionDef):
        bodies = [home.hoist.bodies.get(name)] if _is_generator(home, manager) else [None]
    elif isinstance(manager, cst.ClassDef) and not manager.bases and not manager.decorators:
        bodies = [home.hoist.effects.method(f"{name}.{method}") for method in _methods_that_run(home, manager)]
    else:
        bodies = [None]
    for body in bodies:
        if body is None or any(not _only_configures(home, body, called) for called in body.called):
            raise Withheld(f"{name or 'the context manager'} may do more than configure")


def _is_generator(home: CodeFile, function: cst.FunctionDef) -> bool:
    """True for a function with ``@contextmanager`` and one ``yield``, which is in no other ``with`` and no handler."""
    decorators = [home.imports.resolve(home.tree.code(each.decorator)) for each in function.decorators]
    inside = home.tree.statements_within(function)
    plain = not any(
        isinstance(line, (cst.With, cst.FunctionDef)) or (isinstance(line, cst.Try) and line.handlers)
        for line in inside
    )
    yields = matchers.findall(function.body, matchers.Yield())
    return decorators == ["contextlib.contextmanager"] and plain and len(yields) == 1


def _methods_that_run(home: CodeFile, manager: cst.ClassDef) -> list[str]:
    """Return the methods that a ``with`` calls; one that is not there too, where the class catches what is raised."""
    methods = {
        line.name.value: line
        for line in home.tree.statements_within(manager)
        if isinstance(line, cst.FunctionDef) and home.tree.block_of(line) is manager.body
    }
    leaving = methods.get("__exit__")
    nothing = matchers.Return(value=None) | matchers.Return(matchers.Name("False") | matchers.Name("None"))
    returns = matchers.findall(leaving.body, matchers.Return()) if leaving is not None else []
    if any(not matchers.matches(each, nothing) for each in returns):
        return [""]
    return ["__enter__", "__exit__", *(name for name in ("__init__", "__post_init__") if name in methods)]


_ENVIRONMENT = re.compile(r"os\.(?:environ\.\w+|getenv|putenv|unsetenv)")


def _only_configures(home: CodeFile, body: DefUse, called: str) -> bool:
    """True for a call that configures, or uses the environment."""
    if _ENVIRONMENT.fullmatch(home.imports.resolve(called)):
        return True
    only = body.copy()
    only.called = [called]
    return not home.hoist.unrelated_call(only)


def _check_between(problem: OrderProblem, file: CodeFile, holder: cst.With, between: Sequence[Statement]) -> None:
    """Refuse where the head of the ``with`` would do anything else above what is between.

    Raises:
        Withheld: it needs or changes what is used there, or something there may not be in a block.
    """
    empty = cst.IndentedBlock([cst.SimpleStatementLine([cst.Pass()])])
    code = file.tree.code(holder.with_changes(body=empty, leading_lines=[]))
    head = file.hoist.entry_of(None, def_use_of(code), 0)
    steady = file.imports.imported() | set(file.hoist.bodies)
    for line in between:
        row = file.tree.span(line).row
        if isinstance(line, (cst.FunctionDef, cst.ClassDef)) or _is_import(line):
            raise Withheld(f"there is a definition in between (line {row})")
        entry = file.hoist.entry_of(line, file.hoist.read(line).copy(), row)
        if entry.names.leaves or entry.names.star:
            raise Withheld(f"there is a {entry.names.leaves or 'star import'} in between (line {row})")
        if needed := (head.names.reads & entry.names.binds) | (head.names.binds & entry.names.reads):
            raise Withheld(f"{min(needed)} is used or bound in between (line {row})")
        touched = {path[0] for path in entry.touched}
        if changed := (head.names.reads & touched) - steady:
            raise Withheld(f"{min(changed)} may be changed in between (line {row})")
        if entry.names.environment:
            raise Withheld(f"the environment is used in between (line {row})")
        prints = entry.prints or entry.calls_print
        if prints and (head.prints or head.calls_print) and not problem.files.output_may_move:
            raise Withheld(f"it would print before line {row} does")


def _is_import(line: Statement) -> bool:
    nodes = line.body if isinstance(line, cst.SimpleStatementLine) else [line]
    return any(isinstance(node, (cst.Import, cst.ImportFrom)) for node in nodes)
