"""What becomes of each thing that a program asks for."""

from __future__ import annotations

import pytest

from tests.plan.plans import asked, entry
from tfmemlint.plan.model import Prediction

GROWTH = 'for gpu in tf.config.list_physical_devices("GPU"):\n    tf.config.experimental.set_memory_growth(gpu, True)\n'
LIMIT = (
    'tf.config.set_logical_device_configuration(tf.config.list_physical_devices("GPU")[0],'
    " [tf.config.LogicalDeviceConfiguration(memory_limit={})])\n"
)


def test_in_time() -> None:
    one = asked(GROWTH + "x = tf.constant(1)\n", 4)
    assert (one.fate.verdict, one.fate.condition, one.rules) == (Prediction.HAPPENS, "", ())


def test_too_late_names_the_line_that_started_the_runtime_and_the_rule() -> None:
    one = asked("x = tf.constant(1)\n" + GROWTH, 5)
    assert one.fate.verdict is Prediction.FAILS
    assert one.fate.reason == "late"
    assert one.fate.because == 3
    assert one.fate.words == "comes too late: line 3 (tf.constant) has started the runtime"
    assert one.fate.exception == ("RuntimeError", "Physical devices cannot be modified after being initialized")
    assert one.rules == ("TFM101",)


def test_a_handler_that_hides_the_error_is_named() -> None:
    one = asked(
        """
        x = tf.constant(1)
        try:
            for gpu in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(gpu, True)
        except RuntimeError as error:
            print(error)
        """,
        6,
    )
    assert (one.fate.verdict, one.fate.handler) == (Prediction.FAILS, 7)
    assert any("line 7" in detail for detail in one.fate.details)


def test_a_loop_that_starts_the_runtime_fails_with_two_gpus_only() -> None:
    code = GROWTH + "    tf.zeros([1])\n"
    assert asked(code, 4).fate.verdict is Prediction.DEPENDS
    assert asked(code, 4).fate.words.startswith("depends: with two or more GPUs it comes too late")
    assert asked(code, 4, gpus=1).fate.verdict is Prediction.HAPPENS
    assert asked(code, 4, gpus=2).fate.verdict is Prediction.FAILS


def test_growth_on_one_gpu_of_several() -> None:
    code = (
        'tf.config.experimental.set_memory_growth(tf.config.list_physical_devices("GPU")[0], True)\nx = tf.zeros(1)\n'
    )
    one = asked(code, 3)
    assert (one.fate.verdict, one.fate.reason, one.rules) == (Prediction.DEPENDS, "partial", ("TFM402",))
    assert one.fate.words == "depends: with two or more GPUs the runtime does not start in line 4 (tf.zeros)"
    assert asked(code, 3, gpus=1).fate.verdict is Prediction.HAPPENS
    assert asked(code, 3, gpus=4).fate.verdict is Prediction.FAILS


def test_a_limit_drops_the_growth_before_it_and_refuses_the_growth_behind_it() -> None:
    before = asked(GROWTH + LIMIT.format(1024), 4)
    assert (before.fate.reason, before.fate.because) == ("dropped", 5)
    assert asked(GROWTH + LIMIT.format(1024), 5).fate.verdict is Prediction.HAPPENS
    behind = asked(LIMIT.format(1024) + GROWTH, 5)
    assert behind.fate.reason == "refused"
    assert behind.fate.exception is not None
    assert behind.fate.exception[0] == "ValueError"


def test_device_lib_makes_the_devices_without_a_look_at_the_settings() -> None:
    code = "{}from tensorflow.python.client import device_lib\nprint(device_lib.list_local_devices())\n{}"
    assert asked(code.format(GROWTH, ""), 4).fate.reason == "lost"
    behind = asked(code.format("", GROWTH), 6)
    assert (behind.fate.reason, behind.fate.exception, behind.rules) == ("lost", None, ("TFM107",))


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        ("4096", Prediction.HAPPENS),
        ("0.5", Prediction.FAILS),
        ("4 * 1024**3", Prediction.FAILS),
        ("limit", Prediction.HAPPENS),
    ],
)
def test_limits_are_judged_by_their_values(value: str, verdict: Prediction) -> None:
    assert asked(LIMIT.format(value), 3).fate.verdict is verdict


def test_a_share_that_is_given_as_a_limit_is_wanted_as_a_share() -> None:
    one = asked(LIMIT.format(0.5), 3)
    assert (one.wish, one.words, one.rules) == ("fraction", "a share of 0.5 of the memory for GPU 0", ("TFM301",))
    assert asked(LIMIT.format(0.5) + "x = tf.constant(1)\n" + LIMIT.format(0.25), 5).fate.reason == "late"
    assert asked(LIMIT.format(1), 3).wish == "limit"


SHARE = """
config = tf.compat.v1.ConfigProto()
config.gpu_options.per_process_gpu_memory_fraction = {}
{}
session = tf.compat.v1.Session(config=config)
"""


@pytest.mark.parametrize(
    ("share", "more", "verdict"),
    [
        ("0.5", "", Prediction.HAPPENS),
        ("1.0", "", Prediction.HAPPENS),
        ("0.5", "config.gpu_options.experimental.virtual_devices.add().memory_limit_mb.append(512)", Prediction.FAILS),
        ("0", "", Prediction.FAILS),
        ("-0.5", "", Prediction.FAILS),
        ("50", "", Prediction.FAILS),
    ],
)
def test_what_the_rules_find_at_an_option_is_told_of_the_session_that_gets_it(
    share: str, more: str, verdict: Prediction
) -> None:
    assert asked(SHARE.format(share, more), 6).fate.verdict is verdict


def test_a_share_of_nothing_beside_growth_is_no_wish() -> None:
    found = asked(SHARE.format(0, "config.gpu_options.allow_growth = True"), 6)
    assert (found.wish, found.fate.verdict) == ("growth", Prediction.HAPPENS)


@pytest.mark.parametrize(("value", "wants"), [("false", True), ("true", False), ("0", True)])
def test_a_variable_of_jax_asks_for_the_opposite_of_growth(value: str, wants: bool) -> None:
    one = asked(f"os.environ['XLA_PYTHON_CLIENT_PREALLOCATE'] = '{value}'\nx = tf.constant(1)\n", 3)
    assert (one.wish, one.value, one.fate.verdict) == ("growth", wants, Prediction.FAILS)


def test_what_only_a_second_pass_of_a_loop_asks_for_is_asked_for() -> None:
    code = """
        def start():
            return tf.constant(1)


        def configure():
            for gpu in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(gpu, True)


        def run(*steps):
            for step in steps:
                step()


        run(start, configure)
        """
    assert asked(code, 9).fate.reason == "late"


def test_a_limit_beyond_the_card() -> None:
    one = asked(LIMIT.format(20000), 3, memory=16384)
    assert (one.fate.verdict, one.fate.reason) == (Prediction.FAILS, "size")
    assert "16384 MiB" in one.fate.words
    assert asked(LIMIT.format(20000), 3).fate.verdict is Prediction.HAPPENS


def test_a_made_up_function_fails_and_ends_the_program() -> None:
    code = "tf.config.experimental.set_memory_limit(0, 4096)\n" + GROWTH
    made_up = asked(code, 3)
    assert (made_up.fate.reason, made_up.rules) == ("made-up", ("TFM202",))
    assert made_up.words == "a memory limit of 4096 MiB for GPU 0"
    stop = entry(code).stop
    assert stop is not None
    assert (stop.row, stop.exception[0]) == (3, "AttributeError")
    unreached = asked(code, 5)
    assert (unreached.fate.verdict, unreached.fate.reason, unreached.fate.because) == (Prediction.FAILS, "unreached", 3)


def test_a_made_up_function_that_the_program_provides_for_is_not_an_error() -> None:
    one = asked(
        """
        if hasattr(tf.config.experimental, "set_memory_limit"):
            tf.config.experimental.set_memory_limit(0, 4096)
        else:
            for gpu in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(gpu, True)
        """,
        7,
    )
    assert one.fate.verdict is Prediction.HAPPENS


def test_conditions_are_told() -> None:
    one = asked(
        """
        def main(args):
            if args.growth and not args.cpu:
                for gpu in tf.config.list_physical_devices("GPU"):
                    tf.config.experimental.set_memory_growth(gpu, True)
        """,
        6,
        name="main",
    )
    assert one.fate.condition == "if args.growth and not args.cpu"
    assert not one.certain


def test_a_setting_that_another_takes_the_place_of() -> None:
    code = """
    gpus = tf.config.list_physical_devices("GPU")
    tf.config.set_visible_devices(gpus[0], "GPU")
    tf.config.set_visible_devices(gpus[1], "GPU")
    """
    first = asked(code, 4)
    assert (first.fate.verdict, first.fate.because) == (Prediction.REPLACED, 5)
    assert first.words == "only GPU 0 visible"
    assert asked(code, 5).fate.verdict is Prediction.HAPPENS


def test_settings_of_other_ways_do_not_replace() -> None:
    code = """
    gpus = tf.config.list_physical_devices("GPU")
    if os.environ.get("CPU"):
        tf.config.set_visible_devices([], "GPU")
    else:
        tf.config.set_visible_devices(gpus[0], "GPU")
    """
    assert asked(code, 5).fate.verdict is Prediction.HAPPENS
    assert asked(code, 7).fate.verdict is Prediction.HAPPENS


def test_reports() -> None:
    assert asked('tf.config.experimental.get_memory_info("GPU:0")["peak"]\n', 3).fate.verdict is Prediction.HAPPENS
    wrong = asked('tf.config.experimental.get_memory_info(tf.config.list_physical_devices("GPU")[0])\n', 3)
    assert (wrong.fate.verdict, wrong.rules) == (Prediction.FAILS, ("TFM601",))


def test_a_silenced_rule_changes_nothing() -> None:
    one = asked("x = tf.constant(1)\n" + LIMIT.format(1024).rstrip() + "  # noqa: TFM102\n", 4)
    assert one.fate.verdict is Prediction.FAILS


def test_logical_cpus_ask_for_nothing_of_a_gpu() -> None:
    code = """
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    x = tf.constant(1)
    """
    assert entry(code).asked == ()
