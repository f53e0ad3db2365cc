"""A process that checks repositories one after the other, each in a fork of its own with a limit of time and memory.

It is a process of its own because workers have threads, which do not survive a fork. It has imported everything before
the first fork, and reads a line of JSON for each repository. It ends with whoever started it, and what it checks ends
with it: when its standard input is closed.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import threading
import time
from typing import Any

POLL_SECONDS = 0.05
"""Seconds between two looks at the memory of a fork."""
Record = dict[str, Any]
_FIRST = "import late\n"
_LATE = """\
import tensorflow as tf

tf.zeros([1])
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
tf.config.experimental.set_memory_limit(gpu, 1024)
"""
"""A program with findings, one of which has a fix."""


class Judge:
    """Has repositories checked within limits, by a process that it starts when it is needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __call__(self, directory: str, options: Record, seconds: float, mib: float) -> Record:
        """Return the record of a repository (`tfmemlint.estate.judge`).

        Args:
            directory: its top.
            options: fields of `tfmemlint.api.request.Options`.
            seconds: its time on the clock.
            mib: its resident memory in MiB.
        """
        request = {"directory": directory, "options": options, "seconds": seconds, "mib": mib}
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = b""
        if not line:
            self.close()
            return {"outcome": "died", "problem": "the process that checks repositories died"}
        record = json.loads(line)
        assert isinstance(record, dict)
        return record

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            # No module comes from the working directory, nor from what an environment says of it.
            places = [place for place in sys.path if place]
            code = f"import sys; sys.path[:] = {places!r}; from tfmemlint.estate.limits import serve; serve()"
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=os.sep
            )
        return self._process

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()
            self._process.kill()
            self._process.wait()
            self._process = None


_of_thread = threading.local()


def judge_of_thread() -> Judge:
    """Return the judge of this thread of a worker."""
    if not hasattr(_of_thread, "judge"):
        _of_thread.judge = Judge()
    judge = _of_thread.judge
    assert isinstance(judge, Judge)
    return judge


def serve() -> None:
    """Answer requests until standard input is closed."""
    import gc

    from tfmemlint.estate.judge import judge
    from tfmemlint.history.scratch import scratch_folder

    # What a check imports is imported once, by a check: 0.4 s of processor time in each fork otherwise.
    with scratch_folder("estate") as directory:
        pathlib.Path(directory, "main.py").write_text(_FIRST, encoding="utf-8")
        pathlib.Path(directory, "late.py").write_text(_LATE, encoding="utf-8")
        judge(directory, {})
        os.chdir(os.sep)
    gc.freeze()
    answers = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests = sys.stdin.buffer
    while line := requests.readline():
        record = _within_limits(**json.loads(line))
        if record is None:
            return
        _write(answers, json.dumps(record).encode() + b"\n")


def _write(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


def _within_limits(directory: str, options: Record, seconds: float, mib: float) -> Record | None:
    """Return the record of a repository; None if nobody waits for it any more."""
    import psutil

    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        _run_child(reading, writing, directory, options)
    os.close(writing)
    made = bytearray()
    watched, end = psutil.Process(child), time.monotonic() + seconds
    problem: Record | None = {"outcome": "died", "problem": "the process that checked it died"}
    while True:
        with contextlib.suppress(psutil.Error):
            if watched.memory_info().rss > mib * 2**20:
                problem = {"outcome": "memory", "problem": f"took more than {mib:g} MiB of memory"}
                made.clear()
                break
        ready, _, _ = select.select([reading, 0], [], [], POLL_SECONDS)
        if reading in ready:
            data = os.read(reading, 2**16)
            if not data:
                break
            made += data
        elif 0 in ready:
            problem = None  # whoever asked is gone
            break
        if time.monotonic() > end:
            problem = {"outcome": "time", "problem": f"took longer than {seconds:g} s"}
            made.clear()
            break
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    os.close(reading)
    os.waitpid(child, 0)
    try:
        record = json.loads(bytes(made))
    except ValueError:
        return problem
    assert isinstance(record, dict)
    return record


def _run_child(reading: int, writing: int, directory: str, options: Record) -> None:
    from tfmemlint.estate.judge import judge

    try:
        os.close(reading)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for handle in (0, 1, 2):
            os.dup2(nowhere, handle)
        try:
            record = judge(directory, options)
        except Exception as error:  # a defect of the tool's own, or of the machine: the others go on
            record = {"outcome": "failed", "problem": f"{type(error).__name__}: {error}"}
        _write(writing, json.dumps(record).encode())
    finally:
        os._exit(0)
