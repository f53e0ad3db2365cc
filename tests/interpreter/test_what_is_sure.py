"""An error is so on every way and on every machine with the GPUs that the code is about; the rest is a warning."""

from __future__ import annotations

import pytest

from tests.interpreter.test_ways_that_end_early import ENV, GROW, LIMIT, OFF, found

START = "tf.constant(1)\n"
ONE = "tf.config.experimental.set_memory_growth(gpus[0], True)\n"
FLAG = "flag = '--a' in sys.argv\n"

SILENT = {
    "set and started under one condition, then set again": FLAG + f"if flag:\n    {GROW}    {START}{GROW}",
    "a key asked for each value": "def f():\n    "
    + GROW
    + "sorted([2, 1], key=lambda one: f() or one)\n"
    + START
    + GROW,
    "the first GPUs by a slice": "tf.config.set_visible_devices(gpus[:1], 'GPU')\n"
    + START
    + "tf.config.set_visible_devices([gpus[0]], 'GPU')\n",
    "a function that is handed on, and may have been called": (
        "import other\ndef f():\n    " + GROW + "other.run(f)\n" + START + GROW
    ),
    "growth that the environment brings back after a limit": GROW + LIMIT + ENV + START,
    "a function in a table, made before the start": "def f():\n    " + GROW + "table = {'f': f}\n" + START,
}

FOUND = {
    "one of the visible GPUs, which may be all": (
        START + "tf.config.set_visible_devices(gpus[0], 'GPU')\n",
        ["warning TFM103:2"],
    ),
    "the first GPUs, which may be all": (
        START + "tf.config.set_visible_devices(gpus[:1], 'GPU')\n",
        ["warning TFM103:2"],
    ),
    "no GPU": (START + "tf.config.set_visible_devices([], 'GPU')\n", ["error TFM103:2"]),
    "the second GPU": (START + "tf.config.set_visible_devices(gpus[1], 'GPU')\n", ["error TFM103:2"]),
    "one of at least two": (
        START + "if len(gpus) > 1:\n    tf.config.set_visible_devices(gpus[0], 'GPU')\n",
        ["error TFM103:3"],
    ),
    "through a function that nobody calls, where the program comes by": (
        "def g():\n    " + OFF + "g()\ndef f():\n    for gpu in gpus:\n        " + LIMIT + "    g()\n",
        ["warning TFM401:2"],
    ),
    "a function defined under a condition": (
        FLAG + "if flag:\n    def f():\n        " + START + "f()\n" + GROW,
        ["error TFM101:6"],
    ),
    "one of two functions": (
        FLAG + "if flag:\n    def f(): pass\nelse:\n    def f():\n        " + START + "f()\n" + GROW,
        ["warning TFM101:8"],
    ),
    "a method of one of two classes": (
        "class A:\n    def run(self): pass\nclass B:\n    def run(self):\n        "
        + START
        + FLAG
        + "C = A if flag else B\nC().run()\n"
        + GROW,
        ["warning TFM101:9"],
    ),
    "set under the other condition": (
        FLAG + f"if flag:\n    {START}else:\n    {GROW}{GROW}",
        ["warning TFM101:6"],
    ),
    "set on some way, started on all": (FLAG + f"if flag:\n    {GROW}{START}{GROW}", ["warning TFM101:5"]),
    "another value than on any way": (FLAG + f"if flag:\n    {GROW}{START}{OFF}", ["error TFM101:5"]),
    "the environment, perhaps the same": (
        "if sys.argv: " + ENV + START + ENV,
        ["warning TFM105:3"],
    ),
    "where it was accepted, under a condition again": (
        FLAG
        + "def f(on):\n    for gpu in gpus: tf.config.experimental.set_memory_growth(gpu, on)\nf(True)\n"
        + START
        + "if flag: f(False)\n",
        ["warning TFM101:3"],
    ),
    "growth that is refused under a condition only": (
        FLAG + "def f():\n    " + GROW + "if flag:\n    " + LIMIT + "    f()\nelse:\n    f()\n",
        ["warning TFM401:3"],
    ),
    "wrapped by functools": (
        "import functools\ndef d(f):\n    @functools.wraps(f)\n    def w(*a):\n        "
        + START
        + "        return f(*a)\n    return w\n@d\ndef g():\n    "
        + GROW
        + "g()\n",
        ["error TFM101:10"],
    ),
    "growth that the environment may bring back after a limit": (
        GROW + LIMIT + "if sys.argv: " + ENV + START,
        ["warning TFM401:1"],
    ),
    "growth that the environment would bring back, too late": (
        GROW + LIMIT + START + ENV,
        ["error TFM401:1", "error TFM105:4"],
    ),
    "a limit in a second pass of a loop, which may be left before": (
        FLAG + f"for one in range(2):\n    if one:\n        {LIMIT}    else:\n        {GROW}    if flag: break\n",
        ["warning TFM401:6"],
    ),
    "growth in a second pass of a loop, which may be left before": (
        FLAG + f"for one in range(2):\n    if one: {LIMIT}    {GROW}    if flag: break\n",
        ["warning TFM401:4"],
    ),
    "in a finally, started on the way of an exception": (
        FLAG + "try:\n    if flag:\n        " + START + "        tf.config.set_visible_devices(gpus[0], 'GPU')\n"
        "finally:\n    tf.config.set_visible_devices([], 'GPU')\n",
        ["warning TFM103:5", "warning TFM103:7"],
    ),
    "in a finally, started on all ways": (
        "try:\n    " + START + "finally:\n    " + GROW,
        ["error TFM101:4"],
    ),
    "growth on one GPU, visible on some way only": (
        FLAG + "if flag: tf.config.set_visible_devices(gpus[0], 'GPU')\n" + ONE + START,
        ["warning TFM402:3"],
    ),
}


@pytest.mark.parametrize("code", SILENT.values(), ids=SILENT)
def test_what_may_be_in_force_is_not_too_late(code: str) -> None:
    assert found(code) == []


@pytest.mark.parametrize(("code", "expected"), FOUND.values(), ids=FOUND)
def test_found(code: str, expected: list[str]) -> None:
    assert found(code) == expected
