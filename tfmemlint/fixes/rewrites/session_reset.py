"""Write a function that resets Keras by a new session without sessions: ``clear_session()`` is what is left of it."""

from __future__ import annotations

import re
from textwrap import indent
from typing import TYPE_CHECKING

import libcst as cst
from libcst import matchers

from tfmemlint.fixes.imports import is_import
from tfmemlint.fixes.orphans import leaves_orphans
from tfmemlint.fixes.rewrites import render_intent
from tfmemlint.fixes.unused_imports import drop_imports
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor, Statement

_SESSIONS = re.compile(r"\b(?:get_session|set_session|ConfigProto|GPUOptions|Session|InteractiveSession)\b")


def replace(editor: Editor, finding: Finding) -> None:
    """Remove the session and its options from the function, and configure the GPUs at the top of the file.

    Raises:
        Withheld: the session is used for more, or an option has no counterpart that can be set at the top.
    """
    function = editor.node_at(finding.anchors["function"], cst.FunctionDef)
    new = _configuration(editor, finding)
    doomed = _statements_of_session(editor, function)
    kept = editor.tf("tf.keras.backend.clear_session", function)
    replaced: list[cst.CSTNode] = []
    for call in matchers.findall(function, matchers.Call()):
        if isinstance(call, cst.Call) and editor.module.code_for_node(call.func).rpartition(".")[2] == "clear_session":
            editor.replace(call.func, kept)
            replaced.append(call.func)
    for statement in doomed:
        if leaves_orphans(editor.tree, statement, doomed):
            editor.discard(statement, forget=True)
        else:
            editor.remove(statement)
    if new:
        editor.insert_tidily(_first_after_imports(editor), new)
    drop_imports(editor, [*doomed, *replaced], f"{new}{kept}\n")
    editor.unsafe("Keep clear_session(), and configure the GPUs once")


def _statements_of_session(editor: Editor, function: cst.FunctionDef) -> set[Statement]:
    """Return the statements that are about the session, and about the message with its options."""
    found = matchers.findall(function.body, matchers.SimpleStatementLine())
    lines = [line for line in found if isinstance(line, cst.SimpleStatementLine)]
    names: set[str] = set()
    doomed: set[Statement] = set()
    for line in lines:
        code = "; ".join(editor.module.code_for_node(part) for part in line.body)
        match = re.match(r"([^\W\d]\w*)\s*=(?!=)", code)
        root = re.match(r"[^\W\d]\w*", code)
        if match is not None and _SESSIONS.search(code):
            names.add(match[1])
            doomed.add(line)
        elif (root is not None and root[0] in names) or re.match(r"[\w.]*\b(?:get|set)_session\(", code):
            doomed.add(line)
    for line in lines:
        code = editor.module.code_for_node(line)
        if line not in doomed and any(re.search(rf"\b{name}\b", code) for name in names):
            raise Withheld("the session is used for more than the reset")
        if line not in doomed and re.search(r"\b(?:get|set)_session\b", code):
            raise Withheld("the session is used for more than the reset")
    return doomed


def _configuration(editor: Editor, finding: Finding) -> str:
    """Return the code that makes the settings of the new session for the process."""
    options = dict(finding.details["options"])  # type: ignore[call-overload]
    share = options.pop("gpu_options.per_process_gpu_memory_fraction", None)
    grows = options.pop("gpu_options.allow_growth", None)
    shown = options.pop("gpu_options.visible_device_list", None)
    if options or (share is not None and not isinstance(share, (int, float))) or not isinstance(shown, str | None):
        raise Withheld("an option of the session has no counterpart in tf.config")
    limited = share is not None and 0 < share < 1
    if shown is None:
        if limited:
            return render_intent.share_for_all(editor, str(share))
        return render_intent.growth_for_all(editor) if grows is True else ""
    if not shown.strip().isdigit():
        raise Withheld("the session is for several GPUs")
    gpus = render_intent.free_name(editor, "gpus")
    number = int(shown)
    gpu = f"{gpus}[{number}]"
    lines = [f"{render_intent.spell(editor, 'tf.config.set_visible_devices')}({gpu}, {editor.quoted('GPU')})"]
    if limited:
        lines.append(render_intent.limit(editor, gpu, editor.mib_of_share(gpu, str(share)), 4))
    elif grows is True:
        lines.append(render_intent.growth(editor, gpu))
    test = gpus if number == 0 else f"len({gpus}) > {number}"
    return f"{gpus} = {render_intent.all_gpus(editor)}\nif {test}:\n{indent(chr(10).join(lines), '    ')}\n"


def _first_after_imports(editor: Editor) -> Statement:
    """Return the first statement below the imports at the top of the file."""
    body = editor.module.body
    imports = [place for place, line in enumerate(body) if is_import(line)]
    if not imports or imports[-1] + 1 >= len(body):
        raise Withheld("the file has no import at its top level")
    return body[imports[-1] + 1]
