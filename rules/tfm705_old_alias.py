"""TFM705: an experimental name that has a stable twin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.names import called_name
from tfmemlint.interpreter.program import Use
from tfmemlint.knowledge import names
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.explain import short
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction


class OldAlias(Rule):
    """An experimental name that has a stable twin.

    What it does
    ------------
    Finds names of ``tf.config.experimental`` that ``tf.config`` has too: the listing of devices, the visible devices,
    and the logical devices under their older name of virtual devices.

    Why it matters
    --------------
    Both names have been the same objects since 2.1, and both work. The older names are marked as deprecated, and two
    names for one thing make code harder to search.

    Example
    -------
    ```python
    import tensorflow as tf

    gpus = tf.config.experimental.list_physical_devices("GPU")
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    ```
    """

    code = "TFM705"
    name = "old-alias"
    severity = Severity.ADVICE
    triggers = ("(?:logical|virtual|visible|physical)_device", "(?:Logical|Virtual)Device")
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each use of the older name if the targeted release has both."""
        for use in program.of(Use):
            twin = names.stable_twin(called_name(use.name), program.target)
            if twin is None or use.probed:
                continue
            yield self.finding(
                program,
                use,
                f"{use.name} is now {twin}",
                outcome="It works: both names mean the same object",
                advice=f"Use {twin}",
                fixable=use.origin in ("attribute", "import"),
                details={"name": use.name, "twin": twin, "imported": use.origin == "import"},
            )

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_name

        return of_name(finding, text, target)

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Write the stable name."""
        if finding.details["imported"]:
            from tfmemlint.fixes.rewrites.moved_names import import_from

            import_from(editor, finding.span, lambda name: _stable_place(name, editor.target))
            editor.safe(f"Use {finding.details['twin']}")
            return
        node = editor.expression_at(finding.span)
        if short(editor.code(node)) != short(str(finding.details["name"])):
            raise editor.Withheld("the rewriter finds another name there")
        editor.replace(node, editor.tf(str(finding.details["twin"])))
        editor.safe(f"Use {finding.details['twin']}")


def _stable_place(name: str, target: Target) -> str | None:
    """Return the module that has the stable name, or None for a name without one."""
    twin = names.stable_twin(called_name(name.replace("tensorflow", "tf", 1)), target)
    return twin.replace("tf", "tensorflow", 1) if twin is not None else None
