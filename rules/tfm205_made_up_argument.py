"""TFM205: a keyword that the function does not have."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge import types
from tfmemlint.knowledge.functions import LOGICAL_CONFIGURATION, PROTOS
from tfmemlint.knowledge.members import way_to
from tfmemlint.knowledge.purposes import ASSIGNED, KEYWORDS, MEANT
from tfmemlint.knowledge.signatures import ANY_KEYWORD, names, parameters, positional
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.text_defect import TextDefect
from tfmemlint.rulekit.explain import attribute_severity, handler_notes, short
from tfmemlint.rulekit.made_up import unit_of
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Arg, Call, Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction

_OF_MEMORY = {
    **ASSIGNED,
    **{word: Purpose.FRACTION if unit == "fraction" else Purpose.LIMIT for word, unit in KEYWORDS.items()},
}
"""Keywords that no strategy has, with what their authors wanted."""
_BEFORE_IT = {
    Purpose.GROWTH: "tf.config.experimental.set_memory_growth",
    Purpose.LIMIT: "tf.config.set_logical_device_configuration",
    Purpose.FRACTION: "tf.config.set_logical_device_configuration",
}


class MadeUpArgument(Rule):
    """A keyword that the function does not have.

    What it does
    ------------
    Finds keywords that TensorFlow's device and memory functions lack, such as ``memory_limit_mb`` and
    ``memory_fraction`` of ``LogicalDeviceConfiguration``, or its strategies (``MirroredStrategy(memory_growth=True)``);
    and fields that TF1's ``ConfigProto`` and ``GPUOptions`` lack in the release that the code is for
    (``ConfigProto(allow_growth=True)``). Arguments that are given twice are found, too.

    Why it matters
    --------------
    The call raises ``TypeError``, for TF1's messages ``ValueError``, which the usual ``except RuntimeError`` does not
    catch.

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
        "ConfigProto|GPUOptions",
        r"Strategy\(\s*[\w*]",
    )
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each call with a keyword that the measured signature lacks."""
        for call in program.calls(*names()):
            known = parameters(call.name, program.target)
            if known is None:
                continue
            places = positional(call.name, program.target)[: sum(argument.keyword is None for argument in call.args)]
            given = {argument.keyword for argument in call.args}.union(places)
            before = set() if call.has_star else set(places)
            for argument in call.args:
                if argument.keyword is None or argument.star:
                    continue
                if argument.keyword in before:
                    yield self._twice(program, call, argument, by_position=argument.keyword in places)
                elif argument.keyword not in known and ANY_KEYWORD not in known:
                    yield self._unknown(program, call, argument, known, given)
                before.add(argument.keyword)
        for call in program.calls(*PROTOS):
            message = types.type_of_message(call.name)
            given = {argument.keyword for argument in call.args}
            for argument in call.args:
                if argument.keyword and not argument.star and types.lacks(message, argument.keyword, program.target):
                    yield self._no_field(program, call, argument, message, given)

    def _unknown(
        self, program: Program, call: Call, argument: Arg, known: tuple[str, ...], given: Collection[str | None]
    ) -> Finding:
        keyword = str(argument.keyword)
        unit = KEYWORDS.get(keyword, "") if call.name in LOGICAL_CONFIGURATION else ""
        if unit == "auto":
            unit = unit_of(argument)
        value = argument.value.value if isinstance(argument.value, Const) else None
        meant = next((name for name in _meant(keyword) if name in known and name not in given), "")
        taken = ", ".join(name for name in known if name != "*")
        intent, advice = None, "Use memory_limit, in MiB" if unit else (f"Use {meant}" if meant else "")
        if unit:
            intent = Intent(Purpose.FRACTION if unit == "fraction" else Purpose.LIMIT, "", value, argument.text)
        elif call.name.startswith("tf.distribute.") and keyword in _OF_MEMORY:
            intent = Intent(_OF_MEMORY[keyword], "every GPU", value, argument.text)
            advice = f"Use {_BEFORE_IT[_OF_MEMORY[keyword]]} for each GPU before {short(call.name)}"
        return self.finding(
            program,
            call,
            f"{short(call.name)} has no argument {keyword!r}: it takes {taken}",
            span=argument.span,
            severity=attribute_severity(call, "TypeError"),
            intent=intent,
            outcome=f"Python raises TypeError: got an unexpected keyword argument '{keyword}'",
            advice=advice,
            notes=handler_notes(call, "TypeError", "the setting never takes effect"),
            fixable=bool(meant) or (unit in ("mib", "fraction", "gib", "bytes") and "memory_limit" not in given),
            anchors={"call": call.span},
            details={
                "keyword": keyword,
                "unit": unit,
                "meant": meant,
                "renames_key": argument.unpacked and bool(meant),
                "name": call.name,
                "caught": bool(call.handler_for("TypeError")),
            },
        )

    def _twice(self, program: Program, call: Call, argument: Arg, *, by_position: bool) -> Finding:
        keyword = str(argument.keyword)
        what = "argument" if by_position else "keyword argument"
        return self.finding(
            program,
            call,
            f"{short(call.name)} gets {keyword} twice",
            span=argument.span,
            severity=attribute_severity(call, "TypeError"),
            outcome=f"Python raises TypeError: got multiple values for {what} '{keyword}'",
            advice="Give it once",
            notes=handler_notes(call, "TypeError", "the setting never takes effect"),
            fixable=False,
        )

    def _no_field(
        self, program: Program, call: Call, argument: Arg, message: str, given: Collection[str | None]
    ) -> Finding:
        keyword, name = str(argument.keyword), types.short(message)
        way = way_to(message, keyword)
        path = way.code.removeprefix("{0}.")
        value = argument.value.value if isinstance(argument.value, Const) else None
        return self.finding(
            program,
            call,
            f"{name} has no field {keyword!r}",
            span=argument.span,
            severity=attribute_severity(call, "ValueError"),
            intent=Intent(way.purpose, "every GPU", value, argument.text) if way.purpose is not None else None,
            outcome=f'Python raises ValueError: Protocol message {name} has no "{keyword}" field.',
            advice=way.advice,
            notes=handler_notes(call, "ValueError", "the setting never takes effect"),
            fixable=bool(path) and path.partition(".")[0] not in given,
            anchors={"call": call.span},
            details={
                "keyword": keyword,
                "unit": "",
                "meant": path,
                "renames_key": argument.unpacked and "." not in path,
                "message": True,
                "name": call.name,
                "caught": bool(call.handler_for("ValueError")),
            },
        )

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import of_argument

        return of_argument(finding, text)

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Use the keyword that exists, with the value in its unit."""
        from tfmemlint.fixes.rewrites import call_arguments, written_keys

        if finding.details["renames_key"]:
            written_keys.rename_key(editor, finding, str(finding.details["meant"]))
            return
        call = editor.call_to_rewrite(finding.anchors["call"], short(str(finding.details["name"])))
        if finding.details.get("message"):
            call_arguments.rename_field(editor, call, finding)
        elif finding.details["meant"]:
            call_arguments.rename_keyword(editor, call, finding)
        else:
            call_arguments.replace_limit_keyword(editor, call, finding)


def _meant(keyword: str) -> tuple[str, ...]:
    """Return the arguments that a keyword may stand for; TensorFlow puts ``experimental_`` before some names."""
    prefix = "experimental_"
    other = keyword.removeprefix(prefix) if keyword.startswith(prefix) else prefix + keyword
    return (*MEANT.get(keyword, ()), other)
