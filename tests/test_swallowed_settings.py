"""A setting that fails under a handler: what goes on is told of as a setting that never takes effect."""

from __future__ import annotations

import pytest

from tfmemlint.engine.check_source import check_source
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.rule import rules
from tfmemlint.sources import Source

RULES = [rule for rule in rules() if rule.severity is not Severity.ADVICE]
HEAD = "import tensorflow as tf\ngpus = tf.config.list_physical_devices('GPU')\n"
LIMITED = "[tf.config.LogicalDeviceConfiguration(memory_limit=512)]"
NEVER = "the setting never takes effect"
FAILING = {
    "made-up growth": ("tf.config.set_memory_growth(gpus[0], True)", "TFM202", NEVER),
    "made-up limit": ("tf.config.experimental.set_gpu_memory_cap(gpus[0], 4096)", "TFM202", NEVER),
    "made-up report": ("print(tf.gpu.get_used_memory())", "TFM202", "nothing is reported"),
    "made-up function": ("tf.config.has_gpus()", "TFM201", "the rest of the try block never runs"),
    "made-up namespace assigned to": ("tf.config.gpu.memory_growth = True", "TFM203", NEVER),
    "made-up argument": ("tf.config.LogicalDeviceConfiguration(memory_limit_mb=4)", "TFM205", NEVER),
    "growth on a list, a ValueError": ("tf.config.experimental.set_memory_growth(gpus, True)", "TFM303", NEVER),
    "numbers for configurations": ("tf.config.set_logical_device_configuration(gpus[0], [4096])", "TFM305", NEVER),
    "no limit, a ValueError": (
        "tf.config.set_logical_device_configuration(gpus[0], [tf.config.LogicalDeviceConfiguration()])",
        "TFM306",
        NEVER,
    ),
    "too late, a RuntimeError": (
        f"tf.constant(1); tf.config.set_logical_device_configuration(gpus[0], {LIMITED})",
        "TFM102",
        NEVER,
    ),
}


def under(line: str, handler: str) -> list[Finding]:
    """What is found in a line under a handler."""
    text = f"{HEAD}try:\n    {line}\n{handler}\n"
    return check_source(Source("program.py", text), RULES, Target.newest())


@pytest.mark.parametrize("case", FAILING)
@pytest.mark.parametrize("handler", ["except Exception as error:\n    print(error)", "except:\n    pass"])
def test_what_a_handler_swallows_is_a_warning_that_names_it(case: str, handler: str) -> None:
    line, code, words = FAILING[case]
    (finding,) = [one for one in under(line, handler) if one.code == code]
    assert finding.severity is Severity.WARNING
    assert finding.notes[0] == f"The handler in line 5 catches it and goes on: {words}."


@pytest.mark.parametrize("case", FAILING)
@pytest.mark.parametrize("handler", ["except Exception:\n    raise", "except Exception:\n    raise SystemExit(1)"])
def test_what_a_handler_raises_again_is_an_error(case: str, handler: str) -> None:
    line, code, _ = FAILING[case]
    (finding,) = [one for one in under(line, handler) if one.code == code]
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize("case", [case for case in FAILING if "RuntimeError" not in case])
def test_a_handler_for_another_error_does_not_help(case: str) -> None:
    line, code, _ = FAILING[case]
    (finding,) = [one for one in under(line, "except RuntimeError as error:\n    print(error)") if one.code == code]
    assert finding.severity is Severity.ERROR
    assert "catches RuntimeError, not" in finding.notes[0]
