"""Compare two results of `tfmemlint fit --json`."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import IO, Any

from tfmemlint.fit.report import mib
from tfmemlint.reporters.language import localized
from tfmemlint.reporters.paint import Line, Segment, colourful, painter, printable

MAX_LISTED = 12
"""The number of differences that are listed; a bound for readability."""
MIN_SHARE = 0.005
"""The part of the larger peak below which a difference is not listed; a bound for readability."""
CONDITIONS = {
    "tensorflow": "TensorFlow",
    "gpus": "GPUs",
    "gpu_memory_mib": "MiB of each GPU",
    "in_use_mib": "MiB in use",
    "jit": "XLA",
    "steps": "training steps",
}
"""The conditions that two runs may differ in, and their words."""


def load(path: str) -> dict[str, Any]:
    """Read a result.

    Raises:
        ValueError: the file can't be read, or is no such result.
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from None
    except ValueError:
        raise ValueError(f"{path}: it is not JSON") from None
    if not isinstance(found, dict) or not isinstance(found.get("devices"), list) or "gpu_memory_mib" not in found:
        raise ValueError(f"{path}: it is not written by `tfmemlint fit --json`")
    return found


def compare(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Return the differences of two results, device by device. Sizes are bytes; what one of them lacks is null."""
    names = list(dict.fromkeys(device["name"] for data in (before, after) for device in data["devices"]))
    return {
        "script": [before.get("script"), after.get("script")],
        "outcome": [before["outcome"], after["outcome"]],
        "conditions": {
            name: [before.get(name), after.get(name)] for name in CONDITIONS if before.get(name) != after.get(name)
        },
        "devices": [_device(name, _of(before, name), _of(after, name)) for name in names],
    }


def _of(data: dict[str, Any], name: str) -> dict[str, Any]:
    return next((device for device in data["devices"] if device["name"] == name), {})


def _device(name: str, before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "peak": [before.get("peak"), after.get("peak")],
        "peak_of_requests": [before.get("peak_of_requests"), after.get("peak_of_requests")],
        "room_by_replay": [before.get("room_by_replay"), after.get("room_by_replay")],
        "held_at_peak": _pairs(before.get("held_at_peak") or {}, after.get("held_at_peak") or {}),
        "allocations": [
            {"role": role, "what": what, "type": kind, "shape": _shape(shapes), "bytes": sizes}
            for (role, what, kind), (sizes, shapes) in _allocations(before, after).items()
            if sizes[0] != sizes[1]
        ],
    }


def _allocations(
    before: dict[str, Any], after: dict[str, Any]
) -> dict[tuple[str, str, str], tuple[list[int], list[set[str]]]]:
    """Return bytes and shapes on each side. An operation with another shape, as of another batch, is the same one."""
    sides = (_sizes(before), _sizes(after))
    pairs = _pairs(*({key: sum(shapes.values()) for key, shapes in side.items()} for side in sides))
    return {key: (sizes, [set(side.get(key, {})) for side in sides]) for key, sizes in pairs.items()}


def _shape(shapes: list[set[str]]) -> str:
    """Return the one shape that an operation has on each side, or on both; "" if it has several."""
    first, second = (", ".join(one_side) if len(one_side) < 2 else "several" for one_side in shapes)
    if "several" in (first, second):
        return ""
    return f"{first} → {second}" if first and second and first != second else first or second


def _sizes(device: dict[str, Any]) -> dict[tuple[str, str, str], dict[str, int]]:
    found: dict[tuple[str, str, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for group in device.get("allocations") or []:
        found[group["role"], group["what"], group["type"]][group["shape"]] += group["bytes"]
    return found


def _pairs(before: dict[Any, int], after: dict[Any, int]) -> dict[Any, list[int]]:
    """Return what each side has, those with the largest difference first."""
    pairs = {key: [before.get(key, 0), after.get(key, 0)] for key in [*before, *after]}
    return dict(sorted(pairs.items(), key=lambda item: (-abs(item[1][1] - item[1][0]), item[0])))


def show(names: tuple[str, str], found: dict[str, Any], stream: IO[str]) -> None:
    """Print the differences."""
    lines: list[Line] = []
    for place, (title, name) in enumerate(zip(("before", "after"), names, strict=True)):
        script = found["script"][place]
        of = f" ({printable(script)})" if script else ""
        line: Line = [Segment(f"{title:<7}", "label"), Segment(printable(name), "path"), Segment(f"{of}: ", "dim")]
        lines.append([*line, Segment(found["outcome"][place])])
    for name, sides in found["conditions"].items():
        first, second = (_condition(side) for side in sides)
        lines.append([Segment(f"{CONDITIONS[name]}", "label"), Segment(f": {first} → {second}")])
    for device in found["devices"]:
        heads = [Segment(f"  {'before':>12} {'after':>12}  {'change':<20} ", "dim")]
        lines += [[*heads, Segment(printable(device["name"]), "label")], _row("peak", *device["peak"])]
        lines.append(_row("requested at a time", *device["peak_of_requests"]))
        lines.append(_row("memory_limit that is enough, by a replay", *device["room_by_replay"]))
        lines += [_row(role, *sizes) for role, sizes in device["held_at_peak"].items() if any(sizes)]
        least = max((size or 0 for size in device["peak"]), default=0) * MIN_SHARE
        changed = [group for group in device["allocations"] if abs(group["bytes"][1] - group["bytes"][0]) >= least]
        for group in changed[:MAX_LISTED]:
            what = " ".join(text for text in (group["what"] or group["role"], group["type"], group["shape"]) if text)
            lines.append(_row(f"  {what}", *group["bytes"]))
        if len(changed) > MAX_LISTED:
            lines.append([Segment(f"    and {len(changed) - MAX_LISTED} more", "dim")])
    painter(stream, colourful(stream, None))(map(localized, lines))


def _condition(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "not known" if value is None else f"{value:g}" if isinstance(value, float) else printable(str(value))


def _row(what: str, before: int | None, after: int | None) -> Line:
    shown = [f"{mib(size):>12}" if size is not None else f"{'not known':>12}" for size in (before, after)]
    change = ""
    if before is not None and after is not None and before != after:
        share = f" ({(after - before) / before:+.0%})" if before else " (new)"
        share = share if after else " (gone)"
        change = f"{'+' if after > before else '-'}{mib(abs(after - before))}{share}"
    style = "" if not change else "error" if change.startswith("+") else "good"
    return [Segment(f"  {shown[0]} {shown[1]}  "), Segment(f"{change:<20} ", style), Segment(printable(what))]
