"""TFM610: a report of memory is asked for while TensorFlow traces a function, not when that runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.model.finding import Finding, Severity, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.explain import short
from tfmemlint.rulekit.rule import Rule
from tfmemlint.rulekit.traced_reads import traced_reads

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program


class MemoryReadWhileTracing(Rule):
    """A report of memory is asked for while TensorFlow traces a function, not when that runs.

    What it does
    ------------
    Finds ``get_memory_info``, ``get_memory_usage`` and ``reset_memory_stats`` in a ``tf.function``, and in the
    ``train_step`` of a Keras model, also in what these call. ``tf.py_function`` runs Python code in each step, and is
    not reported, nor is anything in a program that runs its functions eagerly.

    Why it matters
    --------------
    The Python code of a ``tf.function`` runs only while TensorFlow traces it: once for each kind of arguments, before
    any operation of that trace has run. The report says nothing about the steps, and later ones add none. Seen on
    TensorFlow 2.21: in 4 calls, the report was read once; through ``tf.py_function`` 4 times. Where XLA compiles the
    function (``jit_compile=True``, and ``train_step`` under Keras 3), ``tf.py_function`` raises InvalidArgumentError.

    Example
    -------
    ```python
    import tensorflow as tf


    @tf.function
    def step(x):
        y = tf.matmul(x, x)
        print(tf.config.experimental.get_memory_info("GPU:0")["peak"])
        return y


    if tf.config.list_physical_devices("GPU"):
        for _ in range(3):
            step(tf.ones((64, 64)))
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf


    @tf.function
    def step(x):
        return tf.matmul(x, x)


    if tf.config.list_physical_devices("GPU"):
        for _ in range(3):
            step(tf.ones((64, 64)))
            print(tf.config.experimental.get_memory_info("GPU:0")["peak"])
    ```

    Ground
    ------
    Without a GPU there is no memory to report.
    """

    code = "TFM610"
    name = "memory-read-while-tracing"
    severity = Severity.WARNING
    triggers = ("memory_(?:info|usage|stats)",)
    whole_program = True
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each report in a function that is traced."""
        for traced in traced_reads(program):
            name = short(traced.read.name)
            behind = f"Call it behind the call of {traced.function}()"
            yield self.finding(
                program,
                traced.place,
                f"{name} is called while {traced.function}() is traced, not in each step",
                intent=Intent(Purpose.REPORT, "", "current"),
                outcome="It is called once for each trace, before any operation of it has run; nothing is raised",
                advice=behind if traced.compiled else f"{behind}, or by tf.py_function",
                trace=(
                    *traced.read.frames,
                    Step(traced.read.path, traced.read.span, f"calls {name}"),
                ),
                details={"compiled": traced.compiled},
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Call it by ``tf.py_function``, which runs Python code in each step."""
        from tfmemlint.fixes.rewrites import memory_reports

        memory_reports.call_in_each_step(editor, finding)
