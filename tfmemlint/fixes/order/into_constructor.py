"""Strategy: what a method configures too late, as the constructor has started the runtime, moves into the constructor.

It goes right above the statement of ``__init__`` that starts the runtime. Whatever it needs must be there already:
attributes that ``__init__`` gives above it, and names that keep their values.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from functools import partial

import libcst as cst

from tfmemlint.fixes.concrete_tree import Statement
from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.given_arguments import parameters_of
from tfmemlint.fixes.order.problem import Candidate, OrderProblem, code_of, describe
from tfmemlint.fixes.order.tensors import check_kept_names
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Span


def move_into_constructor(problem: OrderProblem) -> Iterator[Candidate]:
    """Move the configuration from a method to above what starts the runtime in ``__init__``."""
    file, start, constructor, owner = _constructor(problem)
    reason: Withheld | None = None
    for step in problem.late:
        if step.path != file.path:
            continue
        method, of_class = _method(file, step.span)
        if method is None or of_class is None or method is constructor or not _related(file, owner, of_class):
            continue
        try:
            line = _movable(file, method, step.span, constructor)
            _check_output(problem, file, (line, method), (start, constructor))
            _check_needs(file, line, method, (start, constructor, owner))
        except Withheld as found:
            reason = reason or found
            continue
        editor = problem.editor(file)
        alone = len(file.tree.statements(file.tree.block_of(line))) == 1
        # The comments in it go along.
        (editor.drop_with_what_is_empty if alone else partial(editor.discard, forget=True))(line)
        editor.insert_before(start, code_of(file, line))
        what = describe(file, line)
        what = "the configuration" if what.startswith("line ") else what
        yield Candidate(
            {file.path: editor.finish()},
            f"Move {what} from {method.name.value}() into {owner.name.value}.__init__()",
        )
        return
    raise reason or Withheld("no method of the class configures")


def _method(file: CodeFile, span: Span) -> tuple[cst.FunctionDef | None, cst.ClassDef | None]:
    """Return the method around a place, and its class at the top level; None for both if there is none."""
    tree = file.tree
    function = tree.function_of(tree.statement_at(span))
    owner = tree.parents.get(tree.block_of(function)) if isinstance(function, cst.FunctionDef) else None
    if not isinstance(function, cst.FunctionDef) or not isinstance(owner, cst.ClassDef):
        return None, None
    first = function.params.params[:1]
    plain = not function.decorators and function.asynchronous is None and [p.name.value for p in first] == ["self"]
    return (function, owner) if plain and isinstance(function.body, cst.IndentedBlock) else (None, None)


def _constructor(problem: OrderProblem) -> tuple[CodeFile, Statement, cst.FunctionDef, cst.ClassDef]:
    """Return the statement of an ``__init__`` that leads to the start, with its file, its function and its class.

    Raises:
        Withheld: none does.
    """
    for step in problem.early:
        file = problem.files.get(step.path)
        if not (step.span.row, step.span.column) < (step.span.end_row, step.span.end_column):
            continue
        function, owner = _method(file, step.span)
        if function is None or owner is None or function.name.value != "__init__":
            continue
        start = next(line for line in file.tree.statements_within(function) if file.tree.span(line).contains(step.span))
        return file, start, function, owner
    raise Withheld("what starts the runtime is in no __init__")


def _related(file: CodeFile, first: cst.ClassDef, second: cst.ClassDef) -> bool:
    """True if both are the same class, or a class and its base."""
    bases = [{file.tree.code(base.value) for base in cls.bases} for cls in (first, second)]
    return first is second or second.name.value in bases[0] or first.name.value in bases[1]


def _movable(file: CodeFile, method: cst.FunctionDef, span: Span, constructor: cst.FunctionDef) -> Statement:
    """Return the statement of a method that configures, and nothing else.

    Raises:
        Withheld: there is none, or a condition decides whether it is reached.
    """
    tree = file.tree
    holding = next(line for line in tree.statements_within(method) if tree.span(line).contains(span))
    line = file.hoist.innermost(holding, span)
    while isinstance(line, cst.With) and file.hoist.read(line).leaves and isinstance(line.body, cst.IndentedBlock):
        # Only a part of it configures.
        line = next((each for each in tree.statements(line.body) if tree.span(each).contains(span)), line.body.body[0])
    if leaves := file.hoist.read(line).leaves:
        raise Withheld(f"it contains a {leaves}")
    around = tree.block_of(line)
    while around is not method.body:
        holder = tree.parents.get(around)
        if not isinstance(holder, cst.With) or any(item.asname is not None for item in holder.items):
            raise Withheld("the statement around it does more than configure")
        _check_reached(file, tree.statements(around), line, constructor)
        around = tree.block_of(holder)
    lines = tree.statements_within(method)
    if len(lines) == 1 and lines[0] is line:
        raise Withheld(f"{method.name.value}() would do nothing any more")
    _check_reached(file, lines, holding, constructor)
    return line


def _check_reached(file: CodeFile, lines: list[Statement], line: Statement, constructor: cst.FunctionDef) -> None:
    """Refuse where a statement above may end the method, but for one that lets it run once only.

    Raises:
        Withheld: the configuration may not be reached.
    """
    for above in lines[: next(number for number, each in enumerate(lines) if _holds(file, each, line))]:
        if not file.hoist.read(above).leaves:
            continue
        test = file.tree.code(above.test).strip() if isinstance(above, cst.If) and above.orelse is None else ""
        begins = [file.tree.code(each).strip() for each in file.tree.statements_within(constructor)]
        if not re.fullmatch(r"self\.\w+", test) or f"{test} = False" not in begins:
            raise Withheld(f"line {file.tree.span(above).row} may end the method before it configures")


def _holds(file: CodeFile, outer: Statement, inner: Statement) -> bool:
    """True if a statement is another one, or the one around it."""
    return outer is inner or any(node is outer for node in file.tree.ancestors(inner))


def _check_output(
    problem: OrderProblem,
    file: CodeFile,
    moved: tuple[Statement, cst.FunctionDef],
    place: tuple[Statement, cst.FunctionDef],
) -> None:
    """Refuse to print above what prints today before it.

    Raises:
        Withheld: the order of what is printed would change.
    """
    line, method = moved
    start, constructor = place
    if problem.files.output_may_move or not _prints(file, line):
        return
    lines, steps = file.tree.statements_within(constructor), file.tree.statements_within(method)
    above = next(number for number, each in enumerate(steps) if _holds(file, each, line))
    passed = [*lines[lines.index(start) :], *steps[:above]]
    rows = [(file, each) for each in passed]
    # Between the two calls.
    outer = problem.file
    first, then = outer.tree.statement_at(problem.first), outer.tree.statement_at(problem.then)
    block = outer.tree.statements(outer.tree.block_of(first))
    if first is not then and (first not in block or then not in block):
        raise Withheld("it may print before other statements do")
    rows += [(outer, each) for each in block[block.index(first) + 1 : block.index(then)]] if first is not then else []
    for where, each in rows:
        if _prints(where, each):
            raise Withheld(f"it would print before line {where.tree.span(each).row} does")


def _prints(file: CodeFile, line: Statement) -> bool:
    entry = file.hoist.entry_of(line, file.hoist.read(line).copy(), 0)
    return entry.prints or entry.calls_print


def _check_needs(
    file: CodeFile,
    line: Statement,
    method: cst.FunctionDef,
    place: tuple[Statement, cst.FunctionDef, cst.ClassDef],
) -> None:
    """Refuse where the constructor does not have what the statement needs.

    Raises:
        Withheld: a name or an attribute is not there yet, or may have another value.
    """
    start, constructor, owner = place
    tree, hoist = file.tree, file.hoist
    entry = hoist.entry_of(line, hoist.read(line).copy(), 0)
    body = tree.statements_within(method)
    others = [each for each in body if not _holds(file, each, line)]
    local = {name for each in others for name in hoist.read(each).binds} | parameters_of(file, method)
    local -= {"self"}
    if hoist.read(line).reads & local or any(hoist.read(line).binds & hoist.read(each).reads for each in others):
        raise Withheld(f"it needs what only {method.name.value}() has")
    own = {name for each in tree.statements_within(constructor) for name in hoist.read(each).binds}
    own |= parameters_of(file, constructor) - {"self"}
    if hoist.read(line).reads & own or hoist.read(line).binds & own:
        raise Withheld("__init__() has other names")
    check_kept_names(file, entry.names.reads - entry.names.binds - {"self"} - local - set(dir(builtins)))
    inside = tree.statements_within(owner)
    methods = {each.name.value for each in inside if isinstance(each, cst.FunctionDef)}
    changed = next((path[1] for path in sorted(entry.touched) if path[0] == "self" and len(path) > 1), "")
    if changed:
        raise Withheld(f"it changes self.{changed}")
    lines = tree.statements_within(constructor)
    above = "".join(tree.code(each) for each in lines[: lines.index(start)])
    for path in sorted(entry.parts):
        if path[0] != "self" or len(path) < 2 or path[1] in methods:
            continue
        given = rf"\bself\.{re.escape(path[1])}\s*(?::[^=\n]*)?=(?!=)"
        if len(re.findall(given, above)) != len(re.findall(given, tree.text)) or not re.search(given, above):
            raise Withheld(f"it needs self.{path[1]}, which may have another value by then")


__all__ = ["move_into_constructor"]
