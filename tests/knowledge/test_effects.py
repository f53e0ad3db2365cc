"""The effects of calls, against what the calls left behind when each ran in a process of its own."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tfmemlint.knowledge.effects import Effect, effect, starts_in_graph_mode
from tfmemlint.knowledge.releases import Target

RELEASES = ("2.4", "2.9", "2.12", "2.15", "2.16", "2.20", "2.21")
CALLS = [
    line.partition(" ")[::2]
    for line in (Path(__file__).parent / "data" / "calls.txt").read_text(encoding="ascii").splitlines()
    if not line.startswith("#")
]
NEWEST = Target.parse("2.21")


def names_called(call: str) -> list[str]:
    """The canonical name of every call in an expression, the outermost first."""

    def name(node: ast.expr) -> str:
        if isinstance(node, ast.Attribute):
            return f"{name(node.value)}.{node.attr}"
        if isinstance(node, ast.Call):
            return f"{name(node.func)}()"
        return node.id if isinstance(node, ast.Name) else "?"

    return [name(node.func) for node in ast.walk(ast.parse(call)) if isinstance(node, ast.Call)]


@pytest.mark.parametrize("place", range(len(RELEASES)), ids=RELEASES)
def test_no_call_that_left_nothing_behind_is_said_to_start_the_runtime(place: int) -> None:
    target = Target.parse(RELEASES[place])
    wrong = [
        name
        for letters, call in CALLS
        if letters[place] == "n"
        for name in names_called(call)
        if effect(name, target) in (Effect.STARTS, Effect.LISTS)
    ]
    assert wrong == []


@pytest.mark.parametrize("place", range(len(RELEASES)), ids=RELEASES)
def test_no_call_that_started_the_runtime_is_said_to_do_nothing(place: int) -> None:
    target = Target.parse(RELEASES[place])
    wrong = [
        call
        for letters, call in CALLS
        if letters[place] == "S" and not {Effect.STARTS, None} & {effect(name, target) for name in names_called(call)}
    ]
    assert wrong == []


def test_most_of_the_calls_that_start_the_runtime_are_known() -> None:
    started = [call for letters, call in CALLS if letters[-1] == "S"]
    known = [call for call in started if Effect.STARTS in {effect(name, NEWEST) for name in names_called(call)}]
    assert len(known) > 0.95 * len(started)


@pytest.mark.parametrize(
    ("name", "release", "expected"),
    [
        # Nothing but a listing, and nothing at all.
        ("tf.config.list_physical_devices", "2.15", Effect.LISTS),
        ("tf.config.experimental.list_physical_devices", "2.4", Effect.LISTS),
        ("tf.config.get_visible_devices", "2.21", Effect.LISTS),
        ("tf.random.set_seed", "2.15", Effect.NOTHING),
        ("tf.keras.utils.set_random_seed", "2.15", Effect.NOTHING),
        ("tf.keras.backend.clear_session", "2.21", Effect.NOTHING),
        ("tf.config.set_soft_device_placement", "2.21", Effect.NOTHING),
        ("tf.test.is_built_with_cuda", "2.21", Effect.NOTHING),
        ("tf.io.gfile.exists", "2.21", Effect.NOTHING),
        ("tf.distribute.get_strategy", "2.21", Effect.NOTHING),
        # Everything in eager mode that makes a tensor.
        ("tf.constant", "2.4", Effect.STARTS),
        ("tf.Variable", "2.13", Effect.STARTS),
        ("tf.device", "2.21", Effect.STARTS),
        ("tf.random.normal", "2.10", Effect.STARTS),
        ("tf.data.Dataset.from_tensor_slices", "2.15", Effect.STARTS),
        ("tf.config.list_logical_devices", "2.15", Effect.STARTS),
        ("tf.distribute.MirroredStrategy", "2.21", Effect.STARTS),
        # Keras 2 and Keras 3 differ, and so do the optimizers before 2.12.
        ("tf.keras.layers.Dropout", "2.15", Effect.NOTHING),
        ("tf.keras.layers.Dropout", "2.16", Effect.STARTS),
        ("tf.keras.layers.Dropout", "2.17", Effect.STARTS),
        ("tf.keras.Sequential", "2.15", Effect.STARTS),
        ("tf.keras.Model", "2.13", Effect.STARTS),
        ("tf.keras.optimizers.Adam", "2.9", Effect.NOTHING),
        ("tf.keras.optimizers.Adam", "2.12", Effect.STARTS),
        ("tf.keras.optimizers.Adam", "2.21", Effect.STARTS),
        ("tf.keras.layers.Dense", "2.21", Effect.NOTHING),
        ("tf.keras.layers.LSTM", "2.21", Effect.STARTS),
        # Between 2.9 and 2.12 nobody looked; with Keras 3 it depends on the layers.
        ("tf.keras.optimizers.Adam", "2.10", None),
        ("tf.keras.Sequential", "2.16", None),
        ("tf.keras.models.Sequential", "2.21", None),
        # The allocator is made, the context isn't started.
        ("tf.test.is_gpu_available", "2.21", Effect.ALLOCATES),
        ("tf.test.gpu_device_name", "2.12", Effect.ALLOCATES),
        ("tf.python.client.device_lib.list_local_devices", "2.15", Effect.ALLOCATES),
        ("tf.compat.v1.Session", "2.21", Effect.ALLOCATES),
        ("tf.Session", "1.15", Effect.ALLOCATES),
        # Nothing is known of these.
        ("tf.no_such_thing", "2.21", None),
        ("numpy.zeros", "2.21", None),
        ("tf.constant", "1.15", None),
        ("my_module.constant", "2.21", None),
    ],
)
def test_the_effect_is_the_one_that_was_measured(name: str, release: str, expected: Effect | None) -> None:
    assert effect(name, Target.parse(release)) is expected


def test_a_release_newer_than_the_newest_known_is_judged_like_it() -> None:
    assert effect("tf.constant", Target.parse("2.99")) is Effect.STARTS


def test_standalone_keras_has_the_effects_of_tf_keras() -> None:
    assert effect("keras.layers.Dense", NEWEST) is Effect.NOTHING
    assert effect("keras.layers.LSTM", NEWEST) is Effect.STARTS


def test_other_names_of_an_object_have_its_effect() -> None:
    assert effect("tf.math.add", NEWEST) is Effect.STARTS
    assert effect("tf.compat.v1.Graph", NEWEST) is Effect.NOTHING
    assert effect("tf.keras.models.Sequential().compile", NEWEST) is effect("tf.keras.Sequential().compile", NEWEST)
    assert effect("tf.keras.Sequential().compile", NEWEST) is Effect.STARTS


@pytest.mark.parametrize("name", ["tf.constant", "tf.Variable", "tf.zeros", "tf.device", "tf.keras.layers.Dropout"])
def test_in_graph_mode_an_op_does_not_start_the_eager_context(name: str) -> None:
    assert starts_in_graph_mode(name) is False
    assert effect(name, NEWEST, graph=True) is not Effect.STARTS


@pytest.mark.parametrize(
    "name",
    [
        "tf.config.list_logical_devices",
        "tf.config.experimental.get_memory_info",
        "tf.distribute.MultiWorkerMirroredStrategy",
        "tf.compat.v1.train.MonitoredTrainingSession",
    ],
)
def test_some_calls_start_the_eager_context_even_in_graph_mode(name: str) -> None:
    assert starts_in_graph_mode(name) is True
    assert effect(name, NEWEST, graph=True) in (Effect.STARTS, Effect.ALLOCATES)


def test_before_2_12_a_monitored_session_does_not_start_the_eager_context() -> None:
    assert starts_in_graph_mode("tf.compat.v1.train.MonitoredTrainingSession", Target.parse("2.9")) is not True


def test_nothing_is_said_of_graph_mode_where_nobody_looked() -> None:
    assert starts_in_graph_mode("tf.no_such_thing") is None
