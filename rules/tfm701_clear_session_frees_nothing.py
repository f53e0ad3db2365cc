"""TFM701: clear_session gives no GPU memory back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program

NAMES = (
    "tf.keras.backend.clear_session",
    "tf.keras.utils.clear_session",
    "tf.compat.v1.keras.backend.clear_session",
    "keras.backend.clear_session",
    "keras.utils.clear_session",
)


class ClearSessionFreesNothing(Rule):
    """clear_session gives no GPU memory back.

    What it does
    ------------
    Finds calls of Keras's ``clear_session``.

    Why it matters
    --------------
    The function resets Keras's global state, which helps a loop that builds many models. TensorFlow's allocator keeps
    the memory that it has taken from the driver until the process ends: ``nvidia-smi`` shows the same number before and
    after. To give the memory back, run the work in a child process.

    Example
    -------
    ```python
    import tensorflow as tf

    tf.keras.backend.clear_session()  # free the GPU memory
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    ```

    Ground
    ------
    What the driver gets back is decided by the allocator in TensorFlow's C++ part.
    """

    code = "TFM701"
    name = "clear-session-frees-nothing"
    severity = Severity.ADVICE
    triggers = ("clear_session",)

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield every call, since code does not state the intent of the call."""
        for call in program.calls(*NAMES):
            yield self.finding(
                program,
                call,
                "clear_session resets Keras's state; it gives no GPU memory back",
                intent=Intent(Purpose.RELEASE),
                outcome="TensorFlow keeps all the memory that its allocator has taken until the process ends",
                advice="Run the work in a child process, if its memory has to be free afterwards",
            )
