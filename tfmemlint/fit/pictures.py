"""The result of a measurement as a page with pictures."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from tfmemlint.fit.held import COPIED, SPACE, merged
from tfmemlint.fit.observation import MIB
from tfmemlint.reporters.pictures.charts import Bar, Part, Texts, bars, course
from tfmemlint.reporters.pictures.page import figure, heading, page, paragraph, table

MAX_LAYERS = 25
"""The number of layers that are drawn; a bound for readability."""
MIN_SHARE = 0.002
"""The part of a peak below which a layer is among the others; a bound for readability."""
MAX_ROWS = 40
"""The number of allocations in the table; a bound for readability."""
MIN_ROW_BYTES = MIB // 20
"""The size of an allocation that is 0.1 MiB in the table."""
_TRAINED, _OF_OPTIMIZERS, _OTHER = "trained variables", "variables of optimizers", "other variables"
_GRADIENTS, _FORWARD, _UNUSED = "gradients", "activations and other results", "held and not in use"
_COLOURS = {
    _TRAINED: "c0",
    _OF_OPTIMIZERS: "c4",
    _FORWARD: "c1",
    _GRADIENTS: "c5",
    COPIED: "c2",
    _OTHER: "c3",
    _UNUSED: "rest",
}
"""The colour of each kind of memory, in the order in which they are drawn."""
_INPUT, _ELSEWHERE = "(input)", "(no layer)"
_NUMBERED = re.compile(r"_\d+$")
_OF_GRADIENT = re.compile(r"(?:Grad|Backprop)(?:[A-Z]\w*|V\d)?$")
"""The ends of the names of operations that only gradients have, such as ``ReluGrad`` and ``Conv2DBackpropInput``."""
_CALLS = ("gradient_tape", "gradients", "while", "cond", "body")


def as_page(data: Mapping[str, Any]) -> str:
    """Return an HTML page for a result, as `as_data` gives it."""
    script = PurePath(data["script"]).name
    card = data["gpu_model"] or f"{data['gpu_memory_mib'] / 1024:g} GiB"
    words = f"{script}: {data['outcome']}"
    parts = [paragraph(_about(data, card), dim=True)]
    if data["problem"]:
        parts.append(paragraph(data["problem"]))
    for device in data["devices"]:
        parts += _of_device(device)
    parts += [*(paragraph(note) for note in data["notes"]), paragraph(data["not_known"], dim=True)]
    return page(words, parts)


def _about(data: Mapping[str, Any], card: str) -> str:
    gpus = "1 simulated GPU" if data["gpus"] == 1 else f"{data['gpus']} simulated GPUs"
    card = f"({card})" if data["gpu_model"] else f"of {card}"
    steps = "1 training step" if data["steps"] == 1 else f"{data['steps']} training steps"
    return f"tfmemlint fit on {gpus} {card}, TensorFlow {data['tensorflow']}, {steps}"


def _of_device(device: Mapping[str, Any]) -> list[str]:
    name, peak = device["name"], device["peak"]
    if peak is None:
        return [heading(name), paragraph("its allocator does not report how much it gave out")]
    parts = [heading(f"{name}: peak {peak / MIB:,.0f} MiB")]
    parts.append(paragraph(_sizes(device)))
    over_time = device["over_time"]
    if over_time:
        texts = Texts(
            across="allocations and releases, in their order",
            up="MiB held",
            limit="what TensorFlow may take",
            describe=f"Memory held on {name}: it begins at 0 and is {peak / MIB:,.0f} MiB at its peak.",
        )
        heights = [size / MIB for size in over_time["held"]]
        marks = [(place, str(number)) for number, place in enumerate(over_time["steps"], 1)]
        room = device["room"] / MIB if device["room"] else None
        caption = (
            "Memory held over the run; dotted lines are the ends of the training steps. Kernels compute nothing, so the"
            " order is known, and the time that passes between two of them on a real GPU is not."
        )
        parts.append(figure(course(heights, marks, room, texts), caption))
    groups = device["allocations"]
    if groups:
        parts += _at_peak(name, groups)
    return parts


def _sizes(device: Mapping[str, Any]) -> str:
    """Return the sizes beside the peak, in words."""
    known = []
    if device["room"]:
        known.append(f"TensorFlow may take {device['room'] / MIB:,.0f} MiB of the GPU")
    if device.get("peak_of_requests"):
        known.append(f"{device['peak_of_requests'] / MIB:,.0f} MiB were requested at a time")
    if device.get("room_by_replay"):
        known.append(f"memory_limit={-(-device['room_by_replay'] // MIB)} is enough, by a replay of the requests")
    return "; ".join(known)


def _at_peak(name: str, groups: Sequence[Mapping[str, Any]]) -> list[str]:
    kinds: dict[str, float] = defaultdict(float)
    for group in groups:
        kinds[kind_of(group)] += group["bytes"] / MIB
    whole = Bar("all", [Part(kind, kinds[kind], colour) for kind, colour in _COLOURS.items() if kinds.get(kind)])
    by_layer = layers(groups)
    ordered = sorted(by_layer, key=lambda layer: -sum(by_layer[layer].values()))
    least = sum(kinds.values()) * MIN_SHARE
    large = [layer for layer in ordered if sum(by_layer[layer].values()) >= least][:MAX_LAYERS]
    rows = [_bar(layer, by_layer[layer]) for layer in large]
    if len(ordered) > len(large):
        rest: dict[str, float] = defaultdict(float)
        for layer in ordered[len(large) :]:
            for kind, size in by_layer[layer].items():
                rest[kind] += size
        others = len(ordered) - len(large)
        rows.append(_bar("1 other" if others == 1 else f"{others} others", rest))
    listed = [
        (f"{group['bytes'] / MIB:,.1f}", kind_of(group), _what(group), str(group["number"]))
        for group in merged(groups)[:MAX_ROWS]
        if group["bytes"] >= MIN_ROW_BYTES
    ]
    return [
        figure(bars([whole], "MiB", f"The peak of {name} by kind"), "What the peak is made of, by kind."),
        figure(bars(rows, "MiB", f"The peak of {name} by layer and kind"), "What the peak is made of, by layer."),
        table(("MiB", "kind", "what", "number"), listed, numbers=(0, 3)),
    ]


def _bar(name: str, sizes: Mapping[str, float]) -> Bar:
    parts = [
        Part(kind, sizes[kind], colour, f"{name}, {kind}: {sizes[kind]:,.1f} MiB")
        for kind, colour in _COLOURS.items()
        if sizes.get(kind)
    ]
    return Bar(name, parts, f"{sum(sizes.values()):,.0f}")


def _what(group: Mapping[str, Any]) -> str:
    return " ".join(text for text in (group["what"], group["type"], group["shape"].replace(",", ", ")) if text)


def kind_of(group: Mapping[str, Any]) -> str:
    """Return the kind of a group of allocations: a role, or for what operations made, whether it is a gradient."""
    role, what = group["role"], group["what"]
    if role in (_TRAINED, _OF_OPTIMIZERS, _OTHER, COPIED):
        return str(role)
    if what == SPACE:
        return _UNUSED
    return _GRADIENTS if "gradient" in what.lower() or _OF_GRADIENT.search(what) else _FORWARD


def layers(groups: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Return the MiB of each layer by kind.

    The layers are those that have variables, by the variables' paths. What operations made belongs to the layer that
    their name has; Keras adds a number to it where a layer is called again. An operation of another name is of the
    scope that it is in.
    """
    groups = list(groups)
    paths = {group["what"] for group in groups if group["role"] in (_TRAINED, _OTHER) and "/" in group["what"]}
    known = {path.rpartition("/")[0] for path in paths}
    by_slot = {path.replace("/", "_"): path.rpartition("/")[0] for path in paths}
    found: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for group in groups:
        role, what = group["role"], group["what"]
        if role in (_TRAINED, _OTHER):
            layer = what.rpartition("/")[0] or what or _ELSEWHERE
        elif role == _OF_OPTIMIZERS:
            layer = _of_slot(what.rpartition("/")[2], by_slot)
        else:
            layer = _INPUT if role == COPIED else _of_operation(what, known)
        found[layer][kind_of(group)] += group["bytes"] / MIB
    return found


def _of_slot(name: str, by_slot: Mapping[str, str]) -> str:
    """Return the layer of an optimizer's variable: its name begins with that of the variable that it is for."""
    while name:
        if name in by_slot:
            return by_slot[name]
        name = name.rpartition("_")[0]
    return _ELSEWHERE


def _of_operation(name: str, known: Iterable[str]) -> str:
    """Return the layer that an operation's name has: the longest path of a layer in it."""
    parts = [part for part in name.split("/")[:-1] if part not in _CALLS]
    for layer in sorted(known, key=lambda layer: (-layer.count("/"), layer)):
        wanted = layer.split("/")
        for start in range(len(parts) - len(wanted) + 1):
            if all(map(_is_named, parts[start:], wanted)):
                return layer
    # The first scope is the model.
    return _NUMBERED.sub("", parts[1]) if len(parts) > 1 else _ELSEWHERE


def _is_named(part: str, layer: str) -> bool:
    return layer in (part, _NUMBERED.sub("", part))
