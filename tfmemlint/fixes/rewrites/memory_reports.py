"""Replace reports of the memory in use by calls that TensorFlow or NVML answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from textwrap import dedent
from typing import TYPE_CHECKING

import libcst as cst
from libcst import matchers

from tfmemlint.fixes.call_context import set_applicability
from tfmemlint.fixes.rewrites.render_intent import all_gpus, free_name, logical_name
from tfmemlint.fixes.rewrites.session_config_flow import Variables
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor

_INFO = "tf.config.experimental.get_memory_info"


def memory_info_code(editor: Editor, key: str = "", number: int = 0) -> str:
    """Return the code that asks for the memory of a GPU; without a GPU it asks for the CPU's, which is zeros."""
    name = logical_name("", number, guarded=False, editor=editor)
    return f"{editor.tf(_INFO)}({name})" + (f"[{editor.quoted(key)}]" if key else "")


def memory_info_at(
    editor: Editor, node: cst.CSTNode, key: str = "", around: cst.With | None = None, number: int = 0
) -> str:
    """Return the same code to replace ``node``.

    If it makes the line too long, the device's name is assigned on a line above the statement, or above ``around``, a
    ``with`` that is about to be replaced by its body.
    """
    text = memory_info_code(editor, key, number)
    statement, span = editor.statement_of(node), editor.span(node)
    row = editor.text.split("\n")[span.row - 1]
    tail = row[span.end_column - 1 :].split("#")[0].rstrip() if span.row == span.end_row else ""
    parts = [
        ancestor for ancestor in editor.ancestors(node) if isinstance(ancestor, (cst.Lambda, cst.CompFor, cst.IfExp))
    ]
    alone = isinstance(statement, cst.SimpleStatementLine) and not parts
    if span.column - 1 + len(text) + len(tail) <= editor.line_length or not alone:
        return text
    name = logical_name("", number, guarded=False, editor=editor)
    statement = around or statement
    block = editor.parent(statement)
    assert isinstance(block, (cst.Module, cst.IndentedBlock))
    index = next(number for number, line in enumerate(block.body) if line is statement)
    above = editor.code(block.body[index - 1]).strip() if index else ""
    device, _, named = above.partition(" = ")
    if named != name or not device.isidentifier():
        device = editor.named_above(statement, name, free_name(editor, "device"))
    return f"{editor.tf(_INFO)}({device})" + (f"[{editor.quoted(key)}]" if key else "")


def memory_info_of(editor: Editor, node: cst.CSTNode, name: str, key: str) -> str:
    """Return the code that asks for the memory of the device with the code ``name``, to replace ``node``.

    Where ``node`` is a part of an f-string that has no room for the quotes of the name, the name is assigned above.
    """
    text = f"{editor.tf(_INFO)}({name})[{editor.quoted(key)}]"
    around = list(editor.ancestors(node))
    if not any(isinstance(ancestor, cst.FormattedString) for ancestor in around):
        return text
    single, double = "'" in text, '"' in text
    own = (cst.Lambda, cst.CompFor, cst.IfExp, cst.BooleanOperation)
    statement = editor.statement_of(node)
    if not (single and double) or any(isinstance(ancestor, own) for ancestor in around):
        return text
    if not isinstance(statement, cst.SimpleStatementLine):
        return text
    device = editor.named_above(statement, name, free_name(editor, "device"))
    return f"{editor.tf(_INFO)}({device})[{editor.quoted(key)}]"


def total_memory_code(editor: Editor, number: int) -> str:
    """Return the code for the total memory of a GPU in bytes; it gives 0 if there is no such GPU."""
    gpu = free_name(editor, "gpu")
    gpus = f"{all_gpus(editor)}[{number}:{number + 1}]" if number else f"{all_gpus(editor)}[:1]"
    return f"sum({_bytes(editor.total_mib(gpu))} for {gpu} in {gpus})"


def _bytes(mib: str) -> str:
    """Return the code for an amount of MiB in bytes: a whole number."""
    return f"{mib} * 1024**2" if mib.isdecimal() else f"int({mib} * 1024**2)"


def replace_run(editor: Editor, finding: Finding) -> None:
    """Replace ``sess.run(<made-up report>)`` by a plain call. A session with no other use is removed."""
    run = editor.call_at(finding.span, "run")
    session = run.func.value if isinstance(run.func, cst.Attribute) else None
    around = session_block(editor, run, session)
    editor.replace(run, memory_info_at(editor, run, around=around))
    editor.unsafe("Ask get_memory_info, without a session")
    if around is not None:
        unwrap_with(editor, around)


def unwrap_with(editor: Editor, around: cst.With) -> None:
    """Replace a ``with`` by its body."""
    body = around.body
    assert isinstance(body, cst.IndentedBlock)
    lines = "".join(editor.code(line) for line in body.body)
    editor.replace_statement(around, dedent(lines))


def session_block(editor: Editor, run: cst.Call, session: cst.BaseExpression | None) -> cst.With | None:
    """Return the ``with Session() as sess:`` around ``run``, if the session has no other use."""
    if not isinstance(session, cst.Name):
        return None
    node = editor.nearest(run, cst.With, until=(cst.FunctionDef,))
    if node is None or len(node.items) != 1 or not isinstance(node.body, cst.IndentedBlock):
        return None
    item = node.items[0]
    name = item.asname.name if item.asname is not None else None
    if not isinstance(name, cst.Name) or name.value != session.value or "Session" not in editor.code(item.item):
        return None
    variables = Variables(editor)
    return node if len(variables.uses(variables.of(session))) == 2 else None


def name_device(editor: Editor, finding: Finding) -> None:
    """Replace a physical device, or a name that TensorFlow can't parse, by the name of the logical device.

    The code for one particular GPU is also right on a machine without it.
    """
    guarded = bool(finding.details["guarded"])
    node = editor.expression_at(finding.span)
    text, kind = finding.details["text"], str(finding.details["kind"])
    code = editor.code(node)
    if kind == "DeviceName":
        code = code.removesuffix(".name")
    index: object = finding.details["index"]
    if isinstance(text, bool) or kind == "Index":
        index = None
    if isinstance(text, str):
        number = text.rsplit(":", 1)[-1]
        number = number if number.isdigit() else "0"
        if "cpu" in text.lower():
            editor.replace(node, editor.quoted(f"CPU:{number}"))
        else:
            editor.replace(node, logical_name("", int(number), guarded=guarded, editor=editor))
    elif isinstance(text, int) and not isinstance(text, bool):
        editor.replace(node, logical_name("", text, guarded=guarded, editor=editor))
    elif kind == "Index":
        editor.replace(node, f"f{editor.quoted(f'GPU:{{{code}}}')}")
    elif finding.details["logical"]:
        editor.replace(node, f"{code}.name")
    else:
        editor.replace(node, logical_name(code, index, guarded=guarded or index is None, editor=editor))
    editor.unsafe("Name the logical device")


def fill_probe(editor: Editor, finding: Finding) -> None:
    """Make an empty probe return the memory in use."""
    statement = editor.statement_at(finding.anchors["body"])
    name = logical_name("", 0, guarded=False, editor=editor)
    function = editor.nearest(statement, cst.FunctionDef)
    parameters = [node.name.value for node in function.params.params] if function is not None else []
    device = "device" if "device" not in parameters else "first_gpu"
    asked = f"{editor.tf(_INFO)}({device})[{editor.quoted('current')}]"
    lines = f"{device} = {name}\nreturn {asked}\n"
    if isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[0], cst.Expr):
        # The statement is the docstring.
        editor.insert_after(statement, lines)
    else:
        editor.replace_statement(statement, lines)
    editor.unsafe("Return the memory in use of the first GPU, in bytes")


def replace_report(editor: Editor, call: cst.Call, value: str, device: str, details: Mapping[str, object]) -> None:
    """Replace a made-up report by ``get_memory_info``, or by NVML's total memory."""
    if details["configured_later"]:
        raise Withheld("get_memory_info starts the runtime, and configuration follows")
    if value == "total":
        if not device:
            raise Withheld("it is not known which GPU this is about")
        editor.replace(call, _bytes(editor.total_mib(device)))
        editor.unsafe("Ask NVML for the device's memory, in bytes")
        return
    if value == "free":
        raise Withheld("TensorFlow can't tell the free memory; NVML tells that of the whole device")
    name = logical_name(device, details["index"], guarded=bool(details["guarded"]), editor=editor)
    if _is_asked_by_key(editor, call):
        editor.replace(call, f"{editor.tf(_INFO)}({name})")
        set_applicability(editor, "Ask get_memory_info", caught=details["caught"], doubtful=True)
        return
    editor.replace(call, memory_info_of(editor, call, name, value))
    set_applicability(editor, f"Ask get_memory_info for {value!r}", caught=details["caught"], doubtful=True)


def _is_asked_by_key(editor: Editor, call: cst.Call) -> bool:
    """True if the code takes items of a report by their names: it must be all of ``get_memory_info``."""
    parent = editor.parent(call)
    if isinstance(parent, cst.Subscript):
        return parent.value is call and re.search(r"\[['\"]", editor.code(parent)[len(editor.code(call)) :]) is not None
    target = parent.targets[0].target if isinstance(parent, cst.Assign) and len(parent.targets) == 1 else None
    if not isinstance(target, cst.Name):
        return False
    return re.search(rf"\b{target.value}(?:\[['\"]|\.get\()", editor.text) is not None


def replace_key(editor: Editor, finding: Finding) -> None:
    """Replace a made-up key by a call that has the answer."""
    details = finding.details
    report, device = str(details["report"]), str(details["device"])
    item = editor.expression_at(finding.span)
    if isinstance(item, cst.Call) and isinstance(item.func, cst.Attribute):
        if len(item.args) > 2 or (len(item.args) == 2 and not _says_nothing(item.args[1].value)):
            raise Withheld("the code has a default for a missing key")
        base, key = item.func.value, item.args[0].value
    elif isinstance(item, cst.Subscript):
        base, written = item.value, item.slice[0].slice
        key = written.value if isinstance(written, cst.Index) else item
    else:
        raise Withheld("the rewriter finds no key there")
    if isinstance(key, cst.Name) and _is_of_loop(editor, key.value):
        raise Withheld(f"{key.value} is another one in each pass of a loop")
    of_info = str(details["of"]).endswith("get_memory_info")
    if report == "total":
        if of_info:
            named = re.fullmatch(r"""(["'])/?(?:device:)?gpu:(\d+)\1""", device, re.IGNORECASE)
            if named is None:
                raise Withheld("it is not known which GPU this is about")
            editor.replace(item, total_memory_code(editor, int(named[2])))
        elif not device:
            raise Withheld("it is not known which GPU this is about")
        else:
            editor.replace(item, _bytes(editor.total_mib(device)))
        editor.unsafe("Ask NVML for the device's memory, in bytes")
        return
    if details["configured_later"]:
        raise Withheld("get_memory_info starts the runtime, and configuration follows")
    if of_info:
        editor.replace(item, f"{editor.code(base)}[{editor.quoted(report)}]")
    else:
        name = logical_name(device, details["index"], guarded=True, editor=editor)
        editor.replace(item, memory_info_of(editor, item, name, report))
    editor.unsafe(f"Ask get_memory_info for {report!r}")


def _says_nothing(default: cst.BaseExpression) -> bool:
    """True for a default that stands for no answer: ``None``, ``0``, ``-1``, or a text."""
    if isinstance(default, cst.Integer):
        return default.evaluated_value == 0
    if isinstance(default, cst.Float):
        return default.evaluated_value == 0
    negative = isinstance(default, cst.UnaryOperation) and isinstance(default.operator, cst.Minus)
    return (
        negative or isinstance(default, cst.SimpleString) or (isinstance(default, cst.Name) and default.value == "None")
    )


def _is_of_loop(editor: Editor, name: str) -> bool:
    """True if a loop of the file has a variable of this name."""
    loops = matchers.findall(editor.module, matchers.For() | matchers.CompFor())
    targets = [loop.target for loop in loops if isinstance(loop, (cst.For, cst.CompFor))]
    return any(matchers.findall(target, matchers.Name(name)) for target in targets)


def ask_for_each(editor: Editor, finding: Finding) -> None:
    """Ask for the device of the pass, in a loop over their names.

    Raises:
        Withheld: the loop may go through something else, or the name of the device is set elsewhere.
    """
    node, name = editor.expression_at(finding.anchors["device"]), str(finding.details["name"])
    if not name:
        raise Withheld("the loop may go through devices, or their numbers")
    if not isinstance(node, cst.SimpleString):
        raise Withheld(f"{editor.code(node)} is set elsewhere")
    editor.replace(node, name)
    editor.unsafe("Ask for the device of the pass")


def renumber(editor: Editor, finding: Finding) -> None:
    """Ask for the GPU that the work is on, wherever the other one is asked for.

    Raises:
        Withheld: the name of the device is set elsewhere.
    """
    idle, used = finding.details["idle"], finding.details["used"]
    for span in finding.anchors.values():
        node = editor.expression_at(span)
        text = node.evaluated_value if isinstance(node, cst.SimpleString) else None
        if not isinstance(text, str):
            raise Withheld(f"{editor.code(node)} is set elsewhere")
        number = text.rpartition(":")[2]
        if number != str(idle):
            raise Withheld(f"{editor.code(node)} is set elsewhere")
        editor.replace(node, editor.quoted(f"{text.rpartition(':')[0]}:{used}"))
    editor.unsafe(f"Ask for GPU {used}")


def call_in_each_step(editor: Editor, finding: Finding) -> None:
    """Call a report by ``tf.py_function``, which runs Python code in each step of a ``tf.function``.

    Raises:
        Withheld: the result is used, what is called may return something, or it reads a tensor of the function.
    """
    if finding.details["compiled"]:
        raise Withheld("XLA compiles the function, and runs no Python code in it: call it behind the function")
    call = editor.expression_at(finding.span)
    statement = editor.statement_of(call)
    line = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
    if (
        not isinstance(line, cst.Expr)
        or not isinstance(line.value, cst.Call)
        or not _returns_nothing(editor, line.value)
    ):
        raise Withheld("its result is used in the function: ask for it behind the function")
    function = editor.nearest(call, cst.FunctionDef)
    if function is None or _own_names(function) & _names_in(line.value) - {"self"}:
        raise Withheld("it reads what only the function has: ask for it behind the function")
    wrapped = f"{editor.tf('tf.py_function', statement)}(lambda: {editor.code(line.value)}, [], [])"
    editor.replace(line.value, wrapped)
    editor.unsafe("Call it in each step, by tf.py_function")


def _returns_nothing(editor: Editor, call: cst.Call) -> bool:
    """True if a call returns None: ``print``, a method of a log, or a function of the file that returns no value."""
    code = editor.code(call.func)
    if code == "print" or re.search(r"(?:^|[._])log(?:ger|ging)?\.(?:debug|info|warning|error)$", code):
        return True
    name = code.rpartition(".")[2]
    functions = [
        node
        for node in matchers.findall(editor.module, matchers.FunctionDef(matchers.Name(name)))
        if isinstance(node, cst.FunctionDef)
    ]
    if len(functions) != 1 or functions[0].asynchronous is not None or functions[0].decorators:
        return False
    gives = matchers.Return(value=~matchers.OneOf(matchers.Name("None"))) | matchers.Yield()
    plain = matchers.Return(value=None)
    found = matchers.findall(functions[0].body, gives)
    return all(matchers.matches(node, plain) for node in found)


def _own_names(function: cst.FunctionDef) -> set[str]:
    """Return the names that a function binds: its parameters, and what it assigns."""
    bound = {
        node.name.value for node in matchers.findall(function.params, matchers.Param()) if isinstance(node, cst.Param)
    }
    for target in matchers.findall(function.body, matchers.AssignTarget() | matchers.AsName() | matchers.For()):
        part = target.target if isinstance(target, (cst.AssignTarget, cst.For)) else getattr(target, "name", None)
        bound |= _names_in(part) if isinstance(part, cst.CSTNode) else set()
    return bound


def _names_in(node: cst.CSTNode) -> set[str]:
    return {part.value for part in matchers.findall(node, matchers.Name()) if isinstance(part, cst.Name)}
