"""Runs programs on TensorFlow over simulated GPUs, each in a fork of one process that has imported it.

Started by `observe`, as a script. A line of JSON comes in for each program, a line goes out. Leaner than the server of
``verify``: no limits on memory, no slices, and only what a comparison needs is written down.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import select
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

SETTERS = ("set_memory_growth", "set_logical_device_configuration", "set_visible_devices")
THREADS = ("intra_op_parallelism_threads", "inter_op_parallelism_threads")
SHOWN = 200
"""How much of an exception's text is kept."""


class Notes:
    """What a program does that matters, in order; each note is plain data with ``at``: the file and the line."""

    def __init__(self, folder: str) -> None:
        self.folder = folder + os.sep
        self.events: list[dict[str, Any]] = []
        self.listed = self.made = False

    def add(self, what: str, at: tuple[str, int] | None = None, **more: Any) -> None:
        """Write something down; without a place it is that of the program's innermost frame."""
        self.events.append({"what": what, "at": at or self.here(), **more})

    def here(self) -> tuple[str, int]:
        """The program's innermost line that leads here."""
        frame: Any = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename.startswith(self.folder):
                return frame.f_code.co_filename[len(self.folder) :], frame.f_lineno
            frame = frame.f_back
        return "", 0

    def place_of(self, error: BaseException) -> tuple[str, int]:
        """The program's innermost line that ``error`` came through."""
        found = ("", 0)
        trace: TracebackType | None = error.__traceback__
        while trace is not None:
            name = trace.tb_frame.f_code.co_filename
            if name.startswith(self.folder):
                found = name[len(self.folder) :], trace.tb_lineno
            trace = trace.tb_next
        return found


def watch(notes: Notes, simulation: Any) -> None:
    """Write down what is asked of this process's TensorFlow."""
    context = importlib.import_module("tensorflow.python.eager.context").Context
    for name in SETTERS:
        setattr(context, name, _noting(notes, name, getattr(context, name)))
    for name in THREADS:
        old = getattr(context, name)
        setattr(context, name, property(old.fget, _noting(notes, name, old.fset)))
    _watch_mismatch(notes, context)
    _watch_making(notes, simulation)
    _watch_environment(notes, simulation)


def _noting(notes: Notes, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def noting(context: Any, *args: Any, **kwargs: Any) -> Any:
        at = notes.here()
        given = [*args, *kwargs.values()]
        device = getattr(given[0], "name", "")
        value = given[1] if name == "set_memory_growth" else None
        try:
            result = real(context, *args, **kwargs)
        except Exception as error:
            notes.add(name, at, device=device, value=value, error=type(error).__name__, text=str(error)[:SHOWN])
            raise
        notes.add(name, at, device=device, value=value, error="", text="", split=_split(context))
        return result

    return noting


def _split(context: Any) -> bool:
    """Whether any device is configured to be split, which makes TensorFlow drop growth."""
    return any(bool(value) for value in (context._virtual_device_map or {}).values())


def _watch_mismatch(notes: Notes, context: Any) -> None:
    real = context._compute_gpu_options

    def compute(own: Any) -> Any:
        try:
            return real(own)
        except ValueError as error:
            notes.add("differs", text=str(error)[:SHOWN])
            raise

    context._compute_gpu_options = compute


def _watch_making(notes: Notes, simulation: Any) -> None:
    def wrapped(real: Callable[..., Any], what: str) -> Callable[..., Any]:
        def noting(*args: Any) -> Any:
            if what == "listed":
                notes.listed = True
            else:
                notes.made = notes.listed = True
                options = args[0].gpu_options
                split = bool(options.experimental.virtual_devices)
                notes.add(what, growth=bool(options.allow_growth), split=split)
            return real(*args)

        return noting

    for name, what in (
        ("on_context", "context"),
        ("on_session", "allocator"),
        ("on_device_lib", "allocator"),
        ("on_listing", "listed"),
    ):
        setattr(simulation, name, wrapped(getattr(simulation, name), what))


def _watch_environment(notes: Notes, simulation: Any) -> None:
    kind: Any = type(os.environ)
    real = kind.__setitem__

    def setting(own: Any, name: str, value: str) -> None:
        if name in ("CUDA_VISIBLE_DEVICES", "TF_FORCE_GPU_ALLOW_GROWTH"):
            late = notes.listed if name == "CUDA_VISIBLE_DEVICES" else notes.made
            gpus = simulation.gpus if notes.listed else -1
            notes.add("environ", name=name, late=late, changed=own.get(name) != value, gpus=gpus)
        real(own, name, value)

    kind.__setitem__ = setting


def run_one(job: dict[str, Any]) -> dict[str, Any]:
    """Run the program of ``job`` in this very process, and say what it did."""
    from tfmemlint.verify.edge.prepare import prepare

    folder = str(Path(job["folder"]).resolve())
    simulation = prepare({"gpus": job["gpus"], "memory_mib": None, "cuda_order": None, "env": job["env"]})
    notes = Notes(folder)
    watch(notes, simulation)
    os.chdir(folder)
    sys.argv[:] = ["main.py", *job["argv"]]
    sys.path[:] = [folder, *sys.path[1:]]
    end: dict[str, Any] = {"error": "", "text": "", "at": ("", 0)}
    try:
        runpy.run_path(str(Path(folder, "main.py")), run_name="__main__")
    except BaseException as error:
        end = {"error": type(error).__name__, "text": str(error)[:SHOWN], "at": notes.place_of(error)}
    context = importlib.import_module("tensorflow.python.eager.context").context()
    return {"events": notes.events, "end": end, "split": _split(context), "started": bool(context._initialized)}


def _forked(job: dict[str, Any]) -> str:
    """The report of one program as a line, from a process of its own."""
    incoming, outgoing = os.pipe()
    child = os.fork()
    if child == 0:
        _in_child(job, outgoing)
    os.close(outgoing)
    data = b""
    while True:
        ready, _, _ = select.select([incoming], [], [], job["timeout"])
        if not ready:
            os.kill(child, signal.SIGKILL)
            data = b""
            break
        chunk = os.read(incoming, 1 << 16)
        if not chunk:
            break
        data += chunk
    os.close(incoming)
    os.waitpid(child, 0)
    return data.decode() or json.dumps(
        {"events": [], "end": {"error": "Died", "text": "", "at": ["", 0]}, "split": False, "started": False}
    )


def _in_child(job: dict[str, Any], outgoing: int) -> NoReturn:
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
        report = json.dumps(run_one(job)).encode()
        while report:
            report = report[os.write(outgoing, report) :]
    finally:
        os._exit(0)


def main() -> None:
    """Serve until the standard input is closed."""
    sys.dont_write_bytecode = True
    tensorflow = importlib.import_module("tensorflow")
    tensorflow.keras.layers.Dense  # noqa: B018 - loads Keras, which every program would load anew otherwise
    importlib.import_module("tensorflow.python.client.device_lib")
    importlib.import_module("tfmemlint.verify.edge.prepare")
    gc.collect()
    gc.freeze()
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    print(json.dumps({"version": tensorflow.__version__}), file=answers)
    for line in sys.stdin:
        print(_forked(json.loads(line)), file=answers)


if __name__ == "__main__":
    main()
