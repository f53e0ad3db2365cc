"""The server: imports TensorFlow once, and forks for every program that it is asked to run."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from typing import IO, Any

from tfmemlint.verify.edge.case import prepare, run_case


def main(requests: int, answers: int) -> None:
    """Answer requests (one JSON object a line on the descriptor ``requests``) until it is closed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # an exception, so that a running program ends as well
    tensorflow = importlib.import_module("tensorflow")
    importlib.import_module("tensorflow.python.client.device_lib")
    gc.collect()
    gc.freeze()  # what is there now stays shared with the forked processes
    with os.fdopen(requests, "r", encoding="utf-8") as incoming, os.fdopen(answers, "w", encoding="utf-8") as outgoing:
        _answer(outgoing, {"version": tensorflow.__version__})
        # readline, not iteration: what is read ahead would be in the hands of the forked processes as well
        while line := incoming.readline():
            _answer(outgoing, serve_one(json.loads(line)))


def _answer(outgoing: IO[str], data: dict[str, Any]) -> None:
    outgoing.write(json.dumps(data) + "\n")
    outgoing.flush()


def serve_one(request: dict[str, Any]) -> dict[str, Any]:
    """Run one program in a forked process with a time limit, and report on it."""
    own_folder = tempfile.mkdtemp(prefix="tfmemlint-") if request["cwd"] is None else None
    try:
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as answer:
            sys.stdout.flush()
            sys.stderr.flush()
            child = os.fork()
            if child == 0:
                _in_child(request, own_folder or request["cwd"], out, err, answer)
            status = _wait(child, request["timeout"])
            report: dict[str, Any] = json.loads(_text(answer) or "{}")
            if status is None:
                message = f"not ended after {request['timeout']} s"
                report = {"ok": False, "exception": "TimeoutError", "message": message, "timed_out": True}
            elif not report:
                report = {"ok": False, **_death(status)}
            return {**report, "stdout": _text(out), "stderr": _text(err)}
    finally:
        if own_folder is not None:
            shutil.rmtree(own_folder, ignore_errors=True)


def _in_child(request: dict[str, Any], folder: str, out: IO[bytes], err: IO[bytes], answer: IO[bytes]) -> None:
    """Never returns. The report goes through a file: nothing that a program prints or leaves running can block it."""
    try:
        os.setsid()
        simulation = prepare(request)  # what the driver says about missing cards isn't the program's output
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        os.chdir(folder)
        report = run_case(request, simulation)
        answer.write(json.dumps(report).encode())
        answer.flush()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except BaseException as error:
        with contextlib.suppress(Exception):
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
        os._exit(70)
    finally:
        os._exit(0)


def _wait(child: int, timeout: float) -> int | None:
    """The child's wait status, None if it had to be ended; what it left running in its process group ends as well."""
    limit = time.monotonic() + timeout
    pause = 0.001
    status: int | None = None
    try:
        while time.monotonic() < limit:
            ended, state = os.waitpid(child, os.WNOHANG)
            if ended:
                status = state
                break
            time.sleep(pause)
            pause = min(pause * 2, 0.02)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        if status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return status


def _death(status: int) -> dict[str, Any]:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return {"exception": signal.Signals(number).name, "message": f"the process was ended by signal {number}"}
    code = os.WEXITSTATUS(status)
    if code == 70:
        return {"exception": "HarnessError", "message": "the program could not be run; see stderr"}
    return {"exception": "Exited", "message": f"the process left by os._exit({code})", "exit_code": code}


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode("utf-8", "replace")
