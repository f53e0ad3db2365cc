"""Correct the names and values of environment variables that are set, and split settings that share a value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

import libcst as cst
from libcst import matchers

from tfmemlint.fixes.call_context import own_statement, set_applicability
from tfmemlint.fixes.rewrites.constants import device_literal
from tfmemlint.fixes.rewrites.written_pairs import made_beside, number_in, only_string, value_beside
from tfmemlint.fixes.text_editor import TextEditor, WrittenItem
from tfmemlint.fixes.unused_imports import drop_imports
from tfmemlint.fixes.users import other_user
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.finding import Finding, Span
from tfmemlint.sources.magics import exported_here

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfmemlint.fixes.editor import Editor


def literal(editor: Editor, span: object, value: object) -> cst.SimpleString:
    """Return the string literal ``value`` at ``span``; in a configuration file, the `WrittenItem` there.

    Raises:
        Withheld: another expression provides it.
    """
    if not isinstance(span, Span):
        raise Withheld("the place of the string isn't known")
    node = editor.expression_at(span)
    if not isinstance(node, (cst.SimpleString, WrittenItem)) or node.evaluated_value != value:
        raise Withheld(f"{editor.code(node)} is set elsewhere")
    return node


def string(old: cst.SimpleString, text: str) -> cst.SimpleString:
    """Return ``text`` in the quotes that ``old`` has."""
    return cst.SimpleString(f"{old.quote}{text}{old.quote}")


def write_string(editor: Editor, old: cst.BaseExpression | WrittenItem, text: str) -> None:
    """Replace a string by ``text``, in its quotes. A configuration file's editor knows the quotes itself."""
    editor.replace(old, string(old, text) if isinstance(old, cst.SimpleString) else text)  # type: ignore[arg-type]


def rename_variable(editor: Editor, finding: Finding) -> None:
    """Replace a name that TensorFlow never reads by that of the intended variable."""
    details = finding.details
    real, name = str(details["real"]), str(details["name"])
    if not real:
        purpose = details["purpose"]
        if purpose in ("limit", "fraction") and details["serves"]:
            raise Withheld("an option of the server sets the share of the memory, no variable does")
        if purpose in ("limit", "fraction"):
            raise Withheld(
                "no variable sets a limit for one GPU; set_logical_device_configuration does, in MiB, before the GPU is"
                " used"
            )
        raise Withheld("TensorFlow has no variable for that")
    if details["elsewhere"]:
        raise Withheld(f"{real} is set in another place already: remove one of the two")
    plain = details["kind"] in ("typo", "invisible")
    if not plain and details["wants"] is not True:
        if details["wants"] is False:
            raise Withheld("it asks for TensorFlow's default: remove the line")
        raise Withheld("its value isn't known")
    if name.endswith(("\uff1d", "\ufe66")):
        raise Withheld("the sign after the name is no =")
    key = _key(editor, details["key"], name)
    if not plain:
        given = details["given"]
        if not isinstance(given, Span):
            raise Withheld("the place of its value isn't known")
        value = editor.expression_at(given)
        new = "true"
        if not isinstance(value, (cst.SimpleString, WrittenItem)):
            raise Withheld(f"{editor.code(value)} is set elsewhere")
        if value.evaluated_value != new:
            write_string(editor, value, new)
    write_string(editor, key, real)
    message = f"Set {real}"
    if details["safe"]:
        editor.safe(message)
    else:
        editor.unsafe(message)


def _key(editor: Editor, span: object, name: str) -> cst.SimpleString:
    """Return the string that names a variable, where it is set or in the table that a loop goes through."""
    node = editor.expression_at(span) if isinstance(span, Span) else None
    found = None if node is None or isinstance(node, (cst.SimpleString, WrittenItem)) else only_string(editor, name)
    return found or literal(editor, span, name)


def set_value(editor: Editor, finding: Finding) -> None:
    """Replace a value that has no effect by the intended one."""
    details = finding.details
    if details["kind"] == "one_of":
        _set_one_of(editor, finding)
        return
    meant, given = str(details["meant"]), details["given"]
    listed = _listed_in(editor, given, details)
    if listed:
        assert isinstance(given, Span)
        editor.replace(editor.expression_at(given), f"{editor.quoted(',')}.join(map(str, {listed}))")
        editor.unsafe("Join the items")
        return
    number = bool(details.get("number"))
    if not meant and not number and not details.get("switch"):
        raise Withheld(str(details["why"]))
    if not isinstance(given, Span):
        raise Withheld("the place of its value isn't known")
    value = editor.expression_at(given)
    if details["kind"] == "type":
        held = value_beside(editor, str(details.get("variable")))
        _make_string(
            editor, held if held is not None and isinstance(value, (cst.Name, cst.Subscript)) else value, details
        )
        return
    if details["contrary"]:
        raise Withheld("the program sets growth itself, and the variable would override it: which is intended?")
    variable = str(details.get("variable"))
    written = isinstance(value, (cst.SimpleString, WrittenItem))
    old = None if written else value_beside(editor, variable, details["value"])
    if old is None and not written and details["kind"] == "growth" and _write_lower_case(editor, value, details):
        return
    if old is None:
        old = literal(editor, given, details["value"])
    write_string(editor, old, meant if isinstance(old, (cst.SimpleString, WrittenItem)) else editor.quoted(meant))
    message = f"Set it to {meant!r}"
    if details["safe"]:
        editor.safe(message)
    else:
        editor.unsafe(message)


def _set_one_of(editor: Editor, finding: Finding) -> None:
    """Correct an expression whose value is one of a few texts.

    Raises:
        Withheld: it is not clear which texts are meant, or where they come from.
    """
    details = finding.details
    given, texts = details["given"], cast("tuple[str, ...]", details["texts"])
    meant = dict(zip(texts, cast("tuple[str, ...]", details["meant"]), strict=True))
    if not isinstance(given, Span):
        raise Withheld("the place of its value isn't known")
    if details["contrary"]:
        raise Withheld("the program sets growth itself, and the variable would override it: which is intended?")
    value = editor.expression_at(given)
    written = [value.body, value.orelse] if isinstance(value, cst.IfExp) else []
    strings = [part for part in written if isinstance(part, cst.SimpleString)]
    if len(strings) == len(texts) and all(meant.get(str(part.evaluated_value)) for part in strings):
        for part in strings:
            if meant[str(part.evaluated_value)] != part.evaluated_value:
                editor.replace(part, string(part, meant[str(part.evaluated_value)]))
    elif not details["growth"]:
        raise Withheld(str(details["why"]))
    else:
        code = _operand(editor, value)
        if set(texts) <= {"True", "False"}:
            editor.replace(value, f"{code}.lower()")
        elif set(texts) <= {"1", "0"}:
            editor.replace(value, f"str({code} == {editor.quoted('1')}).lower()")
        else:
            raise Withheld(str(details["why"]))
    editor.unsafe("Write 'true' or 'false', in lower case")


def _write_lower_case(editor: Editor, value: cst.BaseExpression, details: Mapping[str, object]) -> bool:
    """Make the text of a bool one that TensorFlow takes, where an expression makes it; False if that can't be done.

    The environment takes nothing but strings, so the expression is one in every run.
    """
    variable, text = str(details["variable"]), str(details["value"])
    key = editor.expression_at(details["key"]) if isinstance(details["key"], Span) else None
    own = isinstance(key, cst.SimpleString) and key.evaluated_value == variable
    if not own and not (isinstance(key, cst.Name) and key.value == variable):
        # The statement sets variables of several names: the text of this one is made where its name is.
        made = made_beside(editor, variable)
        if made is None:
            return False
        value = made
    around = editor.parent(value)
    if isinstance(around, cst.Assign) and len(around.targets) > 1:
        raise Withheld(f"{editor.code(value)} is used elsewhere (line {editor.span(value).row})")
    if text.lower() in ("true", "false"):
        editor.replace(value, f"{_operand(editor, value)}.lower()")
    elif text in ("1", "0") and (number := number_in(value)) is not None:
        editor.replace(value, f"str(bool({editor.code(number)})).lower()")
    else:
        return False
    editor.unsafe("Write 'true' or 'false', in lower case")
    return True


def _operand(editor: Editor, value: cst.BaseExpression) -> str:
    """Return the code of an expression, in parentheses where a method behind it would belong to a part of it."""
    bare = isinstance(value, (cst.Call, cst.Name, cst.Attribute, cst.Subscript, cst.FormattedString))
    return editor.code(value) if bare or value.lpar else f"({editor.code(value)})"


def _listed_in(editor: Editor, given: object, details: Mapping[str, object]) -> str:
    """Return the code of the list whose text a value is, brackets and all: ``str(numbers)``; "" for none."""
    if not isinstance(given, Span):
        return ""
    items = details.get("items")
    if isinstance(items, Span):
        return editor.code(editor.expression_at(items))
    node, text = editor.expression_at(given), str(details.get("value"))
    if text.startswith("[,") and isinstance(node, cst.Call) and len(node.args) == 1:
        # ``",".join(str(numbers))``
        node = node.args[0].value
    if (
        text[:1] in ("[", "(")
        and isinstance(node, cst.Call)
        and editor.code(node.func) == "str"
        and len(node.args) == 1
    ):
        listed = node.args[0].value
        return editor.code(listed) if isinstance(listed, (cst.Name, cst.Attribute, cst.Subscript, cst.Call)) else ""
    return ""


def _make_string(editor: Editor, value: cst.BaseExpression, details: Mapping[str, object]) -> None:
    """Write the string that a value of another type means, or ``str(...)`` around a number that is not written here."""
    code, caught = editor.code(value), bool(details["caught"])
    literal_types = (cst.Integer, cst.UnaryOperation, cst.List, cst.Tuple)
    if isinstance(value, literal_types) or code in ("True", "False"):
        editor.replace(value, editor.quoted(str(details["meant"])))
        set_applicability(editor, f"Set it to the string {details['meant']!r}", caught=caught)
    elif details.get("switch"):
        editor.replace(value, f"str({code}).lower()")
        set_applicability(editor, "Make it a string in lower case", caught=caught, doubtful=True)
    elif details["number"]:
        editor.replace(value, f"str({code})")
        set_applicability(editor, "Make it a string", caught=caught)
    else:
        raise Withheld(f"{code} is set elsewhere")


def split_settings(editor: Editor, finding: Finding) -> None:
    """Give each of several settings in one value a statement or an entry of its own."""
    details = finding.details
    settings = details["settings"]
    assert isinstance(settings, tuple)
    if details["elsewhere"]:
        raise Withheld(f"{details['elsewhere']} is set in another place as well")
    if isinstance(editor, TextEditor):
        key = details["key"]
        assert isinstance(key, Span)
        editor.split_settings(key, settings)
        editor.unsafe(f"Set {' and '.join(variable for variable, _ in settings)} separately")
        return
    value = literal(editor, details["given"], details["value"])
    (name, first), *others = settings
    holder = editor.parent(value)
    if isinstance(holder, cst.DictElement) and isinstance(holder.key, cst.SimpleString):
        _split_entry(editor, holder, value, first, others)
    else:
        statement = editor.statement_at(finding.span)
        if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
            raise Withheld("the statement does more than set this variable")
        code = editor.code(statement.body[0]).strip()
        key = literal(editor, details["key"], name)
        if code.count(editor.code(value)) != 1 or code.count(editor.code(key)) != 1 or "\n" in code:
            raise Withheld("the statement does more than set this variable")
        lines = []
        for other, given in others:
            line = code.replace(editor.code(value), string(value, given).value)
            lines.append(line.replace(editor.code(key), string(key, other).value))
        editor.replace(value, string(value, first))
        editor.insert_after(statement, "\n".join(lines) + "\n")
    editor.unsafe(f"Set {' and '.join(variable for variable, _ in settings)} separately")


def _split_entry(
    editor: Editor, holder: cst.DictElement, value: cst.SimpleString, first: str, others: list[tuple[str, str]]
) -> None:
    mapping = editor.parent(holder)
    if not isinstance(mapping, cst.Dict) or not isinstance(holder.key, cst.SimpleString):
        raise Withheld("the mapping is not written out")
    quote = holder.key
    # Key and value are expressions: the new entries replace the value.
    more = "".join(f", {string(quote, name).value}: {string(value, given).value}" for name, given in others)
    code = editor.code(mapping)
    old = f"{editor.code(quote)}: {editor.code(value)}"
    if code.count(old) != 1:
        raise Withheld("the mapping can't be split")
    editor.replace(mapping, code.replace(old, f"{editor.code(quote)}: {string(value, first).value}{more}"))


def renumber_gpu(editor: Editor, finding: Finding) -> None:
    """Replace the number of a GPU on the machine by the one that TensorFlow gives it."""
    details = finding.details
    if details["meant"] is None:
        raise Withheld("the GPU is not among the visible ones")
    node = editor.expression_at(finding.span)
    if details["text"] and isinstance(node, (cst.FormattedString, cst.BinaryOperation)):
        # The number comes from a variable, which other code needs as it is.
        refuse_several(editor, node)
        editor.replace(node, editor.quoted(f"{str(details['text']).rpartition(':')[0]}:{details['meant']}"))
    elif details["text"]:
        text = str(details["text"])
        old = device_literal(editor, node, text)
        if old is None:
            old = literal(editor, finding.span, text)
        elif user := other_user(finding.path, editor.code(node)):
            raise Withheld(f"{user} may use {editor.code(node)} from here")
        editor.replace(old, string(old, f"{text.rpartition(':')[0]}:{details['meant']}"))
    elif isinstance(node, cst.Integer) and node.evaluated_value == details["index"]:
        editor.replace(node, str(details["meant"]))
    elif isinstance(node, (cst.Name, cst.Attribute)):
        refuse_several(editor, node)
        editor.replace(node, str(details["meant"]))
    else:
        raise Withheld(f"{editor.code(node)} is set elsewhere")
    named = isinstance(node, (cst.Name, cst.Attribute))
    doubtful = bool(details["quiet"]) or named
    set_applicability(editor, f"Write {details['meant']}", caught=details["caught"], doubtful=doubtful)


def write_zero(editor: Editor, finding: Finding) -> None:
    """Write 0 for a number that chooses the only GPU: in a name, in brackets, or in those of a slice.

    Raises:
        Withheld: the number is a loop's, and the program has only one GPU where a configuration file starts it.
    """
    details = finding.details
    node = editor.expression_at(finding.span)
    if details.get("only"):
        refuse_several(editor, node, parameters=False)
    if details.get("sliced"):
        if not isinstance(node, cst.Subscript):
            raise Withheld(f"{editor.code(node)} is set elsewhere")
        editor.replace(node, f"{editor.code(node.value)}[:1]")
        editor.unsafe("Take the first GPU")
        return
    editor.replace(node, editor.quoted("/GPU:0") if details.get("named") or details.get("text") else "0")
    editor.unsafe("Write 0")


def refuse_several(editor: Editor, node: cst.BaseExpression, *, parameters: bool = True) -> None:
    """Refuse to write one number in place of a name that may stand for several.

    Args:
        parameters: those of functions are such names, too.

    Raises:
        Withheld: the name is a loop's, or a parameter.
    """
    names = {part.value for part in matchers.findall(node, matchers.Name()) if isinstance(part, cst.Name)}
    for around in editor.ancestors(node):
        bound: cst.CSTNode | None = None
        if isinstance(around, (cst.For, cst.CompFor)):
            bound = around.target
        elif isinstance(around, cst.BaseComp):
            bound = around.for_in.target
        elif parameters and isinstance(around, (cst.FunctionDef, cst.Lambda)):
            bound = around.params
        found = matchers.findall(bound, matchers.Name()) if bound is not None else []
        if any(isinstance(part, cst.Name) and part.value in names for part in found):
            raise Withheld(f"{editor.code(node)} is set elsewhere")


def renumber_nvml_gpu(editor: Editor, finding: Finding) -> None:
    """Replace TensorFlow's number of a GPU by the one that NVML has for it."""
    node = editor.expression_at(finding.span)
    if not isinstance(node, cst.Integer) or node.evaluated_value != finding.details["index"]:
        raise Withheld(f"{editor.code(node)} is set elsewhere")
    editor.replace(node, str(finding.details["meant"]))
    editor.unsafe(f"Ask NVML for GPU {finding.details['meant']}")


def set_by_default(editor: Editor, finding: Finding) -> None:
    """Set a variable only where the program is not started with it.

    Raises:
        Withheld: the statement does more than assign it.
    """
    statement = editor.statement_at(finding.span)
    line = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
    target = line.targets[0].target if isinstance(line, cst.Assign) and len(line.targets) == 1 else None
    if not isinstance(line, cst.Assign) or not isinstance(target, cst.Subscript):
        raise Withheld("the variable is set by more than one assignment")
    environ, name = editor.code(target.value), editor.code(editor.expression_at(cast("Span", finding.details["key"])))
    editor.replace_statement(statement, f"{environ}.setdefault({name}, {editor.code(line.value)})\n")
    editor.unsafe("Set it only where it is not given")


def set_in_process(editor: Editor, finding: Finding) -> None:
    """Set the variables of a command in the environment of the process, in place of a shell's.

    Raises:
        Withheld: the result of the command is used.
    """
    call = editor.expression_at(finding.span)
    statement = own_statement(editor, call)
    if statement is None:
        raise Withheld("the result of the command is used")
    environ = f"{editor.add_import('os')}.environ"
    pairs = [str(pair).partition("=") for pair in cast("list[object]", finding.details["pairs"])]
    lines = [f"{environ}[{editor.quoted(name)}] = {editor.quoted(value)}\n" for name, _, value in pairs]
    editor.insert_before(statement, "".join(lines))
    drop_imports(editor, [statement], "".join(lines))
    editor.remove(statement)
    editor.unsafe("Set it in the environment of the process")


def set_in_kernel(editor: Editor, finding: Finding) -> None:
    """Set a variable in the kernel of a notebook, in place of the shell that exports it.

    Raises:
        Withheld: the shell does something else as well, or has a cell of its own.
    """
    name, value = str(finding.details["name"]), str(finding.details["value"])
    line = editor.text.split("\n")[finding.span.row - 1]
    code = exported_here(line, name, value)
    lines = (each for each in editor.tree.ranges if isinstance(each, cst.SimpleStatementLine))
    place = next((each for each in lines if editor.span(each).row == finding.span.row), None)
    if code is None or place is None:
        raise Withheld("the shell does more than export one variable, or has a cell of its own")
    editor.replace_statement(place, code)
    editor.unsafe(f"Set {name} in the kernel, with %env")


def set_in_place_of_name(editor: Editor, finding: Finding) -> None:
    """Set the variable in the environment of the process where a name of Python's is bound."""
    target = editor.expression_at(finding.span)
    statement = own_statement(editor, target) or editor.statement_at(finding.span)
    name, _, value = str(cast("list[object]", finding.details["pairs"])[0]).partition("=")
    line = f"{editor.add_import('os')}.environ[{editor.quoted(name)}] = {editor.quoted(value)}\n"
    editor.replace_statement(statement, line)
    editor.unsafe("Set it in the environment of the process")


def keep_environment(editor: Editor, finding: Finding) -> None:
    """Put the variables of this process in front of those that a process is given."""
    given = editor.node_at(finding.span, cst.Dict)
    code, environ = editor.code(given), editor.add_import("os")
    indent = re.match(r"\{(\s*)", code)
    between = indent[1] if indent is not None else ""
    editor.replace(given, f"{{{between}**{environ}.environ,{between or ' '}{code[1:].lstrip()}")
    editor.unsafe("Pass the environment of this process on, with these variables in it")
