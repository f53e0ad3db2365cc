"""TFM324: an option of a session gets a value of a type that it does not take."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Call, OptionStored
from tfmemlint.interpreter.values import (
    Amount,
    Const,
    Count,
    CountPlus,
    DeviceName,
    Devices,
    Dict,
    FileValue,
    Index,
    Made,
    PassNumber,
    Proto,
    Seq,
    Value,
)
from tfmemlint.knowledge.functions import PROTOS, RANKS, SESSIONS, TARGETED
from tfmemlint.knowledge.option_types import MAPS, MESSAGES, NOT_ASSIGNED, kind_of, refuses
from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.explain import (
    attribute_severity,
    file_trace,
    handler_notes,
    options_intent,
    plain_options,
    short,
)
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program

_WANTED = {
    "bool": "True or False",
    "share": "a number between 0 and 1",
    "text": "a text",
    "whole": "a whole number",
    "message": "a message",
}
_GIVEN = {
    "bool": "a bool",
    "whole": "a number",
    "number": "a number",
    "text": "a text",
    "list": "a list",
    "dict": "a dictionary",
    "message": "a message",
    "none": "None",
}
_COUNTED = frozenset({*RANKS, *RANKS.values()})
_YES, _NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_NUMBER = re.compile(r"\s{0,9}\d{0,9}\.?\d{1,9}\s{0,9}\Z")


class SessionOptionType(Rule):
    """An option of a session gets a value of a type that it does not take.

    What it does
    ------------
    Finds fields of ``ConfigProto`` and ``GPUOptions`` that get a number for a text (``visible_device_list=0``), a text
    for a number or a bool (``allow_growth="true"``), a list, or None by assignment; assignments to fields that are
    messages or maps (``config.gpu_options = ...``); fields that are given by position; and sessions whose ``config`` is
    not a ``ConfigProto``.

    Why it matters
    --------------
    TensorFlow raises ``TypeError``, or ``AttributeError`` for a message that is assigned, and there is no session. An
    option of a command line without a type is a text as soon as it is given: the default works, and no other value
    does.

    Example
    -------
    ```python
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto()
    config.gpu_options.visible_device_list = 0
    session = tf.compat.v1.Session(config=config)
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto()
    config.gpu_options.visible_device_list = "0"
    session = tf.compat.v1.Session(config=config)
    ```

    Seen as
    -------
    ``TypeError: bad argument type for built-in operation``, ``TypeError: 0 has type int, but expected one of: bytes,
    unicode``, ``AttributeError: Assignment not allowed to message field "gpu_options" in protocol message object.``
    """

    code = "TFM324"
    name = "session-option-type"
    severity = Severity.ERROR
    fixable = "sometimes"
    whole_program = True
    triggers = ("ConfigProto", "GPUOptions", r"\bSession\(", "InteractiveSession")

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each option, and each session, that gets what it refuses."""
        for event in program.of(OptionStored):
            if _is_tried(event):
                continue
            if event.field in NOT_ASSIGNED:
                yield self._assigned(program, event)
            elif type_ := _refused_type(event.field, event.value, event.given_text, assigned=True):
                anchors = {} if event.given is None else {"value": event.given}
                yield self._value(program, event, event.field, event.value, type_, event.given_text, anchors)
        for call in program.calls(*PROTOS):
            if not (call.has_star or _is_tried(call)):
                yield from self._arguments(program, call)
        for call in program.calls(*SESSIONS):
            if short(call.name) in TARGETED and not _is_tried(call):
                yield from self._session(program, call)

    def _arguments(self, program: Program, call: Call) -> Iterator[Finding]:
        for argument in call.args:
            field, value = argument.keyword, argument.value
            if field is None:
                whole = isinstance(value, Proto) and short(value.name) == "GPUOptions"
                named = whole and short(call.name) == "ConfigProto"
                yield self._finding(
                    program,
                    call,
                    f"{short(call.name)} takes its fields by name, not by position",
                    ("TypeError", "no positional arguments are allowed"),
                    advice="Pass it as gpu_options=..." if named else "Name the field",
                    span=argument.span,
                    intent=_intent("gpu_options" if named else "", value),
                    fixable=named and sum(other.keyword is None for other in call.args) == 1,
                    details={"how": "name"},
                    anchors={"call": call.span},
                )
            elif type_ := _refused_type(field, value, argument.text, assigned=False):
                # The span of an argument by keyword is that of its value.
                yield self._value(program, call, field, value, type_, argument.text, {"value": argument.span})

    def _session(self, program: Program, call: Call) -> Iterator[Finding]:
        given = call.arg(2, "config")
        type_ = _type_of(given.value) if given is not None else ""
        if given is None or type_ in ("", "none") or call.has_star:
            return
        what, options = _GIVEN[type_], False
        if isinstance(given.value, Proto):
            name = short(given.value.name)
            if name == "ConfigProto":
                return
            options = name in ("GPUOptions", "gpu_options")
            what = f"this is {'GPUOptions' if options else name}"
        else:
            what = f"this is {what}"
        yield self._finding(
            program,
            call,
            f"{short(call.name)} takes a ConfigProto as its config, and {what}",
            ("TypeError", "config must be a ConfigProto"),
            advice="Pass ConfigProto(gpu_options=...)" if options else "Pass a ConfigProto with these options in it",
            span=given.span,
            intent=_intent("gpu_options" if options else "", given.value),
            fixable=options,
            details={"how": "wrap"},
            anchors={"value": given.span},
        )

    def _assigned(self, program: Program, event: OptionStored) -> Finding:
        field, value = event.field, event.value
        is_message = isinstance(value, Proto) and short(value.name) in ("GPUOptions", field)
        copied = field in MESSAGES and (is_message or (field == "gpu_options" and isinstance(value, Dict)))
        mapped = field in MAPS and isinstance(value, Dict)
        if field in MESSAGES:
            kind, advice = "a message", f"Copy it: {event.text}.CopyFrom(...)"
        elif field in MAPS:
            kind, advice = "a map", f"Set its items: {event.text}.update(...)"
        else:
            kind, advice = "a repeated field", f"Add to it: {event.text}.extend(...)"
        return self._finding(
            program,
            event,
            f"{field} is {kind}, to which nothing can be assigned",
            ("AttributeError", "assignment not allowed"),
            advice=advice,
            span=event.target,
            intent=_intent(field, value),
            fixable=event.given is not None and (copied or mapped),
            details={"how": "update" if mapped else "copy" if is_message else "copy dict"},
            anchors={"target": event.target},
        )

    def _value(
        self,
        program: Program,
        event: Call | OptionStored,
        field: str,
        value: Value,
        type_: str,
        text: str,
        anchors: dict[str, Span],
    ) -> Finding:
        # What is a number by default is a text as soon as it is given.
        by_default = isinstance(value, Amount) and not value.sure
        given = "None is not one" if type_ == "none" else f"{text} is {_GIVEN[type_]}"
        if by_default and not isinstance(value, FileValue):
            given += " wherever it is given"
        written = _written(field, value, type_, text)
        return self._finding(
            program,
            event,
            f"{field} takes {_WANTED[kind_of(field)]}, and {given}",
            ("TypeError", "" if by_default else f"{field} does not take it"),
            advice=f"Write {written}" if written else f"Give {_WANTED[kind_of(field)]}",
            span=anchors.get("value", event.span),
            intent=_intent(field, None),
            fixable=bool(written and anchors),
            details={"how": "value", "written": written},
            anchors=anchors,
            doubtful=by_default,
            trace=file_trace(value, event, anchors.get("value", event.span)),
        )

    def _finding(
        self,
        program: Program,
        event: Call | OptionStored,
        says: str,
        raises: tuple[str, str],
        *,
        doubtful: bool = False,
        details: dict[str, object],
        **more: object,
    ) -> Finding:
        exception, why = raises
        severity = Severity.WARNING if doubtful else attribute_severity(event, exception)
        outcome = f"TensorFlow raises {exception}{': ' + why if why else ''}"
        return self.finding(
            program,
            event,
            says,
            severity=severity,
            outcome=f"{outcome} when the option is given" if doubtful else outcome,
            notes=handler_notes(event, exception, "the option is not set"),
            details=details | {"caught": event.handler_for(exception) is not None, "doubtful": doubtful},
            **more,
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Write the value as the option takes it, or copy the message."""
        from tfmemlint.fixes.rewrites import option_types

        option_types.give_right_type(editor, finding)


def _is_tried(event: Call | OptionStored) -> bool:
    """Return True if a handler waits for just this exception: the other way to set the option is in it."""
    caught = [event.handler_for(exception) for exception in ("TypeError", "AttributeError")]
    return any(handler is not None and {"TypeError", "AttributeError"} & {*handler.catches} for handler in caught)


def _refused_type(field: str, value: Value, text: str, *, assigned: bool) -> str:
    """Return the type of a value if the field refuses it, otherwise ""."""
    type_ = _type_of(value)
    if isinstance(value, Made) and value.name in _COUNTED and text.endswith("rank()"):
        # Its text, `str(hvd.rank())`, is the same value.
        type_ = "whole"
    if type_ == "message" and kind_of(field) == "message":
        # A message of another type; what a part of a message is called is not its type.
        name = short(value.name) if isinstance(value, Proto) else ""
        return type_ if field == "gpu_options" and name in ("ConfigProto", "GraphOptions") else ""
    return type_ if type_ and refuses(field, type_, assigned=assigned) else ""


def _type_of(value: Value) -> str:
    """Return the type of a value, as `tfmemlint.knowledge.option_types` names it; "" if that is not known."""
    match value:
        case FileValue():
            return "" if value.value is None else _type_of_constant(value.value)
        case Amount() if value.sure or value.type == "str":
            return {"str": "text", "list": "list", "number": "number"}.get(value.type, "")
        case Const():
            return _type_of_constant(value.value)
        case Count() | CountPlus() | Index() | PassNumber():
            return "whole"
        case Seq() | Devices():
            return "list"
        case Dict():
            return "dict"
        case DeviceName():
            return "text"
        case Proto():
            return "message" if value.record is not None and _is_whole(value) else ""
    return ""


def _is_whole(proto: Proto) -> bool:
    """Return True if a value is a message for sure: not a field of one, which may be a number."""
    return not proto.prefix or short(proto.name) in MESSAGES


def _type_of_constant(value: object) -> str:
    if value is None:
        return "none"
    for type_, name in ((bool, "bool"), (int, "whole"), (float, "number"), (str, "text"), (tuple, "list")):
        if isinstance(value, type_):
            return name
    return ""


def _written(field: str, value: Value, type_: str, text: str) -> str:
    """Return the code that stands for what was meant, in a type that the field takes; "" if that is not known."""
    kind = kind_of(field)
    constant = value.value if isinstance(value, Const) else None
    literal = text[:1].isdigit() or text[:1] in "\"'[("
    if field == "visible_device_list":
        if type_ == "whole" or (type_ == "number" and isinstance(value, Amount)):
            return f'"{constant}"' if literal and isinstance(constant, int) else f"str({text})"
        if isinstance(value, Seq) and value.items:
            numbers = [str(item.value) for item in value.items if isinstance(item, Const)]
            if len(numbers) == len(value.items) and all(re.fullmatch(r"\d{1,3}", number) for number in numbers):
                joined = ",".join(numbers)
                return f'"{joined}"' if literal else f'",".join(map(str, {text}))'
    if kind == "bool" and isinstance(constant, str) and literal:
        return "True" if constant.lower() in _YES else "False" if constant.lower() in _NO else ""
    if kind in ("share", "whole") and type_ == "text":
        if isinstance(constant, str) and not _NUMBER.match(constant):
            return ""
        if isinstance(constant, str) and literal:
            return constant.strip()
        return f"float({text})" if kind == "share" else f"int({text})"
    return ""


def _intent(field: str, value: Value | None) -> Intent:
    fields: dict[str, Value] = {}
    if isinstance(value, Proto):
        before = "gpu_options." if short(value.name) == "GPUOptions" else ""
        fields = {before + name: inner for name, inner in value.record.fields.items()}
    elif isinstance(value, Dict):
        fields = {f"{field}.{name}": inner for name, inner in value.items.items()}
    options = plain_options(fields) or ({} if value is not None else {f"gpu_options.{field}": None})
    intent = options_intent(options)
    return intent if intent.purpose is not Purpose.OTHER else Intent(Purpose.OTHER, text="to set a session's options")
