"""Remove imports that nothing uses once a piece of code is removed."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.concrete_tree import comments_in, walk

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor


def drop_imports(editor: Editor, doomed: Iterable[cst.CSTNode], new: str) -> None:
    """Remove the imports of the module, and of the blocks that ``doomed`` code stands in, that only this code uses;
    ``new`` is the code that replaces it."""
    doomed = list(doomed)
    going = {node for gone in doomed for node in walk(gone)}
    read = {node.value for node in going if isinstance(node, cst.Name) and is_variable(editor, node)}
    kept = {node.id for node in ast.walk(ast.parse(new)) if isinstance(node, ast.Name)}
    blocks: list[cst.Module | cst.IndentedBlock] = [editor.module]
    for gone in doomed:
        home = editor.parent(gone)
        if isinstance(home, cst.IndentedBlock):
            blocks.append(home)
    every = dict.fromkeys(line for block in blocks for line in block.body if line not in going)
    lines = [line.body[0] for line in every if isinstance(line, cst.SimpleStatementLine)]
    imports = [line for line in lines if isinstance(line, (cst.Import, cst.ImportFrom))]
    for node in walk(editor.module):
        if isinstance(node, cst.Name) and node not in going and not _in_import(editor, node):
            kept.add(node.value)
    for line in imports:
        if isinstance(line.names, cst.ImportStar) or comments_in(line):
            continue
        left = [alias for alias in line.names if _local(alias) in kept or _local(alias) not in read]
        if not left:
            editor.remove(editor.statement_of(line))
        elif len(left) < len(line.names):
            left[-1] = left[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            changed = line.with_changes(names=left)
            editor.replace_statement(editor.statement_of(line), editor.module.code_for_node(changed) + "\n")


def _local(alias: cst.ImportAlias) -> str:
    """Return the name that a part of an import binds."""
    return alias.evaluated_alias or alias.evaluated_name.split(".")[0]


def _in_import(editor: Editor, node: cst.CSTNode) -> bool:
    return any(isinstance(ancestor, (cst.Import, cst.ImportFrom)) for ancestor in editor.ancestors(node))


def is_variable(editor: Editor, node: cst.Name) -> bool:
    """True if a name refers to a variable, not to an attribute or a keyword."""
    parent = editor.parent(node)
    if isinstance(parent, cst.Attribute):
        return parent.value is node
    return not (isinstance(parent, cst.Arg) and parent.keyword is node)
