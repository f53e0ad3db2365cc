"""Proofs as a page with pictures: what was wanted of each GPU beside what was held of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tfmemlint.reporters.pictures.charts import Bar, Part, bars
from tfmemlint.reporters.pictures.page import figure, heading, launched, page, paragraph, table

_SIZES = re.compile(r"\d+(?:\.\d+)?(?: \+ \d+(?:\.\d+)?)*$")
_WANTED, _HELD, _LEFT = "wanted", "held after the first use", "left to others"


def as_page(text: str) -> str:
    """Return an HTML page for proofs, as `as_json` gives them."""
    data = json.loads(text)
    parts = [paragraph(f"TensorFlow {data['tensorflow']}, on the ground “{data['ground']}”", dim=True)]
    for program in data["programs"]:
        if program["problem"]:
            parts += [heading(program["filename"]), paragraph(program["problem"])]
        for entry in program["entry_points"]:
            parts += _entry(program["filename"] + launched(program["started_by"]), entry)
    return page("What programs want of GPU memory, and what they hold", parts)


def _entry(path: str, entry: Mapping[str, Any]) -> list[str]:
    name = path if entry["entry_point"] == "module" else f"{path}, {entry['entry_point']}"
    parts = [heading(name)]
    held = _held((entry["memory"] or {}).get("devices", ()))
    rows = [bar for gpu, sizes in sorted(held.items()) for bar in _pair(gpu, sizes, entry["intents"])]
    if rows:
        caption = "Each GPU: what the program wanted of it, and what its process held."
        parts.append(figure(bars(rows, "MiB", f"Wanted and held memory of each GPU in {name}"), caption))
    else:
        parts.append(paragraph("No memory was measured here.", dim=True))
    listed = [
        (str(intent["row"]), intent["wanted"], intent["verdict"], intent["reason"] or intent["configuration"])
        for intent in entry["intents"]
    ]
    return [*parts, table(("line", "wanted", "verdict", "why"), listed, numbers=(0,))]


def _held(devices: Sequence[Mapping[str, Any]]) -> dict[int, tuple[float, float]]:
    """Return the MiB that are held of each physical GPU, and its total, by its number."""
    found: dict[int, tuple[float, float]] = {}
    for device in devices:
        held = max(device.get("first_mib") or 0.0, device.get("after_mib") or 0.0)
        before = found.get(device["physical"], (0.0, 0.0))
        found[device["physical"]] = max(before[0], held), max(before[1], device.get("total_mib") or 0.0)
    return found


def _pair(gpu: int, sizes: tuple[float, float], intents: Sequence[Mapping[str, Any]]) -> list[Bar]:
    held, total = sizes
    own = [intent["intent"] for intent in intents if intent["intent"]["devices"] in (f"GPU {gpu}", "every GPU")]
    limits = [intent["text"] for intent in own if _SIZES.match(intent["text"] or "")]
    words = "nothing was wanted" if not own else "; ".join(dict.fromkeys(_words(intent) for intent in own))
    wanted = [Part(_WANTED, float(size), "c0") for size in (limits[-1].split(" + ") if limits else ())]
    left = [Part(_LEFT, total - held, "rest")] if total > held else []
    return [
        Bar(f"GPU {gpu} wanted", wanted, words),
        Bar(f"GPU {gpu} held", [Part(_HELD, held, "c1"), *left], f"{held:,.0f} MiB of {total:,.0f}"),
    ]


def _words(intent: Mapping[str, Any]) -> str:
    words = f"{intent['wish']} {intent['text']}".strip()
    return f"{words}: no more than is used" if words == "growth" else words
