"""What the rewrites of made-up names do on TensorFlow: what the names say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_made_up_names import fixed
from tests.truth.harness import failure, has, in_force, run, settings
from tfmemlint.verify.edge import Edge

PROVEN = {
    "tf.config.experimental.enable_gpu_growth()": "allow_growth=True",
    "tf.config.set_memory_preallocation(False)": "allow_growth=True",
    "tf.config.gpus.enable_dynamic_memory()": "allow_growth=True",
    "tf.config.experimental.set_gpu_memory_cap(gpus[0], 2048)": "limits=[[2048.0]]",
    "tf.config.gpu.limit_memory('GPU:0', gb=4)": "limits=[[4096.0]]",
    "tf.memory.set_limit(4 * 1024**3)": "limits=[[4096.0]]",
    "tf.config.set_vram_fraction(0.5)": "limits=[[4096.0]]",
    "tf.config.experimental.set_memory_percentage(gpus[0], 50)": "limits=[[4096.0]]",
    "print(tf.gpu.get_used_memory())": "",
}


@pytest.mark.parametrize("line", PROVEN)
def test_a_rewritten_invention_does_what_its_name_says(line: str, edge: Edge) -> None:
    result = run(edge, fixed(line, mib=8192), Path("program.py"), 1)
    assert not failure(result)
    assert has(result, settings(PROVEN[line])), in_force(result)
    assert not failure(run(edge, fixed(line, mib=8192), Path("program.py"), 0))
