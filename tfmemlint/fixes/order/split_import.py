"""Preparation: an import of several modules, of which one starts the runtime and another configures, becomes two.

``from app import model, train`` becomes ``from app import train`` and ``from app import model``, so that
``train.configure()`` can go between them. Modules are imported in the new order.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.fixes.order.problem import Candidate, OrderProblem
from tfmemlint.fixes.withheld import Withheld


def split_import(problem: OrderProblem) -> Iterator[Candidate]:
    """Split the import that leads to the start, if what configures needs a name of it."""
    file = problem.file
    tree = file.tree
    node = next((node for node in tree.at(problem.first) if isinstance(node, (cst.Import, cst.ImportFrom))), None)
    if node is None or isinstance(node.names, cst.ImportStar) or len(node.names) < 2:
        raise Withheld("what leads to the start is not an import of several names")
    if isinstance(node, cst.ImportFrom) and node.lpar is not None:
        raise Withheld("the import in parentheses is not split")
    wanted = file.hoist.read(tree.statement_at(problem.then)).reads
    first: list[str] = []
    rest: list[str] = []
    for alias in node.names:
        text = tree.code(alias).strip().rstrip(",").strip()
        local = tree.code(alias.asname.name) if alias.asname else tree.code(alias.name)
        (first if local.split(".")[0] in wanted else rest).append(text)
    if not first or not rest:
        raise Withheld("what configures needs nothing of the import that leads to the start")
    head = tree.code(node).split("import", 1)[0] if isinstance(node, cst.ImportFrom) else ""
    lines = "".join(f"{head}import {', '.join(names)}\n" for names in (first, rest))
    editor = problem.editor(file)
    editor.replace_statement(tree.statement_of(node), lines)
    yield Candidate(
        {file.path: editor.finish()}, f"Split the import of {', '.join(first)} from that of {', '.join(rest)}"
    )
