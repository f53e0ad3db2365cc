"""What a program may not do: outlive its run, take all memory, fill the disk, or break what watches it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.verify.programs import GROWING, limited, verdicts
from tfmemlint.verify.child.process_tree import FamilyWatch, used_by
from tfmemlint.verify.edge import Edge

START = "import tensorflow as tf\nx = tf.constant(1)\n"


@pytest.mark.slow
def test_a_daemon_does_not_outlive_its_program(edge: Edge, tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    code = f"""\
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        os.closerange(0, 256)
        time.sleep(1.5)
        open({str(alive)!r}, "w").close()
    os._exit(0)
print("left")
"""
    result = edge.run(code)
    assert (result.ok, result.stdout) == (True, "left\n")
    time.sleep(2)
    assert not alive.exists()


def test_a_program_that_takes_too_much_memory_is_ended(edge: Edge) -> None:
    code = """\
import os, time
if os.fork() == 0:
    blocks = []
    while True:
        blocks.append(b"x" * 20_000_000)
        time.sleep(0.01)
time.sleep(60)
print("slept to the end")
"""
    result = edge.run(code, host_mib=400, timeout=60)
    assert result.out_of_memory
    assert not result.ok
    assert "more than the 400 MiB allowed" in result.message
    assert not result.timed_out
    assert "slept to the end" not in result.stdout


def test_what_python_itself_refuses_is_the_program_s_own_error(edge: Edge) -> None:
    result = edge.run("x = 'x' * (1 << 60)\n", host_mib=400)
    assert result.error == "MemoryError"
    assert not result.out_of_memory


def test_the_memory_of_a_process_without_children_is_its_own() -> None:
    assert used_by(os.getpid()).mib > 1
    assert used_by(2**30).mib == 0


def test_a_child_s_memory_is_counted_and_the_search_for_children_is_seldom() -> None:
    watch = FamilyWatch(os.getpid())
    alone = watch.usage()
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    try:
        assert used_by(os.getpid()).processes == alone.processes + 1
        begin, looks, most = time.thread_time(), 0, 0
        limit = time.monotonic() + 20
        while most <= alone.processes and time.monotonic() < limit:
            most, looks = watch.usage().processes, looks + 1
        assert most == alone.processes + 1
        # One look at this process alone costs much less than a search among all.
        each = (time.thread_time() - begin) / looks
        begin = time.thread_time()
        used_by(os.getpid())
        assert each < time.thread_time() - begin
    finally:
        child.communicate()
    assert used_by(os.getpid()).processes == alone.processes


def test_of_very_much_output_the_beginning_and_the_end_come_back(edge: Edge) -> None:
    code = "print('first')\nfor _ in range(50):\n    print('x' * 1_000_000)\nprint('last')\n"
    result = edge.run(code)
    assert result.stdout.startswith("first\n")
    assert result.stdout.endswith("\nlast\n")
    assert len(result.stdout) < 1_000_000
    assert "bytes left out" in result.stdout


def test_a_program_that_prints_without_end_is_ended(edge: Edge) -> None:
    result = edge.run("import os\nline = b'x' * (1 << 24)\nwhile True:\n    os.write(1, line)\n", timeout=30)
    assert not result.timed_out
    assert result.message == "printed more than 256 MiB"


@pytest.mark.parametrize(
    "line",
    [
        "import os; os.closerange(0, 4096)",
        "import os, sys; sys.stdout.close(); sys.stderr = None; os.close(1)",
        "import io, sys; sys.stdout = io.StringIO()",
        "import os; os.chdir('/')",
        "import signal; [signal.signal(one, signal.SIG_IGN) for one in (1, 2, 15, 17)]",
        "import builtins, os; builtins.open = os.write = None",
        "import sys; sys.settrace(lambda *_: None); sys.setrecursionlimit(10_000)",
        "import os; os.environ.clear()",
    ],
)
def test_whatever_it_does_to_its_process_a_program_is_judged(edge: Edge, line: str) -> None:
    assert verdicts(edge, f"{line}\n{GROWING}{START}", whole=True) == [("takes effect", "allow_growth=True")]


@pytest.mark.parametrize("leaving", ["import os; os._exit(3)", "import sys; sys.exit(3)", "raise SystemExit(3)"])
@pytest.mark.parametrize("whole", [False, True])
def test_how_a_program_leaves_after_it_has_configured_is_all_the_same(edge: Edge, leaving: str, whole: bool) -> None:
    assert verdicts(edge, f"{GROWING}{leaving}\n", whole=whole) == [("takes effect", "allow_growth=True")]


def test_no_clause_that_catches_all_can_hold_up_a_program_that_has_been_seen(edge: Edge) -> None:
    code = f"{GROWING}while True:\n    try:\n        x = tf.constant(1)\n    except BaseException:\n        pass\n"
    assert verdicts(edge, code, whole=True, timeout=20.0) == [("takes effect", "allow_growth=True")]


def test_a_thread_may_start_the_runtime(edge: Edge) -> None:
    code = (
        f"import threading, time\n{GROWING}"
        "threading.Thread(target=lambda: tf.constant(1)).start()\nwhile True:\n    time.sleep(1)\n"
    )
    assert verdicts(edge, code, whole=True, timeout=20.0) == [("takes effect", "allow_growth=True")]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
        ("import os; os.kill(os.getpid(), 40)", "SIG40"),
        ("__import__('os').abort()", "SIGABRT"),
        ("import time; time.sleep(60)", "did not end within 1 s"),
        ("size = input()", "EOFError"),
        ("size = (lambda f: f(f))(lambda f: f(f))", "RecursionError"),
        ("import os; os.execv('/bin/false', ['false'])", "exit code 1"),
    ],
)
def test_a_program_that_dies_before_its_intent_says_of_what(edge: Edge, line: str, words: str) -> None:
    code = f"{line}\nimport tensorflow as tf\n{limited(1024)}"
    ((kind, reason),) = verdicts(edge, code, whole=True, timeout=1.0)
    assert kind == "not provable here"
    assert words in reason


DEATHS = {
    "a_killed": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n",
    "b_segfault": "import ctypes\nctypes.string_at(0)\n",
    "c_memory": "taken = []\nwhile True:\n    taken.append(b'x' * (64 << 20))\n",
    "d_group": "import os, signal\nos.kill(0, signal.SIGKILL)\n",
}


@pytest.mark.slow
def test_programs_that_die_take_no_other_verdict_with_them(tmp_path: Path) -> None:
    for name, death in DEATHS.items():
        (tmp_path / f"{name}.py").write_text(f"{GROWING}{death}")
    for name in ("a_first", "e_last"):
        (tmp_path / f"{name}.py").write_text(GROWING)
    command = [sys.executable, "-m", "tfmemlint", "verify", "--device", "edge", "--whole", "--host-memory", "2GiB"]
    done = subprocess.run(
        [*command, "--output-format", "json", "."], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8"
    )
    programs = json.loads(done.stdout)["programs"]
    verdicts = {
        Path(program["filename"]).stem: [intent["verdict"] for intent in program["entry_points"][0]["intents"]]
        for program in programs
    }
    assert verdicts.pop("a_first") == verdicts.pop("e_last") == ["takes effect"]
    assert set(verdicts) == set(DEATHS)
    assert all(len(judged) == 1 for judged in verdicts.values()), "each that died has a verdict as well"
    assert done.returncode in (0, 2) and "Traceback" not in done.stderr
