"""TFM104: the number of threads is set after the runtime has started."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge.functions import SET_THREADS
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.explain import short, too_late
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Call, Program


class ThreadingAfterInit(Rule):
    """The number of threads is set after the runtime has started.

    What it does
    ------------
    Finds ``tf.config.threading.set_intra_op_parallelism_threads`` and ``set_inter_op_parallelism_threads`` calls that
    run after something has started TensorFlow's runtime: a tensor, a variable, a dataset, a strategy. Setting the
    number that was set before is not reported. If none was set before, every number is a change, even 0.

    Why it matters
    --------------
    The eager context reads the numbers once, when it starts. A later change raises an error. If ``except RuntimeError``
    catches it, the change is lost, and TensorFlow uses as many threads as the machine has cores.

    Example
    -------
    ```python
    import tensorflow as tf

    weights = tf.Variable([1.0, 2.0])
    tf.config.threading.set_intra_op_parallelism_threads(2)
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(2)
    weights = tf.Variable([1.0, 2.0])
    ```

    Seen as
    -------
    ``RuntimeError: Intra op parallelism cannot be modified after initialization.``
    """

    code = "TFM104"
    name = "threading-after-init"
    severity = Severity.ERROR
    triggers = ("set_int(?:ra|er)_op_",)
    whole_program = True
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each call that sets another number of threads than the one in force after the eager context has
        started."""
        for call in program.calls(*SET_THREADS):
            if call.effect is not None and call.effect.kind == "late":
                yield too_late(self, program, call, _intent(call))

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Move the setting above what starts the runtime."""
        editor.call_at(finding.span, str(finding.details["called"]))
        editor.move_above_start(finding)


def _intent(call: Call) -> Intent:
    number = call.arg(0, "num_threads")
    value = number.value.value if number is not None and isinstance(number.value, Const) else None
    what = "each operation" if "intra" in short(call.name) else "operations in parallel"
    return Intent(Purpose.THREADING, what, value, number.text if number is not None and value is None else "")
