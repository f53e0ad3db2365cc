"""Run one program to its end, in a process that was forked for it."""

from __future__ import annotations

import importlib
import importlib.abc
import linecache
import os
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable, Collection
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any, NoReturn

from tfmemlint.verify.child import modules
from tfmemlint.verify.child.recording import Recorder, module
from tfmemlint.verify.child.watching import Watcher, message_of

_RELATIVE = re.compile(r"^[ \t]*from[ \t]+(\.+)[\w.]*[ \t]+import\b", re.MULTILINE)
"""An import from the program's own package, which decides how the program is run."""


def run_case(
    request: dict[str, Any], recorder: Recorder, journal: str, send: Callable[[dict[str, Any]], NoReturn]
) -> NoReturn:
    """Run the program of ``request`` in this process.

    ``send`` receives the report, as `Result` without the output, and ends the process. Threads and clean-ups of the
    program are not awaited then.
    """
    filename: str = request["filename"]
    own, leave, once = os.getpid(), os._exit, threading.Lock()

    def end(**how: Any) -> NoReturn:
        if os.getpid() != own:
            leave(0)  # a fork of the program that returns here
        while not once.acquire(blocking=False):
            time.sleep(1)  # another thread is about to end the process
        os._exit, watcher.stop = leave, None
        send({"ok": True, **how, **(observer.report() if observer is not None else _told_by(recorder))})

    def exit_at_once(status: int) -> NoReturn:
        if os.getpid() != own:
            leave(status)
        end(exit_code=status & 0xFF)

    stop = request["stop"]
    watcher = Watcher(
        filename, journal, frozenset(request["rows"]), None if stop is None else frozenset(stop), enough=end
    )
    if request["modules"]:
        modules.serve(request["modules"], watcher)
    watcher.install()
    observer = _observer(request, recorder, watcher, end)
    os._exit = exit_at_once
    try:
        program = _program(request)
        for name in request["imported"]:
            importlib.import_module(name)
        exec(_compiled(request, watcher), program.__dict__)
        _wait_for_threads()
    except SystemExit as leaving:
        end(exit_code=_exit_code(leaving))
    except BaseException as error:
        shown = error.__traceback__.tb_next if error.__traceback__ is not None else None
        traceback.print_exception(type(error), error, shown)  # without the harness's own frame
        line = line_in({filename, *watcher.modules}, error)
        end(ok=False, exception=type(error).__name__, message=message_of(error), traceback_line=line)
    end()


def _observer(request: dict[str, Any], recorder: Recorder, watcher: Watcher, end: Callable[[], None]) -> Any:
    """Return the observer that another part of the tool wants in the process, or None.

    It reports in place of `_told_by`, and the runtime is left as the program leaves it.
    """
    if request.get("observer") is None:
        return None
    return module(request["observer"]["module"]).Observer(request["observer"], recorder, watcher.note, end)


def _told_by(recorder: Recorder) -> dict[str, Any]:
    """Return the configuration that TensorFlow got. The runtime is started first if the program hasn't."""
    report: dict[str, Any] = {"init_error": _start_runtime(recorder)}
    report["config"] = recorder.config()
    report["effective"] = recorder.allocators.report()
    report["allocator"] = recorder.allocators.made_by
    report["sessions"] = recorder.sessions
    report["environment"] = recorder.environment
    report["physical"] = recorder.gpus
    if recorder.meter is not None and not report["init_error"]:
        from tfmemlint.verify.child.probe import probe

        report["probe"] = probe(recorder.meter, report["effective"] or report["config"])
    return report


def _compiled(request: dict[str, Any], watcher: Watcher) -> CodeType:
    filename: str = request["filename"]
    if not request["rows"]:
        return compile(request["code"], filename, "exec", dont_inherit=True)
    return compile(watcher.marked(request["code"]), filename, "exec", dont_inherit=True)


def line_in(filenames: Collection[str], error: BaseException) -> int | None:
    """Return the innermost line of these files that ``error`` passed through; None if there is none."""
    if isinstance(error, SyntaxError) and error.filename in filenames:
        return error.lineno
    found = None
    frame: TracebackType | None = error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename in filenames:
            found = frame.tb_lineno
        frame = frame.tb_next
    return found


def _program(request: dict[str, Any]) -> ModuleType:
    """Return the program's ``__main__``, with its source where tracebacks and AutoGraph look for it."""
    filename: str = request["filename"]
    folder: Path | None = (
        Path(filename).parent if Path(filename).is_absolute() and Path(filename).exists() else Path.cwd()
    )
    program = ModuleType("__main__")
    levels = [len(dots) for dots in _RELATIVE.findall(request["code"])]
    if request["package"] is not None:
        program.__package__, folder = request["package"], None
    elif levels:
        # It can only run as a part of its package, as with `python -m`.
        root, parts = folder or Path.cwd(), list[str]()
        while len(parts) < max(levels) or (root / "__init__.py").is_file():
            parts.insert(0, root.name)
            root = root.parent
        program.__package__ = ".".join(parts)
        folder = root
    places = [*([str(folder)] if folder is not None else []), *request["path"]]
    sys.path[:] = list(dict.fromkeys([*places, *(entry for entry in sys.path if entry)]))
    sys.argv[:] = [filename, *request["argv"]]
    program.__file__ = filename
    program.__loader__ = _Text(request["code"])
    linecache.lazycache(filename, program.__dict__)
    sys.modules["__main__"] = program
    return program


class _Text(importlib.abc.InspectLoader):
    """A loader for the source of a program that is in no file."""

    def __init__(self, code: str) -> None:
        self.code = code

    def get_source(self, fullname: str) -> str:
        """Return the program's text."""
        return self.code


def _wait_for_threads() -> None:
    """Wait for threads, as Python does at the end of a program."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


def _exit_code(leaving: SystemExit) -> int:
    if leaving.code is None:
        return 0
    if isinstance(leaving.code, int):
        return leaving.code & 0xFF  # as the system truncates it
    print(leaving.code, file=sys.stderr)
    return 1


def _start_runtime(recorder: Recorder) -> str:
    """Start the eager context if the program hasn't, so that there is a configuration to report."""
    context = module("tensorflow.python.eager.context").context()
    if context._initialized:
        return ""
    recorder.forced = True
    try:
        context.ensure_initialized()
        if context.executing_eagerly():
            module("tensorflow").constant(0)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""
