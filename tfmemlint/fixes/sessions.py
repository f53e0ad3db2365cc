"""GPU options of TF1 sessions, written as configuration of the physical devices."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.finding import Finding
from tfmemlint.fixes import settings
from tfmemlint.fixes.imports import is_import
from tfmemlint.fixes.tree import comments_in
from tfmemlint.fixes.withheld import Withheld

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor, Statement

_GROWTH = "gpu_options.allow_growth"
_SHARE = "gpu_options.per_process_gpu_memory_fraction"


def turn_graph_mode_on(editor: Editor) -> None:
    """Graph mode for the whole file, below the import of TensorFlow and the imports that follow it at once."""
    call = f"{editor.tf('tf.compat.v1.disable_v2_behavior')}()\n"
    body = editor.module.body
    first = next((index for index, one in enumerate(body) if _imports_tensorflow(one)), 0)
    imported = False
    for statement in body[first:]:
        if is_import(statement):
            imported = True
        elif imported:
            editor.insert_before(statement, call, apart=True)
            return
    raise Withheld("the file has no import of TensorFlow at its top level")


def _imports_tensorflow(line: cst.CSTNode) -> bool:
    small = line.body if isinstance(line, cst.SimpleStatementLine) else ()
    aliases = (alias for one in small if isinstance(one, cst.Import) for alias in one.names)
    return any(alias.evaluated_name in ("tensorflow", "tensorflow.compat.v1") for alias in aliases)


def replace_session(editor: Editor, finding: Finding) -> None:
    """A session that only carries options becomes configuration of the physical devices, in its place; the messages
    that carried the options go.

    Raises:
        Withheld: other options would be lost, or the session or a message is used elsewhere.
    """
    new = _settings(editor, finding.details)
    statement = editor.statement_at(finding.span)
    doomed = {statement, *_carriers(editor, finding)}
    if "session" in finding.anchors:
        doomed.add(editor.statement_at(finding.anchors["session"]))
    _unused_elsewhere(editor, doomed)
    for other in doomed - {statement}:
        editor.remove(other)
    editor.replace_statement(statement, new)
    drop_imports(editor, doomed, new)
    editor.unsafe("Configure the physical devices by tf.config")


def replace_proto(editor: Editor, finding: Finding) -> None:
    """A message that nobody gets becomes configuration of the physical devices.

    Raises:
        Withheld: other options would be lost, or the message is used elsewhere.
    """
    new = _settings(editor, finding.details)
    doomed = {editor.statement_at(finding.span), *_carriers(editor, finding)}
    _unused_elsewhere(editor, doomed)
    last = max(doomed, key=lambda one: editor.span(one))
    for other in doomed - {last}:
        editor.remove(other)
    editor.replace_statement(last, new)
    drop_imports(editor, doomed, new)
    editor.unsafe("Configure the physical devices by tf.config")


def _settings(editor: Editor, details: Mapping[str, object]) -> str:
    options = details["options"]
    written = details["all"]
    assert isinstance(options, dict) and isinstance(written, list)
    others = sorted(set(written) - {_GROWTH, _SHARE})
    if others:
        raise Withheld(f"its other options would be lost: {', '.join(others)}")
    if _GROWTH in options and _SHARE in options:
        raise Withheld("tf.config has no way to have both growth and a share of the memory")
    if _SHARE in options:
        share = options[_SHARE]
        if not isinstance(share, (int, float)) or not 0 < share <= 1:
            raise Withheld("the share is no known number between 0 and 1")
        return settings.share_for_all(editor, repr(share))
    if options.get(_GROWTH) is not True:
        raise Withheld("whether growth is on isn't known")
    return settings.growth_for_all(editor)


def _carriers(editor: Editor, finding: Finding) -> set[Statement]:
    """The statements that make the messages and set their fields."""
    found = {editor.statement_at(span) for name, span in finding.anchors.items() if name.startswith("field")}
    roots = {root for statement in found for root in _roots(statement)}
    for node in _walk(editor.module):
        if isinstance(node, cst.Assign) and _target_names(node) & roots:
            found.add(editor.statement_of(node))
    return found


def _roots(statement: cst.CSTNode) -> set[str]:
    """The variables whose fields a statement sets, or that it makes."""
    found: set[str] = set()
    for node in _walk(statement):
        if isinstance(node, cst.Assign):
            for target in node.targets:
                one: cst.BaseExpression = target.target
                while isinstance(one, cst.Attribute):
                    one = one.value
                if isinstance(one, cst.Name):
                    found.add(one.value)
    return found


def _target_names(node: cst.Assign) -> set[str]:
    return {target.target.value for target in node.targets if isinstance(target.target, cst.Name)}


def _unused_elsewhere(editor: Editor, doomed: set[Statement]) -> None:
    """Nothing but the statements that go may use the names that they bind."""
    bound = {root for statement in doomed for root in _roots(statement)}
    for statement in doomed:
        if not isinstance(statement, (cst.SimpleStatementLine, cst.BaseSmallStatement)):
            raise Withheld("the session is more than a statement of its own")
    inside = {id(node) for statement in doomed for node in _walk(statement)}
    for node in _walk(editor.module):
        if isinstance(node, cst.Name) and node.value in bound and id(node) not in inside and _is_variable(editor, node):
            raise Withheld(f"{node.value} is used elsewhere (line {editor.span(node).row})")


def drop_imports(editor: Editor, doomed: Iterable[cst.CSTNode], new: str) -> None:
    """Imports of the module that only the code that goes has used go with it; ``new`` is what takes its place."""
    going = {node for one in doomed for node in _walk(one)}
    read = {node.value for node in going if isinstance(node, cst.Name) and _is_variable(editor, node)}
    kept = {node.id for node in ast.walk(ast.parse(new)) if isinstance(node, ast.Name)}
    lines = [one.body[0] for one in editor.module.body if isinstance(one, cst.SimpleStatementLine)]
    imports = [one for one in lines if isinstance(one, (cst.Import, cst.ImportFrom))]
    for node in _walk(editor.module):
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
    """The name that a part of an import binds."""
    return alias.evaluated_alias or alias.evaluated_name.split(".")[0]


def _in_import(editor: Editor, node: cst.CSTNode) -> bool:
    one = editor.parent(node)
    while one is not None and not isinstance(one, (cst.Import, cst.ImportFrom)):
        one = editor.parent(one)
    return one is not None


def _is_variable(editor: Editor, node: cst.Name) -> bool:
    """Whether a name stands for a variable: not for an attribute, nor for a keyword."""
    parent = editor.parent(node)
    if isinstance(parent, cst.Attribute):
        return parent.value is node
    return not (isinstance(parent, cst.Arg) and parent.keyword is node)


def _walk(node: cst.CSTNode) -> list[cst.CSTNode]:
    found: list[cst.CSTNode] = []
    pending = [node]
    while pending:
        one = pending.pop()
        found.append(one)
        pending.extend(one.children)
    return found
