"""``tfmemlint doctor``: its exit codes, its JSON, and what a person sees."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.doctor.fakes import (
    CPU_BUILD,
    HAS_CARD,
    NO_SURROUNDINGS,
    ONE_CARD,
    gpu_build,
    interpreter,
    nvml,
    package,
    python,
)
from tfmemlint.doctor.command import add_arguments, run
from tfmemlint.doctor.diagnosis import Diagnosis, diagnose
from tfmemlint.doctor.environment import settings
from tfmemlint.doctor.ground_status import GroundStatus
from tfmemlint.doctor.nvml_query import NO_LIBRARY, MigSlice, NvmlGpu, NvmlReport, Process
from tfmemlint.doctor.report import as_json, show
from tfmemlint.doctor.report_sections import wrapped
from tfmemlint.doctor.sandbox import Barrier, SandboxStatus, look
from tfmemlint.doctor.tensorflow import CudaLibrary, ListedGpu, ProbedPython
from tfmemlint.doctor.trouble import Trouble
from tfmemlint.reporters.paint import Segment

scripts = pytest.mark.skipif(os.name == "nt", reason="the interpreters are shell scripts")


def _run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args(arguments))


def _seen(found: Diagnosis) -> str:
    stream = io.StringIO()
    show(found, stream)
    return stream.getvalue()


def _examination(
    about: ProbedPython,
    machine: NvmlReport = ONE_CARD,
    env: dict[str, str] | None = None,
    **missing: tuple[Trouble, ...],
) -> Diagnosis:
    around = HAS_CARD if machine.cards else NO_SURROUNDINGS
    grounds = tuple(
        GroundStatus(name, f"the ground {name}", missing.get(name, ())) for name in ("gpu", "driver", "edge")
    )
    return Diagnosis(about, machine, around, settings(env or {}, 1), grounds)


@scripts
def test_one_possible_ground_is_exit_code_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("--python", python(tmp_path, package(CPU_BUILD))) == 0
    seen = capsys.readouterr().out
    assert "TensorFlow    2.21.0, CPU build" in seen
    assert "yes  edge" in seen


@scripts
def test_no_possible_ground_is_exit_code_1_and_the_rest_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = python(tmp_path)
    assert _run("--python", path) == 1
    seen = capsys.readouterr().out
    words = " ".join(seen.split())
    assert f"TensorFlow TensorFlow is not installed for {path} " in words
    assert f"{path} -m pip install tensorflow" in words
    for title in ("Python", "Libraries", "Driver", "GPUs", "Environment", "Verification"):
        assert f"\n{title}" in f"\n{seen}"
    assert "Nothing can be verified here." in seen


def test_an_interpreter_that_is_not_there_is_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("--python", "/nowhere/python") == 2
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "tfmemlint: there is no /nowhere/python\n")


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "nan", "inf"])
def test_a_time_that_is_none_is_refused(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        _run("--timeout", seconds)
    assert end.value.code == 2
    assert "must be a number of seconds greater than 0" in capsys.readouterr().err


@scripts
def test_the_time_for_tensorflow_can_be_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("--python", python(tmp_path, "import time; time.sleep(60)"), "--timeout", "1") == 1
    assert "did not finish being imported within 1 s" in capsys.readouterr().out


@scripts
def test_json_is_one_object_on_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = python(tmp_path, package(CPU_BUILD))
    assert _run("--json", "--python", path) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["python"]["path"] == path
    assert found["tensorflow"]["version"] == "2.21.0"
    assert found["best"] == "edge"
    assert found["better"] == "driver"


SCHEMA: dict[str, Any] = {
    "schema": 1,
    "python": {"path", "version", "platform", "machine", "fork", "trouble"},
    "tensorflow": {
        "version",
        "folder",
        "distribution",
        "and_cuda",
        "cuda_build",
        "rocm_build",
        "cuda",
        "cudnn",
        "capabilities",
        "gpus",
        "libraries",
        "said",
    },
    "machine": {"driver", "cuda", "cards", "trouble", "nvidia_on_bus", "container", "wsl"},
}


def test_the_keys_of_the_json_stay() -> None:
    card = NvmlGpu(0, "A100", processes=(Process(7),), mig=True, slices=(MigSlice("1g", "MIG-1"),))
    about = interpreter(gpu_build(ListedGpu("GPU:0", "A100", (8, 0), "GPU-1")))
    trouble = Trouble("nothing", "something")
    machine = NvmlReport("550", "12.4", (card,), trouble)
    found = json.loads(as_json(_examination(about, machine, {"TF_GPU_MEMORY_LIMIT": "1"}, driver=(trouble,))))
    assert set(found) == {*SCHEMA, "environment", "grounds", "sandbox", "best", "better"}
    assert found["schema"] == SCHEMA["schema"]
    for part in ("python", "tensorflow", "machine"):
        assert set(found[part]) == SCHEMA[part], part
    assert set(found["tensorflow"]["gpus"][0]) == {"name", "model", "capability", "uuid"}
    assert set(found["tensorflow"]["libraries"][0]) == {"name", "opened", "problem", "by_tensorflow"}
    (shown,) = found["machine"]["cards"]
    sizes = {"total_mib", "used_mib", "free_mib"}
    assert set(shown) == {"index", "name", "uuid", "bus_id", "processes", "mig", "slices", "problem"} | sizes
    assert set(shown["processes"][0]) == {"pid", "name", "used_mib"}
    assert set(shown["slices"][0]) == {"name", "uuid", "total_mib"}
    assert found["machine"]["trouble"] == {"what": "nothing", "do": "something"}
    assert set(found["environment"][0]) == {"name", "value", "verdict", "note", "do"}
    assert found["environment"][0]["verdict"] == "unread"
    assert set(found["grounds"][0]) == {"name", "what", "missing", "note", "possible"}
    assert found["grounds"][1]["missing"] == [{"what": "nothing", "do": "something"}]
    assert (found["best"], found["better"]) == ("gpu", None)


def test_without_a_tensorflow_the_json_has_null_for_it() -> None:
    found = json.loads(as_json(_examination(interpreter(None, Trouble("none")), NvmlReport(trouble=NO_LIBRARY))))
    assert found["tensorflow"] is None
    assert found["python"]["trouble"] == {"what": "none", "do": ""}


def test_a_good_machine_is_shown() -> None:
    used = replace(ONE_CARD.cards[0], processes=(Process(4242, "python3", 18),))
    seen = _seen(
        _examination(
            interpreter(gpu_build(ListedGpu("GPU:0", "NVIDIA H100", (9, 0), "GPU-1"))), replace(ONE_CARD, cards=(used,))
        )
    )
    assert (
        seen
        == """\
Python        3.12.1, linux x86_64
              /usr/bin/python3
TensorFlow    2.21.0, GPU build for CUDA 12.5.1, cuDNN 9
              /site/tensorflow
              GPU:0 NVIDIA H100, compute capability 9.0, NVML GPU 0
Libraries     opened: libcuda.so.1
Driver        550.54.15, for CUDA 12.4 and older
GPUs          NVML GPU 0 NVIDIA H100
                GPU-1
                81920 MiB, 20 used, 81900 free
                used by process 4242 python3, 18 MiB
Environment   no variable that affects GPU memory is set
Verification  yes  gpu     the ground gpu
              yes  driver  the ground driver
              yes  edge    the ground edge
Sandbox       not known

Fixes can be verified here with the ground gpu (gpu).
"""
    )


def test_a_machine_with_a_library_missing_is_shown_with_what_to_do() -> None:
    lacking = CudaLibrary(
        "libcudnn.so.9", False, "libcudnn.so.9: cannot open shared object file: No such file or directory"
    )
    trouble = Trouble("libcudnn.so.9 can't be opened", "python -m pip install 'tensorflow[and-cuda]==2.21.0'")
    env = {"TF_FORCE_GPU_ALLOW_GROWTH": "1", "CUDA_VISIBLE_DEVICES": ""}
    seen = _seen(
        _examination(interpreter(gpu_build(missing=(lacking,))), ONE_CARD, env, gpu=(trouble,), driver=(trouble,))
    )
    start = seen.index("Libraries")
    assert (
        seen[start:]
        == """\
Libraries     opened: libcuda.so.1
              not found: libcudnn.so.9
Driver        550.54.15, for CUDA 12.4 and older
GPUs          NVML GPU 0 NVIDIA H100
                GPU-1
                81920 MiB, 20 used, 81900 free
                NVML does not say which processes use it
Environment   CUDA_VISIBLE_DEVICES='': hides every GPU
              TF_FORCE_GPU_ALLOW_GROWTH=1: this value has no effect; only true and false do;
                instead: TF_FORCE_GPU_ALLOW_GROWTH=true
Verification  no   gpu     the ground gpu
                   - libcudnn.so.9 can't be opened
                     python -m pip install 'tensorflow[and-cuda]==2.21.0'
              no   driver  the ground driver
                   - libcudnn.so.9 can't be opened
              yes  edge    the ground edge
Sandbox       not known

Fixes can be verified here with the ground edge (edge). The next better ground is driver: what it
  needs is listed above.
"""
    )


def test_a_card_of_which_little_is_known_and_one_with_mig_are_shown() -> None:
    cards = (
        NvmlGpu(0, problem="NVML gives no access to it: GPU is lost"),
        NvmlGpu(
            1, "A100", total_mib=40960, mig=True, slices=(MigSlice("A100 MIG 1g.5gb", "MIG-1", 4864),), processes=()
        ),
        NvmlGpu(2, "A100", mig=True),
    )
    seen = _seen(_examination(interpreter(gpu_build()), NvmlReport("550", cards=cards)))
    assert "NVML GPU 0 (name not known)\n                memory not known\n" in seen
    assert "NVML gives no access to it: GPU is lost" in seen
    assert "40960 MiB; MIG is on\n                MIG device A100 MIG 1g.5gb, 4864 MiB, MIG-1\n" in seen
    assert "used by no process" in seen
    assert "no MIG device\n" in seen


def test_nothing_that_comes_from_elsewhere_steers_the_terminal() -> None:
    bad = "\x1b[31mred\nnext"
    card = NvmlGpu(0, bad, uuid=bad, processes=(Process(1, bad),), mig=True, slices=(MigSlice(bad, bad),), problem=bad)
    about = interpreter(gpu_build(ListedGpu("GPU:0", bad)), path=f"/usr/{bad}")
    seen = _seen(
        _examination(about, NvmlReport(bad, cards=(card,)), {"LD_LIBRARY_PATH": bad}, gpu=(Trouble(bad, bad),))
    )
    assert "\x1b" not in seen
    assert "\nnext" not in seen


def test_lines_are_broken_between_words_and_keep_their_columns() -> None:
    lines = list(wrapped([Segment("yes", "good"), Segment("  edge    "), Segment("one two three", "mark")], 20))
    assert ["".join(part.text for part in line) for line in lines] == ["yes  edge    one two", "  three"]
    assert lines[1][-1].style == "mark"
    (whole,) = wrapped([Segment("a" * 30)], 10)
    assert "".join(part.text for part in whole) == "a" * 30


@scripts
def test_cards_that_nvml_lists_are_compared_with_what_is_made_visible(tmp_path: Path) -> None:
    path = python(tmp_path, package(CPU_BUILD))
    env = {"PATH": os.environ["PATH"], "CUDA_VISIBLE_DEVICES": "3"}
    (one,) = diagnose(path, nvml=nvml(), env=env, root=str(tmp_path)).settings
    assert one.note.startswith("there is no GPU 3, only 1 in all")
    mig = nvml(nvmlDeviceGetMigMode=lambda handle: [1, 1])
    (one,) = diagnose(path, nvml=mig, env=env, root=str(tmp_path)).settings
    assert one.note.startswith("physical GPU 3 becomes GPU 0"), "with MIG, CUDA counts MIG devices"


@scripts
def test_tensorflow_is_never_imported_here(tmp_path: Path) -> None:
    before = "tensorflow" in sys.modules
    diagnose(python(tmp_path, package(CPU_BUILD)), nvml=nvml(), root=str(tmp_path))
    assert ("tensorflow" in sys.modules) is before


def test_the_barriers_of_the_sandbox_are_listed_and_what_lacks_is_said() -> None:
    found = _examination(interpreter(None))
    assert "not known" in _seen(found).partition("Sandbox")[2]
    status = SandboxStatus(
        (
            Barrier("network", "no network", "a network namespace"),
            Barrier("writes", "no writing", "", "programs can write"),
        ),
        "no namespaces can be made: Operation not permitted",
    )
    seen = _seen(replace(found, sandbox=status)).partition("Sandbox")[2]
    assert "yes  no network: a network namespace" in seen
    assert "no   no writing: programs can write" in seen
    assert "Operation not permitted" in seen
    assert json.loads(as_json(replace(found, sandbox=status)))["sandbox"]["barriers"][1]["how"] == ""


def test_the_barriers_are_tried_and_not_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tfmemlint").mkdir()
    (tmp_path / "tfmemlint" / "__init__.py").write_text("raise SystemExit(1)")
    (tmp_path / "json.py").write_text("raise SystemExit(1)")
    monkeypatch.chdir(tmp_path)
    found = look()
    assert found is not None
    assert [barrier.name for barrier in found.barriers][:2] == ["network", "writes"]
    assert all(barrier.how or barrier.instead for barrier in found.barriers)
