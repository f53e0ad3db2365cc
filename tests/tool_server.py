"""Running the tool in a process of its own without paying for its start each time.

A server imports the tool once and forks for every run: each has its own memory, stack and file descriptors, so that a
crash, an endless loop or a closed pipe of one run is its own. Where there is no ``fork``, each run is a new process.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HANGS_AFTER_SECONDS = 120
"""Only what hangs takes that long."""
WARM_UP = """\
import tensorflow as tf
x = tf.zeros([1])
for gpu in tf.config.list_physical_devices('GPU'):
    tf.config.experimental.set_memory_growth(gpu, True)
    tf.config.experimental.set_memory_limit(gpu, 4096)
"""


def run_tool(cwd: Path, arguments: Sequence[str], stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run ``python -m tfmemlint`` in ``cwd``; the result is that of `subprocess.run`.

    Raises:
        subprocess.TimeoutExpired: it hangs.
    """
    command = [sys.executable, "-m", "tfmemlint", *arguments]
    if not hasattr(os, "fork"):
        return subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, timeout=HANGS_AFTER_SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder, name) for name in ("in", "out", "err")]
        streams[0].write_bytes(stdin)
        code = _Server.running().ask(
            {"cwd": str(cwd), "arguments": list(arguments), "streams": list(map(str, streams))}
        )
        out, err = streams[1].read_bytes(), streams[2].read_bytes()
    if code == -signal.SIGALRM:
        raise subprocess.TimeoutExpired(command, HANGS_AFTER_SECONDS, out, err)
    return subprocess.CompletedProcess(command, code, out, err)


def merged_report(folder: Path, path: str, output_format: str) -> subprocess.CompletedProcess[bytes]:
    """Run ``merge`` over a report of ``path``, in ``output_format``; it has findings, so it ends with 1."""
    report = folder / "report.json"
    report.write_bytes(run_tool(folder, ["check", "--output-format", "json", path]).stdout)
    done = run_tool(folder, ["merge", "--output-format", output_format, str(report)])
    assert done.returncode == 1, done.stderr
    return done


class _Server:
    _current: _Server | None = None

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.tool_server"]
        root = str(Path(__file__).resolve().parents[1])
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root)
        atexit.register(self._process.kill)

    @classmethod
    def running(cls) -> _Server:
        """The server of this process, started where there is none."""
        if cls._current is None or cls._current._process.poll() is not None:
            cls._current = cls()
        return cls._current

    def ask(self, run: dict[str, object]) -> int:
        """The exit code of a run; that of one ended by a signal is negative, as of a subprocess."""
        run["environment"] = dict(os.environ)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(run) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


def _serve() -> None:
    import libcst.codemod  # noqa: F401  # what a run with fixes imports besides

    from tfmemlint.rulekit.rule import rules

    rules()
    _warm_up()
    gc.collect()
    gc.freeze()  # the present objects stay shared with the forked processes
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        run = json.loads(line)
        child = os.fork()
        if child == 0:
            _be_the_tool(run)
        answers.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
        answers.flush()


def _warm_up() -> None:
    """Check and fix a file: the tables and patterns that each run would read and compile for itself are there then."""
    from tfmemlint.cli.main import main

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        path = Path(folder, "warm_up.py")
        path.write_text(WARM_UP, encoding="utf-8")
        main(["check", "--no-cache", str(path)])
        main(["fix", "--no-cache", "--diff", "--unsafe-fixes", str(path)])


def _be_the_tool(run: dict[str, object]) -> None:
    """Become a run of the tool, with its directory, environment and standard streams; end with its exit code."""
    signal.alarm(HANGS_AFTER_SECONDS)
    os.environ.clear()
    os.environ.update(run["environment"])  # type: ignore[call-overload]
    os.chdir(str(run["cwd"]))
    flags = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)
    streams: list[str] = run["streams"]  # type: ignore[assignment]
    for number, (path, flag) in enumerate(zip(streams, flags, strict=True)):
        os.dup2(os.open(path, flag), number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", errors="backslashreplace")  # noqa: SIM115
    arguments: list[str] = run["arguments"]  # type: ignore[assignment]
    sys.argv[1:] = arguments
    from tfmemlint.cli.main import main

    code = 1
    try:
        code = main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve()
