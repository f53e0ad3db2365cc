"""TFM313: the first GPU is used where there may be no GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import DeviceAt
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.explain import guarded
from tfmemlint.rulekit.rule import Rule
from tfmemlint.rulekit.start_trace import written

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program


_NUMBER = re.compile(r"0|[A-Z_][A-Z_0-9]*")
"""Matches a number, or a constant of the program."""


class UnguardedFirstGpu(Rule):
    """The first GPU is used where there may be no GPU.

    What it does
    ------------
    Finds ``gpus[0]`` on a list of all GPUs that no code guards: no condition about GPUs, no ``assert``, no handler of
    ``IndexError``, no early exit.

    Why it matters
    --------------
    On a machine without a GPU the list is empty, and the program ends before it can run on the CPU. A program that only
    makes sense on GPUs may well do so, so this is advice.

    Example
    -------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    tf.config.set_visible_devices(gpus[0], "GPU")
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[0], "GPU")
    ```

    Seen as
    -------
    ``IndexError: list index out of range``
    """

    code = "TFM313"
    name = "unguarded-first-gpu"
    severity = Severity.ADVICE
    triggers = ("(?:logical|physical|visible|local)_device",)

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each unguarded use of the first GPU."""
        for taken in program.of(DeviceAt):
            state = taken.state
            if taken.path != program.source.path or not _NUMBER.fullmatch(program.source.segment(taken.key)):
                # The caller that gives the number chooses the GPU.
                continue
            if taken.index != 0 or state.min_gpus > 0 or state.max_gpus == 0 or guarded(taken, taken.text):
                continue
            yield self.finding(
                program,
                taken,
                f"{written(taken.text)}[0] is used, but there may be no GPU",
                intent=Intent(Purpose.DEVICES),
                outcome="Without a GPU Python raises IndexError: list index out of range",
                advice="Check first that the list is not empty",
            )
