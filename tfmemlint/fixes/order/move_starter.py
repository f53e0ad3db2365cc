"""Strategy: move the statement of the top level that starts the runtime down.

It goes below the configuration, if that is reached at the top level or under ``if __name__ == "__main__"``, or into the
one function that uses it. There it is made anew with each call: only what is the same each time goes there, or into a
function that is called once.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.fixes.access_paths import overlap
from tfmemlint.fixes.concrete_tree import Statement
from tfmemlint.fixes.order.entry_place import is_guard
from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.problem import Candidate, OrderProblem, code_of, describe
from tfmemlint.fixes.order.tensors import containing, first_statement, is_constant_tensor, outermost_function, uses_of
from tfmemlint.fixes.users import other_user
from tfmemlint.fixes.withheld import Withheld


def move_starter_down(problem: OrderProblem) -> Iterator[Candidate]:
    """Move the assignment that starts the runtime below the configuration, or into the function that uses it."""
    file = problem.file
    tree = file.tree
    statement = tree.statement_at(problem.first)
    name, value = _assignment(file, statement)
    if "list_physical_devices" in file.tree.code(value):
        raise Withheld("it lists the GPUs")
    if other_user(file.path, name):
        raise Withheld(f"other files may use {name}")
    if not is_constant_tensor(file, value) and (
        problem.files.is_seeded(file.path) or problem.files.is_seeded(problem.entry)
    ):
        raise Withheld("the order of random operations would be another one, and a seed is set")
    check_steady(file, statement)
    functions = {use.function for use in uses_of(file, name)}
    only = next(iter(functions)) if len(functions) == 1 else None
    if only is not None and (is_constant_tensor(file, value) or _is_called_once(file, only)):
        candidate = _into_function(problem, file, statement, name, only)
        if candidate is not None:
            yield candidate
            return
    late = tree.statement_at(problem.then)
    if (tree.function_of(late) is tree.module and tree.block_of(late) is not tree.module) or (
        tree.block_of(late) is tree.module
    ):
        yield _into_with(problem, file, statement, name, late) or _below(problem, file, statement, name, late)
        return
    raise Withheld(f"more than one function uses {name}")


def _assignment(file: CodeFile, statement: Statement) -> tuple[str, cst.BaseExpression]:
    node = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement
    if file.tree.block_of(statement) is not file.tree.module or not isinstance(node, cst.Assign):
        raise Withheld("what leads to the start is not an assignment at the top level")
    target = node.targets[0].target
    if len(node.targets) != 1 or not isinstance(target, cst.Name):
        raise Withheld("what leads to the start assigns more than one name")
    return target.value, node.value


def check_steady(file: CodeFile, statement: Statement) -> None:
    """Refuse where the value depends on what may change until then, or does anything else."""
    names = file.hoist.read(statement)
    for name in sorted(names.reads - file.imports.imported()):
        bound = [line for line in file.tree.statements(file.tree.module) if name in file.hoist.read(line).binds]
        if len(bound) > 1 or name in file.hoist.declared:
            raise Withheld(f"{name} may have another value by then")
    for called in names.called:
        full = file.imports.resolve(called)
        if not full.startswith(("tf.", "keras.", "np.", "numpy.")) and not called.startswith("(...)"):
            raise Withheld(f"{called}(...) may do more than start the runtime")


def _into_function(
    problem: OrderProblem, file: CodeFile, statement: Statement, name: str, function: cst.FunctionDef
) -> Candidate | None:
    tree = file.tree
    if not isinstance(function.body, cst.IndentedBlock):
        return None
    uses = [use.node for use in uses_of(file, name)]
    first = min((containing(file, function, node) for node in uses), key=tree.span)
    place = first_statement(file, function)
    for step in problem.steps:
        line = next((line for line in tree.statements(function.body) if tree.span(line).contains(step)), None)
        if line is not None:
            if tree.span(first) <= tree.span(line):
                return None
            place = first
    editor = problem.editor(file)
    editor.discard(statement)
    editor.insert_before(place, code_of(file, statement))
    return Candidate({file.path: editor.finish()}, f"Move {name} into {function.name.value}(), which alone uses it")


def _into_with(
    problem: OrderProblem, file: CodeFile, statement: Statement, name: str, late: Statement
) -> Candidate | None:
    """Move an assignment into the ``with`` whose head configures, if nothing else uses it."""
    tree = file.tree
    if not isinstance(late, cst.With) or not isinstance(late.body, cst.IndentedBlock):
        return None
    inside = tree.span(late.body)
    if inside.contains(problem.then) or not all(inside.contains(tree.span(use.node)) for use in uses_of(file, name)):
        return None
    editor = problem.editor(file)
    editor.discard(statement)
    editor.insert_before(tree.statements(late.body)[0], code_of(file, statement))
    return Candidate({file.path: editor.finish()}, f"Move {name} into the 'with' in line {tree.span(late).row}")


def _is_called_once(file: CodeFile, function: cst.FunctionDef) -> bool:
    """True if the only mention of a function is a call at the top level, under no loop or condition but the guard."""
    tree = file.tree
    if tree.block_of(function) is not tree.module or function.decorators:
        return False
    try:
        uses = list(uses_of(file, function.name.value))
    except Withheld:
        return False
    mentions = [use for use in uses if tree.parents.get(use.node) is not function]
    if len(mentions) != 1 or mentions[0].function is not None:
        return False
    node = mentions[0].node
    parent = tree.parents.get(node)
    inside = any(isinstance(around, (cst.For, cst.While, cst.ListComp)) for around in tree.ancestors(node))
    return isinstance(parent, cst.Call) and parent.func is node and not inside


def _below(problem: OrderProblem, file: CodeFile, statement: Statement, name: str, late: Statement) -> Candidate:
    """Move an assignment below the statement that leads to the configuration."""
    tree, hoist = file.tree, file.hoist
    body = tree.statements(tree.module)
    guard = next((line for line in body if tree.span(line).contains(tree.span(late))), late)
    between = body[body.index(statement) + 1 : body.index(guard)]
    rows = [line for line in between if not isinstance(line, (cst.FunctionDef, cst.ClassDef))]
    if guard is not late:
        holder = guard.body if isinstance(guard, cst.If) and is_guard(file, guard) else None
        if not isinstance(holder, cst.IndentedBlock) or tree.block_of(late) is not holder:
            raise Withheld("the configuration is reached under a condition")
        inner = tree.statements(holder)
        rows += inner[: inner.index(late)]
    needed = hoist.entry_of(statement, hoist.read(statement).copy(), 0).parts
    steady = file.imports.imported() | set(hoist.bodies)
    for line in [*rows, late]:
        touched = hoist.entry_of(line, hoist.read(line).copy(), 0).touched
        if changed := overlap(touched, needed) - steady:
            raise Withheld(f"line {tree.span(line).row} may change {min(changed)}, of which {name} is made")
        if name in hoist.entry_of(line, hoist.read(line), 0).names.reads or _may_read(file, line, name):
            raise Withheld(f"line {tree.span(line).row} uses {name} before it configures")
    for line in between:
        # What a definition evaluates when it is made, and all that runs.
        for use in uses_of(file, name):
            if tree.span(line).contains(tree.span(use.node)) and outermost_function(file, use.node) is None:
                raise Withheld(f"line {tree.span(line).row} uses {name} before it configures")
    editor = problem.editor(file)
    editor.discard(statement)
    editor.insert_after(late, code_of(file, statement))
    return Candidate({file.path: editor.finish()}, f"Move {name} below {describe(file, late)}")


def _may_read(file: CodeFile, line: Statement, name: str) -> bool:
    """True if a statement mentions a definition, to call it or to hand it over, from which a name is read.

    Whoever is handed a function, such as ``app.run(main)``, may call it at once, and need not return.
    """
    tree = file.tree
    body = tree.statements(tree.module)
    definitions = {each.name.value: each for each in body if isinstance(each, (cst.FunctionDef, cst.ClassDef))}
    pending: list[cst.CSTNode] = [line]
    seen: set[str] = set()
    while pending:
        inside = tree.span(pending.pop())
        mentioned = {
            node.value for node in tree.ranges if isinstance(node, cst.Name) and inside.contains(tree.span(node))
        }
        if name in mentioned:
            return True
        pending += [definitions[each] for each in mentioned - seen if each in definitions]
        seen |= mentioned
    return False
