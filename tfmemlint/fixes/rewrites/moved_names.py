"""Correct names that a release has moved or removed: use their new place, or drop their import."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.concrete_tree import walk
from tfmemlint.fixes.unused_imports import is_variable
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Span

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor


def import_around(editor: Editor, span: Span) -> cst.ImportFrom | None:
    """Return the ``from ... import ...`` that contains ``span``; None if there is none."""
    return next((node for node in _import_lines(editor.module) if editor.span(node).contains(span)), None)


@lru_cache(maxsize=2)
def _import_lines(module: cst.Module) -> tuple[cst.ImportFrom, ...]:
    """Return every ``from ... import ...`` of a file; it is cached for the file's findings."""
    return tuple(node for node in walk(module) if isinstance(node, cst.ImportFrom))


def import_at(editor: Editor, span: Span) -> cst.ImportFrom:
    """Return the ``from ... import ...`` that contains ``span``.

    Raises:
        Withheld: there is none.
    """
    line = import_around(editor, span)
    if line is None:
        raise Withheld("the module itself is imported, not a name of it")
    return line


def import_from(editor: Editor, span: Span, place: Callable[[str], str | None]) -> None:
    """Import names from another module, and keep their local names.

    ``place`` returns the new place of a dotted name, such as ``tensorflow.compat.v1.X``; None for one that stays.

    Raises:
        Withheld: it is a star import.
    """
    line = import_at(editor, span)
    if isinstance(line.names, cst.ImportStar) or line.module is None:
        raise Withheld("a star imports it")
    module = editor.module.code_for_node(line.module)
    stays: list[str] = []
    goes: dict[str, list[str]] = {}
    for alias in line.names:
        name = alias.evaluated_name
        new = place(f"{module}.{name}")
        if new is None:
            stays.append(_imported_as(name, alias.evaluated_alias or name))
            continue
        owner, _, last = new.rpartition(".")
        goes.setdefault(owner, []).append(_imported_as(last, alias.evaluated_alias or name))
    if stays:
        goes[module] = stays
    lines = [_import_line(owner, names) for owner, names in sorted(goes.items())]
    editor.replace_statement(editor.statement_of(line), "".join(lines))


def spelled_alike(
    editor: Editor, node: cst.BaseExpression, name: str, names: Collection[str]
) -> Iterator[tuple[cst.Attribute, str]]:
    """Yield the other ``names`` in the function of ``node``, spelled as ``node``, which is the canonical ``name``.

    They are on branches that the program never takes as it stands, so they have no findings of their own. Names that
    depend on the release or on a handler are left out.
    """
    text = editor.code(node)
    if not text.endswith(name.removeprefix("tf")):
        return
    prefix = text.removesuffix(name.removeprefix("tf"))
    spelled = {prefix + known.removeprefix("tf"): known for known in names}
    function = next((ancestor for ancestor in editor.ancestors(node) if isinstance(ancestor, cst.FunctionDef)), None)
    for other in walk(function) if function is not None else ():
        if not isinstance(other, cst.Attribute) or other is node or editor.code(other) not in spelled:
            continue
        if not any(_decides(editor, around) for around in editor.ancestors(other)):
            yield other, spelled[editor.code(other)]


SUMMARIES = frozenset(f"tf.summary.{name}" for name in ("scalar", "histogram", "image", "audio", "text"))
"""Functions that TensorFlow 2 has as well, for its own summaries: ``merge_all`` does not find what they write."""


def summaries(editor: Editor) -> Iterator[tuple[cst.Attribute, str]]:
    """Yield the functions that write summaries, each with the name of TensorFlow 1's own."""
    for node in walk(editor.module):
        if isinstance(node, cst.Attribute) and editor.resolve(node) in SUMMARIES:
            yield node, f"tf.compat.v1.{editor.resolve(node).removeprefix('tf.')}"


def _decides(editor: Editor, node: cst.CSTNode) -> bool:
    if isinstance(node, (cst.If, cst.IfExp)):
        return re.search(r"(?i)version|hasattr|tf_?[12]\b|is_v[12]|major", editor.code(node.test)) is not None
    return isinstance(node, (cst.Try, cst.TryStar))


def _import_line(module: str, names: Sequence[str]) -> str:
    return f"from {module} import {', '.join(names)}\n"


def _imported_as(name: str, local: str) -> str:
    return name if name == local else f"{name} as {local}"


def calls_of_import(editor: Editor, span: Span, name: str) -> list[cst.Call]:
    """Return all calls of the name that an import at ``span`` binds for ``name`` (without its module).

    Raises:
        Withheld: it is not only called, or bound again.
    """
    line = import_at(editor, span)
    assert not isinstance(line.names, cst.ImportStar)
    alias = next((imported for imported in line.names if imported.evaluated_name == name), None)
    if alias is None:
        raise Withheld(f"the import of {name} was not found")
    local = alias.evaluated_alias or name
    found: list[cst.Call] = []
    for node in walk(editor.module):
        if not isinstance(node, cst.Name) or node.value != local or not is_variable(editor, node):
            continue
        if any(ancestor is line for ancestor in editor.ancestors(node)):
            continue
        parent = editor.parent(node)
        if not isinstance(parent, cst.Call) or parent.func is not node:
            raise Withheld(f"{local} is not only called (line {editor.span(node).row})")
        found.append(parent)
    return found


def drop_name(editor: Editor, span: Span, name: str) -> None:
    """Remove the import of ``name``."""
    line = import_at(editor, span)
    assert not isinstance(line.names, cst.ImportStar)
    left = [alias for alias in line.names if alias.evaluated_name != name]
    statement = editor.statement_of(line)
    if not left:
        editor.remove(statement)
        return
    left[-1] = left[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    editor.replace_statement(statement, editor.module.code_for_node(line.with_changes(names=left)) + "\n")
