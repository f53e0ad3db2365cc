"""What becomes of each thing that a program asks for."""

from __future__ import annotations

import pytest

from tests.plan.plans import entry, planned
from tfmemlint.plans.model import PredictionKind

GROWTH = 'for gpu in tf.config.list_physical_devices("GPU"):\n    tf.config.experimental.set_memory_growth(gpu, True)\n'
LIMIT = (
    'tf.config.set_logical_device_configuration(tf.config.list_physical_devices("GPU")[0],'
    " [tf.config.LogicalDeviceConfiguration(memory_limit={})])\n"
)


def test_in_time() -> None:
    one = planned(GROWTH + "x = tf.constant(1)\n", 4)
    assert (one.prediction.kind, one.prediction.condition, one.rules) == (PredictionKind.HAPPENS, "", ())


def test_too_late_names_the_line_that_started_the_runtime_and_the_rule() -> None:
    one = planned("x = tf.constant(1)\n" + GROWTH, 5)
    assert one.prediction.kind is PredictionKind.FAILS
    assert one.prediction.reason == "late"
    assert one.prediction.because == 3
    assert one.prediction.words == "comes too late: line 3 (tf.constant) has started the runtime"
    assert one.prediction.exception == ("RuntimeError", "Physical devices cannot be modified after being initialized")
    assert one.rules == ("TFM101",)


def test_a_handler_that_hides_the_error_is_named() -> None:
    one = planned(
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
    assert (one.prediction.kind, one.prediction.handler) == (PredictionKind.FAILS, 7)
    assert any("line 7" in detail for detail in one.prediction.details)


def test_a_loop_that_starts_the_runtime_fails_with_two_gpus_only() -> None:
    code = GROWTH + "    tf.zeros([1])\n"
    assert planned(code, 4).prediction.kind is PredictionKind.DEPENDS
    assert planned(code, 4).prediction.words.startswith("depends: with two or more GPUs it comes too late")
    assert planned(code, 4, gpus=1).prediction.kind is PredictionKind.HAPPENS
    assert planned(code, 4, gpus=2).prediction.kind is PredictionKind.FAILS


def test_growth_on_one_gpu_of_several() -> None:
    code = (
        'tf.config.experimental.set_memory_growth(tf.config.list_physical_devices("GPU")[0], True)\nx = tf.zeros(1)\n'
    )
    one = planned(code, 3)
    assert (one.prediction.kind, one.prediction.reason, one.rules) == (PredictionKind.DEPENDS, "partial", ("TFM402",))
    assert one.prediction.words == "depends: with two or more GPUs the runtime does not start in line 4 (tf.zeros)"
    assert planned(code, 3, gpus=1).prediction.kind is PredictionKind.HAPPENS
    assert planned(code, 3, gpus=4).prediction.kind is PredictionKind.FAILS


def test_a_limit_drops_the_growth_before_it_and_refuses_the_growth_behind_it() -> None:
    before = planned(GROWTH + LIMIT.format(1024), 4)
    assert (before.prediction.reason, before.prediction.because) == ("dropped", 5)
    assert planned(GROWTH + LIMIT.format(1024), 5).prediction.kind is PredictionKind.HAPPENS
    behind = planned(LIMIT.format(1024) + GROWTH, 5)
    assert behind.prediction.reason == "refused"
    assert behind.prediction.exception is not None
    assert behind.prediction.exception[0] == "ValueError"


def test_device_lib_makes_the_devices_without_a_look_at_the_settings() -> None:
    code = "{}from tensorflow.python.client import device_lib\nprint(device_lib.list_local_devices())\n{}"
    assert planned(code.format(GROWTH, ""), 4).prediction.reason == "lost"
    behind = planned(code.format("", GROWTH), 6)
    assert (behind.prediction.reason, behind.prediction.exception, behind.rules) == ("lost", None, ("TFM107",))


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        ("4096", PredictionKind.HAPPENS),
        ("0.5", PredictionKind.FAILS),
        ("4 * 1024**3", PredictionKind.FAILS),
        ("limit", PredictionKind.HAPPENS),
    ],
)
def test_limits_are_judged_by_their_values(value: str, verdict: PredictionKind) -> None:
    assert planned(LIMIT.format(value), 3).prediction.kind is verdict


def test_a_share_that_is_given_as_a_limit_is_wanted_as_a_share() -> None:
    one = planned(LIMIT.format(0.5), 3)
    assert (one.purpose, one.words, one.rules) == ("fraction", "a share of 0.5 of the memory for GPU 0", ("TFM301",))
    assert planned(LIMIT.format(0.5) + "x = tf.constant(1)\n" + LIMIT.format(0.25), 5).prediction.reason == "late"
    assert planned(LIMIT.format(1), 3).purpose == "limit"


SHARE = """
config = tf.compat.v1.ConfigProto()
config.gpu_options.per_process_gpu_memory_fraction = {}
{}
session = tf.compat.v1.Session(config=config)
"""


@pytest.mark.parametrize(
    ("share", "more", "verdict"),
    [
        ("0.5", "", PredictionKind.HAPPENS),
        ("1.0", "", PredictionKind.HAPPENS),
        (
            "0.5",
            "config.gpu_options.experimental.virtual_devices.add().memory_limit_mb.append(512)",
            PredictionKind.FAILS,
        ),
        ("0", "", PredictionKind.FAILS),
        ("-0.5", "", PredictionKind.FAILS),
        ("50", "", PredictionKind.FAILS),
    ],
)
def test_what_the_rules_find_at_an_option_is_told_of_the_session_that_gets_it(
    share: str, more: str, verdict: PredictionKind
) -> None:
    assert planned(SHARE.format(share, more), 6).prediction.kind is verdict


def test_a_share_of_nothing_beside_growth_is_no_purpose() -> None:
    found = planned(SHARE.format(0, "config.gpu_options.allow_growth = True"), 6)
    assert (found.purpose, found.prediction.kind) == ("growth", PredictionKind.HAPPENS)


@pytest.mark.parametrize(
    ("setting", "gpus", "verdict"),
    [
        ("tf.config.set_visible_devices(gpus[1:], 'GPU')", 3, PredictionKind.FAILS),
        ("tf.config.set_visible_devices(gpus[1:], 'GPU')", 4, PredictionKind.HAPPENS),
        ("tf.config.set_visible_devices(gpus[:-1], 'GPU')", 3, PredictionKind.FAILS),
        ("tf.config.set_logical_device_configuration(gpus[0], [LIMIT, LIMIT])", 1, PredictionKind.FAILS),
        ("tf.config.set_logical_device_configuration(gpus[0], [LIMIT, LIMIT])", 2, PredictionKind.HAPPENS),
    ],
)
def test_a_report_is_of_a_logical_gpu_that_there_is(setting: str, gpus: int, verdict: PredictionKind) -> None:
    setting = setting.replace("LIMIT", "tf.config.LogicalDeviceConfiguration(memory_limit=1024)")
    report = "x = tf.constant(1)\nprint(tf.config.experimental.get_memory_info('GPU:2'))\n"
    code = f"gpus = tf.config.list_physical_devices('GPU')\n{setting}\n{report}"
    assert planned(code, 6, gpus=gpus).prediction.kind is verdict


def test_a_session_that_a_line_makes_later_does_not_fail_the_first() -> None:
    code = """
        tf.compat.v1.disable_eager_execution()


        def session(share):
            options = tf.compat.v1.GPUOptions(per_process_gpu_memory_fraction=share)
            return tf.compat.v1.Session(config=tf.compat.v1.ConfigProto(gpu_options=options))


        first, second = session(0.3), session(0.6)
        """
    one = planned(code, 8)
    assert (one.value, one.prediction.kind, one.rules) == (0.3, PredictionKind.HAPPENS, ("TFM405",))


@pytest.mark.parametrize(("value", "wants"), [("false", True), ("true", False), ("0", True)])
def test_a_variable_of_jax_asks_for_the_opposite_of_growth(value: str, wants: bool) -> None:
    one = planned(f"os.environ['XLA_PYTHON_CLIENT_PREALLOCATE'] = '{value}'\nx = tf.constant(1)\n", 3)
    assert (one.purpose, one.value, one.prediction.kind) == ("growth", wants, PredictionKind.FAILS)


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
    assert planned(code, 9).prediction.reason == "late"


def test_a_limit_beyond_the_card() -> None:
    one = planned(LIMIT.format(20000), 3, memory=16384)
    assert (one.prediction.kind, one.prediction.reason) == (PredictionKind.FAILS, "size")
    assert "16384 MiB" in one.prediction.words
    assert planned(LIMIT.format(20000), 3).prediction.kind is PredictionKind.HAPPENS


def test_a_made_up_function_fails_and_ends_the_program() -> None:
    code = "tf.config.experimental.set_memory_limit(0, 4096)\n" + GROWTH
    made_up = planned(code, 3)
    assert (made_up.prediction.reason, made_up.rules) == ("made-up", ("TFM202",))
    assert made_up.words == "a memory limit of 4096 MiB for GPU 0"
    stop = entry(code).stop
    assert stop is not None
    assert (stop.row, stop.exception[0]) == (3, "AttributeError")
    unreached = planned(code, 5)
    assert (unreached.prediction.kind, unreached.prediction.reason, unreached.prediction.because) == (
        PredictionKind.FAILS,
        "unreached",
        3,
    )


def test_a_made_up_function_that_the_program_provides_for_is_not_an_error() -> None:
    one = planned(
        """
        if hasattr(tf.config.experimental, "set_memory_limit"):
            tf.config.experimental.set_memory_limit(0, 4096)
        else:
            for gpu in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(gpu, True)
        """,
        7,
    )
    assert one.prediction.kind is PredictionKind.HAPPENS


def test_conditions_are_told() -> None:
    one = planned(
        """
        def main(args):
            if args.growth and not args.cpu:
                for gpu in tf.config.list_physical_devices("GPU"):
                    tf.config.experimental.set_memory_growth(gpu, True)
        """,
        6,
        name="main",
    )
    assert one.prediction.condition == "if args.growth and not args.cpu"
    assert not one.certain


def test_conditions_about_attributes_are_told_as_they_are_written() -> None:
    one = planned(
        """
        class Trainer:
            def __init__(self, config):
                self.config = config

            def run(self):
                if self.config.mode == "train":
                    for gpu in tf.config.list_physical_devices("GPU"):
                        tf.config.experimental.set_memory_growth(gpu, True)
        """,
        10,
        name="Trainer.run",
    )
    assert one.prediction.condition == "if self.config.mode == 'train'"


def test_a_setting_that_another_takes_the_place_of() -> None:
    code = """
    gpus = tf.config.list_physical_devices("GPU")
    tf.config.set_visible_devices(gpus[0], "GPU")
    tf.config.set_visible_devices(gpus[1], "GPU")
    """
    first = planned(code, 4)
    assert (first.prediction.kind, first.prediction.because) == (PredictionKind.REPLACED, 5)
    assert first.words == "only GPU 0 visible"
    assert planned(code, 5).prediction.kind is PredictionKind.HAPPENS


def test_settings_of_other_ways_do_not_replace() -> None:
    code = """
    gpus = tf.config.list_physical_devices("GPU")
    if os.environ.get("CPU"):
        tf.config.set_visible_devices([], "GPU")
    else:
        tf.config.set_visible_devices(gpus[0], "GPU")
    """
    assert planned(code, 5).prediction.kind is PredictionKind.HAPPENS
    assert planned(code, 7).prediction.kind is PredictionKind.HAPPENS


def test_reports() -> None:
    assert (
        planned('tf.config.experimental.get_memory_info("GPU:0")["peak"]\n', 3).prediction.kind
        is PredictionKind.HAPPENS
    )
    wrong = planned('tf.config.experimental.get_memory_info(tf.config.list_physical_devices("GPU")[0])\n', 3)
    assert (wrong.prediction.kind, wrong.rules) == (PredictionKind.FAILS, ("TFM601",))


def test_a_silenced_rule_changes_nothing() -> None:
    one = planned("x = tf.constant(1)\n" + LIMIT.format(1024).rstrip() + "  # noqa: TFM102\n", 4)
    assert one.prediction.kind is PredictionKind.FAILS


def test_logical_cpus_ask_for_nothing_of_a_gpu() -> None:
    code = """
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    x = tf.constant(1)
    """
    assert entry(code).intents == ()
