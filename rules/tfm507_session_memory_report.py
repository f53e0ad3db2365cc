"""TFM507: a session is made to run a memory report that does not exist."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.knowledge import purposes
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.explain import attribute_error, attribute_severity, handler_notes
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction


class SessionMemoryReport(Rule):
    """A session is made to run a memory report that does not exist.

    What it does
    ------------
    Finds ``sess.run(tf.compat.v1.report_memory_usage())`` and similar calls: made-up reports of the memory in use that
    are passed to a session.

    Why it matters
    --------------
    The line raises ``AttributeError``: no release has such a function. The real function, ``get_memory_info``, needs no
    session.

    Example
    -------
    ```python
    import tensorflow as tf

    with tf.compat.v1.Session() as sess:
        print(sess.run(tf.compat.v1.report_memory_usage()))
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    if tf.config.list_physical_devices("GPU"):
        print(tf.config.experimental.get_memory_info("GPU:0"))
    ```

    Seen as
    -------
    ``AttributeError: module 'tensorflow._api.v2.compat.v1' has no attribute 'report_memory_usage'``
    """

    code = "TFM507"
    name = "session-memory-report"
    of_another_release = True
    severity = Severity.ERROR
    triggers = (
        "memory_(?:info|usage|stats|used|total)",
        r"\b(?:tf|tensorflow|K|backend|experimental|extended)\.[\w.]*(?:[Mm]emory|gpu|GPU|vram)",
    )
    fixable = "sometimes"
    supersedes = ("TFM506", "TFM202", "TFM201", "TFM206", "TFM209")

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each made-up report that is the argument of ``run``."""
        runs: dict[int, ast.Call] = {}
        for call in program.calls():
            made_up = purposes.purpose_of(call.name)
            if made_up is None or made_up.purpose is not Purpose.REPORT or call.probed:
                continue
            runs = runs or {
                id(node.args[0]): node
                for node in all_nodes(program.tree)
                if isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "run"
                and node.args
            }
            outer = runs.get(id(call.node))
            if outer is None:
                continue
            report = made_up.value or "current"
            yield self.finding(
                program,
                call,
                f"{call.name} exists in no TensorFlow release, and a report needs no session",
                span=program.source.span(outer),
                severity=attribute_severity(call),
                intent=Intent(Purpose.REPORT, "GPU 0", report),
                outcome=attribute_error(call.name),
                advice="Use tf.config.experimental.get_memory_info('GPU:0')",
                notes=handler_notes(call, "AttributeError", "nothing is reported"),
                details={"report": report, "name": call.name},
            )

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_name

        return of_name(finding, text, target)

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Ask the eager runtime, without a session."""
        from tfmemlint.fixes.rewrites import memory_reports

        memory_reports.replace_run(editor, finding)
