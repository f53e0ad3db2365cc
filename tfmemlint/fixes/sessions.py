"""GPU options of TF1 sessions, written as configuration of the physical devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst
from libcst.helpers import get_full_name_for_node

from tfmemlint.finding import Finding
from tfmemlint.fixes import options
from tfmemlint.fixes.conditions import check_helper, is_last, plain, with_conditions
from tfmemlint.fixes.imports import is_import
from tfmemlint.fixes.tree import walk
from tfmemlint.fixes.unused import drop_imports, is_variable
from tfmemlint.fixes.withheld import Withheld

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor, Statement


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
    if any(isinstance(one, cst.ImportFrom) and _is_of_tensorflow(one) for one in small):
        return True
    aliases = (alias for one in small if isinstance(one, cst.Import) for alias in one.names)
    return any(alias.evaluated_name in ("tensorflow", "tensorflow.compat.v1") for alias in aliases)


def _is_of_tensorflow(line: cst.ImportFrom) -> bool:
    return line.module is not None and (get_full_name_for_node(line.module) or "").split(".")[0] == "tensorflow"


def replace_session(editor: Editor, finding: Finding) -> None:
    """A session that only carries options becomes configuration of the physical devices, in its place; the messages
    that carried the options go.

    Raises:
        Withheld: other options would be lost, or the session or a message is used elsewhere.
    """
    statement = editor.statement_at(finding.span)
    home = options.function_of(editor, statement)
    small = plain(editor, statement, finding.span)
    new = options.rendered(editor, finding, statement)
    if isinstance(small, cst.Return) and not is_last(editor, statement):
        new += "return\n"
    doomed = {statement, *_carriers(editor, finding)}
    if "session" in finding.anchors:
        doomed.add(editor.statement_at(finding.anchors["session"]))
    doomed |= _between(editor, doomed)
    doomed = with_conditions(editor, _with_helpers(editor, doomed, home) - {statement}) | {statement}
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
    place = editor.statement_at(finding.span)
    doomed = {place, *_carriers(editor, finding)}
    new = options.rendered(editor, finding, place)
    doomed = with_conditions(editor, doomed)
    last = max(doomed, key=lambda one: editor.span(one))
    if editor.parent(last) is not editor.parent(place):
        raise Withheld("an option is set under a condition that has more to do")
    _unused_elsewhere(editor, doomed)
    for other in doomed - {last}:
        editor.remove(other)
    editor.replace_statement(last, new)
    drop_imports(editor, doomed, new)
    editor.unsafe("Configure the physical devices by tf.config")


def _carriers(editor: Editor, finding: Finding) -> set[Statement]:
    """The statements that make the messages and set their fields."""
    found = {editor.statement_at(span) for name, span in finding.anchors.items() if name.startswith("field")}
    roots = {root for statement in found for root in _roots(statement)}
    for node in walk(editor.module):
        if isinstance(node, cst.Assign) and _target_names(node) & roots:
            found.add(editor.statement_of(node))
    return found


def _between(editor: Editor, doomed: set[Statement]) -> set[Statement]:
    """The statements that hand a message on to what goes: ``config = ConfigProto(gpu_options=gpu_options)``."""
    found: set[Statement] = set()
    while True:
        going = doomed | found
        roots = {root for statement in going for root in _roots(statement)}
        read = {node.value for one in going for node in walk(one) if isinstance(node, cst.Name)}
        more = {
            editor.statement_of(node)
            for node in walk(editor.module)
            if isinstance(node, cst.Assign)
            and _target_names(node) & read
            and any(isinstance(one, cst.Name) and one.value in roots for one in walk(node.value))
        }
        if more <= going:
            return found
        found |= more


def _with_helpers(editor: Editor, doomed: set[Statement], home: cst.CSTNode | None) -> set[Statement]:
    """The same, with a function that does nothing but make the message in place of the statements in it: it goes as a
    whole, where nothing else calls it, and stays as a whole otherwise."""
    found: set[Statement] = set()
    for statement in doomed:
        helper = options.function_of(editor, statement)
        if helper is home or not isinstance(helper, cst.FunctionDef):
            found.add(statement)
            continue
        check_helper(editor, helper, doomed)
        own = {id(node) for node in walk(helper)}
        going = {id(node) for one in doomed for node in walk(one)}
        names = (node for node in walk(editor.module) if isinstance(node, cst.Name) and node.value == helper.name.value)
        if all(id(node) in own or id(node) in going for node in names):
            found.add(helper)
    return found


def _roots(statement: cst.CSTNode) -> set[str]:
    """The variables whose fields a statement sets, or that it makes; of a function, its name."""
    if isinstance(statement, cst.FunctionDef):
        return {statement.name.value}
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
        if not isinstance(statement, (cst.SimpleStatementLine, cst.BaseSmallStatement, cst.FunctionDef, cst.If)):
            raise Withheld("the session is more than a statement of its own")
    inside = {id(node) for statement in doomed for node in walk(statement)}
    for node in walk(editor.module):
        if isinstance(node, cst.Name) and node.value in bound and id(node) not in inside and is_variable(editor, node):
            raise Withheld(f"{node.value} is used elsewhere (line {editor.span(node).row})")
