"""TFM510: a function closes the session of Keras and makes another one, to reset it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import dotted
from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.interpreter.program import Call, SessionMade
from tfmemlint.interpreter.values import Made
from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.rulekit.explain import constants_of, options_intent, plain_options
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program

_STEPS = frozenset({"get_session", "clear_session", "set_session"})


class KerasSessionReset(Rule):
    """A function closes the session of Keras and makes another one.

    What it does
    ------------
    Finds functions that call ``get_session``, ``clear_session`` and ``set_session`` of Keras, as the ``reset_keras()``
    of many notebooks does, in code that runs on TensorFlow 2 without ``disable_eager_execution``.

    Why it matters
    --------------
    Keras has no session on TensorFlow 2, and ``get_session`` and ``set_session`` are gone since 2.16. Where they
    still exist, ``get_session`` makes the GPU devices, so that the GPU options of the new session come too late. A
    process gives memory back to the GPU only when it ends. Of these steps only ``clear_session`` is useful: it
    forgets the models, whose memory later ones use again.

    Example
    -------
    ```python
    import gc

    import tensorflow as tf


    def reset_keras():
        session = tf.compat.v1.keras.backend.get_session()
        tf.compat.v1.keras.backend.clear_session()
        session.close()
        gc.collect()
        config = tf.compat.v1.ConfigProto()
        config.gpu_options.allow_growth = True
        tf.compat.v1.keras.backend.set_session(tf.compat.v1.Session(config=config))
    ```

    Use instead
    -----------
    ```python
    import gc

    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)


    def reset_keras():
        tf.keras.backend.clear_session()
        gc.collect()
    ```
    """

    code = "TFM510"
    name = "keras-session-reset"
    severity = Severity.ERROR
    triggers = ("set_session",)
    fixable = "sometimes"
    supersedes = ("TFM201", "TFM206", "TFM405", "TFM501", "TFM502", "TFM503", "TFM504", "TFM509", "TFM107")

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each function with all of the steps."""
        if program.target.major < 2 or not all(step in program.source.text for step in _STEPS):
            return
        sessions = {session.serial: session for session in program.of(SessionMade)}
        for function in all_nodes(program.tree):
            if not isinstance(function, ast.FunctionDef):
                continue
            steps = {name: node for node in ast.walk(function) if (name := _step(node))}
            if steps.keys() != _STEPS:
                continue
            place = program.source.span(function)
            last = program.source.span(steps["set_session"])
            event = next((call for call in program.of(Call) if call.span == last), None)
            if event is None or event.probed or event.state.graph_mode:
                continue
            given = event.value(0, "session")
            session = sessions.get(given.serial) if isinstance(given, Made) else None
            options = plain_options(session.fields) if session is not None else {}
            imports = (program.source.span(node) for node in all_nodes(program.tree) if _imports_step(node))
            yield self.finding(
                program,
                event,
                f"{function.name}() makes a new session for Keras, which has none on TensorFlow {program.target}",
                intent=options_intent(options) if options else None,
                outcome=_outcome(program, event),
                advice="Keep clear_session(), and configure the GPUs with tf.config once, before the first operation",
                details={"options": options, "values": constants_of(session.fields if session is not None else None)},
                anchors={"function": place, "covers": place} | _numbered(imports),
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Keep the step that is of use, and configure the GPUs at the top of the file."""
        from tfmemlint.fixes.rewrites import session_reset

        session_reset.replace(editor, finding)


def _step(node: ast.AST) -> str:
    """Return which step a call is; "" if it is none."""
    name = dotted(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
    return name if name in _STEPS else ""


def _imports_step(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and any(alias.name in _STEPS for alias in node.names)


def _numbered(spans: Iterator[Span]) -> dict[str, Span]:
    return {f"covers {number}": span for number, span in enumerate(spans)}


def _outcome(program: Program, event: Call) -> str:
    if program.target.keras3 and not event.name.startswith("tf.python."):
        return "Python raises AttributeError or ImportError: get_session and set_session are gone"
    return "get_session() makes the GPU devices, so that the options come too late: they have no effect"
