"""Split a loop in two: the first configures all GPUs, the second does the rest."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.concrete_tree import syntax_nodes
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor


def split(editor: Editor, finding: Finding) -> None:
    """Move the configuring statements of a loop into a loop of their own, above the others.

    Raises:
        Withheld: the parts of the loop depend on each other.
    """
    loop = editor.statement_at(finding.anchors["configure"])
    while not isinstance(loop, (cst.For, cst.Module)):
        parent = editor.parent(loop)
        if parent is None:
            break
        loop = parent  # type: ignore[assignment]
    if not isinstance(loop, cst.For) or loop.orelse is not None or not isinstance(loop.body, cst.IndentedBlock):
        raise Withheld("the loop can't be split in two")
    body = list(loop.body.body)
    first = next(
        (i for i, statement in enumerate(body) if editor.span(statement).contains(finding.anchors["configure"])), None
    )
    start = next((i for i, statement in enumerate(body) if editor.span(statement).contains(finding.span)), None)
    if first is None or start is None or first == start:
        raise Withheld("what configures and what starts the runtime are in one statement")
    configuring = [statement for statement in body if _configures(editor.code(statement))]
    others = [statement for statement in body if statement not in configuring]
    if any(body.index(statement) < body.index(configuring[0]) for statement in others):
        raise Withheld("the loop does other things before it configures")
    _independent(editor, loop, configuring, others)
    iterated = editor.code(loop.iter)
    if is_consumed(ast.parse(f"({iterated})", mode="eval").body, assigned_values(editor)):
        raise Withheld("the loop's iterator can be consumed only once")
    new = _head_without_number(editor, loop, configuring, others)
    new += "".join(_line(editor, statement) for statement in configuring)
    new += f"for {editor.code(loop.target)} in {iterated}:\n"
    new += "".join(_line(editor, statement) for statement in others)
    editor.replace_statement(loop, new)
    editor.unsafe("Configure all GPUs in a loop of their own first")


def _head_without_number(
    editor: Editor, loop: cst.For, configuring: list[cst.BaseStatement], others: list[cst.BaseStatement]
) -> str:
    """Return the head of the first loop: without ``enumerate`` if only the second reads the number."""
    listed, target = loop.iter, loop.target
    if isinstance(listed, cst.Call) and editor.code(listed.func) == "enumerate" and isinstance(target, cst.Tuple):
        number, *rest = (element.value for element in target.elements)
        name = editor.code(number)
        used, needed = (_names(editor, part)[0] for part in (configuring, others))
        if len(rest) == 1 and name in needed - used:
            return f"for {editor.code(rest[0])} in {editor.code(listed.args[0].value)}:\n"
    return f"for {editor.code(target)} in {editor.code(listed)}:\n"


def _line(editor: Editor, statement: cst.BaseStatement) -> str:
    code = editor.code(statement).strip("\n")
    return "".join(f"    {line}\n" if line.strip() else "\n" for line in code.split("\n"))


_CONFIGURING = (
    "set_memory_growth",
    "device_configuration(",
    "set_visible_devices",
    "LogicalDeviceConfiguration(",
    "VirtualDeviceConfiguration(",
)


def _configures(code: str) -> bool:
    return any(name in code for name in _CONFIGURING)


def _independent(
    editor: Editor, loop: cst.For, configuring: list[cst.BaseStatement], others: list[cst.BaseStatement]
) -> None:
    left, right = (_names(editor, part) for part in (configuring, others))
    if (left[1] & (right[0] | right[1])) or (right[1] & left[0]):
        raise Withheld("the parts of the loop depend on each other")
    text = "".join(editor.code(statement) for statement in (*configuring, *others))
    if any(isinstance(node, (ast.Break, ast.Continue)) for node in ast.walk(_parsed(text))):
        raise Withheld("the loop is left early")


def _names(editor: Editor, statements: list[cst.BaseStatement]) -> tuple[set[str], set[str]]:
    """Return the names that statements read, and those that they bind."""
    tree = _parsed("".join(editor.code(statement) for statement in statements))
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return (
        {node.id for node in names if isinstance(node.ctx, ast.Load)},
        {node.id for node in names if not isinstance(node.ctx, ast.Load)},
    )


def _parsed(text: str) -> ast.Module:
    from textwrap import dedent, indent

    return ast.parse("while True:\n" + indent(dedent(text), "    "))


def assigned_values(editor: Editor) -> dict[str, list[ast.expr]]:
    """Return all values that are ever assigned to each plain name of the file."""
    found: dict[str, list[ast.expr]] = {}
    for node in syntax_nodes(editor.text):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
    return found


def is_consumed(iterated: ast.expr, assigned: dict[str, list[ast.expr]], *, kept: bool = False) -> bool:
    """True if a second loop over it could find nothing: it is an iterator, not a list.

    ``kept``: it was made once, before the loop.
    """
    match iterated:
        case ast.GeneratorExp():
            return True
        case ast.Name(id=name):
            rest = {other: values for other, values in assigned.items() if other != name}
            return any(is_consumed(value, rest, kept=True) for value in assigned.get(name, ()))
        case ast.Call(func=ast.Name(id="iter" | "map" | "filter")) | ast.Call(func=ast.Subscript()):
            return True
        case ast.Call(func=ast.Name(id="enumerate" | "zip" | "reversed"), args=args):
            return kept or any(is_consumed(argument, assigned) for argument in args)
        case _:
            return False
