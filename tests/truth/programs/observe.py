"""Running programs on the installed TensorFlow, fast: one process imports it, and forks for each of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from tests.truth.programs.inside import SETTERS, THREADS

SECONDS = 30.0
"""What a program may take; they all take less than one."""
CONFIGURING = frozenset((*SETTERS, *THREADS))
_ROOT = Path(__file__).resolve().parents[3]
_STEERING = ("CUDA_", "FLAG_", "KERAS_", "TF_", "XLA_")

Place = tuple[str, int]
"""A file of the program, by its path below the program's folder, and a line."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    Attributes:
        what: a call of the context (``set_memory_growth``, ``intra_op_parallelism_threads``, ...), ``environ`` (a
            variable was set), ``differs`` (the start failed: growth differs), ``context`` (the runtime has started),
            ``allocator`` (only the devices were made).
        at: where. error, text: the exception of a call and its message; "" where it was accepted.
        device: whose growth. value: the growth. split: a device is configured to be split, afterwards.
        growth: the runtime got ``allow_growth``. name: of the variable. late: TensorFlow had read it before.
        changed: it got another value. gpus: how many there were for TensorFlow, -1 where it had not looked.
    """

    what: str
    at: Place
    error: str = ""
    text: str = ""
    device: str = ""
    value: Any = None
    split: bool = False
    growth: bool = False
    name: str = ""
    late: bool = False
    changed: bool = False
    gpus: int = -1

    @property
    def configures(self) -> bool:
        """Whether it is a call that configures TensorFlow."""
        return self.what in CONFIGURING


@dataclass(frozen=True, slots=True)
class Report:
    """One run.

    Attributes:
        events: what happened, in order. error, text, at: the exception that ended the program and where, "" if none.
        split: some device is configured to be split, at the end. started: the runtime is up, at the end.
    """

    events: tuple[Event, ...]
    error: str = ""
    text: str = ""
    at: Place = ("", 0)
    split: bool = False
    started: bool = False

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Report:
        """From what the other process says."""
        events = tuple(Event(**{**event, "at": (event["at"][0], event["at"][1])}) for event in data["events"])
        end = data["end"]
        at = (end["at"][0], end["at"][1])
        return cls(events, end["error"], end["text"], at, data["split"], data["started"])


class Observer:
    """The process that holds TensorFlow; it runs one program at a time. Use it as a context manager."""

    def __init__(self) -> None:
        env = {name: value for name, value in os.environ.items() if not name.startswith(_STEERING)}
        # The CPU has allocator statistics on every processor then, as `tfmemlint.verify.edge` says.
        env["TF_ENABLE_ONEDNN_OPTS"] = "1"
        env.update(TF_CPP_MIN_LOG_LEVEL="3", OPENBLAS_NUM_THREADS="1", PYTHONHASHSEED="0", CUDA_VISIBLE_DEVICES="")
        env["PYTHONPATH"] = str(_ROOT)
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("inside.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=env,
        )
        self.version = ""

    def __enter__(self) -> Observer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()

    def run(self, folder: Path, gpus: int, env: Mapping[str, str], argv: tuple[str, ...]) -> Report:
        """Run ``main.py`` of ``folder``."""
        if not self.version:
            self.version = str(json.loads(self._answer())["version"])
        job = {"folder": str(folder), "gpus": gpus, "env": dict(env), "argv": list(argv), "timeout": SECONDS}
        stream = self._process.stdin
        assert stream is not None
        stream.write(json.dumps(job) + "\n")
        stream.flush()
        return Report.read(json.loads(self._answer()))

    def _answer(self) -> str:
        stream: IO[str] | None = self._process.stdout
        assert stream is not None
        line = stream.readline()
        if not line:
            raise RuntimeError("the process that holds TensorFlow is gone")
        return line
