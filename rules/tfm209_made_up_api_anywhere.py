"""TFM209: a TensorFlow name that no release has, whatever it is about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.missing_names import FROM_THE_FIRST_KNOWN, fallbacks, never_there, of_made_up
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction


class MadeUpApiAnywhere(Rule):
    """A TensorFlow name that no release has, whatever it is about.

    What it does
    ------------
    Finds names anywhere under ``tf`` that have never existed in any TensorFlow release since 1.13. TFM201 reports names
    about devices, memory and configuration; this rule reports all others, and is off unless it is selected. Private
    names, the contents of ``tf.contrib`` and ``tensorflow.python``, and attributes of classes are not checked. Only the
    first use of a name in a file is reported.

    Why it matters
    --------------
    Such a name is a typo, is older than 1.13, or comes from an article or a language model. The line raises
    ``AttributeError`` when it runs.

    Example
    -------
    ```python
    import tensorflow as tf

    print(tf.math.average([1.0, 2.0]))
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    print(tf.math.reduce_mean([1.0, 2.0]))
    ```

    Seen as
    -------
    ``AttributeError: module 'tensorflow._api.v2.math' has no attribute 'average'``
    """

    code = "TFM209"
    name = "made-up-api-anywhere"
    severity = Severity.ADVICE
    triggers = ()
    fixable = "sometimes"
    any_tensorflow_file = True

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield the first use of each name that no release has."""
        rows: dict[str, list[int]] = {}
        older = fallbacks(program)
        uses = [
            (use, missing)
            for use, missing in never_there(program)
            if not any(handler.contains(use.span) for handler in older)
        ]
        for use, missing in uses:
            rows.setdefault(missing, []).append(use.span.row)
        reported: set[str] = set()
        for use, missing in uses:
            if missing in reported:
                continue
            reported.add(missing)
            others = sorted(set(rows[missing]) - {use.span.row})
            where = f" (also in line{'s' * (len(others) > 1)} {', '.join(map(str, others[:8]))})" if others else ""
            yield self.finding(
                program,
                use,
                f"{missing} {FROM_THE_FIRST_KNOWN}{where}",
                **of_made_up(use, missing, program.target),
            )

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_name

        return of_name(finding, text, target)

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Remove the import of a missing name if nothing uses it."""
        from tfmemlint.fixes.rewrites import call_arguments

        call_arguments.drop_import(editor, finding)
