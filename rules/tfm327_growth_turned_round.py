"""TFM327: memory growth is set to the contrary of what a setting says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Event
from tfmemlint.interpreter.state import State
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.rule import Rule
from tfmemlint.rulekit.turned_growth import turned_growth

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program


class GrowthTurnedRound(Rule):
    """Memory growth is set to the contrary of what a setting says.

    What it does
    ------------
    Finds ``set_memory_growth(gpu, not allow_growth)``, ``"false" if allow_growth else "true"`` for
    ``TF_FORCE_GPU_ALLOW_GROWTH``, and ``if not allow_growth:`` above a call that turns growth on, where the name of the
    setting asks for growth; and ``set_memory_growth(gpu, args.no_growth)``, where it refuses growth. Names that say
    what is so (``growth = get_memory_growth(gpu)``) are not reported.

    Why it matters
    --------------
    Who asks for growth gets a process that takes nearly all of the memory, and who does not ask gets growth. Nothing is
    raised.

    Example
    -------
    ```python
    import argparse

    import tensorflow as tf

    parser = argparse.ArgumentParser()
    parser.add_argument("--allow-growth", action="store_true")
    args = parser.parse_args([])
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, not args.allow_growth)
    ```

    Use instead
    -----------
    ```python
    import argparse

    import tensorflow as tf

    parser = argparse.ArgumentParser()
    parser.add_argument("--allow-growth", action="store_true")
    args = parser.parse_args([])
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, args.allow_growth)
    ```
    """

    code = "TFM327"
    name = "growth-turned-round"
    severity = Severity.WARNING
    fixable = "always"
    triggers = ("memory_growth", "allow_growth", "TF_FORCE_GPU")

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each place where growth is set to the contrary of a setting."""
        for found in turned_growth(program.tree):
            place = program.source.span(found.node)
            statement = program.source.span(found.statement)
            event = Event(path=program.source.path, span=place, statement=statement, state=State())
            yield self.finding(
                program,
                event,
                f"Memory growth is turned round: {found.setting} asks for growth, and gets the contrary"
                if found.asks
                else f"Memory growth is turned round: {found.setting} refuses growth, and gets it",
                intent=Intent(Purpose.GROWTH),
                outcome="Nothing is raised; with the setting, TensorFlow takes nearly all of the memory at once"
                if found.asks
                else "Nothing is raised; without the setting, TensorFlow takes nearly all of the memory at once",
                advice=f"Write {found.right}",
                details={"right": found.right},
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Set what the setting says."""
        import libcst as cst

        node, right = editor.expression_at(finding.span), str(finding.details["right"])
        if isinstance(node, cst.IfExp):
            # With the quotes that it has.
            right = f"{editor.code(node.orelse)} if {editor.code(node.test)} else {editor.code(node.body)}"
        elif isinstance(node, cst.UnaryOperation):
            right = editor.code(node.expression)
        elif right.startswith("not "):
            right = f"not {editor.code(node)}"
        editor.replace(node, right)
        editor.unsafe(f"Write {finding.details['right']}")
