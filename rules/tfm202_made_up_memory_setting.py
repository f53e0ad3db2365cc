"""TFM202: a call about GPU memory that TensorFlow never had."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.explain import (
    attribute_error,
    attribute_severity,
    configured_after,
    fixed_index,
    guarded,
    handler_notes,
    read_made_up,
    short,
    while_training,
)
from tfmemlint.finding import Finding, Severity
from tfmemlint.flow.program import Call
from tfmemlint.intent import Intent, Wish
from tfmemlint.knowledge import names, wishes
from tfmemlint.knowledge.misplaced import REAL_PLACES
from tfmemlint.madeup import Meaning
from tfmemlint.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.flow.program import Program

_GROWTH = "tf.config.experimental.set_memory_growth(gpu, True) for every GPU"
_LIMIT = "tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=<MiB>)])"
_ADVICE = {
    Wish.GROWTH: f"Use {_GROWTH}",
    Wish.LIMIT: f"Use {_LIMIT}",
    Wish.FRACTION: f"Use {_LIMIT}, with that share of the GPU's MiB",
    Wish.REPORT: "Use tf.config.experimental.get_memory_info('GPU:0'), which tells 'current' and 'peak' in bytes",
    Wish.RELEASE: "No call gives GPU memory back; the end of a process does: run the work in a child process",
    Wish.DEVICES: "Use tf.config.list_physical_devices('GPU')",
}


class MadeUpMemorySetting(Rule):
    """A call about GPU memory that TensorFlow never had.

    What it does
    ------------
    Finds calls of well-known inventions, and of other made-up names whose words leave no doubt: a memory limit, a share
    of the memory, memory growth, a report, a release of memory, a list of the GPUs. The fix writes the same wish with
    the functions that exist. A share becomes MiB: by ``--gpu-memory``, or by a few lines that ask NVML.

    Why it matters
    --------------
    The call raises ``AttributeError``, which the usual ``except RuntimeError`` does not catch; in a loop over the
    GPUs it does so only on the machine that has one.

    Example
    -------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_limit(gpu, 4096)
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=4096)])
    ```

    Seen as
    -------
    ``AttributeError: module 'tensorflow._api.v2.config.experimental' has no attribute 'set_memory_limit'``
    """

    code = "TFM202"
    name = "made-up-memory-setting"
    severity = Severity.ERROR
    fixable = "sometimes"
    over = ("TFM201", "TFM206")

    def check(self, program: Program) -> Iterator[Finding]:
        """Calls of names that have a wish, and no existence."""
        for position, event in enumerate(program.events):
            if not isinstance(event, Call) or event.probed:
                continue
            made_up = wishes.wish_of(event.name)
            if made_up is not None:
                yield self._made_up(program, event, read_made_up(event, made_up), position)

    def _made_up(self, program: Program, call: Call, read: Meaning, position: int) -> Finding:
        real = REAL_PLACES.get(call.name)
        advice = f"Use {real}" if real else _ADVICE.get(read.intent.wish, "Leave it out: there is nothing to set")
        intent = read.intent
        if intent.wish is Wish.OTHER:
            intent = Intent(Wish.OTHER, text=_OTHER.get(short(call.name), call.text))
        name = call.name.replace("()", "")
        return self.finding(
            program,
            call,
            f"{name} exists in no TensorFlow release"
            + (f"; only {names.PREVIEW[name]} had it" if name in names.PREVIEW else ""),
            severity=attribute_severity(call),
            intent=intent,
            outcome=attribute_error(name),
            advice=advice,
            notes=handler_notes(call, "AttributeError", "nothing is configured"),
            fixable=intent.wish is not Wish.RELEASE,
            details={
                "name": call.name,
                "real": real,
                "wish": read.intent.wish.value,
                "value": read.intent.value,
                "unit": read.unit,
                "device": read.device.span if read.device else None,
                "amount": read.amount.span if read.amount else None,
                "caught": call.handler_for("AttributeError") is not None,
                "guarded": guarded(call, read.device.text if read.device else ""),
                "index": fixed_index(read.device.value) if read.device else None,
                "training": while_training(call),
                "used": call.result_used,
                "configured_later": configured_after(program, position),
            },
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Write the wish with the functions that exist."""
        from tfmemlint.fixes import made_up

        call = editor.call_at(finding.span, short(str(finding.details["name"])))
        made_up.replace_made_up(editor, call, finding)


_OTHER = {
    "get_experimental_optimizer": "an optimizer that takes less memory",
    "MemoryOptimizerOptions": "options for the memory of an optimizer",
}
_CONFIGURING = frozenset(
    {
        "tf.config.experimental.set_memory_growth",
        "tf.config.set_logical_device_configuration",
        "tf.config.experimental.set_virtual_device_configuration",
        "tf.config.set_visible_devices",
        "tf.config.experimental.set_visible_devices",
    }
)
