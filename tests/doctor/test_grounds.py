"""Which grounds are possible, and what is said to be missing for the others."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import ModuleType

import pytest

from tests.doctor.fakes import HAS_CARD, NO_SURROUNDINGS, ONE_CARD, gpu_build, interpreter
from tfmemlint.doctor.ground_status import GroundStatus, grounds
from tfmemlint.doctor.host import Host
from tfmemlint.doctor.nvml_query import NO_BINDING, NO_LIBRARY, NvmlGpu, NvmlReport
from tfmemlint.doctor.tensorflow import CudaLibrary, ListedGpu, ProbedPython, TensorFlowBuild
from tfmemlint.doctor.trouble import Trouble

LISTED = ListedGpu("GPU:0", "NVIDIA H100", (9, 0), "GPU-1")
NO_CUDNN = CudaLibrary(
    "libcudnn.so.9", False, "libcudnn.so.9: cannot open shared object file: No such file or directory"
)
NO_DRIVER = NvmlReport(trouble=NO_LIBRARY)
CPU_BUILD = TensorFlowBuild("2.15.1", "/site/tensorflow", "tensorflow-cpu")


@pytest.fixture(autouse=True)
def driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulated driver that is possible everywhere."""
    made = ModuleType("tfmemlint.verify.driver")
    made.missing = lambda tensorflow, folder=None: ""  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tfmemlint.verify.driver", made)


def _found(
    python: ProbedPython,
    machine: NvmlReport = NO_DRIVER,
    around: Host = NO_SURROUNDINGS,
    env: dict[str, str] | None = None,
) -> dict[str, GroundStatus]:
    return {ground.name: ground for ground in grounds(python, machine, around, env or {})}


def _only(ground: GroundStatus) -> Trouble:
    (trouble,) = ground.missing
    return trouble


def test_the_best_ground_comes_first() -> None:
    assert list(_found(interpreter(gpu_build()))) == ["gpu", "driver", "edge"]


def test_a_gpu_that_tensorflow_lists_is_enough() -> None:
    found = _found(interpreter(gpu_build(LISTED)), ONE_CARD, HAS_CARD)
    assert all(ground.possible for ground in found.values())
    assert found["gpu"].note == ""


def test_a_gpu_with_hardly_any_memory_left_is_told() -> None:
    full = replace(ONE_CARD.cards[0], used_mib=81720, free_mib=200)
    machine = replace(ONE_CARD, cards=(full, NvmlGpu(1, uuid="GPU-2", free_mib=80000)))
    found = _found(interpreter(gpu_build(LISTED)), machine, HAS_CARD)
    assert found["gpu"].possible
    assert "only 200 MiB are free" in found["gpu"].note, "what another card has free does not help"


def test_a_library_that_can_not_be_opened_is_told_with_the_command_that_brings_it() -> None:
    trouble = _only(_found(interpreter(gpu_build(missing=(NO_CUDNN,))), ONE_CARD, HAS_CARD)["gpu"])
    assert trouble.what == "libcudnn.so.9 can't be opened"
    assert trouble.do == "/usr/bin/python3 -m pip install 'tensorflow[and-cuda]==2.21.0'"


def test_a_release_without_the_extra_is_told_which_cuda_it_needs() -> None:
    old = replace(gpu_build(version="2.12.1", missing=(NO_CUDNN,), cuda="11.8"), and_cuda=False, cudnn="8")
    trouble = _only(_found(interpreter(old), ONE_CARD, HAS_CARD)["gpu"])
    assert trouble.do == "install CUDA 11.8 and cuDNN 8, and name their folders in LD_LIBRARY_PATH"


def test_a_library_that_is_there_and_broken_is_told_with_the_loaders_words() -> None:
    broken = CudaLibrary("libcudnn.so.9", False, "libcudnn.so.9: file too short")
    trouble = _only(_found(interpreter(gpu_build(missing=(broken,))), ONE_CARD, HAS_CARD)["gpu"])
    assert trouble.what == "libcudnn.so.9 can't be opened: libcudnn.so.9: file too short"


def test_a_cpu_build_is_told_with_the_build_to_install() -> None:
    found = _found(interpreter(CPU_BUILD, path="/opt/my env/python"), ONE_CARD, HAS_CARD)
    assert _only(found["gpu"]) == Trouble(
        "TensorFlow 2.15.1 (tensorflow-cpu) is a CPU build",
        "'/opt/my env/python' -m pip uninstall tensorflow-cpu"
        " && '/opt/my env/python' -m pip install 'tensorflow[and-cuda]==2.15.1'",
    )
    assert _only(found["driver"]).do.endswith("install 'tensorflow==2.15.1'"), "it brings the libraries itself"
    assert found["edge"].possible


@pytest.mark.parametrize(
    ("machine", "around", "what", "do"),
    [
        (NO_DRIVER, Host(0), "there is no NVIDIA GPU in this machine", "run on a machine with one"),
        (NO_DRIVER, Host(1), "there is an NVIDIA GPU, but no NVIDIA driver", "install the NVIDIA driver"),
        (NO_DRIVER, Host(None), "no NVIDIA driver is installed", "install it"),
        (NO_DRIVER, Host(1, container=True), "this container sees no", "docker run --gpus all"),
        (NO_DRIVER, Host(0, container=True), "there is no NVIDIA GPU in this machine", "machine with one"),
        (NO_DRIVER, Host(0, wsl=True), "WSL has no library", "on the Windows side"),
        (NvmlReport("550", "12.4"), Host(None), "lists no GPU", "machine with one"),
        (NvmlReport("550", "12.4"), Host(None, container=True), "lists no GPU", "docker run --gpus all"),
        (NvmlReport("550", cards=(NvmlGpu(0, problem="lost"),)), HAS_CARD, "no GPU can be used: lost", "dmesg"),
        (
            NvmlReport("550", cards=(NvmlGpu(0, "A100", mig=True),)),
            HAS_CARD,
            "there is no MIG device",
            "switch MIG off",
        ),
        (NvmlReport(trouble=Trouble("broken", "repair it")), HAS_CARD, "broken", "repair it"),
        (NvmlReport("470.1", "11.4", ONE_CARD.cards), HAS_CARD, "470.1 supports CUDA 11.4", "update the NVIDIA driver"),
        (ONE_CARD, HAS_CARD, "all libraries can be opened, but TensorFlow lists none", "/dev/nvidia*"),
        (NvmlReport(trouble=NO_BINDING), HAS_CARD, "but TensorFlow lists none", "/dev/nvidia*"),
        (NvmlReport(trouble=NO_BINDING), NO_SURROUNDINGS, "no NVIDIA GPU in this machine", "machine with one"),
    ],
)
def test_what_the_machine_lacks_is_told(machine: NvmlReport, around: Host, what: str, do: str) -> None:
    trouble = _only(_found(interpreter(gpu_build()), machine, around)["gpu"])
    assert what in trouble.what
    assert do in trouble.do


def test_tensorflows_own_words_are_told_where_all_seems_to_be_there() -> None:
    python = interpreter(replace(gpu_build(), said=("failed call to cuInit: no CUDA-capable device",)))
    assert _only(_found(python, ONE_CARD, HAS_CARD)["gpu"]).what.endswith(
        "but TensorFlow lists none: failed call to cuInit: no CUDA-capable device"
    )


def test_hidden_gpus_are_told() -> None:
    trouble = _only(_found(interpreter(gpu_build()), ONE_CARD, HAS_CARD, {"CUDA_VISIBLE_DEVICES": ""})["gpu"])
    assert trouble.what == "CUDA_VISIBLE_DEVICES='' hides every GPU"
    assert trouble.do.startswith("unset it")


def test_without_a_tensorflow_nothing_is_possible_and_each_ground_says_why() -> None:
    absent = Trouble("TensorFlow is not installed", "install it")
    found = _found(interpreter(None, absent), ONE_CARD, HAS_CARD)
    assert [_only(ground) for ground in found.values()] == [absent] * 3


def test_an_old_python_and_an_old_tensorflow_are_told() -> None:
    old = _found(interpreter(CPU_BUILD, version=(3, 8, 18)))
    assert _only(old["edge"]).what == "Python 3.8.18 is too old: running programs needs Python 3.10 or newer"
    older = _found(interpreter(replace(CPU_BUILD, version="2.1.4")))
    assert _only(older["edge"]).what == "TensorFlow 2.1.4 is too old: 2.4 is the oldest that was tried"


def test_windows_is_sent_to_linux() -> None:
    found = _found(interpreter(CPU_BUILD, platform="win32", fork=False))
    assert not any(ground.possible for ground in found.values())
    assert "WSL2" in found["gpu"].missing[0].do
    assert found["driver"].missing[0].what == "the simulated driver needs Linux"
    assert _only(found["edge"]).what == "this system has no os.fork"


def test_what_the_simulated_driver_lacks_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str | None]] = []

    def missing(tensorflow: str, folder: str | None = None) -> str:
        asked.append((tensorflow, folder))
        return "no C compiler was found; `apt-get install gcc` brings it"

    monkeypatch.setattr(sys.modules["tfmemlint.verify.driver"], "missing", missing)
    found = _found(interpreter(gpu_build()))
    assert _only(found["driver"]) == Trouble("no C compiler was found", "`apt-get install gcc` brings it")
    assert asked == [("2.21.0", "/site/tensorflow")]


def test_a_tfmemlint_without_a_simulated_driver_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tfmemlint.verify.driver", None)
    assert _only(_found(interpreter(gpu_build()))["driver"]).what == "this tfmemlint comes without a simulated driver"
