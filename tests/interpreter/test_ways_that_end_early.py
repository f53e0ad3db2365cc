"""What is raised, who catches it, and what runs all the same: nothing is claimed of a way that isn't taken."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tfmemlint.engine.check_source import check_source
from tfmemlint.knowledge.releases import Target
from tfmemlint.rulekit.rule import rules
from tfmemlint.sources import Source

RULES = [rule for rule in rules() if rule.code in ("TFM101", "TFM102", "TFM103", "TFM105", "TFM401", "TFM402")]
HEAD = "import os\nimport sys\nimport tensorflow as tf\ngpus = tf.config.list_physical_devices('GPU')\n"
GROW = "for gpu in gpus: tf.config.experimental.set_memory_growth(gpu, True)\n"
OFF = "for gpu in gpus: tf.config.experimental.set_memory_growth(gpu, False)\n"
LIMIT = "tf.config.set_logical_device_configuration(gpus[0], [tf.config.LogicalDeviceConfiguration(512)])\n"
ENV = "os.environ['TF_FORCE_GPU_ALLOW_GROWTH'] = 'true'\n"


def found(code: str) -> list[str]:
    """Severities and codes with the rows of what is found behind the head, as ``error TFM101:7``."""
    source = Source("program.py", HEAD + dedent(code))
    findings = check_source(source, RULES, Target.newest())
    return [f"{finding.severity.value} {finding.code}:{finding.span.row - 4}" for finding in findings]


SILENT = {
    "a refused setting ends the block, its else is not run": LIMIT
    + "try:\n    "
    + OFF
    + "except ValueError:\n    pass\nelse:\n    tf.constant(1)\n"
    + ENV,
    "what an exception passes over": "try:\n    raise KeyError\n    tf.constant(1)\nexcept KeyError:\n    pass\n"
    + GROW,
    "a suppressed exception passes over the rest": "import contextlib\nwith contextlib.suppress(KeyError):\n"
    "    raise KeyError\n    tf.constant(1)\n" + GROW,
}

FOUND = {
    "a start that fails with several GPUs, caught": (
        "try:\n    tf.config.experimental.set_memory_growth(gpus[1], False)\n    tf.constant(1)\n"
        "except ValueError:\n    pass\n" + GROW,
        ["warning TFM402:2", "warning TFM101:6"],
    ),
    "a start in the else of a block that may fail": (
        "def f(): raise KeyError\ntry:\n    if sys.argv: f()\nexcept KeyError:\n    pass\nelse:\n    tf.constant(1)\n"
        + GROW,
        ["warning TFM101:8"],
    ),
    "a handler that starts the runtime": (
        "try:\n    if sys.argv: raise KeyError\nexcept KeyError:\n    tf.constant(1)\n" + GROW,
        ["warning TFM101:5"],
    ),
    "growth, and a limit in a handler": (
        GROW + "try:\n    pass\nexcept Exception:\n    " + LIMIT,
        ["warning TFM401:1"],
    ),
    "growth, and a limit behind a return": (
        "def f():\n    if sys.argv: return\n    " + LIMIT + GROW + "f()\n",
        ["warning TFM401:4"],
    ),
    "the way through finally of a program that is left": (
        GROW + "try:\n    if sys.argv: sys.exit()\n    tf.constant(1)\nfinally:\n    " + LIMIT,
        ["warning TFM401:1", "error TFM102:6"],
    ),
    "the way through finally of a return": (
        "def f():\n    try:\n        return\n    finally:\n        tf.constant(1)\nf()\n" + GROW,
        ["error TFM101:7"],
    ),
    "a break through finally": (
        "while True:\n    try:\n        break\n    finally:\n        tf.constant(1)\n" + GROW,
        ["error TFM101:6"],
    ),
    "what SystemExit does not pass": (
        "try:\n    if sys.argv: sys.exit()\nexcept Exception:\n    tf.constant(1)\nexcept SystemExit:\n"
        "    tf.constant(1)\n" + GROW,
        ["warning TFM101:7"],
    ),
}


@pytest.mark.parametrize("code", SILENT.values(), ids=SILENT)
def test_what_is_not_reached_does_nothing(code: str) -> None:
    assert [one for one in found(code) if "TFM401" not in one] == []


@pytest.mark.parametrize(("code", "expected"), FOUND.values(), ids=FOUND)
def test_found(code: str, expected: list[str]) -> None:
    assert found(code) == expected
