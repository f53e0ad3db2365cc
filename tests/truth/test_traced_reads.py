"""A report in a ``tf.function``, before and after the fix: how often TensorFlow really asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixture_files import FIXTURES, read_text
from tests.truth.harness import failure, run
from tfmemlint.verify.edge import Edge

pytestmark = pytest.mark.slow

COUNTED = """\
import tensorflow as tf
_asked = []
_ask = tf.config.experimental.get_memory_info
tf.config.experimental.get_memory_info = lambda device: _asked.append(device) or _ask(device)
"""


@pytest.mark.parametrize(("side", "times"), [("bad_in_a_step.py", 1), ("bad_in_a_step.fixed.py", 3)])
def test_a_report_is_asked_for_in_each_step_where_it_is_fixed(side: str, times: int, edge: Edge) -> None:
    path = FIXTURES / "TFM610" / side
    code = f"{COUNTED}{read_text(path)}\nassert len(_asked) == {times}, _asked\n"
    assert not failure(run(edge, code, Path(path), 1))
