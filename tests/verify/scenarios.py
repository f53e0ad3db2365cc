"""Running small programs on an installed TensorFlow over the simulated driver, and what came of each."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tfmemlint.verify import driver

MIB = 1 << 20
CARD = 4096  # TensorFlow keeps a table of a 32nd of every region in the host's memory, so small cards test faster
FREE = CARD - 300
SECONDS = 60

# Runs every job in a process forked after one import of TensorFlow; needs nothing but the standard library beside it.
CHILD = r"""
import json, os, signal, sys, time
import tensorflow as tf

jobs, seconds = json.load(open(sys.argv[1])), int(sys.argv[2])
running = 0
for job in jobs:
    if running == 4:  # TensorFlow waits for ten seconds before it says that memory is out
        os.wait()
        running -= 1
    running += 1
    if os.fork() == 0:
        signal.alarm(seconds)
        os.environ.update(job["env"])
        os.dup2(os.open(job["stderr"], os.O_WRONLY | os.O_CREAT), 2)
        os.dup2(2, 1)
        answer = {"error": "", "value": None}
        started = time.monotonic()
        names = {"tf": tf, "os": os}
        try:
            exec(job["prelude"], names)
            exec(job["code"], names)
            answer["value"] = names.get("value")
        except BaseException as error:
            answer["error"] = type(error).__name__ + ": " + str(error)
        answer["seconds"] = time.monotonic() - started
        with open(job["answer"], "w") as file:
            json.dump(answer, file)
        os._exit(0)
while running:
    os.wait()
    running -= 1
"""
PRELUDE = """
config = tf.config
gpus = config.list_physical_devices("GPU")
Limit = config.LogicalDeviceConfiguration
kept = []
def grow():
    for gpu in gpus:
        config.experimental.set_memory_growth(gpu, True)
def limit(gpu, *sizes):
    config.set_logical_device_configuration(gpu, [Limit(memory_limit=size) for size in sizes])
def take(mib, device="/GPU:0"):
    with tf.device(device):
        kept.append(tf.raw_ops.Empty(shape=[256, int(mib * 1024)], dtype=tf.float32, init=False))
def v1(options, config=None):
    config = config or tf.compat.v1.ConfigProto(gpu_options=options)
    with tf.Graph().as_default():
        with tf.device("/GPU:0"):
            x = tf.raw_ops.Empty(shape=[1000], dtype=tf.float32)
        tf.compat.v1.Session(config=config).run(x.op)
"""


@dataclass
class Outcome:
    """What came of one scenario; sizes in MiB."""

    error: str
    value: Any
    usage: driver.Usage
    stderr: str
    minor: int
    seconds: float = 0

    def mib(self, gpu: int = 0) -> list[float]:
        """The regions taken of one GPU."""
        return [round(size / MIB, 1) for size in self.usage.gpus[gpu].regions]

    @property
    def reserve(self) -> int:
        """What TensorFlow leaves free of a card of this size."""
        return 1536 if self.minor < 13 else 1800


Check = Callable[[Outcome], bool]


@dataclass
class Scenario:
    """A program, its machine, and what must come of it."""

    code: str
    check: Check
    env: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)
    says: str = ""
    """What must come of it, in words."""
    claim: str = ""
    """The rule whose page or catalogue entry rests on it."""


def run(python: str, tensorflow: str, scenarios: Mapping[str, Scenario], seconds: int = SECONDS) -> dict[str, Outcome]:
    """Run scenarios on one installed TensorFlow, in processes forked from one that imported it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        jobs = []
        for key, scenario in scenarios.items():
            machine = {"memory_mib": [CARD] * int(scenario.machine.get("gpus", 1))} | dict(scenario.machine)
            env = driver.environment(log=folder / f"{key}.log", tensorflow=tensorflow, **machine)
            jobs.append(
                {
                    "env": env | {"TF_CPP_MIN_LOG_LEVEL": "0"} | dict(scenario.env),
                    "prelude": PRELUDE,
                    "code": scenario.code,
                    "answer": str(folder / f"{key}.json"),
                    "stderr": str(folder / f"{key}.err"),
                }
            )
        (folder / "jobs").write_text(json.dumps(jobs))
        (folder / "child.py").write_text(CHILD)
        given = driver.server_environment(driver.libraries(tensorflow))
        command: Sequence[str] = (python, str(folder / "child.py"), str(folder / "jobs"), str(seconds))
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("TF_", "CUDA_", "XLA_"))}
        subprocess.run(command, env=clean | given, capture_output=True, timeout=60 + seconds * len(jobs), check=True)
        outcomes = {}
        for key in scenarios:
            answer = folder / f"{key}.json"
            told: dict[str, Any] = {"error": "no answer", "value": None, "seconds": 0}
            if answer.exists():
                told = json.loads(answer.read_text())
            outcomes[key] = Outcome(
                error=told["error"],
                value=told["value"],
                usage=driver.read_log(folder / f"{key}.log"),
                stderr=(folder / f"{key}.err").read_text(errors="replace"),
                minor=int(tensorflow.split(".")[1]),
                seconds=told["seconds"],
            )
        return outcomes
