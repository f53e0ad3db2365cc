"""The guard of a ``case`` is evaluated once, and only where the pattern may fit."""

from __future__ import annotations

import pytest

from tfmemlint.interpreter import analyze, parse
from tfmemlint.knowledge.releases import Target
from tfmemlint.sources import Source

HEAD = "import sys\nimport tensorflow as tf\nmode = 'train'\nunknown = sys.argv[1]\n"
GUARD = "tf.test.is_gpu_available()"


@pytest.mark.parametrize(
    ("subject", "case", "evaluated"),
    [
        ("mode", f"case 'train' if {GUARD}:", 1),
        ("mode", f"case 'test' if {GUARD}:", 0),
        ("unknown", f"case 'train' if {GUARD}:", 1),
        ("unknown", f"case other if {GUARD}:", 1),
        ("unknown", f"case _ if {GUARD}:", 1),
        ("unknown", "case 'train':", 0),
        ("mode", "case 'train':", 0),
    ],
)
def test_a_guard_is_evaluated_once(subject: str, case: str, evaluated: int) -> None:
    text = f"{HEAD}match {subject}:\n    {case}\n        tf.zeros([1])\n"
    program = analyze(parse(Source("program.py", text)), Target.parse("2.21"))
    assert sum(call.name == "tf.test.is_gpu_available" for call in program.calls()) == evaluated
    assert sum(call.name == "tf.zeros" for call in program.calls()) == ("'test'" not in case)
