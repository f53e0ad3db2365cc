"""Running one program to its end, in a process that was forked for it."""

from __future__ import annotations

import importlib
import importlib.abc
import linecache
import os
import signal
import sys
import threading
import traceback
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from tfmemlint.verify.edge import nvml
from tfmemlint.verify.edge.machine import Machine
from tfmemlint.verify.edge.runtime import Simulation, install


def run_case(request: dict[str, Any], simulation: Simulation) -> dict[str, Any]:
    """Run the program of ``request`` in this very process, and report as `Result` has it (without the output)."""
    report: dict[str, Any] = {"ok": True}
    filename: str = request["filename"]
    try:
        program = _program(request)
        exec(compile(request["code"], filename, "exec"), program.__dict__)
        _wait_for_threads()
    except SystemExit as leaving:
        report["exit_code"] = _exit_code(leaving)
    except BaseException as error:
        own = error.__traceback__.tb_next if error.__traceback__ is not None else None
        traceback.print_exception(type(error), error, own)  # without the harness's own frame
        report.update(ok=False, exception=type(error).__name__, message=str(error))
        report["traceback_line"] = line_in(filename, error)
    report["init_error"] = _start_runtime(simulation)
    report["config"] = simulation.config()
    report["effective"] = simulation.allocators.report()
    report["allocator"] = simulation.allocators.made_by
    report["sessions"] = simulation.sessions
    return report


def line_in(filename: str, error: BaseException) -> int | None:
    """The innermost line of ``filename`` that ``error`` came through, None if it came through none."""
    if isinstance(error, SyntaxError) and error.filename == filename:
        return error.lineno
    found = None
    frame: TracebackType | None = error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == filename:
            found = frame.tb_lineno
        frame = frame.tb_next
    return found


def prepare(request: dict[str, Any]) -> Simulation:
    """Put the machine of ``request`` under this process's TensorFlow, and set its environment."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # the server's own handling isn't the program's
    machine = Machine.of(request["gpus"], request["memory_mib"], request["cuda_order"])
    simulation = install(machine)  # first, while CUDA_VISIBLE_DEVICES still hides every real card
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    os.environ.update(request["env"])
    sys.modules["pynvml"] = nvml.module(machine)
    return simulation


def _program(request: dict[str, Any]) -> ModuleType:
    """The program's ``__main__``, with its source where tracebacks and AutoGraph look for it."""
    filename: str = request["filename"]
    folder = Path(filename).parent if Path(filename).is_absolute() and Path(filename).exists() else Path.cwd()
    sys.path[:] = [str(folder), *(entry for entry in sys.path if entry not in ("", request["root"]))]
    sys.argv[:] = [filename, *request["argv"]]
    program = ModuleType("__main__")
    program.__file__ = filename
    program.__loader__ = _Text(request["code"])
    linecache.lazycache(filename, program.__dict__)
    sys.modules["__main__"] = program
    return program


class _Text(importlib.abc.InspectLoader):
    """Gives out the source of a program that is in no file."""

    def __init__(self, code: str) -> None:
        self.code = code

    def get_source(self, fullname: str) -> str:
        """The program's text."""
        return self.code


def _wait_for_threads() -> None:
    """As Python itself does at the end of a program."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


def _exit_code(leaving: SystemExit) -> int:
    if leaving.code is None:
        return 0
    if isinstance(leaving.code, int):
        return leaving.code
    print(leaving.code, file=sys.stderr)
    return 1


def _start_runtime(simulation: Simulation) -> str:
    """Start the eager context if the program hasn't, so that there is a configuration to look at."""
    context = importlib.import_module("tensorflow.python.eager.context").context()
    if context._initialized:
        return ""
    simulation.forced = True
    try:
        context.ensure_initialized()
        if context.executing_eagerly():
            importlib.import_module("tensorflow").constant(0)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""
