"""A process that dies loses the file that killed it, and none outlives its run; an error of the tool is no finding."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tfmemlint.cli.main import main
from tfmemlint.engine import run, subjects
from tfmemlint.engine.item import Item
from tfmemlint.engine.pool import map_items
from tfmemlint.engine.results import FileResult

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no workers without fork")

CODE = "import tensorflow as tf\ntf.config.set_memory_limit(1)\n"


def _fault() -> None:
    faulthandler.disable()
    os.kill(os.getpid(), signal.SIGSEGV)


DEATHS: dict[str, Callable[[], object]] = {
    "it leaves": lambda: os._exit(0),
    "it is killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "a library faults": _fault,
}
SLEEPS = """
import os, signal, sys, time
from tfmemlint.engine import pool
# Whoever runs the tests may ignore these, as nohup does.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
pool.os.cpu_count = lambda: 2

def work(number):
    # In one write: unbuffered, print gives the line's end by itself, and another worker's number may come between.
    os.write(1, b"%d\\n" % os.getpid())
    time.sleep(600)

list(pool.map_items(work, range(100), warm_up=lambda items: None, max_chunk=1))
"""


@pytest.mark.parametrize("death", DEATHS)
def test_a_worker_that_dies_loses_its_file_only(
    death: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    parent, check_item = os.getpid(), run.check_item

    def dies(item: Item, context: object, *cached: object) -> FileResult:
        if os.getpid() != parent and item.path.endswith(("m7.py", "m20.py")):
            DEATHS[death]()
        return check_item(item, context, *cached)  # type: ignore[arg-type]

    for number in range(30):
        (tmp_path / f"m{number}.py").write_text(CODE)
    monkeypatch.setattr(run, "check_item", dies)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--no-cache", "--output-format", "concise", "."]) == 3
    out = capsys.readouterr().out
    assert out.count("TFM202") == 28
    lost = [line for line in out.splitlines() if "TFM900" in line]
    assert [line.split(":")[0] for line in lost] == ["m20.py", "m7.py"]
    assert all("died" in line for line in lost)


@pytest.mark.skipif(
    signal.getsignal(signal.SIGINT) is not signal.default_int_handler,
    reason="whoever runs the tests ignores interruptions, and so do their processes",
)
@pytest.mark.parametrize("ended_by", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_no_worker_outlives_the_run(ended_by: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", SLEEPS], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        # Should the workers not start, the test fails instead of waiting for them.
        timer = threading.Timer(60, process.kill)
        timer.daemon = True
        timer.start()
        workers = {int(process.stdout.readline()) for _ in range(2)}
        process.send_signal(ended_by)
        try:
            process.wait(60)
        finally:
            process.kill()
        deadline = time.monotonic() + 60
        while any(map(_is_alive, workers)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not [worker for worker in workers if _is_alive(worker)]


def _is_alive(process: int) -> bool:
    try:
        # Nobody may wait for an orphan: a dead one is then a zombie.
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        pass
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return not Path("/proc/self/stat").exists()


def test_a_crash_says_that_it_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise KeyError("x\x1b\ny")

    monkeypatch.setattr("tfmemlint.engine.run.read_items", fails)
    assert main(["check", str(tmp_path)]) == 3
    shown = capsys.readouterr().err
    assert "an error in tfmemlint, not a finding" in shown
    assert "KeyError" in shown
    assert "\x1b" not in shown
    assert all(line.startswith("tfmemlint: ") for line in shown.splitlines())


def test_an_error_on_one_file_is_a_finding_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    subject_of_item = subjects.subject_of_item

    def fails(item: Item) -> object:
        if item.path.endswith("bad.py"):
            raise MemoryError
        return subject_of_item(item)

    for name in ("bad.py", "good.py"):
        (tmp_path / name).write_text(CODE)
    monkeypatch.setattr(run, "subject_of_item", fails)
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--no-cache", "--output-format", "concise", "."]) == 3
    out = capsys.readouterr().out
    assert "bad.py:1:1: error: TFM900" in out
    assert "MemoryError" in out
    assert "good.py:2:1: error: TFM202" in out


@pytest.mark.parametrize("first", [None, 0, 59])
def test_the_workers_have_ended_when_the_last_result_is_handed_on(
    first: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # They close what they hold while they end: in the meantime the caller writes files.
    monkeypatch.setattr("tfmemlint.engine.pool.os.cpu_count", lambda: 2)
    threads = set(threading.enumerate())
    results = map_items(str, range(60), warm_up=lambda items: None, max_chunk=7, first=first)
    assert [next(results) for _ in range(60)] == [str(number) for number in range(60)]
    assert not multiprocessing.active_children()
    assert set(threading.enumerate()) == threads
