"""TFM205: a keyword that the function does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge.functions import LOGICAL_CONFIGURATION
from tfmemlint.knowledge.signatures import SIGNATURES
from tfmemlint.knowledge.wishes import KEYWORDS, MEANT
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Wish
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.explain import attribute_severity, handler_notes, short
from tfmemlint.rulekit.made_up import unit_of
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Arg, Call, Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction


class MadeUpArgument(Rule):
    """A keyword that the function does not have.

    What it does
    ------------
    Finds keywords that TensorFlow's device and memory functions lack, such as ``memory_limit_mb`` and
    ``memory_fraction`` of ``LogicalDeviceConfiguration``.

    Why it matters
    --------------
    The call raises ``TypeError``, which the usual ``except RuntimeError`` does not catch.

    Example
    -------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit_mb=4096)])
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=4096)])
    ```

    Seen as
    -------
    ``TypeError: LogicalDeviceConfiguration.__new__() got an unexpected keyword argument 'memory_limit_mb'``
    """

    code = "TFM205"
    name = "made-up-argument"
    severity = Severity.ERROR
    text_defects = (TextDefect.KEYWORD,)
    triggers = (
        "(?:logical|virtual|visible|physical)_device",
        "(?:Logical|Virtual)Device",
        "memory_(?:growth|info|usage|stats)",
        "get_device_details",
    )
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Keywords that the measured signatures lack."""
        for call in program.calls(*SIGNATURES):
            known = SIGNATURES[call.name]
            for argument in call.args:
                if argument.keyword is not None and not argument.star and argument.keyword not in known:
                    yield self._unknown(program, call, argument, known)

    def _unknown(self, program: Program, call: Call, argument: Arg, known: tuple[str, ...]) -> Finding:
        keyword = str(argument.keyword)
        unit = KEYWORDS.get(keyword, "") if call.name in LOGICAL_CONFIGURATION else ""
        if unit == "auto":
            unit = unit_of(argument)
        value = argument.value.value if isinstance(argument.value, Const) else None
        given = {one.keyword for one in call.args} | set(known[: sum(one.keyword is None for one in call.args)])
        meant = next((one for one in MEANT.get(keyword, ()) if one in known and one not in given), "")
        intent = None
        if unit:
            intent = Intent(Wish.FRACTION if unit == "fraction" else Wish.LIMIT, "", value, argument.text)
        return self.finding(
            program,
            call,
            f"{short(call.name)} has no argument {keyword!r}: it takes {', '.join(known)}",
            span=argument.span,
            severity=attribute_severity(call, "TypeError"),
            intent=intent,
            outcome=f"Python raises TypeError: got an unexpected keyword argument '{keyword}'",
            advice="Use memory_limit, in MiB" if unit else (f"Use {meant}" if meant else ""),
            notes=handler_notes(call, "TypeError", "the setting never takes effect"),
            fixable=bool(meant) or (unit in ("mib", "fraction", "gib", "bytes") and "memory_limit" not in given),
            anchors={"call": call.span},
            details={
                "keyword": keyword,
                "unit": unit,
                "meant": meant,
                "name": call.name,
                "caught": bool(call.handler_for("TypeError")),
            },
        )

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_argument

        return of_argument(finding, text)

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Use the keyword that exists, in its unit."""
        from tfmemlint.fixes.rewrites import call_arguments

        call = editor.call_at(finding.anchors["call"], short(str(finding.details["name"])))
        if finding.details["meant"]:
            call_arguments.rename_keyword(editor, call, finding)
        else:
            call_arguments.replace_limit_keyword(editor, call, finding)
