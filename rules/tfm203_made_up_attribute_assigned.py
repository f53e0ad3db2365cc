"""TFM203: A setting is assigned to an attribute that TensorFlow never reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Store
from tfmemlint.interpreter.values import Const, Function, Ref
from tfmemlint.knowledge import names, purposes
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.explain import attribute_error, attribute_severity, device_words, guarded, handler_notes
from tfmemlint.rulekit.made_up import unit_of_number
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction


class MadeUpAttributeAssigned(Rule):
    """A setting is assigned to an attribute that TensorFlow never reads.

    What it does
    ------------
    Finds assignments to attributes of TensorFlow's configuration modules (``tf.config.experimental.enable_memory_growth
    = True``) and of devices (``gpu.memory_limit = 4096``).

    Why it matters
    --------------
    Python allows the assignment, so it never fails, and it has no effect. If the name is that of a real function
    (``tf.config.experimental.set_memory_growth = True``), the function is gone for the rest of the program.

    Example
    -------
    ```python
    import tensorflow as tf

    tf.config.experimental.enable_memory_growth = True
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    ```
    """

    code = "TFM203"
    name = "made-up-attribute-assigned"
    severity = Severity.ERROR
    text_defects = (TextDefect.ASSIGNMENT,)
    triggers = ("memory_growth", "allow_growth", "gpu_memory", "memory_(?:limit|fraction)")
    fixable = "sometimes"
    supersedes = ("TFM201", "TFM202", "TFM208", "TFM209")

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each assignment to an attribute of a module or a device that is about memory."""
        for store in program.of(Store):
            name = f"{store.owner}.{store.attribute}"
            on_device = store.owner == "device"
            purpose = purposes.ASSIGNED.get(store.attribute)
            real = not on_device and names.exists(name, program.target)
            if purpose is None or not (on_device or store.owner.startswith("tf.config") or store.owner == "tf"):
                continue
            if not isinstance(store.value, Const) and (real or isinstance(store.value, (Function, Ref))):
                # A function replaces the function: a test double, or a name for an older release.
                continue
            value = store.value.value if isinstance(store.value, Const) else None
            if purpose is Purpose.LIMIT and unit_of_number(value) == "fraction":
                purpose = Purpose.FRACTION
            devices = device_words(store.device, store.owner_text) if on_device else "every GPU"
            missing = None if on_device else names.missing_part(store.owner, program.target)
            if missing is not None and store.probed:
                continue
            yield self.finding(
                program,
                store,
                f"{missing} exists in no TensorFlow release"
                if missing is not None
                else f"Assigning to {store.text} configures nothing"
                + (f": it overwrites the function {store.attribute}" if real else ""),
                severity=attribute_severity(store) if missing is not None else self.severity,
                intent=Intent(purpose, devices, value, store.value_text),
                outcome=attribute_error(missing)
                if missing is not None
                else "Python accepts the assignment, and TensorFlow never reads it",
                advice="Use tf.config.experimental.set_memory_growth(gpu, True) for every GPU"
                if purpose is Purpose.GROWTH
                else "Use tf.config.set_logical_device_configuration with the limit in MiB",
                notes=handler_notes(store, "AttributeError", "the setting never takes effect")
                if missing is not None
                else (),
                fixable=value is not None,
                details={
                    "name": f"{store.owner}.{store.attribute}",
                    "purpose": purpose.value,
                    "value": value,
                    "device": store.owner_text if on_device else "",
                    "unit": unit_of_number(value),
                    "by_name": store.by_name,
                    "guarded": guarded(store, store.owner_text if on_device else ""),
                },
            )

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_attribute

        return of_attribute(finding, text, target)

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Call the function that exists."""
        from tfmemlint.fixes.rewrites import made_up

        made_up.replace_assignment(editor, finding)
