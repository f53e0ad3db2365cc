"""A ground: run programs on the real TensorFlow, each in a process of its own.

This is the caller's side. It starts the server that holds TensorFlow, sends programs, and returns results.
"""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from tfmemlint.verify.result import GroundError, Result
from tfmemlint.verify.sandbox_options import Sandbox, passed_environment

if TYPE_CHECKING:
    from typing_extensions import Self

    from tfmemlint.verify.read_files import ReadFiles

START_SECONDS = 180.0
"""The time limit for importing TensorFlow; a bound without a deeper reason."""
GRACE_SECONDS = 30.0
"""The time for the server's answer beyond the program's own limit: for the probe, and for killing processes."""
_ROOT = str(Path(__file__).resolve().parents[1])
# The package is loaded by its path, as its folder may contain packages of another Python.
_ENTER = """
import importlib.util, os, sys
if sys.version_info < (3, 10):
    sys.exit("tfmemlint: this Python is older than 3.10")
spec = importlib.util.spec_from_file_location(
    "tfmemlint", os.path.join(sys.argv[1], "__init__.py"), submodule_search_locations=sys.argv[1:2]
)
sys.modules["tfmemlint"] = package = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
from tfmemlint.verify.child.serve import main
main(sys.argv[2], int(sys.argv[3]))
"""


class Ground:
    """Runs programs on an installed TensorFlow, one process for each.

    TensorFlow is imported once, when the first program is run, so a program can't get variables that it reads while it
    is imported. Use it as a context manager, or `shared` for one that lives as long as the process.
    """

    kind = ""
    """``gpu``, ``driver`` or ``edge``."""

    def __init__(self, python: str | None = None) -> None:
        """Prepare the ground. ``python`` is the interpreter that has TensorFlow; by default this one.

        Raises:
            GroundError: this system can't fork.
        """
        if not hasattr(os, "fork"):
            raise GroundError("running programs on TensorFlow needs os.fork, which this system doesn't have")
        self.python = python or sys.executable
        self._lock = threading.Lock()
        self._server: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._log: IO[bytes] | None = None
        self._about: dict[str, Any] = {}
        self._control: socket.socket | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def version(self) -> str:
        """Return TensorFlow's version, such as ``2.21.0``. It starts the server."""
        return str(self.about()["version"])

    def about(self) -> dict[str, Any]:
        """Return TensorFlow's ``version``, its ``folder``, and whether it was built with ``cuda``. It starts the
        server.

        Raises:
            GroundError: TensorFlow can't be imported.
        """
        with self._lock:
            self._ensure_started()
            return self._about

    def overhead_mib(self) -> tuple[float, ...]:
        """Return the memory of each physical GPU that a process takes before TensorFlow's allocator has any, in MiB.

        It is measured on first use, and empty if nothing is allocated.
        """
        return ()

    def at_once(self) -> int:
        """Return the number of programs to run at the same time."""
        return os.cpu_count() or 1

    def server_environment(self) -> dict[str, str]:
        """Return variables for the process that imports TensorFlow, in addition to those of the caller."""
        return {}

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
        host_mib: float | None = None,
        cwd: str | os.PathLike[str] | None = None,
        files: ReadFiles | None = None,
        cuda_order: Sequence[int] | None = None,
        rows: Iterable[int] = (),
        stop: Iterable[int] | None = None,
        observer: Mapping[str, Any] | None = None,
        modules: Mapping[str, str] | None = None,
        imported: Sequence[str] = (),
        package: str | None = None,
        path: Sequence[str] = (),
        sandbox: Sandbox | None = None,
    ) -> Result:
        """Run ``code`` as ``__main__`` of a fresh process.

        Args:
            code: the program's text.
            gpus: the number of GPUs of a simulated machine.
            memory_mib: the total memory of each in MiB; 16384 by default.
            env: variables added to the program's environment; ``CUDA_VISIBLE_DEVICES`` is unset otherwise.
            filename: the program's name in tracebacks and ``sys.argv[0]``.
            argv: the program's arguments.
            timeout: seconds after which the program and all its processes are killed.
            host_mib: MiB of the machine's own memory that they may take together (Linux); None for any.
            cwd: the folder to run in; by default one that has nothing in it but copies of ``files``.
            cuda_order: the GPUs (as NVML numbers them) in CUDA's default order, the fastest first; effective
                unless the program's environment has ``CUDA_DEVICE_ORDER=PCI_BUS_ID``.
            rows: the first rows of the statements to watch: the result says whether they were reached.
            stop: end the program once these of them are done and the runtime has started; None to run it to its end.
            observer: the ``module`` whose ``Observer`` watches the program in its process and reports on it instead;
                its other items are options of that observer.
            modules: texts to run instead of those of the program's own modules, by their files.
            imported: modules to import first. package: the package for its relative imports; None to derive it from the
                file's place. path: further folders to look for modules in.
            sandbox: what the program may reach of this machine; None for everything that the user may reach.

        Raises:
            GroundError: TensorFlow can't be imported, or the server died.
            ValueError: the sizes or the order don't fit ``gpus``.
        """
        request = {
            "code": code,
            "gpus": gpus,
            "memory_mib": None if memory_mib is None else list(memory_mib),
            "env": dict(env or {}),
            "filename": filename,
            "argv": list(argv),
            "timeout": timeout,
            "host_mib": host_mib,
            "cwd": None if cwd is None else os.fspath(Path(cwd).resolve()),
            "files": {} if files is None else {place: data.decode("latin-1") for place, data in files.contents.items()},
            "folder": "" if files is None else files.folder,
            "cuda_order": None if cuda_order is None else list(cuda_order),
            "rows": sorted(set(rows)),
            "stop": None if stop is None else sorted(set(stop)),
            "probe": None,
            "observer": None if observer is None else dict(observer),
            "modules": dict(modules or {}),
            "imported": list(imported),
            "package": package,
            "path": list(path),
            "sandbox": None if sandbox is None else sandbox.as_request(),
        }
        self.complete(request)
        ours, theirs = socket.socketpair()
        with ours:
            with theirs, self._lock:
                self._ensure_started()
                assert self._control is not None
                try:
                    socket.send_fds(self._control, [b"r"], [theirs.fileno()])
                except OSError:
                    raise self._failure("ended unexpectedly") from None
            return Result.from_json(self._ask(ours, request, timeout + GRACE_SECONDS))

    def complete(self, request: dict[str, Any]) -> None:
        """Check a request before it is sent, and add what this ground needs.

        Raises:
            ValueError: the machine that is described is not consistent.
        """

    def close(self) -> None:
        """End the server; the next program starts a new one."""
        with self._lock:
            self._close()

    def _ensure_started(self) -> None:
        server = self._server
        # A forked copy of this process must not use the pipes of its parent.
        if server is not None and self._owner == os.getpid() and server.poll() is None:
            return
        self._close()
        ours, theirs = socket.socketpair()
        self._control = ours
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the server
        env = passed_environment(os.environ)
        # OpenBLAS must not start threads before the fork.
        env.update(TF_CPP_MIN_LOG_LEVEL="2", OPENBLAS_NUM_THREADS="1", PYTHONHASHSEED="0")
        env.update(self.server_environment())
        with theirs:
            try:
                self._server = self._start(theirs.fileno(), env)
            except OSError as error:
                raise GroundError(f"{self.python} can't be started: {error.strerror or error}") from None
        self._owner = os.getpid()
        about = _read(ours, START_SECONDS, until=b"\n")
        if not about:
            raise self._failure("ended unexpectedly" if about is not None else "takes too long to import it")
        self._about = json.loads(about)

    def _start(self, descriptor: int, env: dict[str, str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [self.python, "-c", _ENTER, _ROOT, self.kind, str(descriptor)],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            pass_fds=(descriptor,),
            env=env,
        )

    def _ask(self, connection: socket.socket, request: dict[str, Any], patience: float) -> dict[str, Any]:
        """Send a request and wait for its answer. Closing the connection meanwhile kills the program."""
        try:
            connection.sendall(json.dumps(request).encode())
            connection.shutdown(socket.SHUT_WR)
            data = _read(connection, patience)
        except OSError:
            data = b""
        if data is None:
            raise GroundError(f"the process that holds TensorFlow gave no answer within {patience:.0f} s")
        if not data.endswith(b"\n"):
            with self._lock:
                raise self._failure("ended unexpectedly", alive=True)
        answer: dict[str, Any] = json.loads(data)
        return answer

    def _failure(self, what: str, *, alive: bool = False) -> GroundError:
        """Return the error for a failed server, with its last output; ``alive``: it still runs other programs."""
        said = ""
        if self._log is not None:
            self._log.seek(0)
            said = self._log.read().decode("utf-8", "replace").strip()
        if not alive:
            self._close()
        if "No module named 'tensorflow'" in said:
            whose = "" if self.python == sys.executable else f" for {self.python}"
            return GroundError(f"TensorFlow is not installed{whose}; `pip install tensorflow` brings it")
        if "this Python is older than 3.10" in said:
            return GroundError(f"{self.python} is older than Python 3.10, which running programs needs")
        return GroundError(f"the process that holds TensorFlow {what}" + (f":\n{said[-2000:]}" if said else ""))

    def _close(self) -> None:
        server, self._server = self._server, None
        if server is None:
            return
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._log is not None:
            self._log.close()
            self._log = None
        if self._owner == os.getpid():
            try:
                server.wait(1)  # it ends when its socket is closed
            except subprocess.TimeoutExpired:
                server.terminate()
                try:
                    server.wait(5)
                except subprocess.TimeoutExpired:
                    server.kill()
                    server.wait()


def _read(connection: socket.socket, patience: float, until: bytes = b"") -> bytes | None:
    """Read up to ``until``, or to the end; None if nothing more arrives within ``patience`` seconds."""
    data = b""
    limit = time.monotonic() + patience
    while not (until and data.endswith(until)):
        ready, _, _ = select.select([connection], [], [], max(limit - time.monotonic(), 0))
        if not ready:
            return None
        chunk = connection.recv(1 << 16)
        if not chunk:
            return data
        data += chunk
    return data
