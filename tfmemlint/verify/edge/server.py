"""The caller's side: starts the server, sends programs, and gives back results."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from tfmemlint.verify.edge.result import EdgeError, Result

START_SECONDS = 180.0
"""How long importing TensorFlow may take."""
GRACE_SECONDS = 30.0
_ROOT = str(Path(__file__).resolve().parents[3])
_ENTER = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from tfmemlint.verify.edge.serve import main; main(int(sys.argv[2]), int(sys.argv[3]))"
)
_STEERING = ("CUDA_", "KERAS_", "NVIDIA_", "TF_", "XLA_")
"""Variables of the caller that would change what TensorFlow does; a program gets only those given to `Edge.run`."""


class Edge:
    """Runs programs on the installed TensorFlow with simulated GPUs, one process for each.

    TensorFlow is imported once, when the first program is run; variables that it reads while being imported can't be
    given to a program. Use it as a context manager, or `shared` for one that lives as long as the process.
    """

    def __init__(self) -> None:
        if not hasattr(os, "fork"):
            raise EdgeError("running programs on simulated GPUs needs os.fork, which this system doesn't have")
        self._lock = threading.Lock()
        self._server: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._log: IO[bytes] | None = None
        self._version = ""
        self._requests = self._answers = -1
        self._buffer = b""

    def __enter__(self) -> Edge:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def version(self) -> str:
        """TensorFlow's version, such as ``2.21.0``; starts the server."""
        with self._lock:
            self._ensure_started()
            return self._version

    def run(
        self,
        code: str,
        *,
        gpus: int = 1,
        memory_mib: Sequence[int] | None = None,
        env: Mapping[str, str] | None = None,
        filename: str = "program.py",
        argv: Sequence[str] = (),
        timeout: float = 60,
        cwd: str | os.PathLike[str] | None = None,
        cuda_order: Sequence[int] | None = None,
    ) -> Result:
        """Run ``code`` as ``__main__`` of a fresh process on a machine with ``gpus`` simulated GPUs.

        Args:
            code: the program's text.
            gpus: how many GPUs the machine has.
            memory_mib: the total memory of each in MiB; 16384 where not given.
            env: variables added to the program's environment; ``CUDA_VISIBLE_DEVICES`` is unset otherwise.
            filename: the program's name in tracebacks and ``sys.argv[0]``.
            argv: the program's arguments.
            timeout: seconds after which the program and all its processes are ended.
            cwd: the folder to run in; an empty one of its own where not given.
            cuda_order: the cards (as NVML numbers them) in CUDA's default order, the fastest first; effective
                unless the program's environment has ``CUDA_DEVICE_ORDER=PCI_BUS_ID``.

        Raises:
            EdgeError: TensorFlow can't be imported, or the server died.
            ValueError: the sizes or the order don't fit ``gpus``.
        """
        from tfmemlint.verify.edge.machine import Machine

        Machine.of(gpus, memory_mib, cuda_order)  # refuse here what the forked process could only die of
        request = {
            "code": code,
            "gpus": gpus,
            "memory_mib": None if memory_mib is None else list(memory_mib),
            "env": dict(env or {}),
            "filename": filename,
            "argv": list(argv),
            "timeout": timeout,
            "cwd": None if cwd is None else os.fspath(Path(cwd).resolve()),
            "cuda_order": None if cuda_order is None else list(cuda_order),
            "root": _ROOT,
        }
        with self._lock:
            self._ensure_started()
            try:
                return Result.from_json(self._ask(request, timeout + GRACE_SECONDS))
            except BaseException:
                self._close()  # or an answer that nobody waited for would be taken for the next one
                raise

    def close(self) -> None:
        """End the server; the next program starts a new one."""
        with self._lock:
            self._close()

    def _ensure_started(self) -> None:
        server = self._server
        # A forked copy of this process must not talk over the pipes of its parent.
        if server is not None and self._owner == os.getpid() and server.poll() is None:
            return
        self._close()
        requests, self._requests = os.pipe()
        self._answers, answers = os.pipe()
        self._buffer = b""
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the server
        env = {name: value for name, value in os.environ.items() if not name.startswith(_STEERING)}
        # No real GPU may be touched, and OpenBLAS must not start threads before the fork.
        env.update(CUDA_VISIBLE_DEVICES="", TF_CPP_MIN_LOG_LEVEL="2", OPENBLAS_NUM_THREADS="1", PYTHONHASHSEED="0")
        self._server = subprocess.Popen(
            [sys.executable, "-c", _ENTER, _ROOT, str(requests), str(answers)],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            pass_fds=(requests, answers),
            env=env,
        )
        self._owner = os.getpid()
        os.close(requests)
        os.close(answers)
        self._version = str(self._read(START_SECONDS)["version"])

    def _ask(self, request: dict[str, Any], patience: float) -> dict[str, Any]:
        data = (json.dumps(request) + "\n").encode()
        try:
            while data:
                data = data[os.write(self._requests, data) :]
        except BrokenPipeError:
            raise self._failure("ended unexpectedly") from None
        return self._read(patience)

    def _read(self, patience: float) -> dict[str, Any]:
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self._answers], [], [], patience)
            if not ready:
                raise self._failure(f"gave no answer within {patience:.0f} s")
            chunk = os.read(self._answers, 1 << 16)
            if not chunk:
                raise self._failure("ended unexpectedly")
            self._buffer += chunk
        line, self._buffer = self._buffer.split(b"\n", 1)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _failure(self, what: str) -> EdgeError:
        said = ""
        if self._log is not None:
            self._log.seek(0)
            said = self._log.read().decode("utf-8", "replace").strip()
        self._close()
        if "No module named 'tensorflow'" in said:
            return EdgeError("TensorFlow is not installed; `pip install tfmemlint[tensorflow]` brings it")
        return EdgeError(f"the process that holds TensorFlow {what}" + (f":\n{said[-2000:]}" if said else ""))

    def _close(self) -> None:
        server, self._server = self._server, None
        if server is None:
            return
        for descriptor in (self._requests, self._answers):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        if self._log is not None:
            self._log.close()
            self._log = None
        if self._owner == os.getpid():
            try:
                server.wait(1)  # it leaves when its requests are closed, unless a program is still running
            except subprocess.TimeoutExpired:
                server.terminate()
                try:
                    server.wait(5)
                except subprocess.TimeoutExpired:
                    server.kill()
                    server.wait()


@lru_cache(maxsize=1)
def shared() -> Edge:
    """One `Edge` for the whole process; its server starts with the first program and ends with the process."""
    return Edge()
