"""A plan as a page with pictures: each GPU is a bar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfmemlint.reporters.pictures.charts import PALETTE, Bar, Part, bars
from tfmemlint.reporters.pictures.page import figure, heading, launched, page, paragraph, table

USUAL_GPU_MIB = 16384.0
"""The length of a bar of a GPU whose memory nobody has named, in MiB; a picture needs one."""


def as_page(data: Mapping[str, Any]) -> str:
    """Return an HTML page for a plan, as `as_data` gives it."""
    parts = []
    known = data["gpu_memory_mib"]
    if not known:
        parts.append(
            paragraph(f"--gpu-memory was not given: a GPU is drawn with {USUAL_GPU_MIB / 1024:g} GiB", dim=True)
        )
    for problem in data.get("problems", []):
        parts.append(paragraph(f"{problem['path']}: {problem['message']}"))
    for file in data["files"]:
        for entry in file["entries"]:
            parts += _entry(file["path"] + launched(file["started_by"]), entry, known or USUAL_GPU_MIB)
    return page("What TensorFlow takes of each GPU", parts)


def _entry(path: str, entry: Mapping[str, Any], total: float) -> list[str]:
    name = path if entry["kind"] == "module" else f"{path}, {entry['entry']}"
    start = entry["start"]
    parts = [heading(name)]
    if start is not None:
        parts.append(paragraph(f"line {start['row']}: {start['code'] or start['what']} starts the runtime", dim=True))
    rows = [_device(device, total) for device in entry["devices"]]
    if rows:
        caption = "Each GPU: who gets what of it, which line says so, and what is left to others."
        parts.append(figure(bars(rows, "MiB", f"The memory of each GPU in {name}"), caption))
    lost = [intent for intent in entry["intents"] if intent["verdict"] != "takes effect"]
    if lost:
        parts.append(paragraph("What is asked for and lost:"))
        parts.append(table(("line", "asked for", "outcome"), [_lost(intent) for intent in lost], numbers=(0,)))
    return parts


def _lost(intent: Mapping[str, Any]) -> Sequence[str]:
    outcome = "; ".join(text for text in (intent["outcome"], *intent["details"]) if text)
    return str(intent["row"]), intent["words"], outcome


def _device(device: Mapping[str, Any], total: float) -> Bar:
    """Return the bar of a GPU. Growth is drawn as free memory that the program may take."""
    memory = device["memory"]
    rows = memory["rows"] if memory is not None else ()
    lines = f" (line {', '.join(map(str, rows))})" if rows else ""
    name = device["device"]
    if not device["visible"]:
        where = f" (line {device['visible_row']})" if device["visible_row"] else ""
        return Bar(
            name, [Part("not visible", total, "rest", f"{name} is not visible{where}", "///")], f"not visible{where}"
        )
    if memory is None:
        return Bar(name, [Part("not known", total, "paper", pattern="..")], "not known")
    words = f"{memory['words']}{lines}"
    if memory["mib"]:
        single = len(memory["mib"]) == 1
        parts = [
            Part(
                "memory limit" if single else f"logical device {number}",
                float(size),
                PALETTE[number % len(PALETTE)],
                f"{name}, {'limit' if single else f'logical device {number}'}: {size:g} MiB{lines}",
            )
            for number, size in enumerate(memory["mib"])
        ]
        left = total - sum(part.size for part in parts)
        # Limits may be for more than there is.
        return Bar(name, [*parts, *([Part("left to others", left, "rest")] if left > 0 else [])], words)
    if memory["fraction"]:
        part = Part("fraction", total * min(memory["fraction"], 1.0), "c0", words)
        return Bar(name, [part, Part("left to others", max(total - part.size, 0), "rest")], words)
    if memory["growth"]:
        return Bar(name, [Part("as it is needed", total, "c4", words)], words)
    if memory["kind"] == "all":
        return Bar(name, [Part("all that is free", total, "c5", words)], words)
    return Bar(name, [Part("not known", total, "paper", words, "..")], words)
