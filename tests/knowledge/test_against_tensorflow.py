"""The tables against the installed TensorFlow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.knowledge import names
from tfmemlint.knowledge.effects import Effect, effect
from tfmemlint.knowledge.releases import Target

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

PAIRS = """
import json, sys
import tensorflow as tf

def find(name):
    thing = tf
    for part in name.split(".")[1:]:
        thing = getattr(thing, part)
    return thing

print(json.dumps([pair for pair in json.load(sys.stdin) if find(pair[0]) is not find(pair[1])]))
"""

EFFECTS = """
import json, os, sys
import tensorflow as tf
from tensorflow.python.eager import context

results = {}
for call in json.load(sys.stdin):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        eval(call)
        there = context.context_safe()
        os.write(writer, b"1" if there is not None and there._context_handle is not None else b"0")
        os._exit(0)
    os.close(writer)
    results[call] = os.read(reader, 1).decode()
    os.close(reader)
    os.waitpid(child, 0)
print(json.dumps(results))
"""

CALLS = (
    "tf.constant(1)",
    "tf.zeros((2, 2))",
    "tf.Variable(1.0)",
    "tf.math.add_n([[1.0]])",
    "tf.linalg.inv([[1.0]])",
    "tf.data.Dataset.range(3)",
    "tf.device('/CPU:0')",
    "tf.config.list_logical_devices()",
    "tf.config.list_physical_devices()",
    "tf.config.set_soft_device_placement(True)",
    "tf.random.set_seed(1)",
    "tf.keras.layers.Dense(2)",
    "tf.keras.layers.Dropout(0.5)",
    "tf.keras.layers.LSTM(2)",
    "tf.keras.optimizers.Adam()",
    "tf.keras.metrics.Mean()",
    "tf.keras.losses.MeanSquaredError()",
    "tf.keras.Input((4,))",
    "tf.distribute.OneDeviceStrategy('/cpu:0')",
    "tf.distribute.get_strategy()",
    "tf.train.Checkpoint()",
    "tf.function(lambda: 1)",
    "tf.io.gfile.exists('.')",
    "tf.compat.v1.ConfigProto()",
)


SERVE = """
import gc, json, os, sys

gc.disable()  # to look for garbage takes a quarter of the time of the import
import tensorflow as tf

gc.enable()
for line in sys.stdin:
    code, given, answer = json.loads(line)
    child = os.fork()
    if child == 0:
        for number, name in enumerate((given, answer, f"{answer}.err")):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), number)
        sys.stdin = open(0)
        exec(code, {})
        sys.stdout.flush()
        os._exit(0)
    print(os.waitpid(child, 0)[1], flush=True)
"""
"""Imports TensorFlow once, and runs each code in a process that is forked for it."""


@pytest.fixture(scope="module")
def installed() -> Target:
    from importlib.metadata import version

    return Target.parse(version("tensorflow"))


Run = Callable[[str, object], Any]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A function that returns what a fresh process with TensorFlow makes of something."""
    quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    folder = tmp_path_factory.mktemp("answers")
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", SERVE], stdin=pipe, stdout=pipe, text=True, env=quiet) as server:
        assert server.stdin is not None and server.stdout is not None
        to_server, from_server = server.stdin, server.stdout

        def answer(code: str, given: object) -> Any:
            question = folder / f"{len(list(folder.iterdir()))}"
            question.write_text(json.dumps(given), encoding="utf-8")
            told = question.with_suffix(".out")
            print(json.dumps([code, str(question), str(told)]), file=to_server, flush=True)
            status = from_server.readline()
            assert status == "0\n", Path(f"{told}.err").read_text(encoding="utf-8")[-2000:]
            return json.loads(told.read_text(encoding="utf-8").splitlines()[-1])

        yield answer
        to_server.close()


LACKED = """
import json, sys
import tensorflow as tf

lacked = []
for place, listed in json.load(sys.stdin).items():
    thing = tf
    try:
        for part in place.split(".")[1:]:
            thing = getattr(thing, part)
        lacked += [f"{place}.{name}" for name in dir(thing) if name[0] != "_" and name not in listed]
    except (AttributeError, ImportError):
        pass
print(json.dumps(lacked))
"""


def test_no_public_name_of_the_installed_release_is_called_missing(run: Run, installed: Target) -> None:
    places = [place for place in names.places() if names.is_namespace(place, installed)]
    assert len(places) > 100
    lacked = run(LACKED, {place: names.members(place, installed) for place in places})
    assert [name for name in lacked if not names.exists(name, installed)] == []


ABSENT = """
import json, sys
import tensorflow as tf

absent = []
for place, listed in json.load(sys.stdin).items():
    thing = tf
    try:
        for part in place.split(".")[1:]:
            thing = getattr(thing, part)
    except (AttributeError, ImportError):
        absent.append(place)
        continue
    for name in listed:
        try:
            getattr(thing, name)
        except (AttributeError, ImportError):
            absent.append(f"{place}.{name}")
print(json.dumps(absent))
"""


def test_every_name_that_the_table_has_for_the_installed_release_is_there(run: Run, installed: Target) -> None:
    listed = {place: names.members(place, installed) for place in names.places() if names.exists(place, installed)}
    listed = {place: children for place, children in listed.items() if children}
    assert sum(map(len, listed.values())) > 8000
    # Modules that have to be imported by their own names are no attributes of what they are in.
    unimported = {name for name in run(ABSENT, listed) if not names.is_module(name)}
    assert {name for name in unimported if name.rpartition(".")[0] not in _LAZY} == set()


_LAZY = frozenset({"tf.compat.v1.layers", "tf.compat.v1.nn.rnn_cell"})
"""What raises at every attribute with Keras 3, whatever the table says of gaps."""


def test_the_names_in_the_tables_of_moved_and_stable_names_are_the_same_objects(run: Run, installed: Target) -> None:
    pairs = [*names.deprecated_aliases(installed).items(), *names.moved(installed).items()]
    assert len(pairs) > 100
    assert run(PAIRS, pairs) == []


def test_calls_start_the_runtime_exactly_when_the_table_says_so(run: Run, installed: Target) -> None:
    started = run(EFFECTS, CALLS)
    said = {call: effect(call.partition("(")[0], installed) for call in CALLS}
    assert {call for call, found in said.items() if found is Effect.STARTS} == {
        call for call, result in started.items() if result == "1"
    }
