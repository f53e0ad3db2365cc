"""Give the calls that configure logical devices one physical device each."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.call_context import index_guard, own_statement, set_applicability, wrap_arguments
from tfmemlint.fixes.rewrites.render_intent import all_gpus, free_name, limit_for_all, number_of_gpu
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding

if TYPE_CHECKING:
    from tfmemlint.fixes.concrete_tree import Statement
    from tfmemlint.fixes.editor import Editor

_ASSIGNMENT = (cst.Assign, cst.AnnAssign)


def fix_device(editor: Editor, finding: Finding) -> None:
    """Pass the device instead of its name or a list of it alone, or call the function for every device of a list."""
    details = finding.details
    if details["kind"] == "hidden":
        editor.replace(editor.expression_at(finding.anchors["device"]), str(details["device"]))
        editor.unsafe("Set the limit for the GPU that stays visible")
        return
    node = editor.expression_at(finding.span)
    if details["kind"] == "name":
        editor.replace(node, str(details["device"]).removesuffix(".name"))
        set_applicability(editor, "Configure the device itself", caught=details["caught"])
        return
    if details["kind"] == "single":
        if not isinstance(node, (cst.List, cst.Tuple)):
            raise Withheld("the list is made elsewhere")
        editor.replace(node, editor.code(node.elements[0].value))
        set_applicability(editor, "Configure the device itself", caught=details["caught"])
        return
    call = editor.call_to_rewrite(finding.anchors["call"])
    if details["kind"] == "string":
        _name_gpu(editor, call, node, details)
        return
    statement = own_statement(editor, call)
    if statement is None:
        raise Withheld("its result is used, and a setting has none")
    devices, gpu = editor.code(node), free_name(editor, "gpu")
    editor.replace(node, gpu)
    code = editor.code(call).replace("\n", "\n    ")
    editor.replace_statement(statement, f"for {gpu} in {devices}:\n    {code}\n")
    set_applicability(editor, "Configure every GPU of the list", caught=details["caught"])


def limit_every_gpu(editor: Editor, finding: Finding) -> None:
    """Give every GPU the limit of a configuration that stands alone."""
    call = editor.call_to_rewrite(finding.span)
    statement = own_statement(editor, call) or _only_assignment(editor, call)
    if statement is None:
        raise Withheld("its result is used")
    if len(call.args) > 1:
        raise Withheld("it has other settings, too")
    editor.replace_statement(statement, limit_for_all(editor, str(finding.details["mib"]), "mib"))
    editor.unsafe("Configure every GPU with this limit")


def _only_assignment(editor: Editor, call: cst.Call) -> Statement | None:
    """Return the statement that assigns ``call``, or a list of it, and does nothing else; None if it does more."""
    above = list(itertools.takewhile(lambda node: not isinstance(node, _ASSIGNMENT), editor.ancestors(call)))
    wrapped = all(isinstance(node, (cst.Element, cst.List, cst.Tuple)) for node in above)
    return editor.statement_of(call) if wrapped else None


def _name_gpu(editor: Editor, call: cst.Call, node: cst.BaseExpression, details: Mapping[str, object]) -> None:
    """Take the GPU that a string names from the list of all."""
    statement = own_statement(editor, call)
    number = number_of_gpu(node.evaluated_value) if isinstance(node, cst.SimpleString) else None  # type: ignore[arg-type]
    if number is None:
        raise Withheld("it is not known which GPU is meant")
    if statement is None:
        raise Withheld("its result is used, and a setting has none")
    guard, gpu, _ = index_guard(editor, f"{all_gpus(editor)}[{number}]", {"guarded": False})
    editor.replace(node, gpu)
    code = editor.code(call).replace("\n", "\n    ")
    editor.replace_statement(statement, f"{guard}\n    {code}\n")
    set_applicability(editor, f"Configure GPU {number} of the list", caught=details["caught"], doubtful=True)


def set_at_once(editor: Editor, finding: Finding) -> None:
    """Set by one call the logical devices that several calls, or the passes of a loop, set for one GPU.

    Raises:
        Withheld: the loop does more, or it is not known that more than one logical device is meant.
    """
    call = editor.call_to_rewrite(finding.span)
    statement = own_statement(editor, call)
    if statement is None:
        raise Withheld("its result is used, and a setting has none")
    if finding.details["loop"]:
        loop = editor.nearest(call, cst.For)
        if loop is None or editor.parent(statement) is not loop.body or loop.orelse is not None:
            raise Withheld("the loop does more than set them")
        made = _list_of_passes(editor, loop, call, statement)
        editor.replace(_logical_devices(call), made)
        editor.replace_statement(loop, f"{editor.code(call)}\n")
        editor.unsafe("Set the logical devices of all passes by one call")
        return
    if not finding.details["together"]:
        raise Withheld("it may be meant to replace them: remove one of the two calls, or set both by one")
    earlier = editor.call_to_rewrite(finding.anchors["earlier"])
    first = own_statement(editor, earlier)
    if first is None or editor.parent(first) is not editor.parent(statement):
        raise Withheld("the calls are in different blocks")
    lists = [_logical_devices(each) for each in (earlier, call)]
    if not all(isinstance(each, cst.List) for each in lists):
        raise Withheld("the lists are made elsewhere")
    both = [editor.code(item) for each in lists if isinstance(each, cst.List) for item in each.elements]
    editor.replace(lists[1], f"[{', '.join(item.strip().rstrip(',') for item in both)}]")
    wrap_arguments(editor, call)
    editor.remove(first)
    editor.unsafe("Set all logical devices by one call")


def set_for_each(editor: Editor, finding: Finding) -> None:
    """Give each GPU of a listing its own configuration, of a list with one for each.

    Raises:
        Withheld: the result of the call is used, or the list is made in another way.
    """
    call, made = editor.call_to_rewrite(finding.span), editor.expression_at(finding.anchors["made"])
    statement, listing = own_statement(editor, call), str(finding.details["listing"])
    if statement is None:
        raise Withheld("its result is used, and a setting has none")
    if isinstance(made, cst.ListComp):
        target, limit = editor.code(made.for_in.target), editor.code(made.elt)
        counted = editor.code(made.for_in.iter)
    elif isinstance(made, cst.BinaryOperation) and isinstance(made.left, cst.List):
        target, limit, counted = "_", editor.code(made.left.elements[0].value), listing
    else:
        raise Withheld("the list is made elsewhere")
    if target == "_":
        target, counted = "gpu" if listing != "gpu" else "device", listing
    device = target if counted == listing else f"{listing}[{target}]"
    setter = editor.code(call.func)
    line = f"    {setter}({device}, [{limit}])"
    column = finding.span.column
    if len(line) + column > editor.line_length:
        line = f"    {setter}(\n        {device}, [{limit}]\n    )"
    above = editor.statement_of(made)
    if above is not statement:
        editor.remove(above)
    editor.replace_statement(statement, f"for {target} in {counted}:\n{line}\n")
    editor.unsafe("Give each GPU its own limit")


def _logical_devices(call: cst.Call) -> cst.BaseExpression:
    """Return the list of logical devices that a call gets.

    Raises:
        Withheld: it gets none.
    """
    plain = [argument for argument in call.args if argument.keyword is None]
    if len(plain) > 1:
        return plain[1].value
    for argument in call.args:
        if argument.keyword is not None and argument.keyword.value in ("logical_devices", "virtual_devices"):
            return argument.value
    raise Withheld("it gets no list of logical devices")


def _list_of_passes(editor: Editor, loop: cst.For, call: cst.Call, statement: Statement) -> str:
    """Return the code of the list of what each pass of a loop sets."""
    device = _logical_devices(call)
    others = [line for line in loop.body.body if line is not statement and line is not editor.parent(statement)]
    assigned: dict[str, cst.BaseExpression] = {}
    for line in others:
        small = line.body[0] if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None
        if not isinstance(small, cst.Assign) or len(small.targets) != 1:
            raise Withheld("the loop does more than set them")
        assigned[editor.code(small.targets[0].target)] = small.value
    while isinstance(device, cst.Name) and device.value in assigned:
        device = assigned.pop(device.value)
    if not isinstance(device, cst.List) or len(device.elements) != 1:
        raise Withheld("the list that it sets is made elsewhere")
    item = device.elements[0].value
    while isinstance(item, cst.Name) and item.value in assigned:
        item = assigned.pop(item.value)
    if assigned or isinstance(device.elements[0], cst.StarredElement):
        raise Withheld("the loop does more than set them")
    return f"[{editor.code(item)} for {editor.code(loop.target)} in {editor.code(loop.iter)}]"
