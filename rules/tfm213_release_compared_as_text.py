"""TFM213: the release of TensorFlow is compared as a text, or cut off, and the wrong branch configures the GPUs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Event
from tfmemlint.interpreter.state import State
from tfmemlint.model.finding import Finding, Severity, Step
from tfmemlint.model.intent import Intent
from tfmemlint.rulekit.release_tests import ReleaseTest, base_of, code_of, parser_of, release_tests
from tfmemlint.rulekit.release_values import ReleaseValues
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program


class ReleaseComparedAsText(Rule):
    """The release of TensorFlow is compared as a text, and the GPUs are not configured.

    What it does
    ------------
    Finds comparisons of ``tf.__version__`` that take a text for a number (``tf.__version__ >= "2.4"``), that cut it off
    (``float(tf.__version__[:3]) >= 2.4``, ``int(tf.__version__[2]) > 3``) or that read 2.21 as a decimal
    (``float("2.21")``), where the targeted release is on the wrong side of them and the branch that runs
    does not configure the GPUs as the other one does. Each comparison is evaluated for the release: one that is right
    for it is not reported. Where a project is for several releases, it is evaluated for each of them.

    Why it matters
    --------------
    As a text, "2.21.0" is less than "2.4": texts are compared character by character. The code for new releases is not
    run on new releases, nothing is raised, and TensorFlow takes nearly all memory of each GPU.

    Example
    -------
    ```python
    import tensorflow as tf

    if tf.__version__ >= "2.4":
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    if tuple(int(part) for part in tf.__version__.split(".")[:2]) >= (2, 4):
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
    ```
    """

    code = "TFM213"
    name = "release-compared-as-text"
    severity = Severity.WARNING
    fixable = "sometimes"
    triggers = (
        r"__version__",
        r"\bVERSION\b",
        r"\bversion\(\s*[\"']tensorflow",
        r"get_distribution\(\s*[\"']tensorflow",
    )

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each comparison that keeps the program from configuring GPUs."""
        if program.configuration is not None:
            return
        for test in release_tests(program.tree, program.target):
            yield self._finding(program, test)

    def _finding(self, program: Program, test: ReleaseTest) -> Finding:
        source, comparison = program.source, test.comparison
        place = source.span(comparison.place.node)
        event = Event(path=source.path, span=place, statement=place, state=State())
        values = ReleaseValues(program.tree)
        base = base_of(comparison, values)

        def code(node: ast.expr) -> str:
            return source.segment(source.span(node))

        right = ""
        if base is not None:
            right = code_of(comparison, code, parser_of(program.tree), code(base))
        seen = values.value(comparison.side, comparison.place.scope, test.release.version)
        return self.finding(
            program,
            event,
            f"This is {test.is_true} on TensorFlow {test.release}: {seen!r} is compared, not the release's numbers",
            intent=Intent(test.purpose),
            outcome="The GPUs are not configured as the other branch says, and nothing is raised",
            advice=f"Compare numbers: {right}" if right else "Compare numbers: packaging.version.parse(...)",
            trace=(Step(source.path, source.span(test.configured), "this is not run"),),
            fixable=bool(right),
            details={"right": right},
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Compare the numbers."""
        right = str(finding.details["right"]).replace('"', editor.quoted("")[:1])
        editor.replace(editor.expression_at(finding.span), right)
        editor.unsafe("Compare the numbers of the release")
