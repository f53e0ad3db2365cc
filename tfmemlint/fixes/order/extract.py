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
from dataclasses import replace
from textwrap import indent

import libcst as cst
from libcst import matchers

from tfmemlint.fixes.concrete_tree import Statement
from tfmemlint.fixes.def_use import DefUse, def_use_of
from tfmemlint.fixes.editor import Editor
from tfmemlint.fixes.hoist import Hoist, HoistEntry
from tfmemlint.fixes.hoist_out_of_function import importer_of
from tfmemlint.fixes.order.conditions import conditions_on_the_way, under_conditions
from tfmemlint.fixes.order.configuring_part import configuring_part
from tfmemlint.fixes.order.entry_place import call_in, check_flags, entry_place
from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.given_arguments import assigned_last, constructor_argument, given_arguments, parameters_of
from tfmemlint.fixes.order.idle import idle_calls
from tfmemlint.fixes.order.problem import Candidate, OrderProblem, code_of, describe
from tfmemlint.fixes.order.tensors import check_kept_names
from tfmemlint.fixes.users import mentions
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.records import dataclass

_NAMES = ("configure_gpus", "configure_gpu_memory", "configure_tensorflow")


@dataclass
class Extracted:
    """The parts that a new function is made of.

    Attributes:
        file: its file. function: the function that the code is taken out of. line: the statement that configures.
        taken: all statements that it has. body: its body, at the left margin.
        parameters: its parameters, with the code of their arguments.
        of_self: those that are attributes in the function that the code is taken out of.
    """

    file: CodeFile
    function: cst.FunctionDef
    line: Statement
    taken: list[Statement]
    body: str
    parameters: dict[str, str]
    of_self: frozenset[str] = frozenset()

    @property
    def inner_arguments(self) -> str:
        """The arguments of a call in the function that the code is taken out of."""
        return ", ".join(f"self.{name}" if name in self.of_self else name for name in self.parameters)


def extract_all(problem: OrderProblem) -> Iterator[Candidate]:
    """Extract the configuration as well where nothing but a ``yield`` would be left of a context manager."""
    yield from _extract(problem, hollow=True)


def extract(problem: OrderProblem) -> Iterator[Candidate]:
    """Extract the configuration into a function, and call it above what leads to the start."""
    try:
        first = _called_first(problem, entry_place(problem))
    except Withheld:
        first = []
    yield from first or _extract(problem, hollow=False)


def extract_further_up(problem: OrderProblem) -> Iterator[Candidate]:
    """Call the configuration above a call that leads to both: one that calls all services, hooks or plug-ins."""
    reason: Withheld | None = None
    for back in range(1, problem.shared + 1):
        above = problem.further_up(back)
        try:
            place = above.file.tree.statement_at(above.then)
            if any(isinstance(node, (cst.For, cst.While)) for node in (place, *above.file.tree.ancestors(place))):
                raise Withheld("it would be called in a loop")
            yield from _called_first(above, place) or _extract(above, hollow=False)
            return
        except Withheld as found:
            reason = reason or found
    raise reason or Withheld("no call leads to both")


def _called_first(problem: OrderProblem, place: Statement) -> list[Candidate]:
    """Return the call above ``place`` of a function of the top level that does nothing but configure; or nothing."""
    found = _extracted(problem)
    file, function = found.file, found.function
    name, tree = function.name.value, file.tree
    if _prints(found):
        raise Withheld(f"{name}() would print twice")
    if _leaves_work(found) or found.parameters or function.decorators or tree.block_of(function) is not tree.module:
        return []
    call = under_conditions(conditions_on_the_way(problem), f"{name}()")
    if file.path != problem.file.path:
        texts = call_in(problem, place, file, name, call)
    elif tree.span(function) < tree.span(place):
        editor = problem.editor(file)
        editor.put_up(call, place, problem.why)
        texts = {file.path: editor.finish()}
    else:
        return []
    _check_names(problem, found)
    check_flags(problem.file, place, found.body)
    _check_output(problem, found, place)
    return [Candidate(texts, f"Call {name}() above {describe(problem.file, place)} as well")]


def _extract(problem: OrderProblem, *, hollow: bool) -> Iterator[Candidate]:
    place = entry_place(problem)
    conditions = conditions_on_the_way(problem)
    found = _extracted(problem)
    file = found.file
    if "called" not in problem.finding.details and _puts_back(found):
        raise Withheld(f"{found.function.name.value}() puts back what it sets")
    if not hollow and _leaves_yield(found):
        raise Withheld(f"{found.function.name.value}() would do nothing any more")
    name = _free_name(file)
    same = file.path == problem.file.path
    top = file.tree.block_of(place) is file.tree.module if same else False
    if problem.file.tree.block_of(place) is problem.file.tree.module and (other := importer_of(problem.file.path)):
        raise Withheld(f"{other} imports {problem.file.path}, and would configure the GPUs too")
    # In the very function that it is taken out of, one call is enough.
    within = same and file.tree.function_of(place) is found.function
    gone = within or (_leaves_work(found) and ((same and top) or _is_called_once(found)))
    if not gone and _prints(found):
        raise Withheld(f"{found.function.name.value}() is called elsewhere, and would print twice")
    _check_output(problem, found, place)
    _check_names(problem, found)
    check_flags(problem.file, place, "\n".join([found.body, *found.parameters.values()]))
    # A bare True says nothing to who reads it.
    bare = any(value in ("True", "False", "None") for value in found.parameters.values())
    given = ", ".join(f"{each}={value}" if bare else value for each, value in found.parameters.items())
    editor = problem.editor(file)
    home = _top_level(file, found.function)
    parameters = ", ".join(found.parameters)
    definition = f"def {name}({parameters}):\n{indent(found.body, '    ')}"
    call = under_conditions(conditions, f"{name}({given})")
    if same and top:
        editor.carry_up(_imports_below(found, place), place)
    if same and top and file.tree.span(place) <= file.tree.span(home):
        editor.put_up(f"{definition}\n\n\n{call}", place, problem.why)
    else:
        editor.insert_before(home, definition, apart=True)
        if same:
            editor.put_up(call, place, problem.why)
    what = f"Take {name}() out of {found.function.name.value}() and call it above {describe(problem.file, place)}"
    idle = not gone and not _leaves_work(found)
    calls = idle_calls(file, found.function, place) if idle and same else []
    if calls:
        for gone_line in (found.function, *calls):
            # The comments that are about what is taken out go with it.
            editor.discard(gone_line, forget=True)
    else:
        _replace(editor, found, "" if gone else f"{name}({found.inner_arguments})")
    texts = {file.path: editor.finish()}
    if not same:
        texts |= call_in(problem, place, file, name, call)
    stays = f"; {found.function.name.value}() stays, as others may call it" if idle and not calls else ""
    yield Candidate(texts, what + stays)


def _is_called_once(found: Extracted) -> bool:
    """True if nothing but one place of the project mentions the function, or the class whose ``__init__`` it is."""
    file, function = found.file, found.function
    owner = next((node for node in file.tree.ancestors(function) if isinstance(node, cst.ClassDef)), None)
    name = function.name.value
    if name == "__init__" and owner is not None:
        name = owner.name.value
    # The definition is one mention.
    return not name.startswith("__") and mentions(file.path, file.source.text, name) == 2


def _prints(found: Extracted) -> bool:
    """True if the new function prints, but for what it says of an error. What is logged may be logged twice."""
    body = ast.parse(found.body)
    errors = [node for node in ast.walk(body) if isinstance(node, ast.ExceptHandler)]
    quiet = {id(node) for error in errors for node in ast.walk(error)}
    calls = [node.func for node in ast.walk(body) if isinstance(node, ast.Call) and id(node) not in quiet]
    names = (getattr(func, "attr", getattr(func, "id", "")) for func in calls)
    return any(name in ("print", "pprint", "write") for name in names)


def _check_output(problem: OrderProblem, found: Extracted, place: Statement) -> None:
    """Refuse to print above what prints today before it.

    Raises:
        Withheld: the order of what is printed would change.
    """
    entry = found.file.hoist.entry_of(None, def_use_of(found.body), 0)
    if problem.files.output_may_move or not (entry.prints or entry.calls_print):
        return
    file = problem.file
    block = file.tree.statements(file.tree.block_of(place))
    late = next((line for line in block if file.tree.span(line).contains(problem.then)), block[-1])
    for line in block[block.index(place) : block.index(late)]:
        passed = file.hoist.entry_of(line, file.hoist.read(line), 0)
        if passed.prints or passed.calls_print or problem.files.import_speaks(file.path, line):
            raise Withheld(f"it would print before line {file.tree.span(line).row} does")


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
    for name in check_kept_names(file, _names(found)):
        if re.search(rf"\.{name}\s*=(?!=)", problem.file.source.text):
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
    line, code = configuring_part(file, holding, finding.span)
    before = lines[: lines.index(holding)]
    if any(hoist.read(each).leaves and not _is_early_return(each) for each in before):
        raise Withheld(f"{function.name.value}() may end before it configures")
    return _closure(problem, file, function, before, (line, code))


def _is_early_return(statement: Statement) -> bool:
    """True for ``if not gpus: return``, with nothing else that leaves the function: a new function may return, too."""
    if not isinstance(statement, cst.If) or statement.orelse is not None:
        return False
    returns = matchers.findall(statement, matchers.Return())
    raises = matchers.findall(statement, matchers.Raise() | matchers.Break() | matchers.Continue())
    nothing = matchers.Return(value=None) | matchers.Return(matchers.Name("None"))
    plain = all(matchers.matches(each, nothing) for each in returns)
    return bool(returns) and plain and not raises


def _closure(
    problem: OrderProblem,
    file: CodeFile,
    function: cst.FunctionDef,
    before: Sequence[Statement],
    part: tuple[Statement, str],
) -> Extracted:
    """Return a part of a function that configures, with the statements of the function that it needs.

    Raises:
        Withheld: it needs what only the function has.
    """
    line, code = part
    tree, hoist = file.tree, file.hoist
    own = tree.code(function.params.params[0].name) if function.params.params else ""
    # The first entry is the place that the rest moves above: the head of the function.
    row: list[HoistEntry] = [HoistEntry(None, DefUse(), 0)]
    row += [hoist.entry_of(each, hoist.read(each), tree.span(each).row) for each in before]
    returning = [entry.node for entry in row if entry.node is not None and entry.names.leaves]
    row = [replace(entry, names=_without_leaving(entry.names)) for entry in row]
    lines: list[str] = []
    made: dict[str, str] = {}
    attributes = sorted(set(re.findall(rf"\b{re.escape(own)}\.(\w+)", code))) if own in ("self", "cls") else []
    for attribute in attributes:
        value = assigned_last(file, before, f"{own}.{attribute}")
        if value is None:
            made[attribute] = constructor_argument(problem, file, function, attribute, code)
        elif re.search(rf"\b{own}\b", value):
            raise Withheld(f"it needs {own}.{attribute}")
        else:
            lines.append(f"{attribute} = {value}\n")
        if any(isinstance(node, ast.Name) and node.id == attribute for node in ast.walk(ast.parse(code))):
            raise Withheld(f"it needs {own}.{attribute}")
        code = re.sub(rf"\b{own}\.{attribute}\b", attribute, code)
    names = hoist.entry_of(None, def_use_of("".join(lines) + code), tree.span(line).row)
    row.append(replace(names, node=line))
    taken = hoist.select_moved(row, [line, *returning])
    _check_once(hoist, taken)
    local = {name for each in before for name in hoist.read(each).binds}
    parameters = parameters_of(file, function)
    bodies = [code_of(file, each) for each in taken if each is not line]
    needed = set(names.names.reads)
    for each in taken:
        if each is not line:
            needed |= hoist.read(each).reads
    body = "".join([*bodies, *lines, code])
    given = given_arguments(problem, file, function, sorted(needed & parameters), body) if needed & parameters else {}
    if names.names.binds & _used_elsewhere(file, function, [line]):
        raise Withheld(f"{min(names.names.binds)} is used elsewhere in {function.name.value}()")
    given |= made
    if (needed & local) - {name for each in taken for name in hoist.read(each).binds} - names.names.binds:
        raise Withheld("it needs what only its function has")
    ast.parse(body)
    return Extracted(file, function, line, taken, body, given, frozenset(made))


def _without_leaving(names: DefUse) -> DefUse:
    names = names.copy()
    names.leaves = ""
    return names


def _check_once(hoist: Hoist, taken: Sequence[Statement]) -> None:
    """Refuse to read again, or earlier, what a program is given.

    Raises:
        Withheld: a statement parses arguments, or reads input or a file.
    """
    for statement in taken:
        for name in hoist.read(statement).called:
            if name.rpartition(".")[2] in _GIVEN_ONCE or name in _ENTRIES or _ENTRY_NAME.search(name):
                raise Withheld(f"it needs what {name}() gives")


_GIVEN_ONCE = frozenset(
    {"parse_args", "parse_known_args", "parse_intermixed_args", "load", "safe_load", "read", "readline"}
)
_ENTRIES = frozenset({"input", "open"})
_ENTRY_NAME = re.compile(r"(?:parse|get|read|load)\w{0,60}(?:arg|opt|flag|conf|cli)", re.IGNORECASE)


def _used_elsewhere(file: CodeFile, function: cst.FunctionDef, without: Sequence[Statement]) -> set[str]:
    names = DefUse()
    for line in file.tree.statements_within(function):
        if line not in without:
            names.reads |= file.hoist.read(line).reads
    return names.reads


def _leaves_work(found: Extracted) -> bool:
    """True if the old function still does something without what is taken out of it."""
    body = found.function.body
    rest = [line for line in body.body if line is not found.line and line not in found.taken]
    return any(not _is_docstring(line) for line in rest)


def _puts_back(found: Extracted) -> bool:
    """True for the function of a context manager: what it sets in the environment is for a block."""
    return found.function.name.value == "__enter__" or bool(matchers.findall(found.function.body, matchers.Yield()))


def _leaves_yield(found: Extracted) -> bool:
    """True if nothing but a ``yield`` is left of the old function."""
    body = found.function.body
    rest = [line for line in body.body if line not in (found.line, *found.taken) and not _is_docstring(line)]
    return [found.file.tree.code(line).strip() for line in rest] == ["yield"]


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
    elif file.tree.parents.get(found.line) is found.function.body:
        editor.discard(found.line)
    else:
        editor.drop_with_what_is_empty(found.line)
    # What ends the function early goes on doing so, if something is left that it ends.
    kept = [line for line in found.taken if file.hoist.read(line).leaves] if _leaves_work(found) else []
    rest = _used_elsewhere(file, found.function, [line for line in found.taken if line not in kept])
    for statement in found.taken:
        if statement not in (found.line, *kept) and not file.hoist.read(statement).binds & rest:
            editor.discard(statement)
