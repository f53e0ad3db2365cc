"""Replace the GPU options of TF1 sessions by configuration of the physical devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst
from libcst.helpers import get_full_name_for_node

from tfmemlint.fixes.concrete_tree import walk
from tfmemlint.fixes.imports import is_import
from tfmemlint.fixes.rewrites import session_options
from tfmemlint.fixes.rewrites.session_conditions import (
    bare_statement,
    check_helper,
    ends_function,
    with_emptied_conditions,
)
from tfmemlint.fixes.rewrites.session_config_flow import ConfigFlow
from tfmemlint.fixes.trace_places import split_trace
from tfmemlint.fixes.unused_imports import drop_imports
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor, Statement


def turn_graph_mode_on(editor: Editor) -> None:
    """Turn graph mode on for the whole file, below the import of TensorFlow and the imports right after it."""
    body = editor.module.body
    # Other imports from TensorFlow may be above that of TensorFlow itself.
    whole = (index for index, line in enumerate(body) if _imports_tensorflow(line, itself=True))
    first = next(whole, next((index for index, line in enumerate(body) if _imports_tensorflow(line)), 0))
    imported = False
    for statement in body[first:]:
        if is_import(statement):
            imported = True
        elif imported:
            call = editor.tf("tf.compat.v1.disable_v2_behavior", statement)
            editor.insert_before(statement, f"{call}()\n", apart=True)
            return
    raise Withheld("the file has no import of TensorFlow at its top level")


def _imports_tensorflow(line: cst.CSTNode, *, itself: bool = False) -> bool:
    small = line.body if isinstance(line, cst.SimpleStatementLine) else ()
    if not itself and any(isinstance(part, cst.ImportFrom) and _is_of_tensorflow(part) for part in small):
        return True
    aliases = (alias for part in small if isinstance(part, cst.Import) for alias in part.names)
    return any(alias.evaluated_name in ("tensorflow", "tensorflow.compat.v1") for alias in aliases)


def _is_of_tensorflow(line: cst.ImportFrom) -> bool:
    return line.module is not None and (get_full_name_for_node(line.module) or "").split(".")[0] == "tensorflow"


def replace_session(editor: Editor, finding: Finding) -> None:
    """Replace a session that only carries options by configuration of the physical devices.

    The messages that carried the options are removed.

    Raises:
        Withheld: other options would be lost, or the session or a message is used elsewhere.
    """
    statement = editor.statement_at(finding.span)
    home = session_options.function_of(editor, statement)
    small = bare_statement(editor, statement, finding.span)
    new = session_options.render_options(editor, finding, statement)
    if isinstance(small, cst.Return) and not ends_function(editor, statement):
        new += "return\n"
    doomed = {statement, *_fields(editor, finding)}
    if "session" in finding.anchors:
        doomed.add(editor.statement_at(finding.anchors["session"]))
    flow = ConfigFlow(editor, home)
    doomed = flow.collect(doomed)
    doomed = with_emptied_conditions(editor, _with_helpers(editor, doomed, home) - {statement}) | {statement}
    _only_statements(doomed)
    flow.unused_elsewhere(doomed)
    for other in doomed - {statement}:
        editor.remove(other)
    if new:
        editor.replace_statement(statement, new)
    else:
        editor.drop_with_what_is_empty(statement)
    drop_imports(editor, doomed, new)
    _move_keras_backend(editor)
    editor.unsafe("Configure the physical devices with tf.config")


def _move_keras_backend(editor: Editor) -> None:
    """Import Keras' backend by the name that it has in every release, where other code still uses it: with the old one
    the first line would raise before the new code runs.

    Source: ``keras.backend.tensorflow_backend`` is gone since Keras 2.4; what it held is in ``keras.backend``.
    """
    for node in walk(editor.module):
        names = [node.module] if isinstance(node, cst.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, cst.Import) else []
        if any(name is not None and get_full_name_for_node(name) == _OLD_BACKEND for name in names):
            code = editor.module.code_for_node(node)
            editor.replace_statement(editor.statement_of(node), code.replace(_OLD_BACKEND, _BACKEND) + "\n")


_OLD_BACKEND = "keras.backend.tensorflow_backend"
_BACKEND = "keras.backend"


def add_tf_config(editor: Editor, finding: Finding) -> None:
    """Make a session's settings by ``tf.config`` as well, above the session.

    The session keeps its options, as the two have to agree: TensorFlow 2.12, 2.15 and 2.21 accept both then, and raise
    if the session lacks the visible devices.

    Raises:
        Withheld: ``tf.config`` has no counterpart of an option, or its value can't be read from there.
    """
    first = finding.anchors.get("first")
    statement = editor.statement_at(finding.span if first is None else first)
    if first is not None:
        statement = _outermost(editor, statement, finding)
    if not isinstance(editor.parent(statement), (cst.Module, cst.IndentedBlock)):
        raise Withheld("the session shares a line with another statement")
    editor.insert_before(statement, session_options.render_options(editor, finding, statement))
    editor.unsafe(
        "Configure the physical devices with tf.config as well"
        + (", above the first session" if first is not None else "")
    )


def _outermost(editor: Editor, statement: Statement, finding: Finding) -> Statement:
    """Return the statement that contains a plain session, which takes its options from ``tf.config``.

    It does so in TensorFlow 2.0 to 2.21 (``python/client/session.py``). Where the session is made in a function, it is
    the statement that leads to it, in the function or the module that leads to both sessions.

    Raises:
        Withheld: the session, or what leads to it, is under a condition.
    """
    ways = finding.details.get("ways")
    early, late = split_trace(finding, ways) if isinstance(ways, dict) else ((), ())
    if late and early and early[0].path == finding.path == late[0].path:
        statement = editor.statement_at(early[0].span)
        function = editor.function_of(statement)
        if editor.function_of(editor.statement_at(late[0].span)) is function:
            return _unconditional(editor, statement, function)
    node = statement
    for around in editor.ancestors(statement):
        if isinstance(around, (cst.FunctionDef, cst.ClassDef, cst.If, cst.For, cst.While, cst.Try)):
            raise Withheld("the first session is made in a function or under a condition")
        if isinstance(around, cst.With):
            node = around
    return node


def _unconditional(editor: Editor, statement: Statement, function: cst.CSTNode) -> Statement:
    """Return the statement of a function's own block that contains another one.

    Raises:
        Withheld: it is under a condition.
    """
    node = statement
    for around in editor.ancestors(statement):
        if around is function:
            break
        if isinstance(around, (cst.If, cst.For, cst.While, cst.Try)):
            raise Withheld("the first session is made under a condition")
        if isinstance(around, cst.With):
            node = around
    return node


def replace_proto(editor: Editor, finding: Finding) -> None:
    """Replace a message that no session receives by configuration of the physical devices.

    Raises:
        Withheld: other options would be lost, or the message is used elsewhere.
    """
    place = editor.statement_at(finding.span)
    flow = ConfigFlow(editor, session_options.function_of(editor, place))
    doomed = flow.collect({place, *_fields(editor, finding)})
    new = session_options.render_options(editor, finding, place)
    doomed = with_emptied_conditions(editor, doomed)
    last = max(doomed, key=lambda statement: editor.span(statement))
    if editor.parent(last) is not editor.parent(place):
        raise Withheld("an option is set under a condition that guards other code, too")
    _only_statements(doomed)
    flow.unused_elsewhere(doomed)
    for other in doomed - {last}:
        editor.remove(other)
    editor.replace_statement(last, new)
    drop_imports(editor, doomed, new)
    editor.unsafe("Configure the physical devices with tf.config")


def _fields(editor: Editor, finding: Finding) -> set[Statement]:
    """Return the statements that set fields of the messages."""
    return {editor.statement_at(span) for name, span in finding.anchors.items() if name.startswith("field")}


def _with_helpers(editor: Editor, doomed: set[Statement], home: cst.CSTNode | None) -> set[Statement]:
    """Return ``doomed``, with a helper function as a whole instead of the statements in it.

    It is a function that does nothing but make the message. It is removed if nothing else calls it, and kept otherwise.
    """
    found: set[Statement] = set()
    for statement in doomed:
        helper = session_options.function_of(editor, statement)
        if helper is home or not isinstance(helper, cst.FunctionDef):
            found.add(statement)
            continue
        check_helper(editor, helper, doomed)
        own = {id(node) for node in walk(helper)}
        going = {id(node) for gone in doomed for node in walk(gone)}
        names = (node for node in walk(editor.module) if isinstance(node, cst.Name) and node.value == helper.name.value)
        if all(id(node) in own or id(node) in going for node in names):
            found.add(helper)
    return found


def _only_statements(doomed: set[Statement]) -> None:
    """Refuse if a part of ``doomed`` is not a whole statement."""
    whole = (cst.SimpleStatementLine, cst.BaseSmallStatement, cst.FunctionDef, cst.If, cst.For)
    if not all(isinstance(statement, whole) for statement in doomed):
        raise Withheld("the session is not a statement of its own")
