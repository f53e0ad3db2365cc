"""Read the intents from the events of a program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tfmemlint.intents.model import StatedIntent, number_of
from tfmemlint.interpreter.program import Call, EnvWrite, Event, ItemLookup, ProtoMade, SessionMade, Store
from tfmemlint.interpreter.values import EACH, Const, Limit, Seq, Value
from tfmemlint.knowledge import environment, purposes
from tfmemlint.knowledge.functions import LOGICAL_CONFIGURATION, MEMORY_REPORTS, SET_GROWTH, SET_LOGICAL, SET_VISIBLE
from tfmemlint.knowledge.variables import wants_growth
from tfmemlint.model.finding import Span
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.explain import (
    device_words,
    dropped_limit_intent,
    growth_intent,
    limit_intent,
    options_intent,
    plain_options,
    read_made_up,
    visible_intent,
)

SHARE = "gpu_options.per_process_gpu_memory_fraction"
"""The option of a session that sets the share of the memory."""

VARIABLES = {
    "CUDA_VISIBLE_DEVICES": Purpose.VISIBLE,
    "TF_FORCE_GPU_ALLOW_GROWTH": Purpose.GROWTH,
    "TF_GPU_ALLOCATOR": Purpose.ALLOCATOR,
    "TF_PER_DEVICE_MEMORY_LIMIT_MB": Purpose.LIMIT,
}
"""The environment variables that TensorFlow reads, by what they ask for."""


def read(event: Event, entry: str) -> Iterator[StatedIntent]:
    """Yield the intents that one event states."""
    match event:
        case Call():
            yield from _of_call(event, entry)
        case EnvWrite():
            yield from _of_variable(event, entry)
        case SessionMade(fields=fields) if fields:
            yield from _of_options(event, entry, "session", fields, {})
        case ProtoMade(consumed=False):
            yield from _of_options(event, entry, "proto", event.fields, event.field_spans)
        case ProtoMade(carried=False) if event.field_spans and not event.name.endswith("GPUOptions"):
            # Something that is not followed has it.
            yield from _of_options(event, entry, "handed-on", event.fields, event.field_spans)
        case Store():
            yield from _of_store(event, entry)
        case ItemLookup():
            yield from _of_item(event, entry)


def _of_call(call: Call, entry: str) -> Iterator[StatedIntent]:
    device = call.arg(0, "device")
    gpu = number_of(device.value) if device is not None else None
    if call.name == SET_GROWTH:
        yield _make(call, entry, growth_intent(call), "call", call.name, call.text, gpu)
    elif call.name in SET_LOGICAL and device is not None and getattr(device.value, "type", None) == "CPU":
        # Logical CPUs have no limits: nothing is asked of a GPU.
        return
    elif call.name in SET_LOGICAL:
        sizes = _sizes(call.value(1, "logical_devices"))
        yield _make(call, entry, limit_intent(call), "call", call.name, call.text, gpu, sizes)
    elif (
        call.name in LOGICAL_CONFIGURATION
        and (call.unread or not call.result_used)
        and call.arg(0, "memory_limit") is not None
    ):
        intent = dropped_limit_intent(call)
        known = intent.purpose is Purpose.LIMIT and isinstance(intent.value, (int, float))
        sizes = (float(intent.value),) if known and isinstance(intent.value, (int, float)) else None
        yield _make(call, entry, intent, "dropped", call.name, call.text, EACH, sizes)
    elif call.name in SET_VISIBLE and call.value(1, "device_type") != Const("CPU"):
        yield _make(call, entry, visible_intent(call), "call", call.name, call.text)
    elif call.name in MEMORY_REPORTS:
        words = device_words(device.value, device.text) if device is not None else ""
        yield _make(call, entry, Intent(Purpose.REPORT, words, "current"), "report", call.name, call.text, gpu)
    else:
        made_up = purposes.purpose_of(call.name)
        if made_up is not None and made_up.purpose is not Purpose.OTHER:
            meaning = read_made_up(call, made_up)
            gpu = number_of(meaning.device.value) if meaning.device is not None else EACH
            sizes = None
            if meaning.unit == "mib" and isinstance(meaning.intent.value, (int, float)):
                sizes = (float(meaning.intent.value),)
            yield _make(call, entry, meaning.intent, "made-up", call.name, call.text, gpu, sizes)


def _of_variable(write: EnvWrite, entry: str) -> Iterator[StatedIntent]:
    value = write.value.value if isinstance(write.value, Const) else None
    purpose = VARIABLES.get(write.name)
    by = "environment"
    if purpose is None:
        purpose = environment.purpose_of(write.name)
        by = "made-up"
    if purpose is None or (purpose is Purpose.ALLOCATOR and value == ""):
        # An empty name means the default allocator.
        return
    words = "" if purpose in (Purpose.VISIBLE, Purpose.ALLOCATOR) else "every GPU"
    shown: object = value
    if purpose is Purpose.GROWTH:
        shown = wants_growth(write.name, str(value)) if value is not None else None
    sizes = None
    if purpose is Purpose.LIMIT:
        number = _number(value)
        sizes = (number,) if number is not None else None
    known = shown if isinstance(shown, (bool, int, float, str)) else None
    text = "" if purpose is Purpose.GROWTH else (str(value) or "''" if value is not None else write.text)
    yield _make(write, entry, Intent(purpose, words, known, text), by, write.name, write.name, EACH, sizes)


def _of_options(
    event: SessionMade | ProtoMade, entry: str, by: str, fields: Mapping[str, Value], spans: Mapping[str, Span]
) -> Iterator[StatedIntent]:
    # A separate `GPUOptions` has its fields by their last names.
    owner = "gpu_options." if event.name.endswith(".GPUOptions") else ""
    options = plain_options({owner + field: value for field, value in fields.items()})
    for name, value in options.items():
        if name == "gpu_options.visible_device_list" and value == "":
            continue
        if name == SHARE and value == 0 and "gpu_options.allow_growth" in options:
            continue  # 0 means the default, to which growth applies
        intent = options_intent({name: value})
        span = spans.get(name.removeprefix(owner))
        yield _make(event, entry, intent, by, event.name, name, EACH, span=span)


def _of_store(store: Store, entry: str) -> Iterator[StatedIntent]:
    purpose = purposes.ASSIGNED.get(store.attribute)
    on_device = store.owner == "device"
    if purpose is None or not (on_device or store.owner.startswith("tf.config") or store.owner == "tf"):
        return
    value = store.value.value if isinstance(store.value, Const) else None
    known = value if isinstance(value, (bool, int, float, str)) else None
    words = device_words(store.device, store.owner_text) if on_device else "every GPU"
    gpu = number_of(store.device) if on_device else EACH
    sizes = None
    if purpose is Purpose.LIMIT and isinstance(value, (int, float)) and not isinstance(value, bool):
        if 0 < value <= 1:
            purpose = Purpose.FRACTION
        else:
            sizes = (float(value),)
    intent = Intent(purpose, words, known, store.value_text)
    yield _make(store, entry, intent, "assignment", f"{store.owner}.{store.attribute}", store.text, gpu, sizes)


def _of_item(item: ItemLookup, entry: str) -> Iterator[StatedIntent]:
    key = item.key.value if isinstance(item.key, Const) else None
    report = purposes.KEYS.get(key) if isinstance(key, str) else None
    real = {"current", "peak"} if item.of in MEMORY_REPORTS else {"device_name", "compute_capability"}
    if report is None or key in real or item.call is None:
        return
    device = item.call.arg(0, "device")
    words = device_words(device.value, device.text) if device is not None else ""
    gpu = number_of(device.value) if device is not None else None
    yield _make(item, entry, Intent(Purpose.REPORT, words, report), "made-up", item.of, f"[{key!r}]", gpu)


def _make(
    event: Event,
    entry: str,
    intent: Intent,
    by: str,
    name: str,
    text: str,
    gpu: int | str | None = None,
    sizes: tuple[float, ...] | None = None,
    span: Span | None = None,
) -> StatedIntent:
    return StatedIntent(
        intent=intent,
        by=by,
        name=name,
        text=text,
        span=span or event.span,
        statement=event.statement if span is None else span,
        entry=entry,
        frames=event.frames,
        gpu=gpu,
        sizes=sizes,
        certain=event.certain,
        event=event,
    )


def _sizes(logical: Value) -> tuple[float, ...] | None:
    if not isinstance(logical, Seq):
        return None
    sizes: list[float] = []
    for limit in logical.items:
        number = _number(limit.value.value) if isinstance(limit, Limit) and isinstance(limit.value, Const) else None
        if number is None:
            return None
        sizes.append(number)
    return tuple(sizes)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
