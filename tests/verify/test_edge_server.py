"""Programs run apart from each other, and none can harm the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tfmemlint.verify.child.serve import MANY_PROGRAMS
from tfmemlint.verify.edge import Edge, GroundError, shared

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]


def test_a_program_has_a_process_of_its_own(edge: Edge) -> None:
    spoil = "import tensorflow as tf; tf.config.list_physical_devices = None; tf.constant(1); leftover = 1"
    assert edge.run(spoil).ok
    result = edge.run("import tensorflow as tf; print(tf.config.list_physical_devices('GPU')); leftover")
    assert "GPU:0" in result.stdout
    assert result.error == "NameError: name 'leftover' is not defined"


def test_the_line_is_the_innermost_one_of_the_program(edge: Edge) -> None:
    code = "import json\n\ndef read():\n    json.loads('')\n\nread()\n"
    result = edge.run(code)
    assert (result.exception, result.traceback_line) == ("JSONDecodeError", 4)
    assert 'File "program.py", line 4, in read' in result.stderr
    assert "tfmemlint" not in result.stderr


def test_a_syntax_error_has_its_line(edge: Edge) -> None:
    result = edge.run("x = 1\nprint 'old'\n")
    assert (result.exception, result.traceback_line) == ("SyntaxError", 2)


@pytest.mark.parametrize(("call", "code"), [("exit()", 0), ("exit(3)", 3), ("exit('why')", 1)])
def test_leaving_by_sys_exit_is_no_failure_and_its_code_is_kept(edge: Edge, call: str, code: int) -> None:
    result = edge.run(f"import sys; sys.{call}")
    assert result.ok
    assert result.exit_code == code


def test_output_arguments_and_environment_are_the_program_s_own(edge: Edge) -> None:
    code = """\
import os, sys
print(sys.argv, os.environ.get("CUDA_VISIBLE_DEVICES"), os.environ["A"])
print("e", file=sys.stderr)
"""
    result = edge.run(code, argv=["--gpu", "1"], env={"A": "b"}, filename="train.py")
    assert result.stdout == "['train.py', '--gpu', '1'] None b\n"
    assert result.stderr == "e\n"


def test_variables_of_the_caller_that_steer_tensorflow_are_kept_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_FORCE_GPU_ALLOW_GROWTH", "true")
    with Edge() as own:
        result = own.run("import tensorflow as tf; tf.constant(1)")
    assert result.effective is not None
    assert result.effective["allow_growth"] is None


def test_a_program_runs_in_an_empty_folder_unless_one_is_given(edge: Edge, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("VALUE = 41\n")
    assert edge.run("import os; print(os.listdir()); open('x', 'w')").stdout == "[]\n"
    assert edge.run("import helper; print(helper.VALUE)", cwd=tmp_path).stdout == "41\n"


def test_a_program_that_does_not_end_is_ended_with_all_its_processes(edge: Edge, tmp_path: Path) -> None:
    code = f"""\
import os, time
print("started", flush=True)
if os.fork() == 0:
    time.sleep(2)
    open({str(tmp_path / "alive")!r}, "w")
    os._exit(0)
time.sleep(60)
"""
    result = edge.run(code, timeout=1)
    assert result.timed_out
    assert not result.ok
    assert result.exception == "TimeoutError"
    assert result.stdout == "started\n"
    time.sleep(1.5)
    assert not (tmp_path / "alive").exists()


@pytest.mark.parametrize(
    ("code", "exception"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
        ("import os; os.execv('/bin/true', ['true'])", "Exited"),
    ],
)
def test_a_process_that_dies_is_reported_and_the_next_one_runs(edge: Edge, code: str, exception: str) -> None:
    result = edge.run(code)
    assert not result.ok
    assert result.exception == exception
    assert edge.run("import tensorflow as tf; tf.constant(1)").ok


def test_a_server_that_died_is_said_and_started_anew() -> None:
    with Edge() as own:
        killing = "import os, signal; os.kill(os.getppid(), signal.SIGKILL); import time; time.sleep(1)"
        with pytest.raises(GroundError, match="ended unexpectedly"):
            own.run(killing)
        assert own.run("pass").ok


def test_an_interrupted_run_leaves_no_program_behind_and_no_stale_answer(tmp_path: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    code = f"import time; time.sleep(4); open({str(tmp_path / 'alive')!r}, 'w')"
    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        with Edge() as own:
            assert own.run("pass").ok
            signal.alarm(1)
            with pytest.raises(KeyboardInterrupt):
                own.run(code)
            assert own.run("print('new')").stdout == "new\n"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
    time.sleep(1.5)
    assert not (tmp_path / "alive").exists()


def test_many_programs_run_as_the_first_did() -> None:
    code = "import tensorflow as tf; print(sum(map(float, tf.range(5.0))))"
    with Edge() as own:
        results = [own.run(code) for _ in range(MANY_PROGRAMS + 2)]
    assert {(result.ok, result.stdout) for result in results} == {(True, "10.0\n")}


def test_one_process_looks_after_one_program_after_the_other_and_may_die() -> None:
    parent = "import os; print(os.getppid())"
    with Edge() as own:
        parents = [int(own.run(parent).stdout) for _ in range(6)]
        assert len(set(parents)) < 6
        for number in set(parents):
            os.kill(number, signal.SIGKILL)
        # The server has to see that they are gone before it is asked again.
        time.sleep(0.5)
        assert int(own.run(parent).stdout) not in parents


MEMORY = """
import os
from tfmemlint.verify.child.large_pages import use_large_pages
rows = [[number] * 50 for number in range(100_000)]
large = use_large_pages()
print(large, sum(map(sum, rows)), use_large_pages() >= 0)
if os.fork() == 0:
    rows[0][0] = 1
    os._exit(sum(map(sum, rows)) - 50 * sum(range(100_000)))
print(os.waitstatus_to_exitcode(os.wait()[1]), rows[0][0])
"""


def test_memory_in_large_pages_holds_what_it_held() -> None:
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    large, total, again, difference, own = done.stdout.split()
    assert int(large) >= 0 and int(total) == 50 * sum(range(100_000))
    assert (again, difference, own) == ("True", "1", "0")


@pytest.mark.parametrize(
    "machine",
    [{"gpus": 2, "memory_mib": [1024]}, {"gpus": 2, "cuda_order": [0, 0]}],
)
def test_a_machine_that_does_not_add_up_is_refused(edge: Edge, machine: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="2 GPUs but"):
        edge.run("pass", **machine)  # type: ignore[arg-type]


def test_functions_of_a_program_can_be_traced_by_autograph(edge: Edge) -> None:
    code = """\
import tensorflow as tf

@tf.function
def count(n):
    total = 0
    while total < n:
        total += 2
    return total

print(int(count(tf.constant(5))))
"""
    result = edge.run(code)
    assert result.stdout == "6\n", result.stderr


def test_keras_trains(edge: Edge) -> None:
    code = """\
import numpy as np
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((4, 2)), np.ones(4), verbose=0)
"""
    result = edge.run(code, gpus=2)
    assert result.ok, result.error


def test_the_shared_ground_is_one_for_the_process() -> None:
    assert shared() is shared()


def test_what_every_graph_needs_of_onednn_was_searched_before(edge: Edge) -> None:
    code = """\
import ctypes, os, time
from pathlib import Path
import tensorflow as tf
from tfmemlint.verify.child import onednn

folder = Path(tf.__file__).parent
libraries = [ctypes.CDLL(str(folder / f"libtensorflow_{name}.so.2"), os.RTLD_NOLOAD) for name in ("cc", "framework")]

def seconds():
    begin = time.thread_time()
    onednn.search_kernels(*libraries)
    return time.thread_time() - begin

known = seconds()
onednn.TYPES = tuple(kind.as_datatype_enum for kind in (tf.half, tf.double, tf.int8, tf.int16, tf.uint8, tf.complex64))
print(known / seconds())
"""
    result = edge.run(code)
    if "undefined symbol" in result.error:
        pytest.skip("this release has no such functions")
    assert float(result.stdout) < 0.3, result.stderr
