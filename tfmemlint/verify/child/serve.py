"""The server: import TensorFlow once, and fork for every program that is to run."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any, NoReturn

from tfmemlint.verify.child import left_behind
from tfmemlint.verify.child.case import run_case
from tfmemlint.verify.child.large_pages import use_large_pages
from tfmemlint.verify.child.limits import Limits
from tfmemlint.verify.child.process_tree import adopt_orphans, die_with_parent, end_all, end_children
from tfmemlint.verify.child.recording import Recorder, watch
from tfmemlint.verify.child.sandbox.enter import enter, scratch_folder
from tfmemlint.verify.child.warm_up import warm_up

EMPTY = "empty"
"""The folder in which a program runs, but for one of the caller's choice."""
MANY_PROGRAMS = 20
"""After so many programs, large pages pay for themselves: more are likely to come."""
NEEDED = {"edge": ["tfmemlint.verify.edge.prepare"]}
"""The modules that each program needs on a ground, imported once for all of them."""
CHECK_SECONDS = 0.1
"""The interval at which a running program's limits are checked."""


def main(ground: str, descriptor: int) -> None:
    """Serve until the socket ``descriptor`` is closed.

    Each message on it carries the end of a connection, over which one request comes in and its answer goes out. Several
    programs may run at the same time.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # an exception, so that running programs end as well
    adopt_orphans()
    sys.path[:] = [entry for entry in sys.path if entry]  # the caller's folder may hold anything
    gc.disable()  # nothing of what is imported becomes garbage: to look for it takes a quarter of the time
    tensorflow = importlib.import_module("tensorflow")
    importlib.import_module("tensorflow.python.client.device_lib")
    folder = Path(str(tensorflow.__file__)).parent
    warm_up(folder)
    for module in NEEDED.get(ground, ["tfmemlint.verify.child.probe"]):
        importlib.import_module(module)
    gc.collect()
    gc.freeze()  # the present objects stay shared with the forked processes
    gc.enable()
    control = socket.socket(fileno=descriptor)
    about = {"version": tensorflow.__version__, "folder": str(folder)}
    control.sendall(_line({**about, "cuda": bool(tensorflow.test.is_built_with_cuda())}))
    managers: dict[int, _Manager] = {}
    programs = 0
    try:
        while True:
            _look_after(managers, control)
            message, descriptors, _, _ = socket.recv_fds(control, 1, 1)
            if not message:
                return
            programs += 1
            if programs == MANY_PROGRAMS:
                _send_home(managers)
                use_large_pages()
            manager = next((each for each in managers.values() if each.is_free), None)
            if manager is None:
                manager = _hire(managers, control, descriptors[0], ground)
            manager.hand(descriptors[0])
            os.close(descriptors[0])
    finally:
        for process in managers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
        for process in managers:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process, 0)
        end_children(set())


class _Manager:
    """A process that handles one request after the other, each in a process that it forks: to fork a manager for each
    request would copy the page tables of TensorFlow twice.

    Attributes:
        process: its number. line: the server's end of the connection to it. is_free: it has nothing to do.
        is_last: the request that it has is its last.
    """

    def __init__(self, process: int, line: socket.socket) -> None:
        self.process = process
        self.line = line
        self.is_free = True
        self.is_last = False

    def hand(self, descriptor: int) -> None:
        """Give it the end of a connection. Where it has just died, that end is closed, and the caller sees it."""
        self.is_free = False
        with contextlib.suppress(OSError):
            socket.send_fds(self.line, [b"r"], [descriptor])


def _hire(managers: dict[int, _Manager], control: socket.socket, connection: int, ground: str) -> _Manager:
    """Fork one more manager; it keeps nothing of what the server has open."""
    ours, theirs = socket.socketpair()
    process = os.fork()
    if process == 0:
        control.close()
        ours.close()
        os.close(connection)
        for other in managers.values():
            other.line.close()
        _manage(theirs, ground)
    theirs.close()
    managers[process] = _Manager(process, ours)
    return managers[process]


def _look_after(managers: dict[int, _Manager], control: socket.socket) -> None:
    """Wait until there is a request, or the end of them. Meanwhile note who is free, and who has ended."""
    asked = False
    while not asked:
        by_line = {manager.line: manager for manager in managers.values()}
        ready, _, _ = select.select([control, *by_line], [], [])
        asked = control in ready
        for line in ready:
            if line is control:
                continue
            manager = by_line[line]
            try:
                manager.is_free = bool(line.recv(1))
            except OSError:
                manager.is_free = False
            if not manager.is_free or manager.is_last:
                _let_go(managers, manager)


def _let_go(managers: dict[int, _Manager], manager: _Manager) -> None:
    """Forget a manager that has ended, or ends as its line is closed; kill what it left behind if it was killed."""
    del managers[manager.process]
    manager.line.close()
    _, status = os.waitpid(manager.process, 0)
    if status:
        end_children(set(managers))


def _send_home(managers: dict[int, _Manager]) -> None:
    """Let all managers go, each when it is free: they were forked before memory was in large pages."""
    for manager in [*managers.values()]:
        manager.is_last = True
        if manager.is_free:
            _let_go(managers, manager)


def _manage(line: socket.socket, ground: str) -> NoReturn:
    """Handle requests in a process of its own. It never returns."""
    code = 1
    try:
        adopt_orphans()
        die_with_parent(signal.SIGTERM)
        while True:
            message, descriptors, _, _ = socket.recv_fds(line, 1, 1)
            if not message:
                break
            with contextlib.suppress(Gone), socket.socket(fileno=descriptors[0]) as connection:
                with connection.makefile("rb") as incoming:
                    request = json.loads(incoming.read())
                connection.sendall(_line(serve_one(request, ground, connection, line)))
            line.sendall(b"f")
        code = 0
    except SystemExit:  # the server ends
        code = 1
    except BaseException as error:
        with contextlib.suppress(Exception):
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(code)


class Gone(Exception):
    """The caller has closed its connection: nobody wants the answer."""


def _line(data: dict[str, Any]) -> bytes:
    return (json.dumps(data) + "\n").encode()


def serve_one(request: dict[str, Any], ground: str, connection: socket.socket, line: socket.socket) -> dict[str, Any]:
    """Run one program in a forked process with its limits, and report on it. Neither socket is left to it.

    Raises:
        Gone: the other end of ``connection`` was closed meanwhile.
    """
    folder = Path(scratch_folder() if request["sandbox"] is not None else tempfile.mkdtemp(prefix="tfmemlint-"))
    try:
        _lay_out(request, folder)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            sys.stdout.flush()
            sys.stderr.flush()
            child = os.fork()
            if child == 0:
                connection.close()
                line.close()
                _in_child(request, ground, folder, out, err)
            limits = Limits(request["host_mib"], (out, err), str(folder))
            status, broken = _wait(child, request["timeout"], connection, limits)
            report = broken or left_behind.report_in(folder) or {"ok": False, **_death(status)}
            return {
                **report,
                "notes": left_behind.notes_in(folder),
                "sandbox": left_behind.barriers_in(folder),
                "stdout": left_behind.said(out),
                "stderr": left_behind.said(err),
            }
    finally:
        left_behind.remove(folder)


def _lay_out(request: dict[str, Any], folder: Path) -> None:
    """Make the working directory of a run, with the files that it is to find."""
    (folder / EMPTY / request["folder"]).mkdir(parents=True)
    for place, text in request["files"].items():
        file = folder / EMPTY / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("latin-1"))


def _in_child(request: dict[str, Any], ground: str, folder: Path, out: IO[bytes], err: IO[bytes]) -> NoReturn:
    """Run the program.

    The report and the notes go through files in ``folder``, so that nothing that a program prints, closes or leaves
    running can block them.
    """
    leave = os._exit

    def send(report: dict[str, Any]) -> NoReturn:
        left_behind.write_report(folder, report)
        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
            with contextlib.suppress(Exception):
                stream.flush()  # type: ignore[union-attr]
        leave(0)

    try:
        os.setsid()
        if request["sandbox"] is not None:
            left_behind.write_barriers(folder, _enter_sandbox(request, folder))
        die_with_parent(signal.SIGKILL)  # last: a process that changes its privileges loses it
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # the server's own handling isn't the program's
        recorder = _prepare(request, ground)  # the driver's messages about missing GPUs aren't the program's output
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        os.chdir(request["cwd"] or folder / EMPTY / request["folder"])
        run_case(request, recorder, left_behind.notes_file(folder), send)
    except BaseException as error:
        with contextlib.suppress(Exception):
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        leave(70)


def _enter_sandbox(request: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Put this process into the sandbox, and return what holds it back there."""
    wanted = request["sandbox"]
    program = Path(request["filename"])
    folders = [request["cwd"], str(program.parent) if program.is_absolute() and program.exists() else None]
    own = [*folders, *request["path"]]
    barriers = enter(str(folder), [path for path in own if path], wanted["write"], network=wanted["network"])
    return barriers.as_data()


def _prepare(request: dict[str, Any], ground: str) -> Recorder:
    """Put the machine of ``request`` under this process's TensorFlow, and set its environment."""
    if ground == "edge":
        from tfmemlint.verify.edge.prepare import prepare

        return prepare(request)
    os.environ.update(request["env"])
    recorder = Recorder()
    watch(recorder)
    if request["probe"] is not None:
        from tfmemlint.verify.child.probe import Meter

        recorder.meter = Meter(request["probe"].get("pynvml", ""))
    return recorder


def _wait(child: int, timeout: float, connection: socket.socket, limits: Limits) -> tuple[int, dict[str, Any]]:
    """Return the child's wait status, and the report if it exceeded its limits. Processes that it left running are
    killed.
    """
    asker = select.poll()
    asker.register(connection, 0)  # a hang-up is always reported
    limit = time.monotonic() + timeout
    look = time.monotonic() + CHECK_SECONDS
    pause = 0.001
    status: int | None = None
    broken: dict[str, Any] = {}
    try:
        while status is None and not broken:
            ended, state = os.waitpid(child, os.WNOHANG)
            now = time.monotonic()
            if ended:
                status = state
            elif asker.poll(0):
                raise Gone
            elif now > limit:
                message = f"did not end within {timeout:g} s"
                broken = {"ok": False, "exception": "TimeoutError", "message": message, "timed_out": True}
            elif now > look:
                look = now + CHECK_SECONDS
                message = limits.exceeded(child)
                if message:
                    broken = {"ok": False, "exception": "MemoryError", "message": message, "out_of_memory": True}
            else:
                time.sleep(pause)
                pause = min(pause * 2, 0.02)
    finally:
        end_all(child, waited=status is not None)
    return status or 0, broken


def _death(status: int) -> dict[str, Any]:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        name = next((known.name for known in signal.Signals if known == number), f"SIG{number}")
        return {"exception": name, "message": f"the process was ended by {name}"}
    code = os.WEXITSTATUS(status)
    if code == 70:
        return {"exception": "HarnessError", "message": "the program could not be run; see stderr"}
    return {"exception": "Exited", "message": f"the process left with exit code {code}", "exit_code": code}
