"""TFM201: a TensorFlow name that no release has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.missing_names import NEVER, never_there, of_made_up
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction

_PLACES = re.compile(
    r"tf\.(compat\.v[12]\.)?(config|gpu|gpus|memory|cuda|device|devices|distribute|test|GPU\w*|Config\w*)(\.|$)"
)
_WORDS = re.compile(r"memory|gpu|vram", re.IGNORECASE)


class MadeUpApi(Rule):
    """A TensorFlow name that no release has.

    What it does
    ------------
    Finds names under ``tf.config``, ``tf.test``, ``tf.distribute`` and similar modules, and names about memory or GPUs
    anywhere, that have never existed in any TensorFlow release since 1.13. A use behind ``hasattr`` or with a working
    fallback is fine.

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
    )
    any_tensorflow_file = True
    fixable = "sometimes"
    supersedes = ("TFM208", "TFM209")

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each use of a name that no release has."""
        for use, missing in never_there(program):
            if _PLACES.match(use.name) or _WORDS.search(use.name):
                yield self.finding(program, use, f"{missing} {NEVER}", **of_made_up(use, missing, program.target))

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_name

        return of_name(finding, text, target)

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Remove the import of a missing name if nothing uses it."""
        from tfmemlint.fixes.rewrites import call_arguments

        call_arguments.drop_import(editor, finding)
