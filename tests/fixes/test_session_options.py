"""A session's options become tf.config only where nothing is lost: conditions, other work, ways out of a function."""

from __future__ import annotations

import pytest

from tfmemlint.engine.check_source import check_source
from tfmemlint.fixes.compute_fix import Options
from tfmemlint.fixes.loop import Fixed, fix_source
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Severity
from tfmemlint.rulekit.rule import rules
from tfmemlint.sources import Source

START = "import sys\nimport tensorflow as tf\n\nx = float(sys.argv[1])\nconfig = tf.compat.v1.ConfigProto()\n"
END = "print(tf.ones([2]))\n"
SESSION = "sess = tf.compat.v1.Session(config=config)\n" + END
GROWTH = "config.gpu_options.allow_growth = True\n"
LOOP = 'for gpu in tf.config.list_physical_devices("GPU"):\n    tf.config.experimental.set_memory_growth(gpu, True)\n'
RULES = [rule for rule in rules() if rule.severity is not Severity.ADVICE]


def mended(text: str) -> Fixed:
    def check(source: Source) -> list:  # type: ignore[type-arg]
        return check_source(source, RULES, Target.newest(), 16384)

    return fix_source(
        Source("x.py", text),
        rules=RULES,
        target=Target.newest(),
        check=check,
        options=Options(unsafe=True, gpu_memory_mib=16384),
    )


def body(text: str) -> str:
    return mended(text).text.partition("sys.argv[1])\n")[2]


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


def test_what_is_set_under_a_condition_stays_under_it() -> None:
    text = START + "if x:\n    # asked for\n" + indented(GROWTH) + SESSION
    assert body(text) == "# asked for\nif x:\n" + indented(LOOP) + END


def test_a_condition_that_has_more_to_do_stays() -> None:
    text = START + "if x:\n    print('growth')\n" + indented(GROWTH) + SESSION
    assert body(text) == "if x:\n    print('growth')\nif x:\n" + indented(LOOP.replace('"', "'")) + END


def test_a_share_or_else_growth() -> None:
    text = START + (
        "if x:\n    config.gpu_options.per_process_gpu_memory_fraction = x\nelse:\n" + indented(GROWTH) + SESSION
    )
    new = body(text)
    assert "if x:\n    for gpu in" in new
    assert "memory_limit=int(16384 * x)" in new
    assert "else:\n" + indented(LOOP) in new


def test_a_return_in_the_midst_of_a_function_still_leaves_it() -> None:
    text = (
        "import tensorflow as tf\n\n\ndef session(x):\n    if x:\n"
        "        return tf.compat.v1.Session(config=tf.compat.v1.ConfigProto("
        "gpu_options=tf.compat.v1.GPUOptions(allow_growth=True)))\n"
        "    raise SystemExit\n\n\nsession(1)\n" + END
    )
    assert "(gpu, True)\n        return\n    raise SystemExit" in mended(text).text


@pytest.mark.parametrize(
    ("middle", "reason"),
    [
        ("for _ in range(2):\n" + indented(GROWTH) + SESSION, "in a loop"),
        ("try:\n" + indented(GROWTH) + "except AttributeError:\n    pass\n" + SESSION, "a handler"),
        (GROWTH + "if tf.compat.v1.Session(config=config):\n    print(1)\n" + END, "a statement that does more"),
        (
            "if x == 1:\n" + indented(GROWTH) + "elif x == 2:\n"
            "    config.gpu_options.per_process_gpu_memory_fraction = 0.5\n" + SESSION,
            "more than one condition",
        ),
        (
            "config.gpu_options.per_process_gpu_memory_fraction = 0.2\nif x:\n"
            "    config.gpu_options.per_process_gpu_memory_fraction = 0.6\n" + SESSION,
            "is set in several places",
        ),
        (
            "if input():\n    print(1)\n" + indented(GROWTH) + SESSION,
            "evaluated twice",
        ),
        ("if x:\n" + indented(GROWTH) + "x = 0\n" + SESSION, "changes before the session is made"),
    ],
)
def test_what_would_be_lost_is_withheld(middle: str, reason: str) -> None:
    text = START + middle
    fixed = mended(text)
    assert fixed.text == text
    assert any(reason in finding.withheld for finding in fixed.findings), fixed.findings


def test_a_helper_that_does_more_stays() -> None:
    text = (
        "import tensorflow as tf\n\n\ndef make():\n    print('making')\n"
        "    config = tf.compat.v1.ConfigProto()\n    config.gpu_options.allow_growth = True\n    return config\n\n\n"
        "sess = tf.compat.v1.Session(config=make())\n" + END
    )
    fixed = mended(text)
    assert fixed.text == text
    assert "make does more than make the options" in [finding.withheld for finding in fixed.findings]


@pytest.mark.parametrize(
    ("value", "chosen"),
    [
        ("str(hvd.local_rank())", "gpus[hvd.local_rank()]"),
        ("'%d' % x", "gpus[x]"),
        ("'{}'.format(local_rank)", "gpus[local_rank]"),
        ("f'{int(x)}'", "gpus[int(x)]"),
        ("str(x)", "[gpus[int(number)] for number in str(x).split(',')]"),
        ("sys.argv[2]", "[gpus[int(number)] for number in sys.argv[2].split(',')]"),
    ],
)
def test_a_list_of_visible_devices_becomes_the_devices(value: str, chosen: str) -> None:
    start = START.replace("x = ", "import horovod.tensorflow as hvd\n\nlocal_rank = hvd.local_rank()\nx = ")
    new = mended(start + f"config.gpu_options.visible_device_list = {value}\n" + SESSION).text.replace('"', "'")
    assert "set_visible_devices(" in new
    assert f"{chosen}, 'GPU'" in new or f"{chosen},\n        'GPU',\n" in new
