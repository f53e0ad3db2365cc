"""Correct the arguments of real calls."""

from __future__ import annotations

import ast
import re
from textwrap import dedent
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.fixes.call_context import device_of, own_statement, set_applicability, wrap_arguments
from tfmemlint.fixes.concrete_tree import syntax_nodes, walk
from tfmemlint.fixes.rewrites.render_intent import all_gpus, free_name, growth, growth_for_all, in_mib, spell
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfmemlint.fixes.editor import Editor, Statement


def replace_limit_keyword(editor: Editor, call: cst.Call, finding: Finding) -> None:
    """Replace a made-up keyword of a logical device's configuration by ``memory_limit``, in MiB."""
    details = finding.details
    for argument in call.args:
        if argument.keyword is not None and argument.keyword.value == details["keyword"]:
            mib = in_mib(editor, editor.code(argument.value), str(details["unit"]), device_of(editor, call))
            keyword = cst.Name("memory_limit")
            editor.replace(argument, argument.with_changes(keyword=keyword, value=cst.parse_expression(mib)))
            editor.explain_numbers(call, mib)
            wrap_arguments(editor, call)
            set_applicability(editor, "Use memory_limit, in MiB", caught=details["caught"])
            return
    raise Withheld("the rewriter finds no such keyword")


def rename_keyword(editor: Editor, call: cst.Call, finding: Finding) -> None:
    """Rename a keyword to the name that the function has for it."""
    for argument in call.args:
        if argument.keyword is not None and argument.keyword.value == finding.details["keyword"]:
            meant = str(finding.details["meant"])
            editor.replace(argument, argument.with_changes(keyword=cst.Name(meant)))
            set_applicability(editor, f"Rename it to {meant}", caught=finding.details["caught"])
            return
    raise Withheld("the rewriter finds no such keyword")


def rename_field(editor: Editor, call: cst.Call, finding: Finding) -> None:
    """Give an option to the message that has a field for it: ``gpu_options=GPUOptions(allow_growth=True)``."""
    outer, _, field = str(finding.details["meant"]).rpartition(".")
    if not field:
        raise Withheld("there is no field for it")
    for argument in call.args:
        if argument.keyword is not None and argument.keyword.value == finding.details["keyword"]:
            keyword, value = cst.Name(outer or field), argument.value
            if outer:
                options = f"{editor.tf('tf.compat.v1.GPUOptions', call)}({field}={editor.code(value)})"
                value = cst.parse_expression(options)
            editor.replace(argument, argument.with_changes(keyword=keyword, value=value))
            set_applicability(editor, f"Set {outer}{'.' if outer else ''}{field}", caught=finding.details["caught"])
            return
    raise Withheld("the rewriter finds no such keyword")


def name_argument(editor: Editor, call: cst.Call, finding: Finding, name: str) -> None:
    """Pass an argument that is in another one's position by its name."""
    if any(other.keyword is not None and other.keyword.value == name for other in call.args):
        raise Withheld(f"there is another {name} as well")
    for position, argument in enumerate(call.args):
        if argument.keyword is None and editor.span(argument.value) == finding.span:
            if any(other.keyword is None for other in call.args[position + 1 :]):
                raise Withheld("a positional argument follows it, and its position would change")
            equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
            editor.replace(argument, argument.with_changes(keyword=cst.Name(name), equal=equal))
            set_applicability(editor, f"Pass it as {name}", caught=finding.details["caught"])
            return
    raise Withheld("the rewriter finds no such argument")


def replace_limit_value(editor: Editor, finding: Finding) -> None:
    """Convert the limit of a logical device from a share to MiB."""
    call = editor.call_to_rewrite(finding.anchors["call"])
    value = editor.expression_at(finding.span)
    editor.replace(value, in_mib(editor, editor.code(value), "fraction", device_of(editor, call)))
    wrap_arguments(editor, call)
    editor.unsafe("Convert the share to MiB")


def fix_growth_arguments(editor: Editor, finding: Finding) -> None:
    """Call ``set_memory_growth`` for every GPU, for the device itself, or with a bool."""
    details = finding.details
    call = editor.call_to_rewrite(finding.span, "set_memory_growth")
    kind, enable = str(details["kind"]), str(details["enable"])
    if kind == "name":
        editor.replace(editor.expression_at(finding.anchors["device"]), str(details["device"]).removesuffix(".name"))
        set_applicability(editor, "Set growth for the device itself", caught=details["caught"])
        return
    if kind == "value":
        arguments = [str(details["device"]), enable]
        editor.replace_args(call, *arguments)
        set_applicability(editor, "Set growth to a bool", caught=details["caught"], doubtful=True)
        return
    if kind == "listing" and editor.nearest(call, cst.For, until=(cst.FunctionDef,)) is None:
        _narrow_listing_of_first(editor, call)
        set_applicability(editor, "List the GPUs only", caught=details["caught"], doubtful=True)
        return
    if kind == "listing":
        around = _narrow_listing(editor, call)
        # Before the call raised, the rest of the loop ran for the CPU, too.
        alone = len(around.body.body) == 1
        set_applicability(editor, "List the GPUs only", caught=details["caught"], doubtful=not alone)
        return
    if kind == "logical":
        _list_physical(editor, call)
        editor.unsafe("List the physical GPUs, which does not start the runtime")
        return
    if kind == "number":
        device = editor.expression_at(finding.anchors["device"])
        editor.replace(device, f"{_counted_list(editor, call, editor.code(device))}[{editor.code(device)}]")
        set_applicability(editor, "Set growth for the device of that number", caught=details["caught"])
        return
    statement = own_statement(editor, call)
    if statement is None:
        raise Withheld("its result is used, and a setting has none")
    if kind == "list":
        gpu = free_name(editor, "gpu")
        loop = f"for {gpu} in {details['device']}:\n    {growth(editor, gpu, enable)}\n"
        editor.replace_statement(statement, loop)
        set_applicability(editor, "Set growth for every GPU of the list", caught=details["caught"])
        return
    if details["in_loop"]:
        editor.replace_args(call, _loop_variable(editor, call), enable)
        set_applicability(editor, "Set growth for the loop's device", caught=details["caught"], doubtful=True)
        return
    loop = growth_for_all(editor, enable)
    if _follows_such_a_call(editor, statement, call, loop):
        editor.remove(statement)
    else:
        editor.replace_statement(statement, loop)
    set_applicability(editor, "Set growth for every GPU", caught=details["caught"], doubtful=True)


def _counted_list(editor: Editor, call: cst.Call, number: str) -> str:
    """Return the code of the list whose length a loop counts to: ``gpus`` of ``for i in range(len(gpus))``.

    Raises:
        Withheld: there is no such loop around the call.
    """
    for around in editor.ancestors(call):
        if isinstance(around, (cst.For, cst.CompFor)) and editor.code(around.target) == number:
            found = re.fullmatch(r"range\((?:0, *)?len\((.*)\)\)", editor.code(around.iter), re.DOTALL)
            if found is not None and re.search(r"gpu|device|GPU", found[1]):
                return found[1]
    raise Withheld("it is not known which GPU has this number")


def _follows_such_a_call(editor: Editor, statement: Statement, call: cst.Call, loop: str) -> bool:
    """True if the statement above is the loop over all GPUs, or the same call for another string, which becomes it."""
    lines = editor.tree.statements(editor.tree.block_of(statement))
    place = lines.index(statement)
    if place == 0:
        return False
    above = dedent(editor.tree.code(lines[place - 1])).strip()
    if above == dedent(loop).strip():
        return True
    device = call.args[0].value if call.args else None
    if not isinstance(device, cst.SimpleString):
        return False
    head, _, tail = editor.tree.code(statement).strip().partition(editor.code(device))
    return re.fullmatch(rf"{re.escape(head)}(['\"])[\w/:]+\1{re.escape(tail)}", above) is not None


def _loop_variable(editor: Editor, call: cst.Call) -> str:
    """Return the variable of the loop over devices that contains a call."""
    loop = editor.nearest(call, cst.For, until=(cst.FunctionDef,))
    if loop is None or not isinstance(loop.target, cst.Name):
        raise Withheld("it is in a loop over devices")
    return loop.target.value


def _narrow_listing(editor: Editor, call: cst.Call) -> cst.For:
    """Make the loop's own listing ask for GPUs only, and return the loop."""
    loop = editor.nearest(call, cst.For)
    listing: cst.BaseExpression | None = loop.iter if loop is not None else None
    if isinstance(listing, cst.Name):
        listing = _listing_of(editor, listing, "list_physical_devices")
    if (
        loop is None
        or not isinstance(listing, cst.Call)
        or listing.args
        or "list_physical_devices" not in editor.code(listing.func)
    ):
        raise Withheld("the devices are listed elsewhere: pass 'GPU' there")
    editor.replace_args(listing, editor.quoted("GPU"))
    return loop


def _narrow_listing_of_first(editor: Editor, call: cst.Call) -> None:
    """Make a listing ask for GPUs only whose first device is configured: ``devices[0]``.

    Raises:
        Withheld: the file uses the listing for other things as well.
    """
    device = call.args[0].value
    listing = device.value if isinstance(device, cst.Subscript) else None
    if isinstance(listing, cst.Name):
        first = editor.code(device)

        def stays(node: cst.Name) -> bool:
            around = editor.parent(node)
            return (isinstance(around, cst.Subscript) and editor.code(around) == first) or _is_counted(editor, node)

        listing = _listing_of(editor, listing, "list_physical_devices", stays)
    elif listing is None:
        listing = _only_listing(editor)
    if not isinstance(listing, cst.Call) or listing.args or "list_physical_devices" not in editor.code(listing.func):
        raise Withheld("the devices are listed elsewhere: pass 'GPU' there")
    editor.replace_args(listing, editor.quoted("GPU"))


def _only_listing(editor: Editor) -> cst.Call | None:
    """Return the only call of ``list_physical_devices`` in a file, if nothing but its first device is used."""
    listings = [
        node
        for node in walk(editor.module)
        if isinstance(node, cst.Call) and editor.code(node.func).endswith("list_physical_devices")
    ]
    if len(listings) != 1:
        return None
    assigned = editor.parent(listings[0])
    if not isinstance(assigned, cst.Assign) or len(assigned.targets) != 1:
        return None
    target = assigned.targets[0].target
    uses = [
        node
        for node in walk(editor.function_of(assigned))
        if isinstance(node, cst.Name) and isinstance(target, cst.Name) and node.value == target.value
    ]
    plain = [use for use in uses if use is not target]
    return listings[0] if plain and all(_is_first_or_test(editor, use) for use in plain) else None


def _is_first_or_test(editor: Editor, use: cst.Name) -> bool:
    """True if only the first device of a list is used, or whether there is one."""
    around = editor.parent(use)
    if isinstance(around, cst.Subscript):
        return around.value is use and re.sub(r"\s", "", editor.code(around)).endswith("[0]")
    if isinstance(around, (cst.IfExp, cst.If)):
        return around.test is use
    return isinstance(around, cst.UnaryOperation) or _is_counted(editor, use)


def _is_counted(editor: Editor, node: cst.Name) -> bool:
    """True if only the length of a list is asked for, or it is printed."""
    argument = editor.parent(node)
    around = editor.parent(argument) if isinstance(argument, cst.Arg) else None
    return isinstance(around, cst.Call) and editor.code(around.func) in ("len", "print")


def _list_physical(editor: Editor, call: cst.Call) -> None:
    """Make the loop around a call list physical GPUs in place of logical ones."""
    loop = editor.nearest(call, cst.For, until=(cst.FunctionDef,))
    device = editor.code(call.args[0].value)
    if loop is None or editor.code(loop.target) != device:
        raise Withheld("the logical devices are listed elsewhere")
    if sum(isinstance(node, cst.Name) and node.value == device for node in walk(loop.body)) > 1:
        raise Withheld("the loop uses the logical device for other things, too")
    if not isinstance(loop.iter, cst.Name):
        editor.replace(loop.iter, all_gpus(editor))
        return
    listing = _listing_of(editor, loop.iter, "list_logical_devices")
    if listing is None:
        raise Withheld("the logical devices are listed elsewhere")
    editor.replace(listing, all_gpus(editor))


def _listing_of(
    editor: Editor, devices: cst.Name, function: str, stays: Callable[[cst.Name], bool] = lambda _: False
) -> cst.Call | None:
    """Return the listing by a function that a variable has as its only value, if the file uses it for loops and tests
    alone, or so that it ``stays`` right."""
    found: cst.Call | None = None
    for node in walk(editor.module):
        if not isinstance(node, cst.Name) or node.value != devices.value:
            continue
        parent = editor.parent(node)
        if isinstance(parent, cst.AssignTarget):
            assign = editor.parent(parent)
            value = assign.value if isinstance(assign, cst.Assign) and len(assign.targets) == 1 else None
            if found is not None or not isinstance(value, cst.Call):
                return None
            found = value
        elif not isinstance(parent, (cst.For, cst.If)) and not stays(node):
            return None
    return found if found is not None and function in editor.code(found.func) else None


def fix_logical_devices(editor: Editor, finding: Finding) -> None:
    """Wrap one configuration in a list, or turn numbers into configurations."""
    value = editor.expression_at(finding.span)
    if finding.details["kind"] == "single":
        editor.replace(value, f"[{editor.code(value)}]")
    else:
        name = spell(editor, "tf.config.LogicalDeviceConfiguration")
        if isinstance(value, (cst.List, cst.Tuple)):
            for element in value.elements:
                editor.replace(element.value, f"{name}({_configuration(editor, element.value)})")
        elif finding.details["kind"] == "dictionaries":
            raise Withheld("the dictionaries are made elsewhere")
        elif finding.details["several"]:
            limit = free_name(editor, "limit")
            editor.replace(value, f"[{name}(memory_limit={limit}) for {limit} in {editor.code(value)}]")
        else:
            editor.replace(value, f"[{name}(memory_limit={editor.code(value)})]")
    wrap_arguments(editor, value)
    set_applicability(editor, "Make it a list of configurations", caught=finding.details["caught"])


def _configuration(editor: Editor, value: cst.BaseExpression) -> str:
    """Return the arguments of the configuration that a number, or a dictionary, stands for.

    Raises:
        Withheld: the dictionary says something else than a configuration can.
    """
    if not isinstance(value, cst.Dict):
        return f"memory_limit={editor.code(value)}"
    found: list[str] = []
    for element in value.elements:
        key = element.key if isinstance(element, cst.DictElement) else None
        word = key.evaluated_value if isinstance(key, cst.SimpleString) else None
        if word not in _LOGICAL_KEYWORDS:
            raise Withheld("the rewriter does not know what the dictionary says")
        found.append(f"{word}={editor.code(element.value)}")
    return ", ".join(found)


_LOGICAL_KEYWORDS = ("memory_limit", "experimental_priority", "experimental_device_ordinal")
"""The arguments of ``LogicalDeviceConfiguration``."""


def grow_every_gpu(editor: Editor, finding: Finding) -> None:
    """Set growth on every GPU of the list that contains the one GPU."""
    call = editor.call_to_rewrite(finding.span, "set_memory_growth")
    if not finding.details.get("alone", True):
        raise Withheld("another GPU has a growth setting of its own: it is not known which of the two is intended")
    statement = own_statement(editor, call)
    if statement is None:
        raise Withheld("its result is used, and a setting has none")
    device = call.args[0].value
    if _is_variable_of_loop(editor, statement, editor.code(device)):
        raise Withheld("it is in a loop already that does not reach every GPU")
    gpu = free_name(editor, "gpu")
    item = _item_of(editor, device)
    listing = editor.code(item.value) if item is not None else all_gpus(editor)
    enable = str(finding.details["enable"])
    editor.replace_statement(statement, f"for {gpu} in {listing}:\n    {growth(editor, gpu, enable)}\n")
    editor.unsafe("Set growth for every GPU")


def _is_variable_of_loop(editor: Editor, statement: cst.CSTNode, name: str) -> bool:
    for node in editor.ancestors(statement):
        if isinstance(node, cst.FunctionDef):
            return False
        if isinstance(node, cst.For) and name in editor.code(node.target).replace(",", " ").split():
            return True
    return False


def _item_of(editor: Editor, device: cst.BaseExpression) -> cst.Subscript | None:
    """Return ``gpus[0]``: ``device`` itself, or the only value that the variable ``device`` ever has."""
    if isinstance(device, cst.Subscript):
        return device
    name = editor.code(device)
    bound = [node for node in syntax_nodes(editor.text) if isinstance(node, ast.Name) and node.id == name]
    if sum(not isinstance(node.ctx, ast.Load) for node in bound) != 1:
        return None
    for line in editor.module.body:
        assign = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
        if isinstance(assign, cst.Assign) and editor.code(assign.targets[0].target) == name:
            return assign.value if isinstance(assign.value, cst.Subscript) else None
    return None


def drop_import(editor: Editor, finding: Finding) -> None:
    """Remove the import of a name that can't be imported, if nothing uses it."""
    alias = editor.node_at(finding.span, cst.ImportAlias)
    whole = editor.parent(alias)
    if not isinstance(whole, cst.ImportFrom) or isinstance(whole.names, cst.ImportStar):
        raise Withheld("it is not a plain import")
    local = editor.code(alias.asname.name if alias.asname is not None else alias.name)
    if any(isinstance(node, ast.Name) and node.id == local for node in syntax_nodes(editor.text)):
        raise Withheld(f"{local} is used")
    kept = [other for other in whole.names if other is not alias]
    if kept:
        if whole.names[-1] is alias:
            kept[-1] = kept[-1].with_changes(comma=alias.comma)
        editor.replace(whole, whole.with_changes(names=kept))
    else:
        editor.remove(editor.statement_of(whole))
    set_applicability(editor, f"Drop the import of {local}", caught=finding.details["caught"])
