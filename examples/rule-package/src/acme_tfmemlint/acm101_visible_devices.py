"""ACM101: the program chooses its GPUs itself, which is the scheduler's business on Acme's cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program

_CALL = "tf.config.set_visible_devices"


class VisibleDevices(Rule):
    """The program chooses its GPUs itself.

    What it does
    ------------
    Finds ``tf.config.set_visible_devices`` for GPUs.

    Why it matters
    --------------
    The cluster's scheduler gives a job its GPUs by ``CUDA_VISIBLE_DEVICES``. A program that hides some of them besides
    leaves GPUs idle that nobody else gets.

    Example
    -------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    tf.config.set_visible_devices(gpus[:1], "GPU")
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    ```
    """

    code = "ACM101"
    name = "acme-visible-devices"
    severity = Severity.WARNING
    fixable = "sometimes"
    triggers = ("set_visible_devices",)
    docs_url = "https://acme.example/tfmemlint/{code}.html"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each call that chooses among the GPUs; hiding all of them is a program for the CPU."""
        for call in program.calls(_CALL):
            devices = call.arg(0, "devices")
            if devices is None or devices.text in ("[]", "()"):
                continue
            yield self.finding(
                program,
                call,
                "set_visible_devices hides GPUs that the scheduler has given to this job",
                outcome="The other GPUs of the job are idle",
                advice="Ask the scheduler for as many GPUs as the program uses",
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Remove the call where it is a statement by itself."""
        call = editor.call_at(finding.span, "set_visible_devices")
        editor.drop_with_what_is_empty(editor.statement_of(call))
        editor.unsafe("Leave the choice to the scheduler")
