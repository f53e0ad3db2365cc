"""TFM328: device_count of a session names no type of device, or is taken for the number of a GPU."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.state import Event, State
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.device_counts import DeviceCountEntry, device_count_entries, number_meant, unknown_type
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program


class DeviceCount(Rule):
    """device_count of a session names no type of device, or is taken for the number of a GPU.

    What it does
    ------------
    Finds keys of ``device_count`` that are no type of device (``{"gpu": 0}``), and values that are the number of a GPU
    by their name (``{"GPU": args.gpu_id}``) or by the comment beside them (``# device 1 only``).

    Why it matters
    --------------
    ``device_count`` says how many devices of a type a session gets at most, by the types' exact names. An entry for
    ``"gpu"`` is ignored: the session opens all GPUs. ``{"GPU": 1}`` gives it one GPU, which is the first. Nothing is
    raised.

    Example
    -------
    ```python
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto(device_count={"gpu": 0})
    with tf.compat.v1.Session(config=config) as session:
        print(session.list_devices())
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto(device_count={"GPU": 0})
    with tf.compat.v1.Session(config=config) as session:
        print(session.list_devices())
    ```
    """

    code = "TFM328"
    name = "device-count"
    severity = Severity.ERROR
    fixable = "sometimes"
    triggers = ("device_count",)

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each entry that TensorFlow reads in another way than it is meant."""
        for entry in device_count_entries(program.tree):
            right = unknown_type(entry)
            if right:
                yield self._ignored(program, entry, right)
                continue
            number = number_meant(entry, program.source.lines)
            if number:
                yield self._counted(program, entry, number)

    def _ignored(self, program: Program, entry: DeviceCountEntry, right: str) -> Finding:
        key = program.source.span(entry.key)
        event = _event(program, entry, entry.key)
        hides = isinstance(entry.value, ast.Constant) and entry.value.value == 0
        return self.finding(
            program,
            event,
            f"device_count has no effect for {program.source.segment(key)}: the type is {right!r}",
            intent=Intent(
                Purpose.OTHER, text=f"a session without {right}s" if hides else f"a session with some {right}s"
            ),
            outcome=f"The session gets every {right}; nothing is raised",
            advice=f"Write {right!r}",
            details={"kind": "type", "right": right},
            fixable=isinstance(entry.key, ast.Constant) and ":" not in str(entry.key.value),
        )

    def _counted(self, program: Program, entry: DeviceCountEntry, number: str) -> Finding:
        event = _event(program, entry, entry.value)
        text = program.source.segment(event.span)
        return self.finding(
            program,
            event,
            f"device_count takes the count of GPUs, and {text} is the number of one",
            severity=Severity.WARNING,
            intent=Intent(Purpose.VISIBLE, text=f"GPU {number}"),
            outcome="The session gets that many GPUs, beginning with GPU 0; nothing is raised",
            advice="Choose the GPU with gpu_options.visible_device_list",
            details={
                "kind": "number",
                "text": text,
                "constant": isinstance(entry.value, ast.Constant),
            },
            fixable=entry.keyword is not None,
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Write the type by its name, or choose the GPU by its number."""
        from tfmemlint.fixes.rewrites import device_count

        if finding.details["kind"] == "type":
            editor.replace(editor.expression_at(finding.span), editor.quoted(str(finding.details["right"])))
            editor.unsafe(f"Write {finding.details['right']!r}")
        else:
            device_count.choose_by_number(editor, finding)


def _event(program: Program, entry: DeviceCountEntry, node: ast.expr) -> Event:
    source = program.source
    return Event(path=source.path, span=source.span(node), statement=source.span(entry.statement), state=State())
