"""Every way in which Python can reach a call: what comes too late is found, and nothing else is."""

from __future__ import annotations

import sys
from textwrap import dedent

import pytest

from tfmemlint.engine.check_source import check_source
from tfmemlint.interpreter import analyze
from tfmemlint.interpreter.program import End
from tfmemlint.knowledge.releases import Target
from tfmemlint.rulekit.rule import rules
from tfmemlint.sources import Source

RULES = [rule for rule in rules() if rule.code in ("TFM101", "TFM102", "TFM103", "TFM105", "TFM402")]
HEAD = "import tensorflow as tf\ngpus = tf.config.list_physical_devices('GPU')\n"
GROW = "for gpu in gpus: tf.config.experimental.set_memory_growth(gpu, True)\n"


def found(code: str, target: str = "2.21") -> list[str]:
    """Codes with the rows of what is found, as ``TFM101:7``."""
    source = Source("program.py", dedent(code))
    return [f"{finding.code}:{finding.span.row}" for finding in check_source(source, RULES, Target.parse(target))]


SILENT = {
    "nothing starts before": HEAD + GROW + "x = tf.constant(1)\n",
    "a function that is only defined": HEAD + "def build():\n    return tf.constant(1)\n" + GROW,
    "a lambda that is only defined": HEAD + "make = lambda: tf.constant(1)\n" + GROW,
    "a decorated function that is only defined": HEAD + "@tf.function\ndef f(x):\n    return x + 1\n" + GROW,
    "a method that is only defined": HEAD
    + "class A:\n    def f(self):\n        return tf.constant(1)\na = A()\n"
    + GROW,
    "a generator that nobody goes through": HEAD + "def f():\n    yield tf.constant(1)\ng = f()\n" + GROW,
    "the other branch": HEAD + "import sys\nif sys.argv:\n    tf.constant(1)\nelse:\n    " + GROW,
    "conditions that exclude each other": HEAD
    + "import sys\nflag = len(sys.argv) > 1\nif flag:\n    tf.constant(1)\nif not flag:\n    "
    + GROW,
    "after a return": HEAD + "def f():\n    return 1\n    tf.constant(1)\nf()\n" + GROW,
    "after an exit": HEAD + "import sys\nif len(sys.argv) > 9:\n    tf.constant(1)\n    sys.exit()\n" + GROW,
    "after a raise": HEAD + "def f(x):\n    if x:\n        tf.constant(1)\n        raise ValueError\nf(0)\n" + GROW,
    "a graph is open": HEAD + "with tf.Graph().as_default():\n    x = tf.constant(1)\n" + GROW,
    "eager execution is off": HEAD + "tf.compat.v1.disable_eager_execution()\nx = tf.constant(1)\n" + GROW,
    "the same value twice": HEAD + GROW + "x = tf.constant(1)\n" + GROW,
    "the helper is called twice": HEAD + "def grow():\n    " + GROW + "grow()\ntf.constant(1)\ngrow()\n",
    "an unknown name": HEAD + "import mystery\nmystery.build(1)\n" + GROW,
    "a homonym": "import titanframe as tf\ntf.constant(1)\ntf.config.experimental.set_memory_growth(0, 1)\n",
    "a shadowed name": HEAD + "def f(tf2):\n    tf2.constant(1)\nf(object())\n" + GROW,
    "the version says no": HEAD + "if tf.__version__.startswith('1.'):\n    tf.constant(1)\n" + GROW,
    "a name that hasattr does not find": HEAD + "if hasattr(tf, 'ConfigProto'):\n    tf.constant(1)\n" + GROW,
    "a false constant": HEAD + "DEBUG = False\nif DEBUG:\n    tf.constant(1)\n" + GROW,
    "type checking only": HEAD + "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    tf.constant(1)\n" + GROW,
    "growth by map": HEAD + "list(map(lambda g: tf.config.experimental.set_memory_growth(g, True), gpus))\n",
    "growth in a comprehension": HEAD
    + "[tf.config.experimental.set_memory_growth(g, True) for g in gpus]\ntf.constant(1)\n",
    "growth by index": HEAD
    + "for i in range(len(gpus)):\n    tf.config.experimental.set_memory_growth(gpus[i], True)\ntf.constant(1)\n",
    "growth in a while loop": HEAD
    + "i = 0\nwhile i < len(gpus):\n    tf.config.experimental.set_memory_growth(gpus[i], True)\n    i += 1\n"
    + "tf.constant(1)\n",
    "growth on the one GPU that is visible": HEAD
    + "if gpus:\n    tf.config.set_visible_devices(gpus[0], 'GPU')\n"
    + "    tf.config.experimental.set_memory_growth(gpus[0], True)\ntf.constant(1)\n",
    "growth where there is one GPU": HEAD
    + "if len(gpus) == 1:\n    tf.config.experimental.set_memory_growth(gpus[0], True)\ntf.constant(1)\n",
    "one GPU by the environment": "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'\n"
    + HEAD
    + "if gpus:\n    tf.config.experimental.set_memory_growth(gpus[0], True)\ntf.constant(1)\n",
    "growth on the first and the second": HEAD
    + "tf.config.experimental.set_memory_growth(gpus[0], True)\n"
    + "tf.config.experimental.set_memory_growth(gpus[1], True)\ntf.constant(1)\n",
    "the environment after the import": "import os\nimport tensorflow as tf\n"
    "os.environ['CUDA_VISIBLE_DEVICES'] = '0'\n" + GROW,
    "the same variable again": "import os\nimport tensorflow as tf\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n"
    + "tf.config.list_physical_devices()\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n",
    "a test of another release": HEAD
    + "import pytest\nfrom packaging import version\n"
    + "@pytest.mark.skipif(version.parse(tf.__version__) >= version.parse('2.0.0'), reason='TensorFlow 1')\n"
    + "def test():\n    tf.constant(1)\n    "
    + GROW,
    "a class of tests that is skipped": HEAD
    + "import unittest\n@unittest.skip('later')\nclass Tests(unittest.TestCase):\n    def test(self):\n"
    + "        tf.constant(1)\n        "
    + GROW,
    "after a skip": HEAD
    + "import unittest\nclass Tests(unittest.TestCase):\n    def test(self):\n        tf.constant(1)\n"
    + "        self.skipTest('later')\n        "
    + GROW,
    "all GPUs made visible, as they are": HEAD + "tf.constant(1)\ntf.config.set_visible_devices(gpus, 'GPU')\n",
    "all devices made visible, as they are": HEAD
    + "tf.constant(1)\ntf.config.set_visible_devices(tf.config.list_physical_devices())\n",
    "the same visible GPU in other words": HEAD
    + "tf.config.set_visible_devices([gpus[0]], 'GPU')\ntf.constant(1)\n"
    + "tf.config.set_visible_devices(gpus[0], 'GPU')\ntf.config.set_visible_devices(gpus[:1], 'GPU')\n",
    "the one GPU of the environment made visible": "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'\n"
    + HEAD
    + "tf.constant(1)\ntf.config.set_visible_devices(gpus[0], 'GPU')\n",
    "no GPU by the environment": "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '-1'\n"
    + HEAD
    + "tf.constant(1)\nif gpus:\n    tf.config.set_visible_devices(gpus[0], 'GPU')\n"
    + GROW,
    "no GPU by the environment, counted": "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = ''\n"
    + HEAD
    + "tf.constant(1)\nif len(gpus) > 0:\n    tf.config.set_visible_devices(gpus[0], 'GPU')\n",
    "the visible ones, where none is": HEAD
    + "tf.config.set_visible_devices([], 'GPU')\ntf.constant(1)\n"
    + "for g in tf.config.get_visible_devices('GPU'): tf.config.experimental.set_memory_growth(g, True)\n",
    "the environment where there is no GPU": "import os\n" + HEAD + "if not gpus:\n"
    "    os.environ['CUDA_VISIBLE_DEVICES'] = '-1'\n",
    "the first and the rest, then all again": HEAD
    + "tf.config.experimental.set_memory_growth(gpus[0], True)\n"
    + "for g in gpus[1:]: tf.config.experimental.set_memory_growth(g, True)\ntf.constant(1)\n"
    + GROW,
    "set and started under a condition, then set again": HEAD
    + "import sys\nif sys.argv:\n    "
    + GROW
    + "    tf.constant(1)\n"
    + GROW,
    "a decorator that configures first": HEAD
    + "def growing(f):\n    def wrapper(*args):\n        "
    + GROW
    + "        return f(*args)\n    return wrapper\n"
    + "@growing\ndef train(n):\n    return tf.constant(n)\ntrain(1)\ntrain(2)\n",
    "conditions on the arguments that exclude each other": HEAD
    + "import sys\nif len(sys.argv) > 1:\n    tf.constant(1)\nif len(sys.argv) <= 1:\n    pass\n"
    + "if not len(sys.argv) > 1:\n    "
    + GROW,
    "counts of GPUs that exclude each other": HEAD
    + "if len(gpus) > 1:\n    tf.constant(1)\nif len(gpus) <= 1:\n    "
    + GROW,
    "conditions on the environment that exclude each other": HEAD
    + "import os\nif os.environ.get('EAGER'):\n    tf.constant(1)\nif not os.environ.get('EAGER'):\n    "
    + GROW,
    "after a return under the other condition": HEAD
    + "import sys\nflag = len(sys.argv) > 1\nif flag:\n    tf.constant(1)\n"
    + "def setup():\n    if flag:\n        return\n    "
    + GROW
    + "setup()\n",
    "the runtime asked whether it has started": HEAD
    + "from tensorflow.python.eager import context\ntf.constant(1)\nif not context.context()._initialized:\n    "
    + GROW,
    "a handler for what never started": HEAD
    + "try:\n    s = tf.distribute.TPUStrategy()\nexcept ValueError:\n    "
    + GROW,
}

TOO_LATE = {
    "a tensor": (HEAD + "x = tf.constant(1)\n" + GROW, ["TFM101:4"]),
    "a dataset": (HEAD + "d = tf.data.Dataset.range(3)\n" + GROW, ["TFM101:4"]),
    "a device scope that is only made": (HEAD + "d = tf.device('/CPU:0')\n" + GROW, ["TFM101:4"]),
    "a strategy": (HEAD + "s = tf.distribute.MirroredStrategy()\n" + GROW, ["TFM101:4"]),
    "an aliased module": (
        "import tensorflow\nexp = tensorflow.config.experimental\nx = tensorflow.constant(1)\n"
        "for g in exp.list_physical_devices('GPU'): exp.set_memory_growth(g, True)\n",
        ["TFM101:4"],
    ),
    "from-imports": (
        "from tensorflow import config, constant as c\nfrom tensorflow.config.experimental import set_memory_growth\n"
        "x = c(1)\nfor g in config.list_physical_devices('GPU'): set_memory_growth(g, True)\n",
        ["TFM101:4"],
    ),
    "a star import": (
        "from tensorflow import *\nx = constant(1)\n"
        "for g in config.list_physical_devices('GPU'): config.experimental.set_memory_growth(g, True)\n",
        ["TFM101:3"],
    ),
    "compat.v2": (
        "import tensorflow.compat.v2 as tf\nx = tf.constant(1)\n"
        "for g in tf.config.list_physical_devices('GPU'): tf.config.experimental.set_memory_growth(g, True)\n",
        ["TFM101:3"],
    ),
    "getattr with a literal": (
        HEAD + "x = tf.constant(1)\nf = getattr(tf.config.experimental, 'set_memory_growth')\n"
        "for g in gpus: f(g, True)\n",
        ["TFM101:5"],
    ),
    "a module that may be missing": (
        "try:\n    import tensorflow as tf\nexcept ImportError:\n    tf = None\n"
        "gpus = tf.config.list_physical_devices('GPU')\nx = tf.constant(1)\n" + GROW,
        ["TFM101:7"],
    ),
    "a called function": (HEAD + "def f():\n    return tf.constant(1)\nf()\n" + GROW, ["TFM101:6"]),
    "a function called by a function": (
        HEAD + "def f():\n    return tf.constant(1)\ndef g():\n    return f()\ng()\n" + GROW,
        ["TFM101:8"],
    ),
    "a default argument": (HEAD + "def f(x=tf.constant(1)):\n    return x\n" + GROW, ["TFM101:5"]),
    "a decorator": (HEAD + "@tf.device('/CPU:0')\ndef f():\n    pass\n" + GROW, ["TFM101:6"]),
    "a class body": (HEAD + "class A:\n    x = tf.constant(1)\n" + GROW, ["TFM101:5"]),
    "a constructor": (
        HEAD + "class A:\n    def __init__(self):\n        self.x = tf.constant(1)\na = A()\n" + GROW,
        ["TFM101:7"],
    ),
    "an inherited method": (
        HEAD + "class A:\n    def f(self):\n        return tf.constant(1)\nclass B(A):\n    pass\nB().f()\n" + GROW,
        ["TFM101:9"],
    ),
    "a property": (
        HEAD + "class A:\n    @property\n    def f(self):\n        return tf.constant(1)\na = A()\na.f\n" + GROW,
        ["TFM101:9"],
    ),
    "super": (
        HEAD
        + "class A:\n    def __init__(self):\n        self.x = tf.constant(1)\nclass B(A):\n    def __init__(self):\n"
        "        super().__init__()\nB()\n" + GROW,
        ["TFM101:10"],
    ),
    "a lambda that is called": (HEAD + "f = lambda: tf.constant(1)\nf()\n" + GROW, ["TFM101:5"]),
    "a comprehension": (HEAD + "xs = [tf.constant(i) for i in range(3)]\n" + GROW, ["TFM101:4"]),
    "a with block": (HEAD + "with tf.device('/GPU:0'):\n    pass\n" + GROW, ["TFM101:5"]),
    "an assignment expression": (HEAD + "if (x := tf.constant(1)) is not None:\n    pass\n" + GROW, ["TFM101:5"]),
    "a match statement": (
        HEAD
        + "import sys\nmatch sys.argv:\n    case []:\n        tf.constant(1)\n    case _:\n        tf.zeros(1)\n"
        + GROW,
        ["TFM101:9"],
    ),
    "one of two branches": (HEAD + "import sys\nif sys.argv:\n    tf.constant(1)\n" + GROW, ["TFM101:6"]),
    "both branches": (
        HEAD + "import sys\nif sys.argv:\n    tf.constant(1)\nelse:\n    tf.zeros(1)\n" + GROW,
        ["TFM101:8"],
    ),
    "a finally block": (HEAD + "try:\n    pass\nfinally:\n    tf.constant(1)\n" + GROW, ["TFM101:7"]),
    "the second pass of a loop": (
        HEAD
        + "for step in range(3):\n    for g in gpus:\n        tf.config.experimental.set_memory_growth(g, step == 0)\n"
        "    tf.constant(1)\n",
        ["TFM101:5"],
    ),
    "a main guard": (
        HEAD + "def main():\n    tf.constant(1)\n    " + GROW + "if __name__ == '__main__':\n    main()\n",
        ["TFM101:5"],
    ),
    "a called tf.function": (HEAD + "@tf.function\ndef f(x):\n    return x\nf(1)\n" + GROW, ["TFM101:7"]),
    "the other value after the start": (
        HEAD + GROW + "tf.constant(1)\nfor gpu in gpus: tf.config.experimental.set_memory_growth(gpu, False)\n",
        ["TFM101:5"],
    ),
    "TensorFlow kept on an object": (
        HEAD
        + "class A:\n    def __init__(self):\n        self.tf = tf\n    def go(self):\n        self.tf.constant(1)\n"
        "        for g in gpus: self.tf.config.experimental.set_memory_growth(g, True)\nA().go()\n",
        ["TFM101:8"],
    ),
    "a limit": (
        HEAD + "tf.constant(1)\nfor g in gpus:\n"
        "    tf.config.set_logical_device_configuration(g, [tf.config.LogicalDeviceConfiguration(memory_limit=99)])\n",
        ["TFM102:5"],
    ),
    "visible devices": (HEAD + "tf.constant(1)\ntf.config.set_visible_devices(gpus[:1], 'GPU')\n", ["TFM103:4"]),
    "the environment after a listing": (
        "import os\nimport tensorflow as tf\n"
        "tf.config.list_physical_devices()\n"
        "os.environ['CUDA_VISIBLE_DEVICES'] = '0'\n",
        ["TFM105:4"],
    ),
    "a layer that is called": (
        HEAD + "x = tf.keras.Input((4,))\ny = tf.keras.layers.Dense(2)(x)\n" + GROW,
        ["TFM101:5"],
    ),
    "a constant of TensorFlow 1": (
        "import tensorflow.compat.v1 as tf\nx = tf.constant(1)\n"
        "for g in tf.config.list_physical_devices('GPU'): tf.config.experimental.set_memory_growth(g, True)\n",
        ["TFM101:3"],
    ),
    "a decorator that configures last": (
        HEAD
        + "def growing(f):\n    def wrapper(*args):\n        f(*args)\n        "
        + GROW
        + "    return wrapper\n@growing\ndef train(n):\n    return tf.constant(n)\ntrain(1)\n",
        ["TFM101:6"],
    ),
    "the environment, emptied again": (
        "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '-1'\ndel os.environ['CUDA_VISIBLE_DEVICES']\n"
        + HEAD
        + "tf.constant(1)\n"
        + GROW,
        ["TFM101:7"],
    ),
    "another value for some GPUs after the start": (
        HEAD + GROW + "tf.constant(1)\nfor g in gpus[1:]: tf.config.experimental.set_memory_growth(g, False)\n",
        ["TFM101:5"],
    ),
    "growth on the first before the start, on all after it": (
        HEAD + "tf.config.experimental.set_memory_growth(gpus[0], True)\ntf.constant(1)\n" + GROW,
        ["TFM402:3"],
    ),
    "growth switched off on one of the GPUs": (
        HEAD + "tf.config.experimental.set_memory_growth(gpus[0], False)\ntf.constant(1)\n",
        ["TFM402:3"],
    ),
    "growth on one of the GPUs, the others hidden too late": (
        "import os\n"
        + HEAD
        + "tf.config.experimental.set_memory_growth(gpus[0], True)\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n",
        ["TFM402:4", "TFM105:5"],
    ),
    "growth on one of the GPUs": (
        HEAD + "if gpus:\n    tf.config.experimental.set_memory_growth(gpus[0], True)\ntf.constant(1)\n",
        ["TFM402:4"],
    ),
}


@pytest.mark.parametrize("code", SILENT.values(), ids=SILENT)
def test_silent(code: str) -> None:
    assert found(code) == []


@pytest.mark.parametrize(("code", "expected"), TOO_LATE.values(), ids=TOO_LATE)
def test_found(code: str, expected: list[str]) -> None:
    assert found(code) == expected


def test_a_start_depends_on_the_release() -> None:
    code = HEAD + "m = tf.keras.layers.Dropout(0.5)\n" + GROW
    assert found(code, "2.21") == ["TFM101:4"]
    assert found(code, "2.15") == []


@pytest.mark.parametrize(
    "code",
    [
        "def f():\n    return f()\nf()\n",
        "def f(n):\n    return g(n)\ndef g(n):\n    return f(n)\nf(1)\n",
        "x = x + 1\n",
        "while True:\n    pass\n",
        "lambda: (yield)\n",
        "class A(A):\n    pass\nA()\n",
        "a = b = c = []\na.append(a)\n",
        "for x in y: break\nelse: z\n",
        "del x, y[0], z.w\n",
        "async def f():\n    async with a as b:\n        async for c in d:\n            await e\n",
        pytest.param(
            "try:\n    pass\nexcept* ValueError:\n    pass\n",
            marks=pytest.mark.skipif(sys.version_info < (3, 11), reason="syntax of Python 3.11"),
        ),
        "range(10**30)\nlist(range(0, 10, 0))\n'%d' % ()\n1 / 0\n2 ** 10**10\n'a' * 10**12\n",
        "global x\nx = 1\n",
        "def f(*args, a, b=1, **kw): return args, a, b, kw\nf(*x, **y)\n",
    ],
)
def test_odd_code_is_gone_through(code: str) -> None:
    assert found("import tensorflow as tf\n" + code) == []


ONE = "tf.config.experimental.set_memory_growth(gpus[0], True)\n"


@pytest.mark.parametrize(
    "ending",
    [
        "sys.exit(0)\n",
        "raise SystemExit\n",
        "if len(sys.argv) > 9:\n    sys.exit(1)\nelse:\n    sys.exit(0)\n",
        "while True:\n    pass\n",
        "def main():\n    sys.exit(0)\nif __name__ == '__main__':\n    sys.exit(main())\n",
    ],
)
def test_what_is_in_force_at_the_end_is_known_where_the_program_leaves_before_it(ending: str) -> None:
    assert found(HEAD + "import sys\n" + ONE + ending) == ["TFM402:4"]


def test_an_early_way_out_does_not_hide_the_end() -> None:
    code = HEAD + "import sys\nif not gpus:\n    sys.exit(1)\n" + ONE + "sys.exit(0)\n"
    assert found(code) == ["TFM402:6"]


def test_every_entry_point_has_one_end() -> None:
    code = HEAD + "import sys\ndef a():\n    raise NotImplementedError\ndef b():\n    " + ONE + "sys.exit(0)\n"
    program = analyze(Source("program.py", code), Target.newest())
    ends = [end.entry for end in program.of(End)]
    assert (ends[0], "b" in ends, len(set(ends))) == ("module", True, len(ends))


def test_absl_lists_the_devices_before_it_calls_main() -> None:
    code = (
        "import os\nfrom absl import app\nimport tensorflow as tf\ndef main(argv):\n"
        "    os.environ['CUDA_VISIBLE_DEVICES'] = '0'\napp.run(main)\n"
    )
    assert found(code) == ["TFM105:5"]
    assert found(code, "2.5") == []
    assert found(code.replace("CUDA_VISIBLE_DEVICES", "TF_GPU_ALLOCATOR").replace("'0'", "'cuda_malloc'")) == []
    assert found(code.replace("import tensorflow as tf\n", "").replace("):\n", "):\n    import tensorflow\n")) == []


def test_variables_set_behind_the_devices_do_not_excuse_a_limit() -> None:
    code = HEAD + (
        "import os\nfrom tensorflow.python.client import device_lib\ndevice_lib.list_local_devices()\n"
        "os.environ['TF_FORCE_GPU_ALLOW_GROWTH'] = 'true'\n"
        "tf.config.set_logical_device_configuration(gpus[0], [tf.config.LogicalDeviceConfiguration(512)])\n"
    )
    program = analyze(Source("program.py", code), Target.newest())
    outcomes = [call.effect.kind for call in program.calls() if call.effect is not None]
    assert outcomes == ["lost"]
