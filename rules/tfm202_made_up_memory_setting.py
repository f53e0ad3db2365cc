"""TFM202: a call about GPU memory that TensorFlow never had."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Call
from tfmemlint.knowledge import names, purposes
from tfmemlint.knowledge.misplaced import REAL_PLACES
from tfmemlint.knowledge.purposes import MadeUp
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.explain import (
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
from tfmemlint.rulekit.made_up import ADVICE, number_of_device
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction

_IN_VAIN = {
    Purpose.REPORT: "nothing is reported",
    Purpose.RELEASE: "nothing is given back",
    Purpose.DEVICES: "nothing is listed",
    Purpose.OTHER: "nothing happens",
}
"""The consequence if a handler catches the error, for each purpose. For any other purpose, the setting never takes
effect."""
_PURPOSES = {
    Purpose.GROWTH: "memory growth",
    Purpose.LIMIT: "a memory limit",
    Purpose.FRACTION: "a share of the memory",
    Purpose.REPORT: "a report of the memory",
    Purpose.RELEASE: "memory given back",
    Purpose.DEVICES: "a list of the GPUs",
}


class MadeUpMemorySetting(Rule):
    """A call about GPU memory that TensorFlow never had.

    What it does
    ------------
    Finds calls of well-known inventions, and of other made-up names whose words leave no doubt: a memory limit, a
    fraction of the memory, memory growth, a memory report, a release of memory, a list of the GPUs. The fix expresses
    the same intent with functions that exist. It turns a fraction into MiB with the size from ``--gpu-memory``, or with
    a few lines that ask NVML.

    Why it matters
    --------------
    The call raises ``AttributeError``, which the usual ``except RuntimeError`` does not catch. In a loop over the GPUs
    it raises only on a machine that has one.

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
    text_defects = (TextDefect.MADE_UP_SETTING,)
    triggers = (
        r"\btf\.config\b",
        r"\.config\.experimental",
        "gpu_memory",
        "memory_(?:fraction|growth|limit|optimi[sz]er)",
        r"\b(?:tf|tensorflow|K|backend|experimental|extended)\.[\w.]*(?:[Mm]emory|gpu|GPU|vram|growth)",
    )
    any_tensorflow_file = True
    fixable = "sometimes"
    supersedes = ("TFM201", "TFM206", "TFM208", "TFM209")

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each call of a nonexistent name with a recognizable intent."""
        for position, event in enumerate(program.events):
            if not isinstance(event, Call) or event.probed:
                continue
            made_up = purposes.purpose_of(event.name)
            if made_up is not None:
                yield self._made_up(program, event, made_up, position)

    def _made_up(self, program: Program, call: Call, made_up: MadeUp, position: int) -> Finding:
        read = read_made_up(call, made_up)
        number = number_of_device(read.device.value) if read.device is not None else None
        real = REAL_PLACES.get(call.name)
        advice = f"Use {real}" if real else ADVICE.get(read.intent.purpose, "Leave it out: there is nothing to set")
        intent = read.intent
        guess = not made_up.listed
        if guess:
            advice = f"Its name suggests {_PURPOSES.get(intent.purpose, 'something else')}. {advice}"
        if intent.purpose is Purpose.OTHER:
            intent = Intent(Purpose.OTHER, text=_OTHER.get(short(call.name), call.text))
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
            notes=handler_notes(call, "AttributeError", _IN_VAIN.get(intent.purpose, "the setting never takes effect")),
            fixable=intent.purpose is not Purpose.RELEASE,
            details={
                "name": call.name,
                "real": real,
                "purpose": read.intent.purpose.value,
                "value": read.intent.value,
                "unit": read.unit,
                "device": read.device.span if read.device else None,
                "amount": read.amount.span if read.amount else None,
                "caught": call.handler_for("AttributeError") is not None,
                "guarded": guarded(call, read.device.text if read.device else ""),
                "number": number,
                "index": number if number is not None else (fixed_index(read.device.value) if read.device else None),
                "opposite": made_up.purpose is Purpose.GROWTH and made_up.value == "not",
                "guess": guess,
                "training": while_training(call, grows=read.intent.purpose is Purpose.GROWTH),
                "used": call.result_used,
                "configured_later": configured_after(program, position),
            },
        )

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_name

        return of_name(finding, text, target)

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Express the intent with functions that exist."""
        from tfmemlint.fixes.rewrites import made_up

        call = editor.call_to_rewrite(finding.span, short(str(finding.details["name"])))
        made_up.replace_made_up(editor, call, finding)


_OTHER = {
    "get_experimental_optimizer": "an optimizer that takes less memory",
    "MemoryOptimizerOptions": "options for the memory of an optimizer",
}
