"""The time from a change to its diagnostics, against what Python's own parser costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.texts import HELPER
from tests.processor_time import LINEAR, measured, reference_seconds, tries

pytest.importorskip("pygls")

from tfmemlint.api.request import Options
from tfmemlint.server import analysis
from tfmemlint.server.documents import Document

pytestmark = pytest.mark.slow

MOST_REFERENCES = 3.0
"""Times the parsing of 2,000 lines, some 30 ms: what a check of 500 lines may cost. It costs about 1.3 of that."""


def program(lines: int) -> str:
    """Return a program of some lines of training steps, which configures GPUs in another file, too late."""
    step = """\
def step_{0}(model, data, rate=0.1):
    total = tf.reduce_sum(data) * rate
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(data, training=True)) + total
    grads = tape.gradient(loss, model.trainable_variables)
    return [grad for grad in grads if grad is not None]

"""
    head = "import tensorflow as tf\n\nfrom helper import setup\n\n"
    body = "".join(step.format(number) for number in range(lines // 7))
    return f"{head}{body}x = tf.zeros([1])\nsetup()\n"


def least_seconds(path: Path, text: str) -> float:
    """Return the least processor time of a check after a change."""
    document = Document(path.as_uri(), str(path), text.encode(), "python")
    snapshot = analysis.Snapshot(document, {str(path): document.data}, Options())
    found, _ = measured(lambda: analysis.check(snapshot, analysis.Token()))
    assert [finding.code for finding in found] == ["TFM101"]
    return min(measured(lambda: analysis.check(snapshot, analysis.Token()))[1] for _ in range(3))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\ndependencies = ["tensorflow==2.15.*"]\n')
    (tmp_path / "helper.py").write_text(HELPER)
    return tmp_path / "main.py"


def test_a_change_in_500_lines_costs_little(path: Path) -> None:
    path.write_text("")
    for _ in tries():
        ratio = least_seconds(path, program(500)) / reference_seconds()
        if ratio <= MOST_REFERENCES:
            return
    pytest.fail(f"it costs {ratio:.1f} times what parsing 2,000 lines does")


def test_twice_the_lines_cost_twice_the_time(path: Path) -> None:
    path.write_text("")
    for _ in tries():
        ratio = least_seconds(path, program(2_000)) / least_seconds(path, program(1_000))
        if ratio <= LINEAR:
            return
    pytest.fail(f"twice the lines cost {ratio:.1f} times the time")
