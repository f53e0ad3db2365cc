"""Strategy: say by ``tf.config`` what the environment says too late.

``CUDA_VISIBLE_DEVICES`` is read when the GPUs are listed for the first time. Until the runtime starts,
``tf.config.set_visible_devices`` can still choose among them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from tfmemlint.fixes.order.files import CodeFile
from tfmemlint.fixes.order.problem import Candidate, OrderProblem
from tfmemlint.fixes.rewrites.render_intent import free_name
from tfmemlint.fixes.unused_imports import drop_imports
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.intent import Purpose


def set_visible_devices(problem: OrderProblem) -> Iterator[Candidate]:
    """Replace the assignment of numbers, or of one computed number, to ``CUDA_VISIBLE_DEVICES``."""
    finding = problem.finding
    if finding.intent is None or finding.intent.purpose is not Purpose.VISIBLE or "called" in finding.details:
        raise Withheld("it does not choose GPUs by the environment")
    file = problem.files.get(finding.path)
    statement = file.tree.statement_at(finding.span)
    node = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement
    if not isinstance(node, cst.Assign):
        raise Withheld("the GPUs that it chooses are not constants")
    _check_eager(problem)
    editor = problem.editor(file)
    call = editor.tf("tf.config.set_visible_devices", statement)
    listing = f"{editor.tf('tf.config.list_physical_devices', statement)}({editor.quoted('GPU')})"
    number = _computed_number(file, node.value)
    if number:
        # A number without a GPU shows none, as the variable does.
        devices = f"{listing}[{number} : {number} + 1]"
    elif text := _computed_text(file, node.value):
        # A number without a GPU shows none, as in the variable.
        index, gpu = free_name(editor, "index"), free_name(editor, "gpu")
        chosen = f"str({index}) in {text}.split({editor.quoted(',')})"
        devices = f"[{gpu} for {index}, {gpu} in enumerate({listing}) if {chosen}]"
    else:
        devices = _devices(listing, _numbers(node.value))
    new = f"{call}({devices}, {editor.quoted('GPU')})\n"
    editor.replace_statement(statement, new)
    drop_imports(editor, [statement], new)
    yield Candidate({file.path: editor.finish()}, "Choose the GPUs with tf.config: the environment was read already")


def _check_eager(problem: OrderProblem) -> None:
    """Refuse where the program works with sessions: one that has its own options ignores what tf.config says.

    Raises:
        Withheld: a file on the way to the configuration turns eager execution off.
    """
    for path in dict.fromkeys(step.path for step in problem.finding.trace):
        if _SESSIONS.search(problem.files.get(path).source.text):
            raise Withheld("a session with options of its own ignores the devices that tf.config makes visible")


_SESSIONS = re.compile(r"\bdisable_(?:v2_behavior|eager_execution)\b|\bSession\(")


def _computed_number(file: CodeFile, value: cst.BaseExpression) -> str:
    """Return the variable that holds the one number of a GPU, as in ``str(index)``; "" if the value is another."""
    if isinstance(value, cst.Call) and file.tree.code(value.func) == "str" and len(value.args) == 1:
        number: cst.BaseExpression = value.args[0].value
    elif (
        isinstance(value, cst.FormattedString)
        and len(value.parts) == 1
        and isinstance(part := value.parts[0], cst.FormattedStringExpression)
        and part.format_spec is None
        and part.conversion is None
    ):
        number = part.expression
    else:
        return ""
    # What is converted must be a number: a text such as "0,1" is converted as well, and can't be counted with.
    name = file.tree.code(number)
    is_name = isinstance(number, (cst.Name, cst.Attribute))
    return name if is_name and _NUMBER.search(name) and not _TEXT.search(name) else ""


def _computed_text(file: CodeFile, value: cst.BaseExpression) -> str:
    """Return the code of the text that has the numbers, where it is a variable, an attribute or an item; or ""."""
    plain = isinstance(value, (cst.Name, cst.Attribute, cst.Subscript))
    is_text = isinstance(value, cst.Call) and file.tree.code(value.func) == "str" and len(value.args) == 1
    return file.tree.code(value) if plain or is_text else ""


_NUMBER = re.compile(r"(?:^|[_.])(?:i|n|idx|index|number|num|rank|ordinal)$")
"""Names of a number."""
_TEXT = re.compile(r"s$|str|list")
"""Names of something else."""


def _numbers(value: cst.BaseExpression) -> list[int]:
    """Return the numbers in the value of the variable.

    Raises:
        Withheld: it is no constant, or has something else in it.
    """
    if not isinstance(value, cst.SimpleString):
        raise Withheld("the GPUs that it chooses are not constants")
    text = value.evaluated_value
    if not isinstance(text, str) or not re.fullmatch(r"\s*(?:-1|\d+(?:\s*,\s*\d+)*)?\s*", text):
        raise Withheld("the GPUs that it chooses are not numbers")
    return [int(number) for number in re.findall(r"\d+", text)] if "-1" not in text else []


def _devices(listing: str, numbers: list[int]) -> str:
    """Return the code for the devices of these numbers."""
    if not numbers:
        return "[]"
    if len(numbers) == 1:
        return f"{listing}[{numbers[0]}:{numbers[0] + 1}]"
    return f"[{listing}[number] for number in {tuple(numbers)}]"
