"""TFM506: the memory statistics of tf.contrib, under TensorFlow 2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Use
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.explain import attribute_error, attribute_severity, handler_notes, short
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction

_REPORTS = {"BytesInUse": "current", "MaxBytesInUse": "peak", "BytesLimit": "total"}
_PLACE = "tf.contrib.memory_stats."


class ContribMemoryStats(Rule):
    """The memory statistics of tf.contrib, under TensorFlow 2.

    What it does
    ------------
    Finds ``tf.contrib.memory_stats.BytesInUse``, ``MaxBytesInUse`` and ``BytesLimit``, which TensorFlow 2.0 removed
    together with ``tf.contrib``.

    Why it matters
    --------------
    The line raises ``AttributeError``. In TensorFlow 2, ``get_memory_info`` returns the memory in use and its peak
    without a session. It does not know the total.

    Example
    -------
    ```python
    import tensorflow as tf

    used = tf.contrib.memory_stats.BytesInUse()
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    if tf.config.list_physical_devices("GPU"):
        used = tf.config.experimental.get_memory_info("GPU:0")["current"]
    ```

    Seen as
    -------
    ``AttributeError: module 'tensorflow' has no attribute 'contrib'``
    """

    code = "TFM506"
    name = "contrib-memory-stats"
    of_another_release = True
    severity = Severity.ERROR
    text_defects = (TextDefect.CONTRIB_MEMORY,)
    triggers = ("memory_stats",)
    fixable = "sometimes"
    supersedes = ("TFM206", "TFM201", "TFM202")

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each use of the three names."""
        if program.target.major < 2:
            return
        for use in program.of(Use):
            report = _REPORTS.get(short(use.name)) if use.name.startswith(_PLACE) else None
            if report is None or use.probed:
                continue
            error = "ImportError" if use.origin == "import" else "AttributeError"
            yield self.finding(
                program,
                use,
                f"{use.name} was removed from TensorFlow together with tf.contrib in 2.0",
                severity=attribute_severity(use, error),
                intent=Intent(Purpose.REPORT, "GPU 0", report),
                outcome=attribute_error("tf.contrib", error, imported=use.name),
                advice="Ask NVML for the total" if report == "total" else f"Use get_memory_info('GPU:0')['{report}']",
                notes=handler_notes(use, error, "nothing is reported"),
                fixable=use.called or use.origin == "import",
                details={
                    "report": report,
                    "name": use.name,
                    "imported": use.origin == "import",
                    "graph_mode": use.state.graph_mode,
                },
            )

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_memory_report

        return of_memory_report(finding, text, target)

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Ask the eager runtime, without a session."""
        from tfmemlint.fixes.rewrites import memory_stats

        memory_stats.replace_stats(editor, finding)
