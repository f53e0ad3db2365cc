"""TFM703: A memory limit is meant to change during training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.knowledge import purposes
from tfmemlint.knowledge.functions import SET_GROWTH, SET_LOGICAL
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.explain import short, while_training
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program


class LimitChangedWhileTraining(Rule):
    """A memory limit is meant to change during training.

    What it does
    ------------
    Finds memory settings in callbacks and in functions that depend on the epoch or the step, for example allocators
    that are meant to move memory between layers or networks during training.

    Why it matters
    --------------
    The runtime reads its configuration once, when it starts. No limit can change afterwards, and no layer has its own
    share. Two networks can have fixed shares: configure two logical devices on one GPU and place one network on each.

    Example
    -------
    ```python
    import tensorflow as tf


    class Reallocate(tf.keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            gpu = tf.config.list_physical_devices("GPU")[0]
            limit = tf.config.LogicalDeviceConfiguration(memory_limit=1024 * (epoch + 1))
            tf.config.set_logical_device_configuration(gpu, [limit])
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        limits = [tf.config.LogicalDeviceConfiguration(memory_limit=mib) for mib in (4096, 6144)]
        tf.config.set_logical_device_configuration(gpu, limits)
    # with tf.device("/GPU:0"): the one network; with tf.device("/GPU:1"): the other one
    ```
    """

    code = "TFM703"
    name = "limit-changed-while-training"
    severity = Severity.ADVICE
    triggers = ("memory_growth", "(?:logical|virtual)_device", "memory_(?:limit|fraction)", "gpu_memory")

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each memory setting that depends on an epoch or a step."""
        for call in program.calls():
            made_up = purposes.purpose_of(call.name)
            grows = call.name == SET_GROWTH or (made_up is not None and made_up.purpose is Purpose.GROWTH)
            limits = made_up is not None and made_up.purpose in (Purpose.LIMIT, Purpose.FRACTION)
            if (grows or limits or call.name in SET_LOGICAL) and while_training(call, grows=grows):
                yield self.finding(
                    program,
                    call,
                    f"{short(call.name)} in {call.function or 'a loop'} is meant to change the memory during training",
                    intent=Intent(Purpose.OTHER, text="memory settings that change over time"),
                    outcome="The runtime reads its configuration once: nothing can change after the first operation",
                    advice="Use two logical devices with fixed limits, and place one network on each",
                )
