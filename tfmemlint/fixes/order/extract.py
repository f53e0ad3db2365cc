"""Strategy: take the configuration out of a function that also does other work, and call it first.

The new function ``configure_gpus()`` has the statements that configure, and what they need. It is called above what
leads to the start, in the file where the two ways part. Where others use the old function, it calls the new one, too:
TensorFlow accepts the same setting a second time. Nothing else moves.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import dedent, indent

import libcst as cst

from tfmemlint.fixes.concrete_tree import Statement
from tfmemlint.fixes.def_use import DefUse, def_use_of
from tfmemlint.fixes.editor import Editor
from tfmemlint.fixes.hoist import HoistEntry
from tfmemlint.fixes.hoist_out_of_function import importer_of
from tfmemlint.fixes.order.entry_place import call_in, entry_place, is_unconditional
from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.problem import Candidate, OrderProblem, code_of, describe
from tfmemlint.fixes.order.tensors import is_steady
from tfmemlint.fixes.withheld import Withheld

_NAMES = ("configure_gpus", "configure_gpu_memory", "configure_tensorflow")


@dataclass
class Extracted:
    """The parts that a new function is made of.

    Attributes:
        file: its file. function: the function that the code is taken out of. line: the statement that configures.
        taken: all statements that it has. body: its body, at the left margin.
        parameters: its parameters, with the code of their arguments.
    """

    file: CodeFile
    function: cst.FunctionDef
    line: Statement
    taken: list[Statement]
    body: str
    parameters: dict[str, str]


def extract(problem: OrderProblem) -> Iterator[Candidate]:
    """Extract the configuration into a function, and call it above what leads to the start."""
    place = entry_place(problem)
    is_unconditional(problem)
    found = _extracted(problem)
    file = found.file
    name = _free_name(file)
    same = file.path == problem.file.path
    top = file.tree.block_of(place) is file.tree.module if same else False
    if problem.file.tree.block_of(place) is problem.file.tree.module and (other := importer_of(problem.file.path)):
        raise Withheld(f"{other} imports {problem.file.path}, and would configure the GPUs too")
    # In the very function that it is taken out of, one call is enough.
    within = same and file.tree.function_of(place) is found.function
    gone = within or (same and top and _leaves_work(found))
    _check_names(problem, found)
    given = ", ".join(found.parameters.values())
    editor = problem.editor(file)
    home = _top_level(file, found.function)
    parameters = ", ".join(found.parameters)
    definition = f"def {name}({parameters}):\n{indent(found.body, '    ')}"
    if same and top:
        editor.carry_up(_imports_below(found, place), place)
    if same and top and file.tree.span(place) <= file.tree.span(home):
        editor.put_up(f"{definition}\n\n\n{name}({given})\n", place, problem.why)
    else:
        editor.insert_before(home, definition, apart=True)
        if same:
            editor.put_up(f"{name}({given})\n", place, problem.why)
    _replace(editor, found, "" if gone else f"{name}({', '.join(found.parameters)})")
    texts = {file.path: editor.finish()}
    if not same:
        texts |= call_in(problem, place, file, name, given)
    what = f"Take {name}() out of {found.function.name.value}()"
    yield Candidate(texts, f"{what} and call it above {describe(problem.file, place)}")


def _names(found: Extracted) -> set[str]:
    """Return the names of the module that the new function reads."""
    names = found.file.hoist.entry_of(None, def_use_of(found.body), 0).names
    return names.reads - names.binds - set(found.parameters) - set(dir(builtins))


def _check_names(problem: OrderProblem, found: Extracted) -> None:
    """Refuse where the configuration reads what may have another value when it is called first.

    Raises:
        Withheld: a name is not an import, a function, or a constant that nothing changes.
    """
    file = found.file
    known = file.imports.imported() | set(file.bound) | set(file.hoist.bodies)
    for name in sorted(_names(found)):
        if name not in known and not is_steady(file, name):
            raise Withheld(f"it needs {name}, which may have another value by then")
        if name not in known and re.search(rf"\.{name}\s*=(?!=)", problem.file.source.text):
            raise Withheld(f"{problem.file.path} sets {name}, which it needs")


def _imports_below(found: Extracted, place: Statement) -> list[Statement]:
    """Return the imports and constants below a place of the top level that the new function needs.

    Raises:
        Withheld: it needs something else that is below, or an import that does more than define.
    """
    file = found.file
    tree = file.tree
    names = _names(found)
    body = tree.statements(tree.module)
    moved = []
    for statement in body[body.index(place) :]:
        if not file.hoist.read(statement).binds & names:
            continue
        lines = statement.body if isinstance(statement, cst.SimpleStatementLine) else [statement]
        plain = all(isinstance(node, (cst.Import, cst.ImportFrom, cst.Assign)) for node in lines)
        if statement is place or not plain or file.files.import_does(file.path, statement):
            raise Withheld(f"it needs what line {tree.span(statement).row} gives")
        moved.append(statement)
    return moved


def _free_name(file: CodeFile) -> str:
    taken = file.imports.taken
    name = next((name for name in _NAMES if name not in taken), "")
    if not name:
        raise Withheld("there is no free name for a function that configures")
    return name


def _top_level(file: CodeFile, function: cst.FunctionDef) -> Statement:
    """Return the statement of the module that a function is in."""
    span = file.tree.span(function)
    return next(line for line in file.tree.statements(file.tree.module) if file.tree.span(line).contains(span))


def _extracted(problem: OrderProblem) -> Extracted:
    """Return the configuration of the finding, with what it needs of its function.

    Raises:
        Withheld: it is in no function, does more than configure, or needs what only the function has.
    """
    finding = problem.finding
    file = problem.files.get(finding.path)
    tree, hoist = file.tree, file.hoist
    function = tree.function_of(tree.statement_at(finding.span))
    if not isinstance(function, cst.FunctionDef) or not isinstance(function.body, cst.IndentedBlock):
        raise Withheld("the configuration is in no function")
    parent = tree.block_of(function)
    owner = tree.parents.get(parent)
    if parent is not tree.module and not (isinstance(owner, cst.ClassDef) and tree.block_of(owner) is tree.module):
        raise Withheld(f"{function.name.value} is a function within another one")
    if function.asynchronous is not None:
        raise Withheld(f"{function.name.value} is not a plain function")
    lines = tree.statements(function.body)
    holding = next((line for line in lines if tree.span(line).contains(finding.span)), None)
    if holding is None:
        raise Withheld("the configuration is reached in another way")
    line = hoist.innermost(holding, finding.span)
    before = lines[: lines.index(holding)]
    if line is not holding:
        raise Withheld("the statement around it does more than configure")
    if any(hoist.read(each).leaves for each in before):
        raise Withheld(f"{function.name.value}() may end before it configures")
    return _closure(problem, file, function, before, line)


def _closure(
    problem: OrderProblem, file: CodeFile, function: cst.FunctionDef, before: Sequence[Statement], line: Statement
) -> Extracted:
    tree, hoist = file.tree, file.hoist
    own = tree.code(function.params.params[0].name) if function.params.params else ""
    # The first entry is the place that the rest moves above: the head of the function.
    row: list[HoistEntry] = [HoistEntry(None, DefUse(), 0)]
    row += [hoist.entry_of(each, hoist.read(each), tree.span(each).row) for each in before]
    code = code_of(file, line)
    lines: list[str] = []
    attributes = sorted(set(re.findall(rf"\b{re.escape(own)}\.(\w+)", code))) if own in ("self", "cls") else []
    for attribute in attributes:
        value = _assigned(file, before, f"{own}.{attribute}")
        if value is None or re.search(rf"\b{own}\b", value) or re.search(rf"(?<![\w.]){attribute}\b", code):
            raise Withheld(f"it needs {own}.{attribute}")
        lines.append(f"{attribute} = {value}\n")
        code = re.sub(rf"\b{own}\.{attribute}\b", attribute, code)
    names = hoist.entry_of(None, def_use_of("".join(lines) + code), tree.span(line).row)
    row.append(replace(names, node=line))
    taken = hoist.select_moved(row, [line])
    local = {name for each in before for name in hoist.read(each).binds}
    parameters = {parameter.arg for parameter in _parameters(file, function)}
    bodies = [code_of(file, each) for each in taken if each is not line]
    needed = set(names.names.reads)
    for each in taken:
        if each is not line:
            needed |= hoist.read(each).reads
    given = _given(problem, function, file, sorted(needed & parameters)) if needed & parameters else {}
    if names.names.binds & _used_elsewhere(file, function, [line]):
        raise Withheld(f"{min(names.names.binds)} is used elsewhere in {function.name.value}()")
    if (needed & local) - {name for each in taken for name in hoist.read(each).binds} - names.names.binds:
        raise Withheld("it needs what only its function has")
    body = "".join([*bodies, *lines, code])
    ast.parse(body)
    return Extracted(file, function, line, taken, body, given)


def _parameters(file: CodeFile, function: cst.FunctionDef) -> list[ast.arg]:
    empty = function.with_changes(body=cst.SimpleStatementSuite([cst.Pass()]), leading_lines=[], decorators=[])
    node = ast.parse(dedent(file.tree.code(empty))).body[0]
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    return [part for part in ast.walk(node.args) if isinstance(part, ast.arg)]


def _given(problem: OrderProblem, function: cst.FunctionDef, file: CodeFile, names: Sequence[str]) -> dict[str, str]:
    """Return the parameters that the configuration needs, with the constants that they are given.

    Raises:
        Withheld: the call that leads to the configuration gives something else.
    """
    step = problem.late[-2] if len(problem.late) > 1 else None
    if step is None:
        raise Withheld(f"it needs {names[0]}, a parameter of {function.name.value}()")
    caller = problem.files.get(step.path)
    call = next((node for node in caller.tree.at(step.span) if isinstance(node, cst.Call)), None)
    defined = [tuple_[0] for tuple_ in _positional(file, function)]
    if defined[:1] in (["self"], ["cls"]):
        defined = defined[1:]
    values = dict(_positional(file, function))
    for number, argument in enumerate(call.args if call is not None else ()):
        if argument.star:
            raise Withheld(f"it needs {names[0]}, a parameter of {function.name.value}()")
        name = argument.keyword.value if argument.keyword is not None else (defined[number : number + 1] or [""])[0]
        values[name] = caller.tree.code(argument.value)
    found = {}
    for name in names:
        value = values.get(name, "")
        try:
            ast.literal_eval(value)
        except (ValueError, SyntaxError):
            raise Withheld(f"it needs {name}, a parameter of {function.name.value}()") from None
        found[name] = value
    return found


def _positional(file: CodeFile, function: cst.FunctionDef) -> list[tuple[str, str]]:
    """Return the parameters of a function with the code of their defaults, "" where there is none."""
    every = [*function.params.posonly_params, *function.params.params, *function.params.kwonly_params]
    return [
        (parameter.name.value, file.tree.code(parameter.default) if parameter.default is not None else "")
        for parameter in every
    ]


def _assigned(file: CodeFile, before: Sequence[Statement], target: str) -> str | None:
    """Return the code of the value that a plain statement gives to an attribute."""
    found = None
    for statement in before:
        node = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement
        if isinstance(node, cst.Assign) and len(node.targets) == 1 and file.tree.code(node.targets[0].target) == target:
            if file.hoist.unrelated_call(file.hoist.read(statement)):
                return None
            found = file.tree.code(node.value)
    return found


def _used_elsewhere(file: CodeFile, function: cst.FunctionDef, without: Sequence[Statement]) -> set[str]:
    names = DefUse()
    for line in file.tree.statements(function.body) if isinstance(function.body, cst.IndentedBlock) else []:
        if line not in without:
            names.reads |= file.hoist.read(line).reads
    return names.reads


def _leaves_work(found: Extracted) -> bool:
    """True if the old function still does something without what is taken out of it."""
    body = found.function.body
    rest = [line for line in body.body if line is not found.line and line not in found.taken]
    return any(not _is_docstring(line) for line in rest)


def _is_docstring(line: cst.CSTNode) -> bool:
    return (
        isinstance(line, cst.SimpleStatementLine)
        and isinstance(line.body[0], cst.Expr)
        and isinstance(line.body[0].value, (cst.SimpleString, cst.ConcatenatedString))
    )


def _replace(editor: Editor, found: Extracted, call: str) -> None:
    """Replace what was taken out of the old function by a call, or remove it."""
    file = found.file
    if call:
        editor.replace_statement(found.line, call)
    else:
        editor.discard(found.line)
    rest = _used_elsewhere(file, found.function, found.taken)
    for statement in found.taken:
        if statement is not found.line and not file.hoist.read(statement).binds & rest:
            editor.discard(statement)
