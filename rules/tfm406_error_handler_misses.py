"""TFM406: A handler around a memory setting silently swallows every error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.knowledge.functions import SET_GROWTH, SET_LOGICAL
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.placed_text import place
from tfmemlint.rulekit.explain import growth_intent, limit_intent, short
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program


class ErrorHandlerMisses(Rule):
    """A handler around a memory setting silently swallows every error.

    What it does
    ------------
    If a memory setting is wrong and a handler hides the error, or handles a different error, the finding about the
    setting says so in a note. This rule reports correct settings in a ``try`` whose handler catches everything and does
    nothing.

    Why it matters
    --------------
    If the setting fails one day, after an update or on another machine, nobody notices: the program continues with all
    of the GPU's memory.

    Example
    -------
    ```python
    import tensorflow as tf

    try:
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
    except Exception:
        pass
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    ```
    """

    code = "TFM406"
    name = "error-handler-misses"
    severity = Severity.ADVICE
    triggers = ("memory_growth", "(?:logical|virtual)_device")

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each correct setting under a handler that silently catches everything."""
        for call in program.calls(SET_GROWTH, *SET_LOGICAL):
            handler = next((handler for handler in call.handlers if handler.here), None)
            if call.effect is not None or handler is None or not handler.silent:
                continue
            if not {"*", "Exception", "BaseException"}.intersection(handler.catches):
                continue
            yield self.finding(
                program,
                call,
                f"If {short(call.name)} fails, the handler in {place(call.path, handler.span.row)} says nothing",
                span=handler.span,
                noqa_row=handler.span.row,
                intent=growth_intent(call) if call.name == SET_GROWTH else limit_intent(call),
                outcome="The program continues with all of the GPU's memory, and nothing reports it",
                advice="Let the error propagate, or catch RuntimeError and report it",
            )
