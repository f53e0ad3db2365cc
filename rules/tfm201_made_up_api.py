"""TFM201: a TensorFlow name that no release has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.knowledge.keras_names import is_made_up
from tfmemlint.knowledge.purposes import purpose_of
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.explain import attribute_error, attribute_severity, handler_notes
from tfmemlint.rulekit.missing_names import NEVER, NEVER_RUNS, never_there, of_made_up
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Call, Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction

_PLACES = re.compile(
    r"tf\.(compat\.v[12]\.)?(config|gpu|gpus|memory|cuda|device|devices|distribute|test|GPU\w*|Config\w*)(\.|$)"
)
_WORDS = re.compile(r"memory|gpu|vram", re.IGNORECASE)

_NO_WAY = "Keras leaves the memory of GPUs to its backend"
_KERAS_WAYS = {
    Purpose.GROWTH: "Call tf.config.experimental.set_memory_growth for every GPU, before Keras uses one",
    Purpose.LIMIT: "Call tf.config.set_logical_device_configuration with a limit in MiB, before Keras uses the GPU",
    Purpose.FRACTION: "Call tf.config.set_logical_device_configuration with a limit in MiB, before Keras uses the GPU",
    Purpose.REPORT: "Call tf.config.experimental.get_memory_info('GPU:0')",
    Purpose.VISIBLE: "Call tf.config.set_visible_devices, before Keras uses a GPU",
}


class MadeUpApi(Rule):
    """A TensorFlow name that no release has.

    What it does
    ------------
    Finds names under ``tf.config``, ``tf.test``, ``tf.distribute`` and similar modules, and names about memory or GPUs
    anywhere, that have never existed in any TensorFlow release since 1.13; and functions of the package ``keras`` about
    memory, devices or sessions that no release of Keras has (``keras.config.set_gpu_memory_growth``). A use behind
    ``hasattr`` or with a working fallback is fine.

    Why it matters
    --------------
    Such names come from articles and language models. The line raises ``AttributeError`` when it runs, which is often
    only on the machine with the GPU.

    Example
    -------
    ```python
    import tensorflow as tf

    if tf.config.has_gpu():
        print("GPU")
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    if tf.config.list_physical_devices("GPU"):
        print("GPU")
    ```

    Seen as
    -------
    ``AttributeError: module 'tensorflow._api.v2.config' has no attribute 'has_gpu'``
    """

    code = "TFM201"
    name = "made-up-api"
    severity = Severity.ERROR
    text_defects = (TextDefect.MADE_UP_CALL,)
    triggers = (
        r"\btf\.config\b",
        r"\.config\.experimental",
        r"\b(?:tf|tensorflow|K|backend|experimental|extended)\.[\w.]*(?:[Mm]emory|gpu|GPU|vram)",
        r"\bkeras[\w. ,()]*(?:[Mm]emory|[Gg]rowth|gpu|GPU|vram|cuda|session|device)",
    )
    any_tensorflow_file = True
    fixable = "sometimes"
    supersedes = ("TFM208", "TFM209")

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each use of a name that no release has."""
        for use, missing in never_there(program):
            if _PLACES.match(use.name) or _WORDS.search(use.name):
                yield self.finding(program, use, f"{missing} {NEVER}", **of_made_up(use, missing, program.target))
        for call in program.calls():
            if is_made_up(call.name) and call.path == program.source.path and not _is_asked_for(call):
                yield self._of_keras(program, call)

    def _of_keras(self, program: Program, call: Call) -> Finding:
        """Return the finding for a function of the package ``keras`` that no release has."""
        last = call.name.rpartition(".")[2]
        made_up = purpose_of(f"tf.keras.backend.{last}")
        purpose = made_up.purpose if made_up is not None else Purpose.OTHER
        of_tensorflow = "KERAS_BACKEND" not in program.source.text
        return self.finding(
            program,
            call,
            f"{call.name} exists in no release of Keras",
            span=call.func,
            severity=attribute_severity(call, "AttributeError"),
            intent=Intent(purpose, "every GPU" if purpose is Purpose.GROWTH else "", text=call.text),
            outcome=attribute_error(call.name),
            advice=_KERAS_WAYS.get(purpose, _NO_WAY) if of_tensorflow else _NO_WAY,
            notes=handler_notes(call, "AttributeError", NEVER_RUNS),
            fixable=False,
        )

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_name

        return of_name(finding, text, target)

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Remove the import of a missing name if nothing uses it."""
        from tfmemlint.fixes.rewrites import call_arguments

        call_arguments.drop_import(editor, finding)


def _is_asked_for(call: Call) -> bool:
    """True if a condition asks first whether there is such a function."""
    return any("hasattr" in text for text, _ in call.guards)
