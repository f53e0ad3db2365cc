"""GPU options of TF1 sessions, written as configuration of the physical devices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.finding import Finding
from tfmemlint.fixes import settings
from tfmemlint.fixes.imports import is_import
from tfmemlint.fixes.tree import walk
from tfmemlint.fixes.unused import drop_imports, is_variable
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
    for node in walk(editor.module):
        if isinstance(node, cst.Assign) and _target_names(node) & roots:
            found.add(editor.statement_of(node))
    return found


def _roots(statement: cst.CSTNode) -> set[str]:
    """The variables whose fields a statement sets, or that it makes."""
    found: set[str] = set()
    for node in walk(statement):
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
    inside = {id(node) for statement in doomed for node in walk(statement)}
    for node in walk(editor.module):
        if isinstance(node, cst.Name) and node.value in bound and id(node) not in inside and is_variable(editor, node):
            raise Withheld(f"{node.value} is used elsewhere (line {editor.span(node).row})")
