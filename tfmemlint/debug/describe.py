"""States, events and values of the interpreter in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import (
    AmountTold,
    Call,
    CallHanded,
    ChildEnv,
    CopyDropped,
    DeviceAt,
    DeviceTest,
    End,
    EnvWrite,
    Event,
    ItemLookup,
    LateOption,
    MissingMember,
    NeverRun,
    OptionsEmptied,
    ProtoMade,
    RankTaken,
    RuntimeStart,
    SessionMade,
    Store,
    Use,
)
from tfmemlint.interpreter.state import ConfigEffect, Phase, Setting, State, Tri
from tfmemlint.interpreter.state.options import NumberTested
from tfmemlint.interpreter.state.texts import OptionsDropped
from tfmemlint.interpreter.values import EACH, Const, Device, Devices, Limit, Made, Ref, Seq, Unknown, Value

if TYPE_CHECKING:
    from tfmemlint.interpreter.observer import Origin
    from tfmemlint.model.finding import Span

MAX_VALUE_CHARACTERS = 80
"""Characters of a value in one line of the report: a list of hundreds of items says no more in full."""
_VERSION = re.compile(r" (?:[\w.]+@\d+#\d+|\.\w+#\d+|@\d+)(?=\s|$)")
"""The marks by which the interpreter tells conditions of one text apart: how often their names were bound before."""
_STARTS = {
    "context": "starts the eager context",
    "allocator": "makes the GPU devices and their allocator",
    "listed": "lists the physical devices",
}
_HAS = {Tri.NO: "", Tri.MAYBE: "perhaps started", Tri.YES: "started", Tri.UNKNOWN: "not known"}


def describe_state(state: State) -> dict[str, str]:
    """Return what is known of the runtime, by the name of each part; parts that are as at the start are left out."""
    parts = {
        "context": _phase(state.context),
        "allocator": _phase(state.allocator),
        "devices listed": _phase(state.listed),
        "eager execution": {True: "", False: "off", None: "not known"}[state.eager],
        "open graphs": str(state.graphs or ""),
        **_table("growth", state.growth),
        **_table("limits", state.limits),
        "limits of CPU": _setting(state.cpu_split),
        "visible GPUs": _setting(state.visible),
        **_table("threading", state.threading),
        **{f"env {name}": describe_value(value) for name, value in sorted(state.env.items())},
        "CUDA_VISIBLE_DEVICES as read": describe_value(state.cuda_visible_devices),
        "before the entry point": "anything may have happened" if state.entry_unknown else "",
        "process": "a child process of the program" if state.in_child_process else "",
        "GPUs of the machine": _gpus(state),
    }
    return {name: words for name, words in parts.items() if words}


def _phase(phase: Phase) -> str:
    words = _HAS[phase.has]
    if not words or phase.by is None:
        return words
    by = f"{words} by {phase.by.name} ({place(phase.by.path, phase.by.span)})"
    return f"{by}, under {describe_guards(phase.guards)}" if phase.guards else by


def _table(name: str, settings: Mapping[int | str, Setting] | Mapping[str, Setting]) -> dict[str, str]:
    found = {}
    for key, setting in settings.items():
        gpu = {EACH: "of each GPU", "?": "of a GPU that is not known"}.get(str(key), f"of GPU {key}")
        found[f"{name} {gpu if name != 'threading' else key}"] = _setting(setting)
    return found


def _setting(setting: Setting | None) -> str:
    if setting is None:
        return ""
    if setting.either:
        ways = [_setting(way) or "not set" for way in setting.either]
        return " or ".join(dict.fromkeys(ways))
    by = f" ({place(setting.by.path, setting.by.span)})" if setting.by is not None else ""
    return f"{describe_value(setting.value)}{by}"


def _gpus(state: State) -> str:
    if state.max_gpus is not None:
        return f"{state.min_gpus} to {state.max_gpus}" if state.min_gpus != state.max_gpus else f"{state.max_gpus}"
    return f"at least {state.min_gpus}" if state.min_gpus else ""


def describe_event(event: Event) -> tuple[str, list[str]]:
    """Return an event in a line, and further lines: what TensorFlow does, and under which conditions."""
    return _words(event), list(_details(event))


def _words(event: Event) -> str:
    match event:
        case Call():
            return f"call of {event.name}({', '.join(_argument(arg.keyword, arg.value) for arg in event.args)})"
        case Use():
            return f"mention of {event.name}"
        case Store():
            return f"assignment to {event.owner}.{event.attribute}: {describe_value(event.value)}"
        case ItemLookup():
            return f"lookup of {describe_value(event.key)} in what {event.of} returned"
        case LateOption():
            return f"option {event.field} = {describe_value(event.value)}, set after the session was made"
        case OptionsEmptied():
            return f"{event.method} of {event.text}, which loses {_fields(event.fields)}"
        case NumberTested():
            return f"comparison of the number {event.index} of {event.text} with the count of the GPUs"
        case AmountTold():
            return f"amount in {event.unit} of {event.source}, told in {event.label}"
        case DeviceTest():
            return f"test that no device passes: {event.text}"
        case OptionsDropped():
            return f"parse_known_args() that drops {', '.join(event.given)}"
        case NeverRun():
            return f"{event.kind} that would call {event.called}, and that nothing runs"
        case CallHanded():
            return f"call of {event.text}() in the place of a function ({event.parameter})"
        case CopyDropped():
            return f"copy of {event.receiver} by {event.made}, with another {', '.join(event.keys)}, which nothing gets"
        case MissingMember():
            return f"attribute {event.member} of {event.of}, which does not have it"
        case EnvWrite() | ChildEnv():
            where = "of a child process" if isinstance(event, ChildEnv) else ""
            return f"environment {where}{' ' if where else ''}variable {event.name} = {describe_value(event.value)}"
        case DeviceAt():
            return f"device number {event.index}"
        case RuntimeStart():
            again = "" if event.first else " (started before)"
            return f"{event.name} {_STARTS.get(event.what, event.what)}{again}"
        case RankTaken():
            return f"the process number of {event.rank.name} picks a GPU ({event.how})"
        case SessionMade() | ProtoMade():
            fields = "not known" if event.fields is None else _fields(event.fields)
            return f"{event.name} is made, with {fields}"
        case End():
            return (
                "the module ends" if event.entry == "module" else f"{event.entry}() ends: nothing in the file calls it"
            )
        case _:
            return type(event).__name__


def _argument(keyword: str | None, value: Value) -> str:
    return describe_value(value) if keyword is None else f"{keyword}={describe_value(value)}"


def _fields(fields: Mapping[str, Value]) -> str:
    return ", ".join(f"{name}={describe_value(value)}" for name, value in fields.items()) or "no options"


def _details(event: Event) -> Iterable[str]:
    if isinstance(event, Call) and event.effect is not None:
        yield _effect(event.effect)
    if event.guards:
        yield f"under {describe_guards(event.guards)}"
    if not event.certain:
        yield "not in every run"
    if event.repeated:
        yield "in a later pass of its loop"
    if event.probed:
        yield "behind a check that the name is there"
    for handler in event.handlers:
        yield f"an exception meets except {', '.join(handler.catches)} (line {handler.span.row})"
    for step in event.frames:
        yield f"reached by {place(step.path, step.span)}: {step.words}"


def _effect(effect: ConfigEffect) -> str:
    sure = "TensorFlow" if effect.certain else "On some path TensorFlow"
    if effect.several or effect.of_many:
        sure = f"With two or more GPUs {sure[0].lower() if not effect.certain else sure[0]}{sure[1:]}"
    does = f"raises {effect.exception}: {effect.message}" if effect.exception else "raises nothing"
    because = ""
    if effect.cause is not None:
        because = f", as {effect.cause.name} has started it ({place(effect.cause.path, effect.cause.span)})"
    elif effect.setting is not None:
        because = f", as of the setting at {place(effect.setting.path, effect.setting.span)}"
    return f"effect {effect.kind}: {sure} {does}{because}"


def describe_guards(guards: Iterable[tuple[str, bool]] | None) -> str:
    """Return the conditions under which something happens."""
    words = [
        f"{'' if outcome else 'not '}({' '.join(_VERSION.sub('', text).split())})" for text, outcome in guards or ()
    ]
    return " and ".join(dict.fromkeys(words)) or "no condition"


def describe_value(value: Value | None) -> str:
    """Return a value in words, in at most `MAX_VALUE_CHARACTERS` characters; "" for None."""
    words = "" if value is None else _value(value)
    return _short(words)


def _value(value: Value) -> str:
    match value:
        case Unknown():
            return "not known"
        case Const():
            return repr(value.value)
        case Device():
            which = "each" if value.each else "one" if value.index is None else value.index
            return f"{value.kind} {value.type or 'device'} ({which})"
        case Devices():
            return f"{'all' if value.whole else 'some'} {value.kind} {value.type or ''} devices".replace("  ", " ")
        case Limit():
            return f"limit {_value(value.value)} MiB" if value.value is not None else "no limit"
        case Seq():
            return f"[{', '.join(_value(item) for item in value.items[:MAX_VALUE_CHARACTERS])}]"
        case Ref():
            return value.name
        case Made():
            return f"result of {value.name}()"
        case _:
            name = getattr(value, "name", "")
            return f"{type(value).__name__.lower()} {name}".strip()


def describe_origin(text: str, origin: Origin) -> str:
    """Return where a value became unknown, given the source of the expression that has it."""
    shown, source = (_short(" ".join(words.split())) for words in (text, origin.text))
    of = "" if shown == source else f"{shown} is not known: "
    return f"{of}{source} ({place(origin.path, origin.span)}) {origin.why}"


def _short(words: str) -> str:
    return words if len(words) <= MAX_VALUE_CHARACTERS else f"{words[: MAX_VALUE_CHARACTERS - 3]}..."


def place(path: str, span: Span) -> str:
    """Return a place as messages show it."""
    return f"{path}:{span.row}"
