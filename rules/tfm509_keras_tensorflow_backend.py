"""TFM509: keras.backend.tensorflow_backend is imported, which Keras no longer has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.mentions import may_configure
from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.interpreter.program import Use
from tfmemlint.knowledge.functions import KERAS_BACKEND
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.explain import attribute_severity, handler_notes
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program

_FIRST_WITHOUT = Target(2, 6)
"""The first release that brings a Keras of its own, which lacks the module.

Source: the import raises with the Keras that TensorFlow 2.9, 2.12, 2.15, 2.16 and 2.21 bring; Keras 2.4 has dropped it.
"""


class KerasTensorflowBackend(Rule):
    """keras.backend.tensorflow_backend is imported, which Keras no longer has.

    What it does
    ------------
    Finds imports of ``keras.backend.tensorflow_backend``, the module in which Keras up to 2.3 had its session.

    An import in a ``try`` that handles the error is not reported where the block configures no GPU and makes no
    session: such code adapts old releases of Keras.

    Why it matters
    --------------
    The import raises ``ModuleNotFoundError``: nothing of the program runs, not even its memory configuration.

    Example
    -------
    ```python
    from keras.backend.tensorflow_backend import set_session
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    ```

    Seen as
    -------
    ``ModuleNotFoundError: No module named 'keras.backend.tensorflow_backend'``
    """

    code = "TFM509"
    name = "keras-tensorflow-backend"
    severity = Severity.ERROR
    of_another_release = True
    triggers = ("tensorflow_backend",)
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Imports of the module, where nothing stands ready for the error."""
        if program.target < _FIRST_WITHOUT:
            return
        for use in program.of(Use):
            if use.probed or use.origin != "import" or not f"{use.name}.".startswith(f"{KERAS_BACKEND}."):
                continue
            if use.handler_for("ImportError") is not None and _only_patches(program, use):
                continue
            error = "ModuleNotFoundError"
            yield self.finding(
                program,
                use,
                f"{KERAS_BACKEND} does not exist in Keras from 2.4 on",
                severity=attribute_severity(use, "ImportError"),
                outcome=f"Python raises {error}: No module named '{KERAS_BACKEND}'",
                advice="Configure the physical devices with tf.config; Keras has no session any more",
                notes=handler_notes(use, "ImportError", "the rest of the try block never runs"),
                details={"caught": use.handler_for("ImportError") is not None},
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Drop the import, where nothing uses it."""
        from tfmemlint.fixes.rewrites import call_arguments

        call_arguments.drop_import(editor, finding)


def _only_patches(program: Program, use: Use) -> bool:
    """Return True if the ``try`` block around an import configures nothing and binds nothing that other code uses."""
    if use.path != program.source.path:
        return False
    blocks = [
        node.body
        for node in all_nodes(program.tree)
        if isinstance(node, ast.Try) and node.body[0].lineno <= use.span.row <= (node.body[-1].end_lineno or 0)
    ]
    if not blocks:
        return False
    block = min(blocks, key=lambda body: (body[-1].end_lineno or 0) - body[0].lineno)
    own = [
        *block,
        *(node for node in all_nodes(program.tree) if isinstance(node, ast.FunctionDef) and _bound_in([node])),
    ]
    inside = {id(node) for statement in own for node in ast.walk(statement)}
    bound = _bound_in(block)
    text = "\n".join(program.source.lines[block[0].lineno - 1 : block[-1].end_lineno])
    if may_configure(text) or "ession" in text:
        return False
    return not any(
        isinstance(node, ast.Name) and node.id in bound and id(node) not in inside for node in all_nodes(program.tree)
    )


def _bound_in(statements: list[ast.stmt]) -> set[str]:
    """Return the names that imports of Keras' old backend bind."""
    return {
        (name.asname or name.name).partition(".")[0]
        for statement in statements
        for node in ast.walk(statement)
        if (isinstance(node, ast.Import) and any(name.name.endswith("tensorflow_backend") for name in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("keras.backend"))
        for name in node.names
    }
