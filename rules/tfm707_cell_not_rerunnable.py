"""TFM707: a cell configures the devices in a way that fails when it is run again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.knowledge.functions import SET_GROWTH, SET_LOGICAL, SET_VISIBLE
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.placed_text import placed
from tfmemlint.rulekit.cells import Again, cells_of, fails_again
from tfmemlint.rulekit.explain import growth_intent, limit_intent, line, short, visible_intent
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program

_SETTING = (SET_GROWTH, *SET_LOGICAL, *SET_VISIBLE)


class CellNotRerunnable(Rule):
    """A cell configures the devices in a way that fails when it is run again.

    What it does
    ------------
    Runs each cell of a notebook, or of a script with ``# %%`` lines, a second time in the analysis, after the whole
    program and the start of the runtime, and reports what fails only then: a setting that another cell has replaced, a
    setting that the cell itself replaces further down, memory growth on a GPU that has since been given a limit.

    Why it matters
    --------------
    Users run cells again, and in any order. TensorFlow always accepts a setting that is already in force. It refuses
    every other change once the runtime has started, and only a new kernel helps.

    Example
    -------
    ```python
    # %%
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices([], "GPU")
        print(tf.config.get_visible_devices("GPU"))
        tf.config.set_visible_devices(gpus[0], "GPU")

    # %%
    print(tf.ones([2]))
    ```

    Use instead
    -----------
    ```python
    # %%
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[0], "GPU")

    # %%
    print(tf.ones([2]))
    ```
    """

    code = "TFM707"
    name = "cell-not-rerunnable"
    severity = Severity.ADVICE
    triggers = ("memory_growth", "(?:logical|virtual)_device", "visible_device")

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each setting that fails in the second run of a cell."""
        configured = [call.span.row for call in program.calls(*_SETTING)]
        if not configured:
            return
        for cell in cells_of(program.source):
            for again in fails_again(program, cell):
                if again.call.name in _SETTING:
                    yield self._finding(program, again)

    def _finding(self, program: Program, again: Again) -> Finding:
        call, outcome = again.call, again.call.effect
        assert outcome is not None
        before = outcome.setting
        other = f"; {line(before)} has set another" if before is not None else ""
        return Finding(
            code=self.code,
            name=self.name,
            severity=self.severity,
            path=program.source.path,
            span=again.span,
            message=placed(
                f"This cell fails when it is run again: {short(call.name)} asks for a value that is not in "
                f"force{other}",
                program.source.path,
            ),
            intent=_intent(again),
            outcome=f"In the second run TensorFlow raises {outcome.exception}: {outcome.message}",
            advice="Set each device once, in one cell: the same value again is accepted at any time",
            noqa_row=again.span.end_row,
        )


def _intent(again: Again) -> Intent:
    call = again.call
    if call.name == SET_GROWTH:
        return growth_intent(call)
    if call.name in SET_LOGICAL:
        return limit_intent(call)
    return visible_intent(call) if call.name in SET_VISIBLE else Intent(Purpose.OTHER)
