"""Settings that meet others, and what makes the GPU devices: each of these was seen on TensorFlow itself."""

from __future__ import annotations

import pytest

from tests.plan.plans import entry, planned
from tfmemlint.plans.model import PredictionKind

GPUS = 'gpus = tf.config.list_physical_devices("GPU")\n'
EACH = GPUS + "for gpu in gpus:\n    tf.config.experimental.set_memory_growth(gpu, {})\n"
ONE = "tf.config.experimental.set_memory_growth(gpus[{}], {})\n"
LIMIT = "tf.config.set_logical_device_configuration(gpus[{}], [tf.config.LogicalDeviceConfiguration({})])\n"
VISIBLE = 'tf.config.set_visible_devices({}, "GPU")\n'
SESSION = (
    "config = tf.compat.v1.ConfigProto()\nconfig.gpu_options.{} = {}\n"
    "with tf.compat.v1.Session(config=config) as session:\n    session.run([])\n"
)


@pytest.mark.parametrize(
    ("gpus", "verdict"), [(1, PredictionKind.FAILS), (2, PredictionKind.HAPPENS), (None, PredictionKind.HAPPENS)]
)
def test_a_number_that_no_gpu_has(gpus: int | None, verdict: PredictionKind) -> None:
    one = planned(GPUS + VISIBLE.format("[gpus[0], gpus[1]]"), 4, gpus=gpus)
    assert one.prediction.kind is verdict
    if verdict is PredictionKind.FAILS:
        assert one.prediction.words == "fails: there is no GPU 1, there is only 1"
        assert one.prediction.exception == ("IndexError", "list index out of range")


def test_conditions_on_the_number_of_gpus_are_believed() -> None:
    code = GPUS + "if len(gpus) > 1:\n    " + VISIBLE.format("gpus[1]")
    assert planned(code, 5, gpus=1).prediction.kind is PredictionKind.HAPPENS
    assert planned(code, 5, gpus=1).prediction.condition == "if len(gpus) > 1"


def test_choosing_the_only_gpu_is_never_too_late() -> None:
    code = GPUS + "x = tf.constant(1)\n" + VISIBLE.format("gpus[0]")
    assert planned(code, 5, gpus=1).prediction.words == "takes effect: there is no other GPU"
    assert entry(code, gpus=1).stop is None
    assert planned(code, 5, gpus=2).prediction.reason == "late"


def test_a_runtime_that_does_not_start_takes_everything_with_it() -> None:
    code = GPUS + VISIBLE.format("gpus") + ONE.format(0, True) + ONE.format(1, False) + "x = tf.constant(1)\n"
    for row in (4, 5, 6):
        assert planned(code, row, gpus=2).prediction.reason == "partial"
    stop = entry(code, gpus=2).stop
    assert stop is not None
    assert (stop.row, stop.exception[0], stop.rules) == (7, "ValueError", ("TFM402",))


def test_growth_for_the_first_two_of_three() -> None:
    code = GPUS + ONE.format(0, True) + ONE.format(1, True)
    assert planned(code, 4, gpus=2).prediction.kind is PredictionKind.HAPPENS
    assert planned(code, 4, gpus=3).prediction.kind is PredictionKind.FAILS


def test_the_last_of_two_opposite_settings_counts() -> None:
    code = EACH.format(True) + ONE.format(0, False)
    assert planned(code, 5, gpus=1).prediction.words == "is replaced by set_memory_growth in line 6"
    assert planned(code, 5, gpus=2).prediction.reason == "partial"


def test_a_limit_replaces_another_one_for_one_gpu() -> None:
    code = GPUS + "for gpu in gpus:\n    " + LIMIT.format(0, 512).replace("gpus[0]", "gpu") + LIMIT.format(0, 1024)
    one = planned(code, 5, gpus=2)
    assert one.prediction.kind is PredictionKind.REPLACED
    assert one.prediction.words == "is replaced for GPU 0 by set_logical_device_configuration in line 6"


def test_a_loop_is_refused_by_the_one_gpu_that_has_logical_devices() -> None:
    code = GPUS + LIMIT.format(1, 512) + "for gpu in gpus:\n    tf.config.experimental.set_memory_growth(gpu, True)\n"
    refused = planned(code, 6, gpus=2)
    assert (refused.prediction.reason, refused.prediction.because) == ("refused", 4)
    assert refused.prediction.exception is not None
    assert refused.prediction.exception[0] == "ValueError"


def test_a_limit_for_a_gpu_that_is_hidden() -> None:
    one = planned(GPUS + LIMIT.format(0, 512) + VISIBLE.format("[]"), 4)
    assert (one.prediction.kind, one.prediction.because) == (PredictionKind.FAILS, 5)
    assert one.prediction.words == "is without effect: set_visible_devices in line 5 hides every GPU"


@pytest.mark.parametrize("session", [SESSION.format("allow_growth", True), "s = tf.compat.v1.InteractiveSession()\n"])
def test_a_session_with_options_of_its_own_does_not_look_at_limits(session: str) -> None:
    one = planned(GPUS + LIMIT.format(0, 512) + session, 4)
    assert (one.prediction.kind, one.prediction.reason) == (PredictionKind.FAILS, "overridden")


def test_a_session_without_options_looks_at_limits() -> None:
    assert (
        planned(GPUS + LIMIT.format(0, 512) + "s = tf.compat.v1.Session()\n", 4).prediction.kind
        is PredictionKind.HAPPENS
    )


def test_growth_is_so_already() -> None:
    behind = planned("s = tf.compat.v1.InteractiveSession()\n" + EACH.format(True), 6)
    assert behind.prediction.kind is PredictionKind.HAPPENS
    assert behind.prediction.words.startswith("takes effect: line 3 (tf.compat.v1.InteractiveSession) has made")
    blind = "tf.test.is_gpu_available()\n"
    assert planned(blind + EACH.format(False), 6).prediction.kind is PredictionKind.HAPPENS
    assert planned(blind + EACH.format(True), 6).prediction.reason == "lost"


def test_what_was_lost_is_not_found_again_by_asking_twice() -> None:
    code = EACH.format(True) + "tf.test.is_gpu_available()\n" + EACH.format(True)
    assert planned(code, 5).prediction.reason == "lost"
    assert planned(code, 9).prediction.reason == "lost"


def test_other_gpus_behind_device_lib() -> None:
    code = "tf.test.is_gpu_available()\n" + GPUS + VISIBLE.format("gpus[{}]") + "x = tf.constant(1)\n"
    assert planned(code.format(0), 5, gpus=2).prediction.kind is PredictionKind.HAPPENS
    assert planned(code.format(1), 5, gpus=2).prediction.kind is PredictionKind.FAILS


def test_a_session_s_choice_of_gpus_is_none_of_the_eager_runtime_s() -> None:
    code = SESSION.format("visible_device_list", "'0'") + "x = tf.constant(1)\n"
    assert planned(code, 5, gpus=1).prediction.kind is PredictionKind.HAPPENS
    several = planned(code, 5, gpus=2)
    assert (
        several.prediction.words == "holds for this session only: line 7 starts the eager runtime, which sees every GPU"
    )
    missing = planned(SESSION.format("visible_device_list", "'3'"), 5, gpus=2)
    assert missing.prediction.exception is not None
    assert missing.prediction.exception[0] == "tf.errors.InvalidArgumentError"


def test_the_options_of_a_monitored_session_come_too_late() -> None:
    code = SESSION.format("allow_growth", True).replace("v1.Session", "v1.train.MonitoredTrainingSession")
    graph = "tf.compat.v1.disable_eager_execution()\n"
    one = planned(graph + "tf.compat.v1.train.create_global_step()\n" + code, 7)
    assert (one.prediction.kind, one.prediction.reason) == (PredictionKind.FAILS, "lost")
    # Without a variable there is no `Saver`, which it would make first.
    assert planned(graph + code, 6).prediction.kind is PredictionKind.HAPPENS


def test_what_stands_behind_an_exception_changes_nothing() -> None:
    code = EACH.format(True) + "tf.config.experimental.set_memory_limit(0, 1)\n" + LIMIT.format(0, 512)
    assert planned(code, 5).prediction.kind is PredictionKind.HAPPENS
    assert planned(code, 7).prediction.reason == "unreached"


def test_a_function_of_its_own_in_the_place_of_tensorflow_s() -> None:
    code = "tf.config.experimental.set_memory_growth = print\n" + EACH.format(True)
    assert planned(code, 6).prediction.kind is PredictionKind.UNKNOWN


def test_a_limit_without_end_is_no_limit_beyond_the_card() -> None:
    assert planned(GPUS + LIMIT.format(0, 'float("inf")'), 4, memory=16384).prediction.reason != "size"


def test_no_gpu_is_visible_in_words() -> None:
    assert planned(VISIBLE.format("[]"), 3).words == "no GPU visible"


def test_growth_that_the_environment_forces_is_not_dropped() -> None:
    code = EACH.format(True) + LIMIT.format(0, 512) + 'os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"\n'
    assert planned(code, 5, gpus=1).prediction.kind is PredictionKind.HAPPENS
    assert planned(code + "x = tf.zeros(1)\n", 5, gpus=2).prediction.kind is PredictionKind.HAPPENS
