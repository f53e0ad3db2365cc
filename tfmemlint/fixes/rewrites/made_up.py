"""Replace made-up calls and assignments by the real calls for the same intent."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from textwrap import indent
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.call_context import index_guard, own_statement, set_applicability, text_at
from tfmemlint.fixes.concrete_tree import syntax_nodes
from tfmemlint.fixes.rewrites import made_up_optimizers, memory_reports
from tfmemlint.fixes.rewrites.render_intent import (
    all_gpus,
    gpus_named,
    growth,
    growth_for_all,
    in_mib,
    is_no_device,
    limit,
    limit_for_all,
    spell,
)
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding
from tfmemlint.model.intent import Purpose

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor

_MESSAGES = {
    Purpose.GROWTH: "Set memory growth with the function that exists",
    Purpose.LIMIT: "Use a logical device with that limit in MiB",
    Purpose.FRACTION: "Use a logical device with that share of the GPU's memory in MiB",
}


def take_real_place(editor: Editor, finding: Finding) -> None:
    """Replace ``getattr(module, "made_up", default)``, and what an ``or`` has in its place, by the real function.

    Raises:
        Withheld: the question is not one expression of its own.
    """
    asked = editor.expression_at(finding.span)
    around = editor.parent(asked)
    while isinstance(around, cst.BooleanOperation) and isinstance(around.operator, cst.Or) and around.left is asked:
        asked, around = around, editor.parent(around)
    editor.replace(asked, spell(editor, str(finding.details["real"])))
    editor.unsafe(f"Use {finding.details['real']}")


def replace_made_up(editor: Editor, call: cst.Call, finding: Finding) -> None:
    """Replace a made-up call by the real one for the same intent."""
    details = finding.details
    if details["training"]:
        raise Withheld("it is meant to change the memory during training, and no call can")
    caught, purpose = details["caught"], Purpose(str(details["purpose"]))
    if details["real"]:
        real = str(details["real"])
        editor.replace(call.func, spell(editor, real))
        set_applicability(editor, f"Use {real}", caught=caught)
        return
    device, amount = text_at(editor, details["device"]), text_at(editor, details["amount"])
    if isinstance(details["number"], int) and purpose is not Purpose.REPORT:
        device = f"{all_gpus(editor)}[{details['number']}]"
    if details["opposite"] and amount:
        known = details["value"]
        amount = str(known) if amount in ("True", "False") else f"not ({amount})"
    elif details["opposite"]:
        amount = "False"
    if purpose in (Purpose.GROWTH, Purpose.LIMIT, Purpose.FRACTION):
        _set(editor, call, purpose, device, amount, details)
    elif purpose is Purpose.DEVICES:
        if len(call.args) == 1 and _is_gpu(editor, call.args[0].value):
            editor.replace(call.func, spell(editor, "tf.config.list_physical_devices"))
        else:
            editor.replace(call, all_gpus(editor))
        set_applicability(
            editor, "List the physical GPUs" + _guess(details), caught=caught, doubtful=bool(details["guess"])
        )
    elif purpose is Purpose.REPORT and not made_up_optimizers.is_getter(str(details["name"])):
        memory_reports.replace_report(editor, call, str(details["value"]), device, details)
    elif made_up_optimizers.is_getter(str(details["name"])):
        made_up_optimizers.take_out(editor, call)
        set_applicability(editor, "Remove the memory options: there are none", caught=caught)
    elif made_up_optimizers.goes_with_getter(editor, call):
        raise Withheld("the fix of the call around it removes it")
    else:
        raise Withheld("there is nothing to replace it with")


def _is_gpu(editor: Editor, argument: cst.BaseExpression) -> bool:
    """True for ``"GPU"``, or a variable or parameter to which the file gives no other value."""
    if isinstance(argument, cst.SimpleString):
        return argument.evaluated_value == "GPU"
    if not isinstance(argument, cst.Name):
        return False
    given: list[object] = []
    for node in syntax_nodes(editor.text):
        if isinstance(node, ast.Assign) and any(
            isinstance(part, ast.Name) and part.id == argument.value
            for target in node.targets
            for part in ast.walk(target)
        ):
            given.append(node.value)
        elif isinstance(node, ast.arguments):
            names = [arg.arg for arg in (*node.posonlyargs, *node.args)]
            if argument.value in names:
                # It must have a default, and is passed by nobody else.
                place = names.index(argument.value) - len(names)
                given.append(node.defaults[place] if -place <= len(node.defaults) else None)
        elif isinstance(node, ast.Name) and node.id == argument.value and isinstance(node.ctx, ast.Store):
            given.append(node)
    stored = sum(isinstance(value, ast.Name) for value in given)
    values = [value for value in given if not isinstance(value, ast.Name)]
    constant = all(isinstance(value, ast.Constant) and value.value == "GPU" for value in values)
    return bool(values) and constant and stored <= len(values)


def _set(
    editor: Editor, call: cst.Call, purpose: Purpose, device: str, amount: str, details: Mapping[str, object]
) -> None:
    statement = own_statement(editor, call)
    column = editor.span(editor.statement_of(call)).column - 1
    if details["device"] is not None and not isinstance(details["index"], (int, str)) and is_no_device(device):
        named = gpus_named(editor, device)
        if named is None:
            raise Withheld(f"{device} is not a device from a list")
        device = named
    if not device:
        if statement is None:
            raise Withheld("its result is used, and a setting has none")
        editor.replace_statement(statement, _for_all(editor, purpose, amount, details))
        set_applicability(editor, _MESSAGES[purpose] + _guess(details), caught=details["caught"], doubtful=True)
        return
    guard, device, depth = index_guard(editor, device, details, call)
    if guard and statement is None:
        raise Withheld("with no GPU it would raise IndexError")
    if purpose is Purpose.GROWTH:
        new = growth(editor, device, amount or "True", _sibling(editor, call, str(details["name"])))
    else:
        mib = in_mib(editor, amount, str(details["unit"]), device)
        new = limit(editor, device, mib, column + depth)
    if guard and statement is not None:
        editor.replace_statement(statement, guard + "\n" + indent(new, "    ") + "\n")
    else:
        editor.replace(call, new)
    set_applicability(
        editor, _MESSAGES[purpose] + _guess(details), caught=details["caught"], doubtful=bool(details["guess"])
    )


def _guess(details: Mapping[str, object]) -> str:
    """Return the caveat for an intent that was guessed from an unknown name."""
    return ", if that is what the name means" if details["guess"] else ""


def _sibling(editor: Editor, call: cst.Call, name: str) -> str:
    """Return ``set_memory_growth`` as spelled beside a made-up name of the same module: ``exp.set_memory_growth``."""
    owner = name.rpartition(".")[0]
    written = editor.code(call.func.value) if isinstance(call.func, cst.Attribute) else ""
    return f"{written}.set_memory_growth" if written and owner == "tf.config.experimental" else ""


def _for_all(editor: Editor, purpose: Purpose, amount: str, details: Mapping[str, object]) -> str:
    if purpose is Purpose.GROWTH:
        return growth_for_all(editor, amount or "True")
    return limit_for_all(editor, amount, str(details["unit"]))


def replace_assignment(editor: Editor, finding: Finding) -> None:
    """Replace an assignment to an attribute by the call that makes the intended setting."""
    details = finding.details
    purpose, value = Purpose(str(details["purpose"])), details["value"]
    if details["by_name"]:
        raise Withheld("it is set by setattr, not by a plain assignment")
    statement = editor.statement_at(finding.span)
    assign = editor.node_at(finding.span, cst.Attribute)
    target = editor.parent(assign)
    whole = editor.parent(target) if target is not None else None
    if not isinstance(target, cst.AssignTarget) or not isinstance(whole, cst.Assign) or len(whole.targets) > 1:
        raise Withheld("it is more than a plain assignment")
    amount = editor.code(whole.value)
    device = str(details["device"])
    if purpose is Purpose.GROWTH and not isinstance(value, bool):
        raise Withheld("it is not set to True or False")
    if not device:
        editor.replace_statement(statement, _for_all(editor, purpose, amount, details))
    else:
        guard, device, depth = index_guard(editor, device, details, statement)
        if purpose is Purpose.GROWTH:
            new = growth(editor, device, amount)
        else:
            column = editor.span(statement).column - 1 + depth
            new = limit(editor, device, in_mib(editor, amount, str(details["unit"]), device), column)
        editor.replace_statement(statement, f"{guard}\n{indent(new, '    ')}\n" if guard else f"{new}\n")
    editor.unsafe("Make the setting with the function that exists")
