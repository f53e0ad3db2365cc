"""Cut the slice out of a program: the statements that configure GPU memory, and what they need.

A slice keeps every line of the program at its place; lines that aren't needed are blank. It is found backwards from the
statements that state an intent, and from those that start the runtime before them. Each kept statement brings in the
statements that define or change what it reads, the headers of the blocks around it, and the early exits whose
conditions read nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tfmemlint.facts.statements import own_nodes
from tfmemlint.intents import StatedIntent, entries
from tfmemlint.interpreter.program import Call, EnvWrite, Event, Program, ProtoMade, RuntimeStart, SessionMade
from tfmemlint.interpreter.unit import ParsedModule
from tfmemlint.model.finding import Span
from tfmemlint.verify.slicing.bindings import Bindings
from tfmemlint.verify.slicing.slicer import Slicer

MODES = frozenset(
    {
        "tf.compat.v1.disable_eager_execution",
        "tf.compat.v1.disable_v2_behavior",
        "tf.compat.v1.enable_eager_execution",
        "tf.compat.v1.enable_v2_behavior",
        "tf.disable_eager_execution",
        "tf.disable_v2_behavior",
        "tf.enable_eager_execution",
        "tf.enable_v2_behavior",
    }
)
"""Functions that decide whether an operation starts the runtime or is added to a graph."""

GLOBAL_STEPS = ("get_or_create_global_step", "create_global_step")
"""Functions that add to TensorFlow's default graph what sessions for training need, without a name that leads there."""


@dataclass(frozen=True, slots=True)
class Slice:
    """The part of a program that is to be run.

    Attributes:
        text: the program with everything else blank, and the call of ``entry`` at its end if that is a function.
        entry: ``module``, or the function that is called. rows: the number of lines with code that are kept; of: of how
            many.
        marks: the first rows of the statements that state the intents.
        local: the rows of imports of the project's own modules that are kept though no kept statement reads them.
        modules: the slices of the program's other files, by their paths.
    """

    text: str
    entry: str
    rows: int
    of: int
    marks: frozenset[int]
    local: frozenset[int] = frozenset()
    modules: Mapping[str, str] = field(default_factory=dict)


class CannotSlice(Exception):
    """There is no slice: the message says what to do instead."""


def slice_program(
    program: Program,
    intents: Sequence[StatedIntent],
    entry: str = "module",
    *,
    local: bool = True,
    rows: Iterable[int] = (),
    files: Mapping[str, ParsedModule] | None = None,
    own: Callable[[str], bool] | None = None,
    called: str = "",
) -> Slice:
    """Return the slice of ``program`` for the intents ``wishes`` of one entry point.

    Args:
        program: the analysed program. wishes: the intents of ``entry``, and of the module that contains it.
        entry: ``module``, or the function to call.
        local: keep the imports of the project's own modules too, and all that these do when they are imported, as it
            may start the runtime.
        rows: further rows whose statements are kept.
        files: the program's own modules, by their paths. own: returns whether the first part of a module's name is one
            of these; by default those beside the program are.
        called: the function that is called at the end of the module, as a command of the project does.

    Raises:
        CannotSlice: the entry point is a function that can't be called without knowing more.
    """
    slicer = Slicer(program.tree, program.source.lines)
    call = ""
    if entry != "module":
        call = _call_of(slicer.bindings, entry)
    elif called:
        call = f"{called}()"
    trees = [program.tree, *(text.tree for text in (files or {}).values())]
    removed = [place for tree in trees for place in unset(tree)]
    places = [*([place] for place in removed), *_criteria(program, intents, entry, own_start=bool(removed))]
    unseen = len(places) - len(removed) == sum(isinstance(intent.event, ProtoMade) for intent in intents)
    last = places[-1] if places and not unseen else []
    slicer.ask([place for chain in places for place in chain], rows, last)
    # A function that is put into a list is called from elsewhere, without a name that leads there.
    put = [place for chain in program.put for place in chain] if places else []
    slicer.ask_also(put)
    options = [intent.statement for intent in intents if isinstance(intent.event, ProtoMade)]
    slicer.ask_calls([*options, *removed])
    if call:
        slicer.ends.pop(None, None)  # the function is called after everything else
    slicer.close()
    others = {path: Slicer(text.tree, text.source.lines) for path, text in (files or {}).items()}
    for other in others.values():
        other.ask([place for chain in places for place in chain], rows, last)
        other.ask_also(put)
        other.ask_calls([*options, *removed])
        other.ends.pop(None, None)  # others may need what a module defines at its end
        if local:
            other.keep_rest(other.tree.body)
        other.close()
    imports: set[int] = set()
    if local:
        lowest = max((statement.lineno for statement in slicer.kept), default=0)
        for statement in program.tree.body:
            if statement.lineno >= lowest or statement in slicer.kept:
                continue
            if is_local_import(statement, program.source.path, own):
                slicer.keep(statement)
                imports.update(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    if call:
        slicer.need(called.split(".")[0] or entry, None)
    slicer.close()
    every = [slicer, *others.values()]
    while others and any(current.share(other for other in every if other is not current) for current in every):
        pass
    text = slicer.text()
    modules = {path: other.text() for path, other in others.items()}
    texts = [text, *modules.values()]
    kept = sum(1 for sliced in texts for line in sliced.split("\n") if line.strip())
    lines = [line.strip() for current in every for line in current.lines]
    total = sum(1 for line in lines if line and not line.startswith("#"))
    if call:
        # The call is below the last line of the file, so that it has a line of its own.
        text = text.rstrip("\n")
        text += "\n" * (len(program.source.lines) + 1 - text.count("\n")) + f"{call}\n"
    marks = frozenset(intent.statement.row for intent in intents)
    return Slice(text, entry, kept, max(total, kept), marks, frozenset(imports), modules)


def unset(tree: ast.Module) -> list[Span]:
    """Return the places that remove variables from the environment."""
    found = (node for node in ast.walk(tree) if isinstance(node, (ast.stmt, ast.expr)) and _unsets(node))
    return [Span(node.lineno, node.col_offset + 1, node.end_lineno or node.lineno, 0) for node in found]


def _unsets(node: ast.AST) -> bool:
    match node:
        case ast.Delete(targets=targets):
            return any(isinstance(target, ast.Subscript) and _is_environ(target.value) for target in targets)
        case ast.Call(func=ast.Attribute(value=value, attr=name)):
            return (name in ("pop", "clear", "popitem", "__delitem__") and _is_environ(value)) or name == "unsetenv"
        case _:
            return False


def _is_environ(node: ast.expr) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "environ") or (
        isinstance(node, ast.Name) and node.id == "environ"
    )


def _criteria(
    program: Program, intents: Sequence[StatedIntent], entry: str, *, own_start: bool = False
) -> list[list[Span]]:
    """Return the places that have to be kept, each with the calls that lead to it; the last is reached last.

    They are the intents, everything else that configures TensorFlow, and what starts the runtime before the last of
    them or makes the GPU devices after it; with ``own_start`` even if only the harness would do so otherwise.
    """
    # Options without a known session may take effect anywhere after them: they are never the last.
    ordered = sorted(intents, key=lambda stated: not isinstance(stated.event, ProtoMade))
    found = [[stated.statement, *(step.span for step in stated.frames)] for stated in ordered]
    own = {id(stated.event) for stated in intents}
    for name, events in entries(program):
        if name != entry:
            continue
        last = max((place for place, event in enumerate(events) if id(event) in own or _configures(event)), default=-1)
        sessions = False
        for place, event in enumerate(events):
            start = isinstance(event, RuntimeStart) and event.first
            ours = own_start or sessions
            if place > last and start and isinstance(event, RuntimeStart) and event.what == "context" and not ours:
                break  # the same happens when the harness starts it
            # A program with sessions may never start the eager context: its own start counts.
            sessions = sessions or isinstance(event, SessionMade)
            if start or (id(event) in own and not isinstance(event, ProtoMade)) or _configures(event):
                found.append([event.statement, *(step.span for step in event.frames)])
            ends = "context" if sessions else "allocator"
            if place > last and start and isinstance(event, RuntimeStart) and event.what == ends:
                break
    return found


def _configures(event: Event) -> bool:
    """True if an event decides about the effect of the intents."""
    match event:
        case Call(name=name):
            configures = name.startswith("tf.config.") and ".set_" in name
            return configures or name in MODES or name.endswith((".set_session", *GLOBAL_STEPS))
        case _:
            return isinstance(event, EnvWrite)


def is_local_import(statement: ast.stmt, path: str, own: Callable[[str], bool] | None = None) -> bool:
    """True if a statement imports a module beside the program at ``path``, or one that ``own`` accepts."""
    folder = Path(path).parent
    if isinstance(statement, ast.ImportFrom):
        if statement.level:
            return True
        modules = [statement.module or ""]
    elif isinstance(statement, ast.Import):
        modules = [alias.name for alias in statement.names]
    else:
        return False
    tops = {module.split(".")[0] for module in modules}
    if own is not None and any(own(top) for top in tops if top):
        return True
    return any((folder / f"{top}.py").is_file() or (folder / top).is_dir() for top in tops if top)


def _call_of(bindings: Bindings, entry: str) -> str:
    """Return the code that calls a function of the file that needs no arguments.

    Raises:
        CannotSlice: it is a method, or needs arguments.
    """
    found = [
        node
        for node in bindings.tree.body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == entry
    ]
    if len(found) != 1 or isinstance(found[0], ast.AsyncFunctionDef):
        name = "the lambda" if entry == "<lambda>" else f"{entry}()"
        raise CannotSlice(f"nothing in this file calls {name}; verify the program that calls it")
    arguments = found[0].args
    given = len(arguments.defaults)
    needed = [argument.arg for argument in [*arguments.posonlyargs, *arguments.args]]
    needed = needed[: len(needed) - given] if given else needed
    needed += [
        argument.arg
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is None
    ]
    if needed:
        raise CannotSlice(f"{entry}({', '.join(needed)}) needs arguments; verify the program that calls it")
    return f"{entry}()"


def missing_argument(program: Program, entry: str, row: int | None) -> str:
    """Return the parameter that the statement in ``row`` reads and that is None if it isn't passed; "" if there is
    none.
    """
    bindings = Bindings(program.tree)
    statements = bindings.of_row(row) if row is not None else []
    for statement in statements:
        function = bindings.function[statement]
        if function is None or function.name != entry:
            continue
        arguments = function.args
        plain = [*arguments.posonlyargs, *arguments.args]
        defaults = [*zip(reversed(plain), reversed(arguments.defaults), strict=False)]
        keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        defaults += [(keyword, default) for keyword, default in keywords if default is not None]
        absent = {
            argument.arg
            for argument, default in defaults
            if isinstance(default, ast.Constant) and default.value is None
        }
        read = {node.id for node in own_nodes(statement) if isinstance(node, ast.Name)}
        if absent & read:
            return min(absent & read)
    return ""
