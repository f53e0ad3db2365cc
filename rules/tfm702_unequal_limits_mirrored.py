"""TFM702: GPUs of one mirrored strategy get unequal memory limits."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.values import Const, Limit, Seq
from tfmemlint.knowledge import purposes
from tfmemlint.knowledge.functions import SET_LOGICAL
from tfmemlint.model.finding import Finding, Severity, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.explain import in_line, short
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Call, Program

_MIRRORED = (
    "tf.distribute.MirroredStrategy",
    "tf.distribute.MultiWorkerMirroredStrategy",
    "tf.distribute.experimental.MultiWorkerMirroredStrategy",
)


class UnequalLimitsMirrored(Rule):
    """GPUs of one mirrored strategy get unequal memory limits.

    What it does
    ------------
    Finds programs that set different memory limits on their GPUs and mirror one model over them.

    Why it matters
    --------------
    Every replica holds a whole copy of the model and an equal part of the batch. The GPU with the smallest limit
    determines the size for all: the additional memory of the other GPUs is never used.

    Example
    -------
    ```python
    import tensorflow as tf

    for i, gpu in enumerate(tf.config.list_physical_devices("GPU")):
        limit = tf.config.LogicalDeviceConfiguration(memory_limit=2048 if i % 2 == 0 else 4096)
        tf.config.set_logical_device_configuration(gpu, [limit])
    strategy = tf.distribute.MirroredStrategy()
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=2048)])
    strategy = tf.distribute.MirroredStrategy()
    ```
    """

    code = "TFM702"
    name = "unequal-limits-mirrored"
    severity = Severity.ADVICE
    triggers = ("(?:Logical|Virtual)Device", "(?:logical|virtual)_device", "memory_(?:limit|fraction)", "gpu_memory")

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each limit that differs between GPUs in a program with a mirrored strategy."""
        strategy = next(program.calls(*_MIRRORED), None)
        if strategy is None:
            return
        limits: dict[object, Call] = {}
        for call in program.calls():
            if call.name in SET_LOGICAL:
                unequal = _chooses(call)
                logical = call.value(1, "logical_devices")
                first = logical.items[0] if isinstance(logical, Seq) and logical.items else None
                if isinstance(first, Limit) and isinstance(first.value, Const) and not call.repeated:
                    limits.setdefault(first.value.value, call)
            elif call.name in (
                "tf.config.LogicalDeviceConfiguration",
                "tf.config.experimental.VirtualDeviceConfiguration",
            ):
                unequal = _chooses(call)
            else:
                made_up = purposes.purpose_of(call.name)
                unequal = (
                    made_up is not None and made_up.purpose in (Purpose.LIMIT, Purpose.FRACTION) and _chooses(call)
                )
            if unequal:
                yield self._unequal(program, call, strategy)
        if len(limits) > 1:
            yield self._unequal(program, list(limits.values())[-1], strategy)

    def _unequal(self, program: Program, call: Call, strategy: Call) -> Finding:
        return self.finding(
            program,
            call,
            f"{short(strategy.name)} {in_line(strategy)} mirrors one model over GPUs with unequal limits",
            intent=Intent(Purpose.LIMIT, "each GPU"),
            outcome="Every replica needs the same memory: the GPU with the smallest limit sets the pace",
            advice="Give the GPUs of one mirrored strategy the same limit",
            trace=(
                Step(strategy.path, strategy.span, "mirrors one model over all GPUs"),
                Step(call.path, call.span, "limits the GPUs to different sizes"),
            ),
        )


def _chooses(call: Call) -> bool:
    """Return True if an argument of the call is a choice between two different numbers."""
    if call.node is None:
        return False
    for argument in [*call.node.args, *(keyword.value for keyword in call.node.keywords)]:
        match argument:
            case ast.IfExp(body=ast.Constant(value=first), orelse=ast.Constant(value=second)) if first != second:
                return isinstance(first, (int, float)) and isinstance(second, (int, float))
            case _:
                pass
    return False
