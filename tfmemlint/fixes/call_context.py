"""Read the code around a call that is rewritten: its statement, its device, the guard that it needs."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.concrete_tree import syntax_nodes
from tfmemlint.fixes.rewrites.render_intent import free_name
from tfmemlint.model.finding import Span

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor, Statement


def text_at(editor: Editor, span: object) -> str:
    """Return the code at ``span``, "" where there is no span."""
    return editor.code(editor.expression_at(span)) if isinstance(span, Span) else ""


def own_statement(editor: Editor, call: cst.CSTNode) -> Statement | None:
    """Return the statement that is ``call`` alone, or gives it a name that nothing reads; None if there is none."""
    parent = editor.parent(call)
    alone = isinstance(parent, cst.Expr) or (isinstance(parent, cst.Assign) and _is_unread(editor, parent))
    return editor.statement_of(call) if alone else None


def _is_unread(editor: Editor, assign: cst.Assign) -> bool:
    """True if a file does nothing with the names that an assignment binds but to bind them."""
    names = {target.target.value for target in assign.targets if isinstance(target.target, cst.Name)}
    nodes = syntax_nodes(editor.text)
    used = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)}
    named = {name for node in nodes if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return len(names) == len(assign.targets) and names.isdisjoint(used | named | texts)


def set_applicability(editor: Editor, message: str, *, caught: object, doubtful: bool = False) -> None:
    """Set the message and the applicability of a rewrite that replaces a call which raised.

    It is safe if the call always raised and nothing caught the error, as the new call is the one that was meant. A new
    import makes it unsafe: it is a change of its own.
    """
    if caught:
        editor.unsafe(f"{message} (a handler catches the error now, so the program will run differently)")
    elif doubtful or editor.needs:
        editor.unsafe(message)
    else:
        editor.safe(message)


def index_guard(
    editor: Editor, device: str, details: Mapping[str, object], place: cst.CSTNode | None = None
) -> tuple[str, str, int]:
    """Return the guard that a call for ``gpus[0]`` needs on a machine without a GPU, and the device to use under it.

    The third item is the indentation, in characters, that the guard adds. ``place`` is the call: it needs none where
    the code around it, or an early end above it, has asked already.
    """
    try:
        node = ast.parse(device, mode="eval").body
    except SyntaxError:
        return "", device, 0
    if not (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)) or details["guarded"]:
        return "", device, 0
    number = node.slice.value
    if not isinstance(number, int) or number < 0:
        return "", device, 0
    base = ast.get_source_segment(device, node.value) or ast.unparse(node.value)
    if number == 0 and place is not None and _is_asked_above(editor, place, base):
        return "", device, 0
    if any(isinstance(part, ast.Call) for part in ast.walk(node.value)):
        gpu = free_name(editor, "gpu")
        return f"for {gpu} in {base}[{number}:{number + 1}]:", gpu, 4
    return (f"if {base}:" if number == 0 else f"if len({base}) > {number}:"), device, 4


def _is_asked_above(editor: Editor, place: cst.CSTNode, base: str) -> bool:
    """True if a place is reached only where a list has items: under ``if gpus:``, or below ``if not gpus: return``."""
    plain = re.escape(base)
    some = re.compile(rf"\(?(?:{plain}|len\({plain}\)(?: *(?:>|!=) *0| *>= *1)?)\)?")
    none = re.compile(rf"not {plain}|not len\({plain}\)|len\({plain}\) *(?:== *0|< *1)|{plain} *== *\[\]")
    below: cst.CSTNode = place
    for around in editor.ancestors(place):
        if isinstance(around, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
            return False
        if isinstance(around, cst.If) and below is around.body and some.fullmatch(editor.code(around.test)):
            return True
        if isinstance(around, (cst.IndentedBlock, cst.Module)):
            asked: bool | None = None
            for line in around.body:
                if line is below:
                    break
                if base not in editor.code_before(line):
                    continue  # most lines: their code is not made again for each fix
                if _ends_without(editor, line, some, none):
                    asked = True
                elif re.search(rf"(?<![\w.]){plain} *(?:=(?!=)|\+=|\.(?!index|count|copy)\w+\()", editor.code(line)):
                    asked = False
            if asked is not None:
                return asked
        below = around
    return False


def _ends_without(editor: Editor, line: cst.CSTNode, some: re.Pattern[str], none: re.Pattern[str]) -> bool:
    """True for ``if not gpus: return`` and ``assert gpus``: nothing below runs where the list is empty."""
    if isinstance(line, cst.SimpleStatementLine):
        first = line.body[0]
        return isinstance(first, cst.Assert) and some.fullmatch(editor.code(first.test)) is not None
    if not isinstance(line, cst.If) or none.fullmatch(editor.code(line.test)) is None:
        return False
    last = line.body.body[-1]
    end = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last
    if isinstance(end, cst.Expr) and isinstance(end.value, cst.Call):
        return editor.code(end.value.func) in ("sys.exit", "exit", "quit", "os._exit")
    return isinstance(end, (cst.Return, cst.Raise, cst.Continue, cst.Break))


def device_of(editor: Editor, configuration: cst.Call) -> str:
    """Return the device that a ``LogicalDeviceConfiguration(...)`` inside a call is for, "" if that isn't visible."""
    for node in editor.ancestors(configuration):
        if isinstance(node, cst.BaseSmallStatement):
            break
        if isinstance(node, cst.Call):
            name = editor.code(node.func).rsplit(".", 1)[-1]
            if name in ("set_logical_device_configuration", "set_virtual_device_configuration") and node.args:
                for argument in node.args:
                    if argument.keyword is not None and argument.keyword.value == "device":
                        return editor.code(argument.value)
                return editor.code(node.args[0].value)
    return ""


def wrap_arguments(editor: Editor, node: cst.CSTNode) -> None:
    """Give each argument of a call of two a line of its own, if a change at ``node`` has made the call too long."""
    outer: cst.CSTNode | None = node
    while outer is not None and own_statement(editor, outer) is None:
        outer = editor.parent(outer)
    if not isinstance(outer, cst.Call) or len(outer.args) != 2:
        return
    code = editor.code(outer)
    if "\n" in code or editor.span(outer).column - 1 + len(code) <= editor.line_length:
        return
    lines = "".join(f"    {editor.code(argument).rstrip().rstrip(',')},\n" for argument in outer.args)
    editor.replace(outer, f"{editor.code(outer.func)}(\n{lines})")
