"""The articles after their fixes, on the installed TensorFlow: they run, and what their authors wanted is in force."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.articles import fixed_article, read_article
from tests.test_articles import MADE
from tests.truth.harness import failure, has, in_force, run, settings
from tfmemlint.verify.edge import Edge

pytestmark = pytest.mark.slow

WANTED = {
    ("a01_growth_loop.py", 1): "allow_growth=True",
    ("a01_growth_loop.py", 2): "allow_growth=True",
    ("a02_virtual_device.py", 1): "limits=[[4096]]",
    ("a02_virtual_device.py", 2): "limits=[[4096], []]",
    ("a03_set_memory_limit.py", 1): "limits=[[8192]]",
    ("a03_set_memory_limit.py", 2): "limits=[[8192], []]",
    ("a05_strategy_first.py", 1): "limits=[[4915]]",
    ("a05_strategy_first.py", 2): "limits=[[4915], [11468]]",
    ("a06_fraction_option.py", 1): "limits=[[6553]]",
    ("a06_fraction_option.py", 2): "limits=[[6553], [6553]]",
    ("a06_session_of_tf1.py", 1): "limits=[[6553]]",
    ("a06_session_of_tf1.py", 2): "limits=[[6553], [6553]]",
    ("a06_options_after_the_model.py", 1): "limits=[[8192]]",
    ("b02_growth_and_info.py", 1): "allow_growth=True",
    ("b02_growth_and_info.py", 2): "allow_growth=True",
    ("b05_growth_then_limit.py", 1): "limits=[[4096]]",
    ("b05_growth_then_limit.py", 2): "limits=[[4096], [4096]]",
}
"""By article and number of GPUs; the others only have to run."""
SAYS = {
    ("a04_strategy_devices.py", 2): "devices: 2",
    ("a12_device_details.py", 1): "of 17179869184 bytes",
    ("a13_memory_guard.py", 1): "Memory used: ",
    ("a15_env_late.py", 3): "GPUs: 2",
    ("b02_growth_and_info.py", 2): "/physical_device:GPU:1 ",
    ("c01_session.py", 1): "[[19. 22.]",
    ("c03_report_memory.py", 1): "'current'",
    ("c05_local_devices.py", 2): "['/device:GPU:0', '/device:GPU:1']",
    ("c05_print_loop.py", 2): "Num GPUs: 2",
}


@pytest.mark.parametrize("gpus", (0, 1, 2, 3))
@pytest.mark.parametrize("name", MADE)
def test_a_fixed_article_does_what_its_author_wanted(name: str, gpus: int, edge: Edge) -> None:
    text, _ = read_article(name)
    result = run(edge, fixed_article(name, text).text, Path(name), gpus)
    assert not failure(result)
    wanted = settings(WANTED.get((name, gpus), ""))
    assert has(result, wanted), in_force(result)
    assert SAYS.get((name, gpus), "") in result.stdout
