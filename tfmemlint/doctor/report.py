"""Print the doctor's report, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import IO, Any

from tfmemlint.doctor import report_sections
from tfmemlint.doctor.diagnosis import Diagnosis
from tfmemlint.doctor.ground_status import GroundStatus
from tfmemlint.reporters.json_text import json_text
from tfmemlint.reporters.language import localized, localized_text
from tfmemlint.reporters.paint import Line, Segment, cells, columns, painter

SCHEMA = 1
"""The version of the JSON. It rises when a key is removed or changes its meaning, not for a new key."""
WIDTH = 100
"""The width of the report, in columns: at most on a terminal, always elsewhere."""


def show(found: Diagnosis, stream: IO[str], *, color: bool | None = None) -> None:
    """Print the report for people, in plain text, or in colour on a terminal."""
    width = min(columns(stream) or WIDTH, WIDTH)
    painter(stream, color)(_lines(found, width))


def _lines(found: Diagnosis, width: int) -> Iterator[Line]:
    for title, body in (
        ("Python", report_sections.python(found)),
        ("TensorFlow", report_sections.tensorflow(found)),
        ("Libraries", report_sections.libraries(found)),
        ("Driver", report_sections.driver(found)),
        ("GPUs", report_sections.cards(found)),
        ("Environment", report_sections.environment(found)),
        ("Verification", report_sections.verification(found)),
        ("Sandbox", report_sections.sandbox(found)),
    ):
        shown = localized_text(title)
        blanks = " " * (report_sections.LABEL - sum(cell for _, cell in cells(shown)))
        for number, paragraph in enumerate(body):
            label = Segment(f"{shown}{blanks}" if not number else " " * report_sections.LABEL, "label")
            for line in report_sections.wrapped(localized(paragraph), width - report_sections.LABEL):
                yield [label, *line]
                label = Segment(" " * report_sections.LABEL)
    yield []
    yield from report_sections.wrapped(localized(report_sections.conclusion(found)), width)


def as_json(found: Diagnosis) -> str:
    """Return the report as one JSON object. Sizes are in MiB; unknown values are null, or "" for texts."""
    python = asdict(found.python)
    tensorflow = python.pop("tensorflow")
    shown: dict[str, Any] = {
        "schema": SCHEMA,
        "python": python,
        "tensorflow": tensorflow,
        "machine": {**asdict(found.machine), **asdict(found.around)},
        "environment": [{**asdict(setting), "verdict": setting.verdict.value} for setting in found.settings],
        "grounds": [_ground(ground) for ground in found.grounds],
        "sandbox": asdict(found.sandbox) if found.sandbox is not None else None,
        "best": found.best.name if found.best is not None else None,
        "better": found.better.name if found.better is not None else None,
    }
    return json_text(shown) + "\n"


def _ground(ground: GroundStatus) -> dict[str, Any]:
    return {**asdict(ground), "possible": ground.possible}
