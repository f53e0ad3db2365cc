"""The renderer of intents: a wish about a GPU's memory, written with the functions that exist in the targeted
release."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from textwrap import indent
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.finding import Finding, Span
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.intent import Wish
from tfmemlint.knowledge import names

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor, Statement

WIDTH = 100
"""Characters; a longer call is written on several lines."""
_OLD_NAMES = {
    "tf.config.list_physical_devices": "tf.config.experimental.list_physical_devices",
    "tf.config.set_logical_device_configuration": "tf.config.experimental.set_virtual_device_configuration",
    "tf.config.LogicalDeviceConfiguration": "tf.config.experimental.VirtualDeviceConfiguration",
}
"""What TensorFlow 2.0 and 1.x have instead."""


# The spellings


def spell(editor: Editor, name: str) -> str:
    """How a function is called in the file: in releases before 2.1 by its older name."""
    old = _OLD_NAMES.get(name)
    return editor.tf(old if old is not None and not names.exists(name, editor.target) else name)


def all_gpus(editor: Editor) -> str:
    """The list of all GPUs."""
    return f"{spell(editor, 'tf.config.list_physical_devices')}('GPU')"


def growth(editor: Editor, device: str, enable: str = "True") -> str:
    """Memory growth for one device."""
    return f"{editor.tf('tf.config.experimental.set_memory_growth')}({device}, {enable})"


def growth_for_all(editor: Editor, enable: str = "True") -> str:
    """Memory growth for every GPU, as a loop that is right with none, one, or many."""
    gpu = free_name(editor, "gpu")
    return f"for {gpu} in {all_gpus(editor)}:\n    {growth(editor, gpu, enable)}\n"


def limit(editor: Editor, device: str, mib: str, column: int = 0) -> str:
    """One logical device of ``mib`` MiB; ``column`` is the indentation of the statement, in characters."""
    function = spell(editor, "tf.config.set_logical_device_configuration")
    one = f"[{spell(editor, 'tf.config.LogicalDeviceConfiguration')}(memory_limit={mib})]"
    line = f"{function}({device}, {one})"
    if column + len(line) <= WIDTH or "\n" in line:
        return line
    # The lines are reckoned from the statement's own indentation, which the tree adds to them.
    return f"{function}(\n    {device},\n    {one},\n)"


def share_for_all(editor: Editor, share: str) -> str:
    """A limit of that share of its memory for every GPU, as a loop."""
    gpu = free_name(editor, "gpu")
    call = limit(editor, gpu, editor.mib_of_share(gpu, share), 4)
    return f"for {gpu} in {all_gpus(editor)}:\n{indent(call, '    ')}\n"


def free_name(editor: Editor, wanted: str) -> str:
    """``wanted``, or a like name that the file does not use: a loop must not overwrite what is read later."""
    used = {node.id for node in ast.walk(ast.parse(editor.text)) if isinstance(node, ast.Name)}
    for name in (wanted, f"physical_{wanted}", f"each_{wanted}"):
        if name not in used:
            return name
    number = 2
    while f"{wanted}_{number}" in used:
        number += 1
    return f"{wanted}_{number}"


def in_mib(editor: Editor, amount: str, unit: str, device: str) -> str:
    """An amount of memory as code that comes to MiB.

    Raises:
        Withheld: nobody knows its unit, or which device a share is of.
    """
    if unit == "mib":
        return amount
    if unit == "bytes":
        return _scaled(amount, lambda value: value // 1024**2, "({}) // 1024**2")
    if unit == "gib":
        return _scaled(amount, lambda value: int(value * 1024), "int(({}) * 1024)")
    if unit == "fraction":
        if not device and editor.gpu_memory_mib is None:
            raise Withheld("which GPU this share is of isn't known here")
        return editor.mib_of_share(device, amount)
    raise Withheld(f"whether {amount or 'the amount'} is in MiB or a share of the memory isn't known")


def _scaled(amount: str, compute: object, otherwise: str) -> str:
    try:
        value = ast.literal_eval(amount)
    except (ValueError, SyntaxError):
        return otherwise.format(amount)
    assert callable(compute)
    return str(compute(value)) if isinstance(value, (int, float)) else otherwise.format(amount)


# Places in the tree


def text_at(editor: Editor, span: object) -> str:
    """The code at ``span``, "" where there is no span."""
    return editor.code(editor.expression_at(span)) if isinstance(span, Span) else ""


def own_statement(editor: Editor, call: cst.CSTNode) -> Statement | None:
    """The statement that consists of ``call`` alone, if there is one."""
    return editor.statement_of(call) if isinstance(editor.parent(call), cst.Expr) else None


def settle(editor: Editor, message: str, *, caught: object, doubtful: bool = False) -> None:
    """Safe where a call that always raised becomes the one that was meant, and nothing caught the error; a new
    import is a change of its own."""
    if caught:
        editor.unsafe(f"{message} (a handler catches the error today, so the program's flow changes)")
    elif doubtful or editor.needs:
        editor.unsafe(message)
    else:
        editor.safe(message)


# Rewrites


def replace_made_up(editor: Editor, call: cst.Call, finding: Finding) -> None:
    """A made-up call becomes the real one for the same wish."""
    details = finding.details
    if details["training"]:
        raise Withheld("it is to change the memory while training goes on, which no call can")
    caught, wish = details["caught"], Wish(str(details["wish"]))
    if details["real"]:
        real = str(details["real"])
        editor.replace(call.func, spell(editor, real))
        settle(editor, f"Use {real}", caught=caught)
        return
    device, amount = text_at(editor, details["device"]), text_at(editor, details["amount"])
    if wish in (Wish.GROWTH, Wish.LIMIT, Wish.FRACTION):
        _set(editor, call, wish, device, amount, details)
    elif wish is Wish.DEVICES:
        editor.replace(call, all_gpus(editor))
        settle(editor, "List the physical GPUs", caught=caught)
    elif wish is Wish.REPORT:
        _report(editor, call, str(details["value"]), device, details)
    elif call.args and str(details["name"]).endswith("get_experimental_optimizer"):
        _unwrap(editor, call)
        settle(editor, "Use the optimizer itself: there are no memory options", caught=caught)
    else:
        raise Withheld("there is nothing that could stand in its place")


def _unwrap(editor: Editor, call: cst.Call) -> None:
    """A call becomes its first argument; an assignment of a variable to itself goes."""
    inner = editor.code(call.args[0].value)
    assign = editor.parent(call)
    if isinstance(assign, cst.Assign) and [editor.code(one.target) for one in assign.targets] == [inner]:
        editor.remove(editor.statement_of(call))
    else:
        editor.replace(call, inner)


def _set(editor: Editor, call: cst.Call, wish: Wish, device: str, amount: str, details: Mapping[str, object]) -> None:
    statement = own_statement(editor, call)
    column = editor.span(editor.statement_of(call)).column - 1
    if details["device"] is not None and not isinstance(details["index"], (int, str)) and _is_no_device(device):
        raise Withheld(f"{device} names no device of a list")
    if not device:
        if statement is None:
            raise Withheld("its result is used; a setting has none")
        editor.replace_statement(statement, _for_all(editor, wish, amount, details))
        settle(editor, _MESSAGES[wish], caught=details["caught"], doubtful=True)
        return
    guard, device, depth = _guard(editor, call, device, details)
    if guard and statement is None:
        raise Withheld("with no GPU it would raise IndexError")
    if wish is Wish.GROWTH:
        new = growth(editor, device, amount or "True")
    else:
        mib = in_mib(editor, amount, str(details["unit"]), device)
        new = limit(editor, device, mib, column + depth)
    if guard and statement is not None:
        editor.replace_statement(statement, guard + "\n" + indent(new, "    ") + "\n")
    else:
        editor.replace(call, new)
    settle(editor, _MESSAGES[wish], caught=details["caught"])


_MESSAGES = {
    Wish.GROWTH: "Set memory growth by the function that exists",
    Wish.LIMIT: "Use a logical device with that limit in MiB",
    Wish.FRACTION: "Use a logical device with that share of the GPU's memory in MiB",
}


def _for_all(editor: Editor, wish: Wish, amount: str, details: Mapping[str, object]) -> str:
    if wish is Wish.GROWTH:
        return growth_for_all(editor, amount or "True")
    gpu = free_name(editor, "gpu")
    mib = in_mib(editor, amount, str(details["unit"]), gpu)
    return f"for {gpu} in {all_gpus(editor)}:\n{indent(limit(editor, gpu, mib, 4), '    ')}\n"


def _is_no_device(text: str) -> bool:
    """Whether an argument is a string or a number: no device of TensorFlow's."""
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return True


def _guard(editor: Editor, call: cst.Call, device: str, details: Mapping[str, object]) -> tuple[str, str, int]:
    """What has to stand above a call for ``gpus[0]`` so that it is right without a GPU; the device to use; and how much
    deeper that is."""
    try:
        node = ast.parse(device, mode="eval").body
    except SyntaxError:
        return "", device, 0
    if not (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)) or details["guarded"]:
        return "", device, 0
    number = node.slice.value
    if not isinstance(number, int) or number < 0:
        return "", device, 0
    base = ast.unparse(node.value)
    if _is_guarded(editor, call, base):
        return "", device, 0
    if any(isinstance(part, ast.Call) for part in ast.walk(node.value)):
        gpu = free_name(editor, "gpu")
        return f"for {gpu} in {base}[{number}:{number + 1}]:", gpu, 4
    return (f"if {base}:" if number == 0 else f"if len({base}) > {number}:"), device, 4


def _is_guarded(editor: Editor, call: cst.Call, base: str) -> bool:
    """Whether a condition around ``call`` speaks of the list, or a handler around it catches what ``[0]`` raises."""
    below: cst.CSTNode = call
    node = editor.parent(call)
    while node is not None and not isinstance(node, (cst.FunctionDef, cst.Module)):
        if (
            isinstance(node, (cst.If, cst.While, cst.IfExp))
            and node.test is not below
            and base in editor.code(node.test)
        ):
            return True
        if isinstance(node, cst.Try) and below is node.body:
            caught = "".join(editor.code(one.type) if one.type is not None else "*" for one in node.handlers)
            if any(name in caught for name in ("*", "IndexError", "LookupError", "Exception")):
                return True
        below, node = node, editor.parent(node)
    return False


def _report(editor: Editor, call: cst.Call, value: str, device: str, details: Mapping[str, object]) -> None:
    if details["configured_later"]:
        raise Withheld("get_memory_info starts the runtime, and configuration follows")
    if value == "total":
        if not device:
            raise Withheld("which GPU this is about isn't known")
        editor.replace(call, f"int({editor.total_mib(device)} * 1024**2)")
        editor.unsafe("Ask NVML for the device's memory, in bytes")
        return
    if value == "free":
        raise Withheld("TensorFlow can't tell the free memory; NVML tells that of the whole device")
    name = logical_name(device, details["index"], guarded=bool(details["guarded"]), editor=editor)
    editor.replace(call, f"{editor.tf('tf.config.experimental.get_memory_info')}({name})['{value}']")
    settle(editor, f"Ask get_memory_info for {value!r}", caught=details["caught"], doubtful=True)


def logical_name(device: str, index: object, *, guarded: bool, editor: Editor) -> str:
    """The name of the logical device for a physical one, as code. Without a GPU in sight of a guard it is the CPU, of
    which TensorFlow reports zeros."""
    if isinstance(index, int) and not isinstance(index, bool):
        name = f"'GPU:{index}'"
    elif device and not _is_no_device(device):
        return f"f\"GPU:{{{device}.name.rsplit(':', 1)[-1]}}\""
    else:
        name = "'GPU:0'"
    return name if guarded else f"{name} if {all_gpus(editor)} else 'CPU:0'"


def replace_assignment(editor: Editor, finding: Finding) -> None:
    """An assignment to an attribute becomes the setting that it was meant to make."""
    details = finding.details
    wish, value = Wish(str(details["wish"])), details["value"]
    statement = editor.statement_at(finding.span)
    assign = editor.node_at(finding.span, cst.Attribute)
    target = editor.parent(assign)
    whole = editor.parent(target) if target is not None else None
    if not isinstance(target, cst.AssignTarget) or not isinstance(whole, cst.Assign) or len(whole.targets) > 1:
        raise Withheld("it is more than a plain assignment")
    amount = editor.code(whole.value)
    device = str(details["device"])
    if wish is Wish.GROWTH:
        if not isinstance(value, bool):
            raise Withheld("it is not set to True or False")
        new = growth(editor, device, amount) if device else growth_for_all(editor, amount)
    elif device:
        new = limit(editor, device, in_mib(editor, amount, str(details["unit"]), device), 0)
    else:
        new = _for_all(editor, wish, amount, details)
    editor.replace_statement(statement, new if new.endswith("\n") else f"{new}\n")
    editor.unsafe("Make the setting by the function that exists")


def replace_limit_keyword(editor: Editor, call: cst.Call, finding: Finding) -> None:
    """A made-up keyword of a logical device's configuration becomes ``memory_limit``, in MiB."""
    details = finding.details
    for argument in call.args:
        if argument.keyword is not None and argument.keyword.value == details["keyword"]:
            mib = in_mib(editor, editor.code(argument.value), str(details["unit"]), _device_of(editor, call))
            keyword = cst.Name("memory_limit")
            editor.replace(argument, argument.with_changes(keyword=keyword, value=cst.parse_expression(mib)))
            editor.explain_numbers(call, mib)
            settle(editor, "Use memory_limit, in MiB", caught=details["caught"])
            return
    raise Withheld("the rewriter finds no such keyword")


def replace_limit_value(editor: Editor, finding: Finding) -> None:
    """A share as a logical device's limit becomes MiB."""
    call = editor.call_at(finding.anchors["call"])
    value = editor.expression_at(finding.span)
    editor.replace(value, in_mib(editor, editor.code(value), "fraction", _device_of(editor, call)))
    editor.unsafe("Turn the share into MiB")


def _device_of(editor: Editor, configuration: cst.Call) -> str:
    """The device that a ``LogicalDeviceConfiguration(...)`` inside a call is for, "" where that can't be seen."""
    node: cst.CSTNode | None = editor.parent(configuration)
    while node is not None and not isinstance(node, cst.BaseSmallStatement):
        if isinstance(node, cst.Call):
            name = editor.code(node.func).rsplit(".", 1)[-1]
            if name in ("set_logical_device_configuration", "set_virtual_device_configuration") and node.args:
                for argument in node.args:
                    if argument.keyword is not None and argument.keyword.value == "device":
                        return editor.code(argument.value)
                return editor.code(node.args[0].value)
        node = editor.parent(node)
    return ""


def replace_key(editor: Editor, finding: Finding) -> None:
    """A made-up key becomes a question to the one who knows."""
    details = finding.details
    report, device = str(details["report"]), str(details["device"])
    item = editor.node_at(finding.span, cst.Subscript)
    if report == "total":
        if str(details["of"]).endswith("get_memory_info") or not device:
            raise Withheld("which GPU this is about isn't known")
        editor.replace(item, f"int({editor.total_mib(device)} * 1024**2)")
        editor.unsafe("Ask NVML for the device's memory, in bytes")
        return
    if details["configured_later"]:
        raise Withheld("get_memory_info starts the runtime, and configuration follows")
    if str(details["of"]).endswith("get_memory_info"):
        base = editor.code(item.value)
        editor.replace(item, f"{base}['{report}']")
    else:
        name = logical_name(device, details["index"], guarded=True, editor=editor)
        editor.replace(item, f"{editor.tf('tf.config.experimental.get_memory_info')}({name})['{report}']")
    editor.unsafe(f"Ask get_memory_info for {report!r}")


def repair_growth(editor: Editor, finding: Finding) -> None:
    """A growth call with the wrong arguments is made for every GPU, or with a truth value."""
    details = finding.details
    call = editor.call_at(finding.span, "set_memory_growth")
    kind, enable = str(details["kind"]), str(details["enable"])
    if kind == "value":
        arguments = [str(details["device"]), enable]
        editor.replace_args(call, *arguments)
        settle(editor, "Set growth to a truth value", caught=details["caught"], doubtful=True)
        return
    if kind == "listing":
        _narrow_listing(editor, call)
        settle(editor, "List the GPUs only", caught=details["caught"])
        return
    statement = own_statement(editor, call)
    if statement is None:
        raise Withheld("its result is used; a setting has none")
    if kind == "list":
        gpu = free_name(editor, "gpu")
        loop = f"for {gpu} in {details['device']}:\n    {growth(editor, gpu, enable)}\n"
        editor.replace_statement(statement, loop)
        settle(editor, "Set growth for every GPU of the list", caught=details["caught"])
        return
    editor.replace_statement(statement, growth_for_all(editor, enable))
    settle(editor, "Set growth for every GPU", caught=details["caught"], doubtful=True)


def _narrow_listing(editor: Editor, call: cst.Call) -> None:
    """Ask for GPUs only in the loop's own listing."""
    node: cst.CSTNode | None = call
    while node is not None and not isinstance(node, cst.For):
        node = editor.parent(node)
    listing = node.iter if isinstance(node, cst.For) else None
    if not isinstance(listing, cst.Call) or listing.args or "list_physical_devices" not in editor.code(listing.func):
        raise Withheld("the listing of devices stands elsewhere; give it 'GPU' there")
    editor.replace_args(listing, "'GPU'")


def repair_logical(editor: Editor, finding: Finding) -> None:
    """One configuration becomes a list of it; numbers become configurations."""
    value = editor.expression_at(finding.span)
    if finding.details["kind"] == "single":
        editor.replace(value, f"[{editor.code(value)}]")
    else:
        name = spell(editor, "tf.config.LogicalDeviceConfiguration")
        if isinstance(value, (cst.List, cst.Tuple)):
            numbers = [editor.code(element.value) for element in value.elements]
        else:
            numbers = [editor.code(value)]
        editor.replace(value, f"[{', '.join(f'{name}(memory_limit={number})' for number in numbers)}]")
    settle(editor, "Make it a list of configurations", caught=finding.details["caught"])


def spread_growth(editor: Editor, finding: Finding) -> None:
    """Growth on one GPU becomes growth on every GPU of the list that it is from."""
    call = editor.call_at(finding.span, "set_memory_growth")
    statement = own_statement(editor, call)
    if statement is None:
        raise Withheld("its result is used; a setting has none")
    device = call.args[0].value
    gpu = free_name(editor, "gpu")
    whole = isinstance(device, cst.Subscript)
    listing = editor.code(device.value) if isinstance(device, cst.Subscript) else all_gpus(editor)
    if whole and not _is_whole_list(editor, listing, finding):
        listing = all_gpus(editor)
    enable = str(finding.details["enable"])
    editor.replace_statement(statement, f"for {gpu} in {listing}:\n    {growth(editor, gpu, enable)}\n")
    editor.unsafe("Set growth for every GPU")


def _is_whole_list(editor: Editor, text: str, finding: Finding) -> bool:
    return bool(finding.details.get("whole", True)) and bool(text)
