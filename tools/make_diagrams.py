#!/usr/bin/env python3
"""Draw ``docs/images/memory.svg`` and ``states.svg``; the figures are those of ``docs/evidence/allocator.md``.

``--check`` writes nothing and ends with 1 where a picture is out of date.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"

GPU_MIB = 4096
IN_USE_MIB = 300
"""The GPU of the scenarios in ``docs/evidence/allocator.md``, and the memory of it that others use."""
BARS = (
    ("default_grab", "no setting: all that is free, but 1800 MiB"),
    ("growth", "growth, tensors of 1, 100 and 1000 MiB"),
    ("growth_kept", "growth, after 1000 MiB were freed"),
    ("limit", "memory_limit=512"),
    ("two_logical", "two logical devices, 1000 and 2000 MiB"),
    ("v1_fraction", "a session with a fraction of 0.25"),
    ("list_only", "import and list_physical_devices"),
)
"""Scenarios, each with words for it."""

_FONT = 'font-family="system-ui, -apple-system, Segoe UI, Roboto, sans-serif"'
_COLORS = {"taken": "#d97706", "others": "#94a3b8", "free": "#e2e8f0", "text": "#1e293b", "faint": "#475569"}


def main() -> int:
    """Write the pictures, or compare them; the exit code."""
    parser = argparse.ArgumentParser(prog="tools/make_diagrams.py", description="Draw the diagrams of the pages.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a picture is out of date")
    check = parser.parse_args().check
    stale = 0
    for name, text in pictures().items():
        path = IMAGES / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        print(f"{'out of date' if check else 'written'}: docs/images/{name}")
        if not check:
            path.write_text(text, encoding="utf-8", newline="\n")
    return 1 if check and stale else 0


def pictures() -> dict[str, str]:
    """Return the pictures by file name."""
    return {"memory.svg": _memory(), "states.svg": _states()}


def measured(scenario: str) -> float:
    """Return the MiB that the newest release took in a scenario of the evidence.

    Raises:
        ValueError: the evidence has no such scenario, or no figure for it.
    """
    text = (ROOT / "docs" / "evidence" / "allocator.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| {scenario} \|.*\| ([^|]*) \|$", text, re.MULTILINE)
    if row is None:
        raise ValueError(f"docs/evidence/allocator.md has no scenario {scenario!r}")
    if row[1] == "nothing":
        return 0.0
    figures = re.fullmatch(r"([\d., ]+) MiB", row[1])
    if figures is None:
        raise ValueError(f"{scenario}: {row[1]!r} is no sum of MiB")
    return sum(map(float, figures[1].split(", ")))


def _memory() -> str:
    left, width, height, step = 20, 460, 22, 56
    per_mib = width / GPU_MIB
    parts = [_text(left, 34, f"What one process takes of a GPU of {GPU_MIB} MiB", size=17, weight=600)]
    legend = (("taken", "TensorFlow"), ("others", f"in use before ({IN_USE_MIB} MiB)"), ("free", "free"))
    place = left
    for color, words in legend:
        parts += [_box(place, 50, 14, 14, color), _text(place + 20, 62, words, size=13, color="faint")]
        place += 46 + 7 * len(words)
    for number, (scenario, words) in enumerate(BARS):
        y = 104 + number * step
        taken = measured(scenario)
        figure = f"{taken:g} MiB" if taken else "nothing"
        parts += [
            _text(left, y - 7, words, size=14),
            _text(left + width, y - 7, figure, size=14, weight=600, anchor="end"),
            _box(left, y, width, height, "free"),
            _box(left, y, IN_USE_MIB * per_mib, height, "others"),
        ]
        if taken:
            parts.append(_box(left + IN_USE_MIB * per_mib, y, max(taken * per_mib, 2), height, "taken"))
    bottom = 104 + len(BARS) * step
    parts.append(
        _text(left, bottom - 2, "Measured on a simulated driver: docs/evidence/allocator.md", size=12, color="faint")
    )
    return _picture(left * 2 + width, bottom + 14, parts, "The memory that one process takes of a GPU, by setting")


def _states() -> str:
    boxes = (
        ("import tensorflow", "no GPU is touched", "free"),
        ("list_physical_devices", "CUDA_VISIBLE_DEVICES is read", "free"),
        ("configure", "growth, limits, visible devices", "ok"),
        ("the runtime starts", "a tensor, a model, tf.device, a strategy", "taken"),
        ("from now on", "each change raises RuntimeError", "others"),
    )
    parts = [_text(20, 34, "Configuration counts until the runtime starts", size=17, weight=600)]
    y, width, height, step = 56, 460, 48, 74
    colors = {"ok": "#bbf7d0", "free": _COLORS["free"], "taken": "#fed7aa", "others": "#fecaca"}
    for number, (title, words, color) in enumerate(boxes):
        top = y + number * step
        parts.append(f'<rect x="20" y="{top}" width="{width}" height="{height}" rx="8" fill="{colors[color]}"/>')
        parts.append(_text(36, top + 21, title, size=15, weight=600))
        parts.append(_text(36, top + 39, words, size=13, color="faint"))
        if number:
            parts.append(
                f'<path d="M {20 + width / 2} {top - 22} v 16 m -5 -6 l 5 6 l 5 -6" fill="none" '
                'stroke="#475569" stroke-width="2"/>'
            )
    return _picture(
        500, y + len(boxes) * step, parts, "The states of TensorFlow's runtime, and when configuration counts"
    )


def _picture(width: float, height: float, parts: list[str], title: str) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img" {_FONT}>'
    )
    ground = f'<rect width="{width:g}" height="{height:g}" rx="10" fill="#ffffff"/>'
    return "\n".join([head, f"<title>{escape(title)}</title>", ground, *parts, "</svg>"]) + "\n"


def _box(x: float, y: float, width: float, height: float, color: str) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3" fill="{_COLORS[color]}"/>'


def _text(
    x: float, y: float, words: str, *, size: int, weight: int = 400, anchor: str = "start", color: str = "text"
) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" '
        f'fill="{_COLORS[color]}">{escape(words)}</text>'
    )


if __name__ == "__main__":
    sys.exit(main())
