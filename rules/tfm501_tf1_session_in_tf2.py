"""TFM501: TF1's session or its options, under TensorFlow 2."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.interpreter.program import SessionMade, Use
from tfmemlint.knowledge import names
from tfmemlint.knowledge.functions import DISABLE_EAGER, PROTOS, SESSIONS, SET_SESSION, SET_SESSION_OF_KERAS
from tfmemlint.knowledge.memory_names import GPU_OPTIONS, OPTION_CARRIERS
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.explain import (
    attribute_error,
    attribute_severity,
    carriers,
    constants_of,
    grows_already,
    handler_notes,
    options_intent,
    plain_options,
    short,
)
from tfmemlint.rulekit.missing_names import own_names, place_now, without_successor
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction

NAMES = frozenset(
    {name for name in SESSIONS | PROTOS if not name.startswith("tf.compat.")}
    | {"tf.get_default_session", "tf.RunOptions", "tf.RunMetadata"}
)
_KERAS = re.compile(r"^[^#\n]*\bkeras\b", re.MULTILINE)
_EAGER_ONLY = re.compile(r"GradientTape|\.numpy\(\)|@tf\.function|tf\.function\(|run_eagerly")


class Tf1SessionInTf2(Rule):
    """TF1's session or its options, under TensorFlow 2.

    What it does
    ------------
    Finds ``tf.Session``, ``tf.ConfigProto``, ``tf.GPUOptions`` and related names, which 2.0 removed. The fix uses
    their names in ``tf.compat.v1`` and turns graph mode on: with new names alone, the session's graph would be empty.

    By default it reports those that have options about GPU memory. A session without any is reported where the user
    asks for such names: by ``--migrate``, by ``--target-version``, or by selecting this rule.

    Why it matters
    --------------
    ``AttributeError`` at the first of them. With only the names changed, ``RuntimeError: The Session graph is empty``.

    Example
    -------
    ```python
    import tensorflow as tf

    c = tf.constant(2.0) * tf.constant(3.0)
    with tf.Session() as sess:
        print(sess.run(c))
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    tf.compat.v1.disable_v2_behavior()

    c = tf.constant(2.0) * tf.constant(3.0)
    with tf.compat.v1.Session() as sess:
        print(sess.run(c))
    ```

    Seen as
    -------
    ``AttributeError: module 'tensorflow' has no attribute 'Session'``
    """

    code = "TFM501"
    name = "tf1-session-in-tf2"
    severity = Severity.ERROR
    of_another_release = True
    text_defects = (TextDefect.SESSION,)
    triggers = (r"\bSession\(", "InteractiveSession", r"Monitored\w*Session", "ConfigProto", "GPUOptions")
    any_tensorflow_file = True
    fixable = "sometimes"
    supersedes = ("TFM206", "TFM201")

    def check(self, program: Program) -> Iterator[Finding]:
        """Names of TF1's session that the targeted release lacks."""
        if program.target.major < 2:
            return
        own = own_names(program)
        uses = [
            use
            for use in program.of(Use)
            if use.name in NAMES
            and use.name not in own
            and not use.probed
            and not names.exists(use.name, program.target)
        ]
        if not uses:
            return
        disabled = next(program.calls(*DISABLE_EAGER), None) is not None
        opened = next(program.calls("tf.Graph().as_default", "tf.compat.v1.Graph().as_default"), None) is not None
        eager_only = _EAGER_ONLY.search(program.source.text) is not None
        sessions = {(session.span.row, session.span.column): session for session in program.of(SessionMade)}
        given_a_graph = {
            (call.span.row, call.span.column) for call in program.calls(*SESSIONS) if call.arg(1, "graph") is not None
        }
        text = program.source.text
        keras3 = program.target.keras3 and "keras" in text and _KERAS.search(text) is not None
        keras = next(program.calls(*SET_SESSION, *SET_SESSION_OF_KERAS), None)
        stays = ""
        has_gpu_options = GPU_OPTIONS.search(_without_comments(program.source.text)) is not None
        configured = {
            (call.span.row, call.span.column) for call in program.calls(*SESSIONS) if call.arg(2, "config") is not None
        }
        for use in uses:
            session = use.name in SESSIONS
            if not stays:
                gone = without_successor(program)
                stays = f"{gone[0]} (line {gone[1]})" if gone is not None else "nothing"
            made = sessions.get((use.span.row, use.span.column))
            unused = made is not None and not made.used and not _is_kept_on_object(program, use)
            options = plain_options(made.fields) if made is not None and unused else {}
            imported = use.origin == "import"
            # An import is mended as a whole: what counts is what is made of the sessions that it names.
            running = session
            if imported:
                running = any(
                    not session.graph_mode and (session.used or not plain_options(session.fields))
                    for session in sessions.values()
                    if not names.exists(session.name, program.target)
                )
            # A session beside a graph that is open elsewhere runs the default graph, where nothing else forbids it.
            outside = made is not None and not made.graph_mode and not eager_only
            outside = outside and not keras3 and (use.span.row, use.span.column) not in given_a_graph
            error = "ImportError" if use.origin == "import" else "AttributeError"
            yield self.finding(
                program,
                use,
                f"{use.name} was removed from TensorFlow in 2.0",
                severity=attribute_severity(use, error),
                intent=options_intent(options) if options else None,
                outcome=attribute_error(use.name, error),
                advice="Configure the physical devices with tf.config: nothing uses this session"
                if options
                else f"Use tf.compat.v1.{use.name.removeprefix('tf.')}"
                + (" in graph mode, or no session at all" if session else ""),
                notes=handler_notes(use, error, "the rest of the try block never runs"),
                fixable=use.origin in ("attribute", "import"),
                details={
                    "name": use.name,
                    "stays": stays,
                    "whole": "TensorFlow 1",
                    "graph_mode": disabled or not running or use.state.graph_mode or (opened and not outside),
                    "imported": imported,
                    "eager_only": eager_only,
                    "for_keras": keras is not None,
                    "keras": running and keras3,
                    "options": options,
                    "grown": grows_already(use),
                    "values": constants_of(made.fields if made is not None else None),
                },
                anchors=carriers(made) if made is not None else {},
                on_request=not has_gpu_options
                or use.name not in OPTION_CARRIERS
                or (session and not imported and (use.span.row, use.span.column) not in configured),
            )

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_name

        return of_name(finding, text, target)

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Spell it by ``tf.compat.v1``, in graph mode; what only carries options becomes ``tf.config``."""
        from tfmemlint.fixes.rewrites import moved_names, sessions
        from tfmemlint.rulekit import migration

        name = str(finding.details["name"])
        if finding.details["stays"] != "nothing":
            raise editor.Withheld(
                f"TensorFlow {editor.target} has no replacement for {finding.details['stays']}: only half of"
                " the file would be rewritten"
            )
        elsewhere = migration.stays_elsewhere(finding.path, editor.target)
        if elsewhere:
            raise editor.Withheld(
                f"TensorFlow {editor.target} has no replacement for {elsewhere}: only half of the program would be"
                " rewritten"
            )
        if finding.details["for_keras"]:
            raise editor.Withheld("Keras gets a session in this file, and has no use for one")
        if finding.details["options"]:
            sessions.replace_session(editor, finding)
            return
        graph_mode = finding.details["graph_mode"]
        if not graph_mode and migration.is_imported(finding.path):
            # The import of a library must not switch the program that imports it.
            if not migration.importers_use_graph_mode(finding.path):
                raise editor.Withheld(
                    "graph mode has to be turned on where the program starts, not where it is imported"
                )
            graph_mode = True
        if finding.details["eager_only"] and not graph_mode:
            raise editor.Withheld("the file also uses code that works in eager mode only; graph mode would break that")
        if finding.details["keras"] and not graph_mode:
            raise editor.Withheld("Keras 3 does not train in graph mode")
        if finding.details["imported"]:
            moved_names.import_from(
                editor, finding.span, lambda name: _place_in_v1(name) or place_now(name, editor.target)
            )
            self._say(editor, bool(graph_mode))
            return
        node = editor.expression_at(finding.span)
        if short(editor.code(node)) != short(name):
            raise editor.Withheld(f"the rewriter finds no {short(name)} there")
        editor.replace(node, editor.tf(f"tf.compat.v1.{name.removeprefix('tf.')}"))
        gone = {name for name in NAMES if not names.exists(name, editor.target)}
        for other, also in moved_names.spelled_alike(editor, node, name, gone):
            editor.replace(other, editor.tf(f"tf.compat.v1.{also.removeprefix('tf.')}"))
        self._say(editor, bool(graph_mode))

    def _say(self, editor: Editor, graph_mode: bool) -> None:
        from tfmemlint.fixes.rewrites import sessions

        if graph_mode:
            editor.unsafe("Use tf.compat.v1")
        else:
            sessions.turn_graph_mode_on(editor)
            editor.unsafe("Use tf.compat.v1, and turn graph mode on")


def _is_kept_on_object(program: Program, use: Use) -> bool:
    """Return True if a session is an attribute of an object whose other methods read it: they may use it."""
    if use.path != program.source.path:
        return False
    for node in all_nodes(program.tree):
        if isinstance(node, ast.Assign) and node.lineno <= use.span.row <= (node.end_lineno or node.lineno):
            for place in node.targets:
                if isinstance(place, ast.Attribute):
                    return re.search(rf"\.{place.attr}\b(?!\s*=[^=])", program.source.text) is not None
    return False


def _without_comments(text: str) -> str:
    return re.sub(r"(?m)^[ \t]*#.*$", "", text)


def _place_in_v1(name: str) -> str | None:
    """Return the present place of a name of TF1's sessions; None for any other name."""
    canonical = name.replace("tensorflow", "tf", 1)
    return name.replace("tensorflow", "tensorflow.compat.v1", 1) if canonical in NAMES else None
