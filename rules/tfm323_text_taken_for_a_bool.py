"""TFM323: a text is taken for yes or no, and decides about GPU memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Call, ProtoMade, SessionMade, TextDecides, TextTaken
from tfmemlint.interpreter.values import TextTruth
from tfmemlint.knowledge.functions import SET_GROWTH, SET_LOGICAL, SET_VISIBLE
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program

_CONFIGURES = frozenset({SET_GROWTH, *SET_LOGICAL, *SET_VISIBLE})
_YES = ("1", "true", "yes")


class TextTakenForABool(Rule):
    """A text is taken for yes or no, and decides about GPU memory.

    What it does
    ------------
    Finds options of a command line with ``type=bool``, ``bool()`` of a text that says no (``"0"``, ``"false"``), such
    as the default of an environment variable, and tests of such a text, where the outcome decides whether a GPU is
    configured.

    Why it matters
    --------------
    Every text but the empty one is true: ``--allow-growth False`` turns growth on, and so does ``GPU_GROWTH=0``.
    Nothing is raised.

    Example
    -------
    ```python
    import argparse

    import tensorflow as tf

    parser = argparse.ArgumentParser()
    parser.add_argument("--allow-growth", type=bool, default=True)
    args = parser.parse_args([])
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, args.allow_growth)
    ```

    Use instead
    -----------
    ```python
    import argparse

    import tensorflow as tf

    parser = argparse.ArgumentParser()
    parser.add_argument("--allow-growth", type=lambda text: text.lower() in ("1", "true", "yes"), default=True)
    args = parser.parse_args([])
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, args.allow_growth)
    ```
    """

    code = "TFM323"
    name = "text-taken-for-a-bool"
    severity = Severity.WARNING
    fixable = "sometimes"
    whole_program = True
    triggers = (
        r"\btype\s*=\s*bool\b",
        r"\bbool\(\s*os\.(?:environ|getenv)",
        r"(?:environ\.get|environ\.setdefault|getenv)\([^()]{1,80},\s{0,9}[\"'](?:0|[Ff]alse|FALSE|[Nn]o|[Oo]ff)[\"']",
    )

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each text that is taken for yes or no, once."""
        reported: set[object] = set()
        for taken in _deciding(program):
            if (taken.path, taken.place) not in reported:
                reported.add((taken.path, taken.place))
                yield self._finding(program, taken)

    def _finding(self, program: Program, taken: TextTaken) -> Finding:
        if taken.how == "option":
            says = f"type=bool makes True of every text: {taken.text} {taken.said} turns it on as well"
            advice = "Read the text: " + _reading("text")
        else:
            says = f"{taken.text} is a text, and '{taken.said}' is as true as any other"
            advice = f"Read the text: {_reading(taken.text)}"
        return self.finding(
            program,
            taken,
            says,
            span=taken.place,
            intent=Intent(Purpose.OTHER, text="to turn a setting of the GPUs on or off"),
            outcome="The GPUs are configured as if it had been turned on; nothing is raised",
            advice=advice,
            fixable=taken.sure,
            anchors={"place": taken.place},
            details={"how": taken.how, "negated": taken.negated},
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Compare the text with those that say yes."""
        import libcst as cst

        node = editor.expression_at(finding.anchors["place"])
        if finding.details["how"] == "option":
            editor.replace(node, f"lambda text: {_reading('text', editor)}")
        else:
            text = node
            if isinstance(node, cst.UnaryOperation):
                text = node.expression
            elif finding.details["how"] == "bool" and isinstance(node, cst.Call):
                text = node.args[0].value
            code = editor.code(text)
            if not isinstance(text, (cst.Name, cst.Attribute, cst.Subscript, cst.Call)):
                code = f"({code})"
            editor.replace(node, _reading(code, editor, negated=bool(finding.details["negated"])))
        editor.unsafe("Read what the text says")


def _reading(text: str, editor: Editor | None = None, *, negated: bool = False) -> str:
    """Return the code that tells whether a text says yes."""
    words = ", ".join(editor.quoted(word) if editor is not None else f'"{word}"' for word in _YES)
    return f"{text}.lower() {'not in' if negated else 'in'} ({words})"


def _deciding(program: Program) -> Iterator[TextTaken]:
    """Yield the texts that decide about GPU memory: in a test around it, or as a setting's value."""
    configuring = [call for call in program.of(Call) if call.name in _CONFIGURES]
    for event in program.of(TextDecides):
        if event.memory or any(event.held & {*call.guards} - {*event.guards} for call in configuring):
            yield event.taken
    values = [call.value(1, "enable") for call in configuring if call.name == SET_GROWTH]
    values += [value for made in program.of(SessionMade) for value in (made.fields or {}).values()]
    values += [value for made in program.of(ProtoMade) for value in made.fields.values()]
    for value in values:
        if isinstance(value, TextTruth):
            yield value.taken
