"""The number of processes that work beside each other, as the code knows it that each of them runs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import assigned_names, function_around
from tfmemlint.facts.tree_walk import all_nodes

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Event, Program
    from tfmemlint.interpreter.state.workers import WorkerRun, WorkersRun


def is_known_to(program: Program, group: WorkersRun, run: WorkerRun, event: Event) -> bool:
    """Return True if the number of processes, an attribute such as ``cfg.workers``, has the same name at an event.

    It has where each function on the way there takes the object under its name: ``Process(target=work, args=(cfg,))``.
    """
    name, dot, _ = group.text.partition(".")
    if not dot or not name.isidentifier() or name == "self" or name not in run.parameters:
        return False
    trees = {unit.source.path: unit.tree for unit in program.units}
    making = trees.get(group.made_in)
    if making is None or not _hands_over(making, group.span.row, name):
        return False
    places = [*((step.path, step.span.row) for step in event.frames), (event.path, event.span.row)]
    return all(_takes(trees.get(path), row, name) for path, row in places)


def _hands_over(tree: ast.AST, row: int, name: str) -> bool:
    """Return True if the call in a row gives a name to the processes, among other arguments."""
    for node in all_nodes(tree):
        if isinstance(node, ast.Call) and node.lineno <= row <= (node.end_lineno or row):
            listed = [each.value for each in node.keywords if each.arg in ("args", "initargs")]
            if any(isinstance(item, ast.Name) and item.id == name for part in listed for item in _items(part)):
                return True
    return False


def _items(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, (ast.Tuple, ast.List)) else []


def _takes(tree: ast.AST | None, row: int, name: str) -> bool:
    """Return True if the function around a row has a parameter of this name, and binds it to nothing else."""
    inner = function_around(tree, row) if tree is not None else None
    if inner is None:
        return False
    names = [arg.arg for arg in (*inner.args.posonlyargs, *inner.args.args, *inner.args.kwonlyargs)]
    return name in names and name not in assigned_names(inner.body)
