"""Run `child` in another interpreter, with a time limit, and return its facts and its output."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfmemlint.doctor.cuda_libraries import NEEDED
from tfmemlint.doctor.trouble import one_line

_ENTER = (
    "import sys; sys.path[:] = [folder for folder in sys.path if folder]; "  # not a tensorflow.py of this folder
    "import runpy; runpy.run_path(sys.argv[1], run_name='__main__')"
)


class InterpreterError(Exception):
    """The interpreter can't be run; the message says why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of the child.

    Attributes:
        path: the interpreter. facts: its facts, by step. log: the output of the child and of TensorFlow.
        status: its exit status, negative for a signal; None if it did not end in time.
    """

    path: str
    facts: dict[str, dict[str, Any]]
    log: str
    status: int | None

    @property
    def last_words(self) -> str:
        """Return the last line of the log that is not just information."""
        lines = [line for line in self.log.splitlines() if line.strip()]
        return next((line for line in reversed(lines) if ": I " not in line and not line.startswith("I0")), "")

    @property
    def death(self) -> str:
        """Return the name of the signal that ended it, or its exit status."""
        if self.status is not None and self.status < 0:
            with contextlib.suppress(ValueError):
                return signal.Signals(-self.status).name
        return f"exit status {self.status}"


def ask(python: str | None, seconds: float, env: Mapping[str, str]) -> Answer:
    """Run the child.

    Args:
        python: the interpreter, as a path or a command; by default the one that runs this.
        seconds: the time limit. env: the child's environment.

    Raises:
        InterpreterError: there is no such interpreter, or it is not a Python that can be run.
    """
    path = _interpreter(python)
    with tempfile.TemporaryDirectory(prefix="tfmemlint-") as folder:
        status, log = _run(path, Path(folder), seconds, env)
        answer = Answer(path, _facts(Path(folder) / "facts"), log, status)
    if "python" not in answer.facts:
        said = f": {one_line(answer.last_words)}" if answer.last_words else ""
        if status is None:
            raise InterpreterError(f"{path} gave no answer within {seconds:g} s{said}")
        raise InterpreterError(f"{path} does not run as Python 3.7 or newer{said}")
    return answer


def _interpreter(python: str | None) -> str:
    if python is None:
        return sys.executable
    path = shutil.which(python)
    if path is not None:
        return path
    if Path(python).is_dir():
        raise InterpreterError(f"{python} is a folder; name the interpreter in it, such as bin/python")
    raise InterpreterError(f"{python} can't be executed" if Path(python).exists() else f"there is no {python}")


def _run(path: str, folder: Path, seconds: float, env: Mapping[str, str]) -> tuple[int | None, str]:
    """Run the child, and return its exit status (None if it did not end in time) and its output."""
    # TensorFlow's own log says which libraries it opens. These settings don't change which devices there are.
    told = {name: value for name, value in env.items() if name != "TF_CPP_MAX_VLOG_LEVEL"}
    told.update(TF_CPP_MIN_LOG_LEVEL="0", TF_CPP_VMODULE="dso_loader=1", PYTHONIOENCODING="utf-8:backslashreplace")
    child, facts = str(Path(__file__).with_name("child.py")), str(folder / "facts")
    with (folder / "log").open("w+b") as log:
        try:
            process = subprocess.Popen(
                [path, "-c", _ENTER, child, facts, json.dumps(NEEDED)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=told,
                start_new_session=True,
            )
        except OSError as error:
            raise InterpreterError(f"{path} can't be run: {error.strerror or error}") from None
        status: int | None = None
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            _end(process)
        log.seek(0)
        return status, log.read().decode("utf-8", "replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the child and its processes, whether it has ended or not."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def _facts(path: Path) -> dict[str, dict[str, Any]]:
    """Return the facts by their step. A line that was cut off is ignored."""
    found: dict[str, dict[str, Any]] = {}
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    for line in text.split("\n")[:-1]:
        fact: dict[str, Any] = json.loads(line)
        found[fact["step"]] = fact
    return found
