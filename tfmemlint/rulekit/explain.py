"""The words and traces that rules share: how the runtime was started, and which handlers hide an error."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tfmemlint.interpreter.program import Arg, Call, Event, Program, RuntimeStart, SessionMade, Use
from tfmemlint.interpreter.state import ConfigEffect, Handler
from tfmemlint.interpreter.values import EACH, Amount, Const, Device, Devices, FileConst, FileValue, Limit, Seq, Value
from tfmemlint.knowledge import names, purposes
from tfmemlint.knowledge.purposes import MadeUp
from tfmemlint.model.finding import Finding, Severity, Span, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.placed_text import place
from tfmemlint.rulekit.made_up import Meaning, meaning
from tfmemlint.rulekit.rule import Rule
from tfmemlint.rulekit.start_trace import start_anchors, start_details, where_to
from tfmemlint.rulekit.start_trace import start_trace as start_trace
from tfmemlint.rulekit.start_trace import written as written


def short(name: str) -> str:
    """Return the last part of a dotted name."""
    return name.rsplit(".", 1)[-1]


def line(event: Event) -> str:
    """Return the place of an event as a piece of a finding's text: ``line 12`` in a finding about its file,
    ``core/model.py:12`` in others."""
    return place(event.path, event.span.row)


def in_line(event: Event) -> str:
    """Return ``in line 12``, or ``in core/model.py:12``."""
    return f"in {line(event)}"


def start_words(start: RuntimeStart, verb: str = "starts it") -> str:
    """Return words for what starts the runtime, for a message about what comes too late."""
    return f"{written(start.text)} {in_line(start)} {verb}"


def device_words(value: Value, text: str = "") -> str:
    """Return words for a device that read after "for": ``every GPU``, ``GPU 0``, or the author's own words."""
    match value:
        case Device(type=type_, index=index) as device:
            kind = type_ if type_ in ("GPU", "CPU") else "device"
            if device.each or index == EACH:
                return f"every {kind}"
            return f"{kind} {index}" if isinstance(index, int) else (text or f"a {kind}")
        case Devices(type=type_, whole=True):
            return f"every {type_}" if type_ in ("GPU", "CPU") else "every device"
        case _:
            return text


def growth_intent(call: Call) -> Intent:
    """Return the intent of a call of ``set_memory_growth``."""
    device, enable = call.arg(0, "device"), call.value(1, "enable")
    value = enable.value if isinstance(enable, Const) and isinstance(enable.value, bool) else None
    return Intent(Purpose.GROWTH, device_words(device.value, device.text) if device else "", value)


def limit_intent(call: Call) -> Intent:
    """Return the intent of a call that configures logical devices: the limit in MiB of the first of them, or the
    fraction of the memory that its author took for the unit."""
    device, logical = call.arg(0, "device"), call.value(1, "logical_devices")
    devices = device_words(device.value, device.text) if device else ""
    limits = logical.items if isinstance(logical, Seq) else ()
    values = [limit.value for limit in limits if isinstance(limit, Limit)]
    numbers = [value.value for value in values if isinstance(value, Const)]
    if values and len(numbers) == len(values):
        shown = " + ".join(str(number) for number in numbers)
        purpose = Purpose.FRACTION if all(is_share(number) for number in numbers) else Purpose.LIMIT
        return Intent(purpose, devices, numbers[0] if len(numbers) == 1 else None, shown)
    return Intent(Purpose.LIMIT, devices)


def dropped_limit_intent(call: Call) -> Intent:
    """Return the intent of a configuration of a logical device that stands alone: no device is named."""
    given = call.arg(0, "memory_limit")
    size = given.value.value if given is not None and isinstance(given.value, Const) else None
    known = size if isinstance(size, (int, float)) and not isinstance(size, bool) else None
    purpose = Purpose.FRACTION if is_share(known) else Purpose.LIMIT
    return Intent(purpose, "every GPU", known, given.text if given is not None else "")


def is_dropped_limit(call: Call, events: Iterable[Event]) -> bool:
    """Return True if nothing gets the configuration of a logical device that ``call`` makes.

    Other modules may import a name of a module: not of one that starts the runtime itself.

    Args:
        events: those of the program, or of the entry point that makes the call.
    """
    if not call.result_used:
        return True
    if not call.unread:
        return False
    starts = (event for event in events if isinstance(event, RuntimeStart) and event.what != "listing")
    return bool(call.function) or any(start.path == call.path and not start.frames for start in starts)


def is_share(limit: object) -> bool:
    """Return True if the author of a ``memory_limit``, whose unit is MiB, most likely means a fraction of the
    memory."""
    return isinstance(limit, (int, float)) and not isinstance(limit, bool) and 0 < limit < 1


def default_of(argument: Arg, call: Call) -> float | None:
    """Return the number that an option is by default and that the call passes on; None if there is none.

    Nothing is concluded from 0 and from negative numbers, which stand for "no limit", nor where a condition asks for
    the option first.
    """
    value = argument.value
    # A text is wrong as it is, whatever number it stands for.
    default = value.default if isinstance(value, Amount) and value.type != "str" else None
    asked = any(argument.text in text for text, _ in call.guards)
    return default if isinstance(default, (int, float)) and default > 0 and not asked else None


def file_trace(value: Value, event: Event, span: Span) -> tuple[Step, ...]:
    """Return the steps from a value in a configuration file to its use at ``span``; none for any other value."""
    if not isinstance(value, (FileValue, FileConst)) or not value.row:
        return ()
    held = list(map(_held, value.value)) if isinstance(value.value, tuple) else value.value
    shown = str(held) if value.of_list else repr(held)
    told = Step(value.path, Span(value.row, 1, value.row, 1), f"the file has {written(shown)}")
    return told, Step(event.path, span, "it is used here")


def _held(value: Value) -> object:
    return value.value if isinstance(value, FileValue) else value


def file_severity(value: Value) -> Severity:
    """Return ``WARNING`` for a value that is as it is in one configuration file and may be another one elsewhere."""
    return Severity.WARNING if isinstance(value, FileValue) and not value.sure else Severity.ERROR


def visible_intent(call: Call) -> Intent:
    """Return the intent of a call of ``set_visible_devices``."""
    devices = call.arg(0, "devices")
    return Intent(Purpose.VISIBLE, text=devices.text if devices else "")


def severity_of(program: Program, call: Call, outcome: ConfigEffect) -> Severity:
    """Return ``ERROR`` if the defect holds on every path and nothing swallows the exception, else ``WARNING``."""
    hidden = bool(outcome.exception) and is_swallowed(call, outcome.exception)
    return Severity.ERROR if outcome.certain and not hidden and not program.accepts(call) else Severity.WARNING


def handler_notes(call: Event, exception: str, words: str = "the setting never takes effect") -> tuple[str, ...]:
    """Return notes which say that a handler hides ``exception``, or that the handlers around the call catch other
    exceptions."""
    handler = call.handler_for(exception)
    if handler is not None:
        what = "catches it and goes on" if not handler.reraises else "catches it"
        return (f"The handler in {_row_of(handler, call)} {what}: {words}.",)
    caught = [name for handler in call.handlers if handler.here for name in handler.catches]
    if caught:
        first = _row_of(call.handlers[0], call)
        return (f"The handler in {first} catches {' and '.join(caught)}, not {exception}: it does not help.",)
    return ()


def fork_notes(event: Event) -> tuple[str, ...]:
    """Return a note on what a process that is forked has of its parent."""
    if event.state.forked is None:
        return ()
    return ("A process that is forked, as Linux does by default before Python 3.14, has the runtime of its parent.",)


def fork_anchors(event: Event) -> dict[str, Span]:
    """Return the place where the process of an event is made, if it is forked, for fixes."""
    return {"process": event.state.forked[1]} if event.state.forked is not None else {}


def fork_details(event: Event) -> dict[str, Any]:
    """Return the file in which the process of an event is made, if it is forked, for fixes."""
    return {"process": event.state.forked[0]} if event.state.forked is not None else {}


def _row_of(handler: Handler, event: Event) -> str:
    return place(handler.path or event.path, handler.span.row)


def in_one_loop(call: Call) -> bool:
    """Return True if one loop over devices both starts the runtime and configures the next device."""
    outcome = call.effect
    return (
        outcome is not None
        and outcome.several
        and call.devices_loop is not None
        and outcome.cause is not None
        and outcome.cause.devices_loop == call.devices_loop
    )


def late_calls(
    program: Program, real: Sequence[str], purposes_: Sequence[Purpose]
) -> Iterator[tuple[Call, Intent | None]]:
    """Yield the calls of ``real`` functions, and of made-up ones with these purposes, that run after the runtime has
    started, with the intent of the made-up ones. Calls for which one loop over devices is to blame are left out:
    another rule reports them."""
    for call in program.calls():
        if call.effect is None or call.effect.kind != "late" or in_one_loop(call):
            continue
        made_up = purposes.purpose_of(call.name)
        if call.name in real:
            yield call, None
        elif made_up is not None and made_up.purpose in purposes_:
            yield call, read_made_up(call, made_up).intent


def read_made_up(call: Call, made_up: MadeUp) -> Meaning:
    """Return the meaning of a call of a made-up name: its intent, and the arguments that state it."""
    return meaning(call, made_up, device_words)


def configured_after(program: Program, position: int) -> bool:
    """Return True if a configuration after the event at ``position`` would come too late if the runtime were started
    there, and is in time now."""
    return any(
        isinstance(later, Call)
        and later.name.startswith("tf.config.")
        and ".set_" in later.name
        and (later.effect is None or later.effect.kind != "late")
        for later in program.events[position + 1 :]
    )


def too_late(rule: Rule, program: Program, call: Call, intent: Intent, **more: Any) -> Finding:
    """Return the finding for a configuring call after the runtime has started."""
    outcome = call.effect
    assert outcome is not None
    start = outcome.cause
    what = start_words(start) if start is not None else "something starts it"
    has = "has" if outcome.certain or outcome.of_many else "may have"
    message = f"{short(call.name)} after the runtime {has} started: {what}"
    trace = start_trace(start, call, f"{short(call.name)} comes too late")
    if outcome.of_many:
        message += "; with two or more GPUs it is refused"
    raises = "TensorFlow raises" if names.ever_existed(call.name) else "Even the function that exists would raise"
    return rule.finding(
        program,
        call,
        message,
        severity=severity_of(program, call, outcome),
        intent=intent,
        outcome=f"{'With two or more GPUs ' if outcome.of_many else ''}{raises} {outcome.exception}: {outcome.message}",
        advice=where_to(start, call) if start is not None else "Move this to the program's start",
        trace=trace,
        notes=handler_notes(call, outcome.exception) + fork_notes(call),
        anchors={**start_anchors(start, call), **fork_anchors(call)},
        details={
            "called": short(call.name),
            **fork_details(call),
            "training": while_training(call, grows=intent.purpose is Purpose.GROWTH),
            "before": outcome.setting.span.row if outcome.setting is not None else None,
            "before_path": outcome.setting.path if outcome.setting is not None else None,
            **start_details(start, call),
        },
        **more,
    )


def attribute_error(name: str, exception: str = "AttributeError", imported: str = "") -> str:
    """Return Python's error for a name that does not exist; ``imported`` is the whole name that an import asks for."""
    owner, _, last = name.rpartition(".")
    if exception == "ImportError":
        if imported and imported != name:
            return f"Python raises ModuleNotFoundError: No module named '{name.replace('tf', 'tensorflow', 1)}'"
        return f"Python raises ImportError: cannot import name '{last}' from '{owner.replace('tf', 'tensorflow', 1)}'"
    return f"Python raises AttributeError: {owner} has no attribute '{last}'"


def is_of_import(use: Use, program: Program) -> bool:
    """Return True if a name is part of one that an import asks for, so that the finding about the import is enough."""
    if use.origin == "import":
        return False
    parts = use.name.split(".")
    return any(".".join(parts[:count]) in program.imported_names for count in range(1, len(parts) + 1))


def guarded(event: Event, device: str) -> bool:
    """Return True if something ensures that there is a GPU: a condition that mentions GPUs or the list that ``device``
    is from, or a handler for the error that ``gpus[0]`` raises."""
    words = "|".join(["gpu", "device", "cuda", *(re.escape(name) for name in re.findall(r"^[A-Za-z_]\w*", device))])
    return event.handler_for("IndexError") is not None or any(
        re.search(words, text, re.IGNORECASE) for text, _ in event.guards
    )


def attribute_severity(event: Event, exception: str = "AttributeError") -> Severity:
    """Return ``ERROR``, or ``WARNING`` if a handler swallows the exception."""
    return Severity.WARNING if is_swallowed(event, exception) else Severity.ERROR


def is_swallowed(event: Event, exception: str) -> bool:
    """Return True if some handler catches ``exception`` and continues: a handler that ends in ``raise`` or an exit
    hides nothing."""
    return any(handler.takes(exception) and not handler.reraises for handler in event.handlers)


_OPTIONS = {
    "gpu_options.allow_growth": Purpose.GROWTH,
    "gpu_options.per_process_gpu_memory_fraction": Purpose.FRACTION,
    "gpu_options.visible_device_list": Purpose.VISIBLE,
    "gpu_options.allocator_type": Purpose.ALLOCATOR,
}


def plain_options(fields: Mapping[str, Value] | None) -> dict[str, object]:
    """Return the GPU options about memory among a message's fields, with their constants, or None for unknown
    values."""
    found: dict[str, object] = {}
    for name, value in (fields or {}).items():
        if name in _OPTIONS:
            found[name] = value.value if isinstance(value, Const) else None
    # A setting that is switched off is not an intent.
    return {name: value for name, value in found.items() if value is not False}


def options_intent(options: Mapping[str, object]) -> Intent:
    """Return the intent of GPU options: the first of growth, fraction, visible devices, allocator."""
    for name, purpose in _OPTIONS.items():
        if name in options:
            value = options[name]
            known = value if isinstance(value, (bool, int, float, str)) else None
            return Intent(purpose, "every GPU" if purpose is not Purpose.VISIBLE else "", known)
    return Intent(Purpose.OTHER)


def carriers(session: SessionMade) -> dict[str, Span]:
    """Return the places that a rewrite of a session needs: the session's own, and those where its options are set."""
    return {"session": session.span} | {f"field:{name}": span for name, span in session.field_spans.items()}


def constants_of(fields: Mapping[str, Value] | None) -> dict[str, object]:
    """Return all the fields of a message, each with its constant, or None for unknown values."""
    return {name: value.value if isinstance(value, Const) else None for name, value in (fields or {}).items()}


_DURING = re.compile(
    r"(?:^|_)(?:on_(?:epoch|batch|(?:train|test|predict)(?!_begin))"
    r"|train_step|test_step|epoch|adjust|reallocate|rebalance|(?P<word>dynamic))",
    re.IGNORECASE,
)
"""Names of functions that run during the training. ``dynamic`` is another word for memory growth as well."""
_PROGRESS = re.compile(r"\b(?:epoch|step|batch|iteration)s?\b", re.IGNORECASE)


def while_training(call: Event, *, grows: bool = False) -> bool:
    """Return True if an event depends on an epoch or a step: in a callback, or under a condition about progress.

    What comes once before the training, as in ``on_train_begin``, does not.

    Args:
        call: the event. grows: it turns memory growth on, as a function ``enable_dynamic_memory`` may do.
    """
    if any(not (grows and found["word"]) for found in _DURING.finditer(call.function)):
        return True
    return any(_PROGRESS.search(text) for text, _ in call.guards)


def fixed_index(value: Value) -> int | None:
    """Return the number of a device that is one certain GPU, or None for any other device, such as the variable of a
    loop."""
    if isinstance(value, Device) and not value.loop and isinstance(value.index, int):
        return value.index
    return None


def grows_already(event: Event) -> bool:
    """Return True if memory growth is on for every GPU where an event happens: nothing has to set it again."""
    setting = event.state.growth_of(EACH)
    return setting is not None and setting.value == Const(True)


def grows_in_part(event: Event) -> bool:
    """Return True if memory growth is on for some GPU, but not for every GPU, where an event happens."""
    return not grows_already(event) and any(setting.value == Const(True) for setting in event.state.growth.values())
