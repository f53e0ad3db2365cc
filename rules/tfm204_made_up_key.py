"""TFM204: a key that the dictionary never has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import ItemLookup
from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge.purposes import KEYS, REAL_KEYS
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.explain import (
    attribute_severity,
    configured_after,
    device_words,
    fixed_index,
    handler_notes,
    short,
)
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction


class MadeUpKey(Rule):
    """A key that the dictionary never has.

    What it does
    ------------
    Finds keys other than ``device_name`` and ``compute_capability`` in the result of ``get_device_details``, and keys
    other than ``current`` and ``peak`` in the result of ``get_memory_info``.

    Why it matters
    --------------
    TensorFlow knows neither the total nor the free memory of a device. ``details['memory_total']`` raises ``KeyError``,
    and ``details.get('memory_total')`` is always ``None``.

    Example
    -------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        print(tf.config.experimental.get_device_details(gpus[0])["memory_used"])
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        print(tf.config.experimental.get_memory_info("GPU:0")["current"])
    ```

    Seen as
    -------
    ``KeyError: 'memory_used'``
    """

    code = "TFM204"
    name = "made-up-key"
    severity = Severity.ERROR
    text_defects = (TextDefect.KEY,)
    triggers = ("get_device_details", "memory_info", "memory_(?:total|used)")
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each constant key that the results of the two functions lack."""
        for position, item in enumerate(program.events):
            if not isinstance(item, ItemLookup) or item.of not in REAL_KEYS:
                continue
            if not (isinstance(item.key, Const) and isinstance(item.key.value, str)):
                continue
            key = item.key.value
            if key in REAL_KEYS[item.of] or _looked_for(item, key):
                continue
            report = KEYS.get(key)
            device = item.call.arg(0, "device") if item.call is not None else None
            words = device_words(device.value, device.text) if device is not None else ""
            known = " and ".join(map(repr, REAL_KEYS[item.of]))
            yield self.finding(
                program,
                item,
                f"{short(item.of)} returns no {key!r}: its only keys are {known}",
                severity=attribute_severity(item, "KeyError"),
                intent=Intent(Purpose.REPORT, words, report) if report else None,
                outcome=f"{'The value is always None' if item.get else f'Python raises KeyError: {key!r}'}",
                advice=_ADVICE.get(report or "", ""),
                notes=handler_notes(item, "KeyError", "the value is never there"),
                fixable=report in ("current", "peak", "total"),
                details={
                    "key": key,
                    "of": item.of,
                    "report": report,
                    "device": device.text if device is not None else "",
                    "index": fixed_index(device.value) if device is not None else None,
                    "call_span": item.call.span if item.call is not None else None,
                    "configured_later": configured_after(program, position),
                },
            )

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_key

        return of_key(finding, target)

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Ask TensorFlow for the memory in use and NVML for the total."""
        from tfmemlint.fixes.rewrites import memory_reports

        memory_reports.replace_key(editor, finding)


def _looked_for(item: ItemLookup, key: str) -> bool:
    """Return True if the code tests first for the key, handles its absence, or asks for one that is not about memory
    only where another key gives nothing."""
    if item.get and key not in KEYS and any(not outcome and ".get(" in text for text, outcome in item.guards):
        return True
    if any(outcome and text.startswith(f"{key!r} in ") for text, outcome in item.guards):
        return True
    handler = item.handler_for("KeyError")
    return handler is not None and not handler.idle and not handler.reraises


_ADVICE = {
    "current": "Use tf.config.experimental.get_memory_info('GPU:0')['current'] (it starts the runtime)",
    "peak": "Use tf.config.experimental.get_memory_info('GPU:0')['peak'] (it starts the runtime)",
    "total": "Ask NVML: pynvml.nvmlDeviceGetMemoryInfo(handle).total",
    "free": "Ask NVML: pynvml.nvmlDeviceGetMemoryInfo(handle).free",
}
