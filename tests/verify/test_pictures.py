"""The page of proofs: what was wanted beside what was held."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tfmemlint.verify.pictures import as_page


def _device(name: str, physical: int, first: float) -> dict[str, Any]:
    return {"name": name, "physical": physical, "total_mib": 16384.0, "first_mib": first, "after_mib": first}


def _intent(devices: str, wish: str, text: str, verdict: str) -> dict[str, Any]:
    return {
        "row": 3,
        "wanted": f"{wish} for {devices}",
        "intent": {"wish": wish, "devices": devices, "value": None, "text": text},
        "verdict": verdict,
        "configuration": "as configured",
        "reason": "",
    }


def _text(memory: dict[str, Any] | None) -> str:
    intents = [
        _intent("GPU 0", "limit", "4096 + 2048", "takes effect"),
        _intent("GPU 1", "growth", "", "no effect"),
    ]
    entry = {"entry_point": "module", "memory": memory, "intents": intents}
    start = {"path": "run.sh", "row": 7, "where": "the command"}
    program = {"filename": "<train>.py", "problem": "", "entry_points": [entry], "started_by": start}
    return json.dumps({"tensorflow": "2.21.0", "ground": "driver", "programs": [program]})


def test_each_gpu_has_what_was_wanted_and_what_was_held() -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib, which isn't installed")
    devices = [_device("GPU:0", 0, 4096.0), _device("GPU:1", 0, 6144.0), _device("GPU:2", 1, 14284.0)]
    text = as_page(_text({"devices": devices}))
    for words in ("GPU 0 wanted", "limit 4096 + 2048", "6,144 MiB of 16,384", "growth: no more than is used"):
        assert words in text
    assert "14,284 MiB of 16,384" in text
    assert "&lt;train&gt;.py, as run.sh:7 starts it" in text


@pytest.mark.parametrize("memory", [None, {"devices": []}])
def test_without_a_measurement_the_verdicts_are_listed(memory: dict[str, Any] | None) -> None:
    text = as_page(_text(memory))
    assert "<svg" not in text
    assert "No memory was measured" in text
    assert "no effect" in text
