"""Strategy: say by ``tf.config`` what the environment says too late.

``CUDA_VISIBLE_DEVICES`` is read when the GPUs are listed for the first time. Until the runtime starts,
``tf.config.set_visible_devices`` can still choose among them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from tfmemlint.fixes.order.problem import Candidate, OrderProblem
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.intent import Purpose


def set_visible_devices(problem: OrderProblem) -> Iterator[Candidate]:
    """Replace the assignment of constant numbers to ``CUDA_VISIBLE_DEVICES``."""
    finding = problem.finding
    if finding.intent is None or finding.intent.purpose is not Purpose.VISIBLE or "called" in finding.details:
        raise Withheld("it does not choose GPUs by the environment")
    file = problem.files.get(finding.path)
    statement = file.tree.statement_at(finding.span)
    node = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement
    if not isinstance(node, cst.Assign) or not isinstance(node.value, cst.SimpleString):
        raise Withheld("the GPUs that it chooses are not constants")
    value = node.value.evaluated_value
    if not isinstance(value, str) or not re.fullmatch(r"\s*(?:-1|\d+(?:\s*,\s*\d+)*)?\s*", value):
        raise Withheld("the GPUs that it chooses are not numbers")
    numbers = [int(number) for number in re.findall(r"\d+", value)] if "-1" not in value else []
    editor = problem.editor(file)
    call = editor.tf("tf.config.set_visible_devices", statement)
    listing = f"{editor.tf('tf.config.list_physical_devices', statement)}({editor.quoted('GPU')})"
    if not numbers:
        devices = "[]"
    elif len(numbers) == 1:
        devices = f"{listing}[{numbers[0]}:{numbers[0] + 1}]"
    else:
        devices = f"[{listing}[number] for number in {tuple(numbers)}]"
    editor.replace_statement(statement, f"{call}({devices}, {editor.quoted('GPU')})\n")
    yield Candidate({file.path: editor.finish()}, "Choose the GPUs with tf.config: the environment was read already")
