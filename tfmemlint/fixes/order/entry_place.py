"""The place in the file where the two ways part at which configuration is called first, and the import for the call."""

from __future__ import annotations

import re

import libcst as cst

from tfmemlint.fixes.concrete_tree import Statement
from tfmemlint.fixes.editor import Editor
from tfmemlint.fixes.imports import is_import
from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.problem import OrderProblem
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.project.roots import package_root


def entry_place(problem: OrderProblem) -> Statement:
    """Return the statement above which the configuration is to be called: the one that leads to the start.

    It is in the innermost block around both ways.
    """
    file = problem.file
    tree = file.tree
    late, early = tree.statement_at(problem.then), tree.statement_at(problem.first)
    blocks = {tree.block_of(late)} | {node for node in tree.ancestors(late) if isinstance(node, _BLOCKS)}
    found: cst.CSTNode = early
    for around in (early, *tree.ancestors(early)):
        if not isinstance(around, (cst.BaseStatement, cst.BaseSmallStatement)) or around not in tree.parents:
            continue
        if isinstance(around, cst.BaseSmallStatement) and len(getattr(tree.parents[around], "body", ())) == 1:
            continue
        found = around
        if tree.block_of(around) in blocks:
            return around
    assert isinstance(found, (cst.BaseStatement, cst.BaseSmallStatement))
    return found


_BLOCKS = (cst.Module, cst.IndentedBlock, cst.SimpleStatementSuite)


def is_unconditional(problem: OrderProblem) -> None:
    """Refuse where a condition decides whether the configuration is reached.

    Raises:
        Withheld: some call on the way to it is under a condition.
    """
    for number, step in enumerate(problem.late):
        file = problem.files.get(step.path)
        tree = file.tree
        statement = tree.statement_at(step.span)
        if number == len(problem.late) - 1:
            # The condition moves along with the statement that configures.
            return
        for around in tree.ancestors(statement):
            if isinstance(around, (cst.FunctionDef, cst.Lambda, cst.Module)):
                break
            if isinstance(around, (cst.If, cst.While, cst.ExceptHandler, cst.IfExp, cst.Match)) and not is_guard(
                file, around
            ):
                raise Withheld(f"{step.path}:{step.span.row} makes its call under a condition")


_FLAGS = re.compile(r"\bFLAGS\b")
_PARSES_FLAGS = re.compile(r"\bFLAGS\s*\(|mark_as_parsed|parse_flags_with_usage|_parse_flags\b")


def check_flags(file: CodeFile, place: Statement, code: str) -> None:
    """Refuse to read flags above the call that parses them.

    Raises:
        Withheld: the code reads flags, and stands at the top level, above ``app.run(main)``.
    """
    if not _FLAGS.search(code) or file.tree.function_of(place) is not file.tree.module:
        return
    lines = file.source.text.split("\n")[: file.tree.span(place).row - 1]
    if not any(map(_PARSES_FLAGS.search, lines)):
        raise Withheld("it needs flags, which are parsed below")


def is_guard(file: CodeFile, node: cst.CSTNode) -> bool:
    """True if a node is an ``if __name__ == "__main__"``."""
    return (
        isinstance(node, cst.If) and "__main__" in file.tree.code(node.test) and "__name__" in file.tree.code(node.test)
    )


def call_in(problem: OrderProblem, place: Statement, target: CodeFile, name: str, call: str) -> dict[str, str]:
    """Return the new text of the file where the ways part: ``name`` of another file is called above ``place``.

    Args:
        problem: the configuration that comes too late. place: the statement. target: the other file.
        name: the function. call: the call of it, by its bare name, perhaps under a condition.
    """
    file = problem.file
    editor = problem.editor(file)
    spelled, known = _spelled(problem, file, place, target, name)
    bare, call = call, re.sub(rf"(?<![\w.]){name}\(", f"{spelled.rpartition(' ')[2]}(", call)
    top = file.tree.block_of(place) is file.tree.module
    if known is not None:
        if name not in _locals(file, known):
            extend_import(editor, file, known, name)
        editor.put_up(call, place, problem.why)
    elif spelled.startswith("from ") and not (top and is_import(place)):
        editor.add_import(spelled.removeprefix("from ").partition(" import ")[0], name)
        editor.put_up(bare, place, problem.why)
    elif spelled.startswith("from "):
        editor.put_up(f"{spelled}\n\n{bare}", place, problem.why)
    else:
        editor.put_up(call, place, problem.why)
    return {file.path: editor.finish()}


def extend_import(editor: Editor, file: CodeFile, node: cst.ImportFrom, name: str) -> None:
    """Add a name to an import without parentheses."""
    assert not isinstance(node.names, cst.ImportStar)
    names = [file.tree.code(alias).strip().rstrip(",").rstrip() for alias in node.names]
    line = file.tree.code(node).split("import", 1)[0]
    text = f"{line}import {', '.join(sorted([*names, name], key=_import_order))}"
    editor.replace_statement(file.tree.statement_of(node), text)


def _import_order(name: str) -> tuple[int, str]:
    """Sort as isort does: constants, classes, the rest."""
    bare = name.split(" ")[0]
    return (0 if bare.isupper() else 1 if bare[:1].isupper() else 2), bare


def _spelled(
    problem: OrderProblem, file: CodeFile, place: Statement, target: CodeFile, name: str
) -> tuple[str, cst.ImportFrom | None]:
    """Return how a file names a function of another one: by a module that it imports, or by the import to add.

    Also return the import that is to get the name, where one is there above ``place``.
    """
    tree = file.tree
    limit = tree.span(place)
    for node in sorted((node for node in tree.ranges if isinstance(node, (cst.Import, cst.ImportFrom))), key=tree.span):
        if tree.span(node) >= limit or tree.function_of(node) is not tree.module:
            continue
        if tree.block_of(tree.statement_of(node)) is not tree.module:
            continue
        named = isinstance(node, cst.ImportFrom) and not isinstance(node.names, cst.ImportStar) and node.lpar is None
        if named and isinstance(node, cst.ImportFrom) and problem.files.locate(file.module_of(node)) == target.path:
            return name, node
        for local in _locals(file, node):
            found = problem.files.resolve(file.path, local)
            if found is not None and found.path == target.path and not found.name:
                return f"{local}.{name}", None
    module = package_root(target.path)[1]
    if problem.files.locate(module) != target.path:
        raise Withheld(f"{file.path} has no import of {target.path}")
    if problem.files.module_leads_back(module, file.path) or problem.files.module_speaks(module):
        raise Withheld(f"the import of {module} does more than define")
    taken = file.imports.taken
    if name in taken:
        raise Withheld(f"{name} is a name of {file.path} already")
    own = file.package
    if (
        any(isinstance(node, cst.ImportFrom) and node.relative for node in tree.ranges)
        and own
        and (module.startswith(f"{own}."))
    ):
        module = module.removeprefix(own)
    return f"from {module} import {name}", None


def _locals(file: CodeFile, node: cst.Import | cst.ImportFrom) -> list[str]:
    if isinstance(node.names, cst.ImportStar):
        return []
    found = []
    for alias in node.names:
        text = file.tree.code(alias.asname.name) if alias.asname else file.tree.code(alias.name)
        found.append(text)
    return found
