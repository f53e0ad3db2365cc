"""The memory of a GPU, where the user tells it, is known wherever limits are judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfmemlint.engine.context import RunContext
from tfmemlint.engine.run import run
from tfmemlint.knowledge.releases import Target
from tfmemlint.plans.read import plan_of
from tfmemlint.sources import Source

LIMITS = """\
import tensorflow as tf


def split(gpu, size):
    limit = tf.config.LogicalDeviceConfiguration(memory_limit=size)
    tf.config.set_logical_device_configuration(gpu, [limit, limit])
"""
MAIN = """\
import tensorflow as tf

from limits import split

for gpu in tf.config.list_physical_devices("GPU"):
    split(gpu, 10000)
print(tf.constant(1))
"""


@pytest.mark.parametrize(("memory", "found"), [(None, []), (16384, ["TFM309"]), (81920, [])])
def test_limits_are_held_against_the_size_across_the_files_of_a_program(
    memory: float | None, found: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "limits.py").write_text(LIMITS, encoding="utf-8")
    (tmp_path / "main.py").write_text(MAIN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    outcomes = run([("limits.py", False), ("main.py", False)], RunContext(gpu_memory_mib=memory))
    assert [finding.code for outcome in outcomes for finding in outcome.findings] == found


def test_the_plan_knows_the_size_too() -> None:
    text = MAIN.replace("from limits import split", LIMITS)
    plan = plan_of(Source("main.py", text), Target.newest(), memory=16384)
    (entry,) = plan.entries
    assert any("TFM309" in one.rules for one in entry.intents), [one.prediction for one in entry.intents]
