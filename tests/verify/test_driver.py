"""The simulated driver: what can be built where, what CUDA and NVML answer, and what TensorFlow does on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from tests.verify.allocator_scenarios import SCENARIOS
from tests.verify.claim_scenarios import CLAIMS
from tests.verify.scenarios import MIB, Outcome, run
from tests.verify.training_scenarios import TRAININGS
from tfmemlint.verify import driver
from tfmemlint.verify.driver import build, setup

pytestmark = pytest.mark.slow

NEWEST = "{}.{}.0".format(*max(build.VARIANTS))
try:
    INSTALLED = version("tensorflow")
except PackageNotFoundError:
    INSTALLED = ""
needs_compiler = pytest.mark.skipif(build.compiler() is None, reason="needs a C compiler")

# Loads the stand-in for libcuda without TensorFlow.
CUDA = """
import ctypes, json, os, sys
cuda = ctypes.CDLL("libcuda.so.1")
def devices():
    found = ctypes.c_int()
    started = cuda.cuInit(0)
    cuda.cuDeviceGetCount(ctypes.byref(found))
    names = []
    for index in range(found.value):
        name = ctypes.create_string_buffer(64)
        cuda.cuDeviceGetName(name, 64, index)
        names.append(int(name.value.decode().rsplit(" ", 1)[1]))
    return started, names
def use(device):
    context = ctypes.c_void_p()
    assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
    assert cuda.cuCtxSetCurrent(context) == 0
def take(mib):
    address = ctypes.c_size_t()
    return cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(mib << 20)), address
def free():
    sizes = ctypes.c_size_t(), ctypes.c_size_t()
    assert cuda.cuMemGetInfo_v2(ctypes.byref(sizes[0]), ctypes.byref(sizes[1])) == 0
    return sizes[0].value >> 20, sizes[1].value >> 20
"""


def variables(**machine: Any) -> dict[str, str]:
    """The environment of a process on a simulated machine."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CUDA_")}
    return kept | driver.environment(**machine) | driver.server_environment(driver.libraries(NEWEST))


def cuda(code: str, env: dict[str, str]) -> Any:
    """What a small program on the stand-in prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", CUDA + code], env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def shown(visible: str | None, **machine: Any) -> Any:
    env = variables(gpus=3, **machine)
    if visible is not None:
        env["CUDA_VISIBLE_DEVICES"] = visible
    return cuda("print(json.dumps(devices()))", env)


@needs_compiler
@pytest.mark.parametrize(
    ("visible", "cards"),
    [
        (None, [0, 1, 2]),
        ("", []),
        ("-1", []),
        ("1", [1]),
        ("2,0", [2, 0]),
        (" 2 , 1 ", [2, 1]),
        ("0,-1,1", [0]),
        ("0,7,1", [0]),
        ("NoDevFiles", []),
        ("1,1", []),
        ("0,1,2,0", []),
        ("0,1,2,9", [0, 1, 2]),
        (setup.card_uuid(2), [2]),
        (setup.card_uuid(1)[:12], [1]),
        ("GPU-", []),  # fits all three
        ("MIG-0", []),
    ],
)
def test_visible_devices(visible: str | None, cards: list[int]) -> None:
    started, found = shown(visible)
    assert found == cards
    assert started == (0 if cards else 100)  # CUDA_ERROR_NO_DEVICE


@needs_compiler
def test_the_fastest_card_comes_first_unless_the_bus_order_is_asked_for() -> None:
    assert shown(None, cuda_order=[2, 0, 1]) == [0, [2, 0, 1]]
    assert shown("0", cuda_order=[2, 0, 1]) == [0, [2]]
    env = variables(gpus=3, cuda_order=[2, 0, 1]) | {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": "0"}
    assert cuda("print(json.dumps(devices()))", env) == [0, [0]]


@needs_compiler
def test_without_a_description_there_is_no_gpu() -> None:
    env = {name: value for name, value in variables().items() if not name.startswith("TFMEMLINT_SIM_")}
    assert cuda("print(json.dumps(devices()))", env) == [100, []]


@needs_compiler
def test_memory_is_counted_and_refused(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = """
use(1)
first = free()
got, address = take(1000)
again = free()
refused = take(20000)[0]
cuda.cuMemFree_v2(address)
print(json.dumps([first, got, again, refused, free()]))
"""
    answer = cuda(code, variables(gpus=2, memory_mib=[1024, 8192], used_mib=[0, 192], log=log))
    assert answer == [[8000, 8192], 0, [7000, 8192], 2, [8000, 8192]]
    usage = driver.read_log(log)
    first, second = usage.gpus
    assert (first.context, first.regions, first.peak) == (False, [], 0)
    assert (second.regions, second.refused) == ([1000 * MIB], [20000 * MIB])
    assert (second.current, second.peak, second.free) == (0, 1000 * MIB, 8000 * MIB)


@needs_compiler
def test_a_card_larger_than_the_host_costs_nothing() -> None:
    code = """
use(0)
got = take(1 << 20)[0]
held = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([got, int(held.split()[1])]))
"""
    got, resident_kib = cuda(code, variables(memory_mib=[1 << 21]))
    assert got == 0
    assert resident_kib < 500_000


@needs_compiler
def test_copies_and_sets_are_done() -> None:
    code = """
use(0)
address = take(8)[1]
cuda.cuMemsetD8_v2(address, 7, ctypes.c_size_t(8 << 20))
cuda.cuMemsetD8_v2(address, 0, ctypes.c_size_t(4 << 20))
cuda.cuMemcpyHtoD_v2(address, b"hello", ctypes.c_size_t(5))
out = ctypes.create_string_buffer(8 << 20)
cuda.cuMemcpyDtoH_v2(out, address, ctypes.c_size_t(8 << 20))
print(json.dumps([out.raw[:7].hex(), sum(out.raw[7:4 << 20]), set(out.raw[4 << 20:]) == {7}]))
"""
    assert cuda(code, variables()) == [b"hello\0\0".hex(), 0, True]


@needs_compiler
def test_cuda_is_refused_in_a_process_forked_after_its_start() -> None:
    code = """
use(0)
if os.fork() == 0:
    print(json.dumps([cuda.cuInit(0), take(1)[0]]), flush=True)
    os._exit(0)
os.wait()
"""
    assert cuda(code, variables()) == [3, 3]  # CUDA_ERROR_NOT_INITIALIZED


@needs_compiler
def test_what_is_not_simulated_says_its_name(tmp_path: Path) -> None:
    log = tmp_path / "log"
    done = subprocess.run(
        [sys.executable, "-c", CUDA + "use(0)\nprint([cuda.cuMulticastCreate() for _ in range(2)])"],
        env=variables(log=log),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == "[801, 801]"
    assert done.stderr.count("cuMulticastCreate") == 1
    assert driver.read_log(log).unsimulated == ["cuMulticastCreate"]


@needs_compiler
def test_processes_share_a_machine_and_leave_it_when_they_die(tmp_path: Path) -> None:
    env = variables(memory_mib=[8192], used_mib=192, state=tmp_path / "state")
    code = "use(0); take(5000); print('ready', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", CUDA + code], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline().strip() == "ready"
        assert cuda("use(0); print(json.dumps([free(), take(4000)[0]]))", env) == [[3000, 8192], 2]
        pytest.importorskip("pynvml")
        nvml = """
import pynvml
pynvml.nvmlInit()
handle = pynvml.nvmlDeviceGetHandleByIndex(0)
users = [(user.pid, user.usedGpuMemory >> 20) for user in pynvml.nvmlDeviceGetComputeRunningProcesses(handle)]
print(json.dumps([users, pynvml.nvmlDeviceGetMemoryInfo(handle).free >> 20]))
"""
        assert cuda(nvml, env) == [[[other.pid, 5000]], 3000]
        other.kill()
    assert cuda("use(0); print(json.dumps(free()))", env) == [8000, 8192]


@needs_compiler
def test_asking_nvml_first_does_not_settle_what_cuda_shows() -> None:
    pytest.importorskip("pynvml")
    code = """
import os, pynvml
pynvml.nvmlInit()
os.environ["CUDA_VISIBLE_DEVICES"] = "1"
print(json.dumps([devices()[1], pynvml.nvmlDeviceGetCount()]))
"""
    assert cuda(code, variables(gpus=3)) == [[1], 3]


@needs_compiler
def test_nvml_knows_every_card_by_its_bus(tmp_path: Path) -> None:
    pytest.importorskip("pynvml")
    code = """
import pynvml
pynvml.nvmlInit()
first = pynvml.nvmlDeviceGetHandleByIndex(0)
second = pynvml.nvmlDeviceGetHandleByUUID(pynvml.nvmlDeviceGetUUID(pynvml.nvmlDeviceGetHandleByIndex(1)))
bus = pynvml.nvmlDeviceGetPciInfo(second).busId
again = pynvml.nvmlDeviceGetHandleByPciBusId(bus)
use(0)
take(100)
def refused(call, *arguments):
    try:
        call(*arguments)
    except pynvml.NVMLError as error:
        return type(error).__name__
info = pynvml.nvmlDeviceGetMemoryInfo
print(json.dumps([
    pynvml.nvmlDeviceGetCount(), pynvml.nvmlDeviceGetName(second), pynvml.nvmlDeviceGetUUID(second), bus,
    pynvml.nvmlDeviceGetIndex(again), info(first).used >> 20, info(second).used >> 20, info(second).total >> 20,
    info(second, version=pynvml.nvmlMemory_v2).free >> 20,
    [(one.pid == os.getpid(), one.usedGpuMemory >> 20) for one in
     pynvml.nvmlDeviceGetComputeRunningProcesses(second)],
    pynvml.nvmlDeviceGetComputeRunningProcesses(first),
    refused(pynvml.nvmlDeviceGetHandleByIndex, 2), refused(pynvml.nvmlDeviceGetHandleByUUID, "GPU-0"),
    refused(pynvml.nvmlDeviceGetMigMode, first), pynvml.nvmlShutdown(), refused(pynvml.nvmlDeviceGetCount),
]))
"""
    env = variables(gpus=2, memory_mib=[4096, 8192]) | {"CUDA_VISIBLE_DEVICES": "1"}
    assert cuda(code, env) == [
        *(2, "Simulated GPU 1", setup.card_uuid(1), "00000000:02:00.0"),
        *(1, 300, 400, 8192, 8192 - 400, [[True, 100]], []),
        *("NVMLError_InvalidArgument", "NVMLError_NotFound", "NVMLError_NotSupported", None, "NVMLError_Uninitialized"),
    ]


def test_what_is_missing_is_said_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "tensorflow" / "python" / "platform"
    package.mkdir(parents=True)
    info = package / "build_info.py"
    folder = tmp_path / "tensorflow"
    info.write_text("import collections\nbuild_info = collections.OrderedDict([('is_cuda_build', True)])\n")
    assert driver.missing("2.5.0", folder).startswith("the simulated driver is known to work with TensorFlow 2.12 to")
    assert driver.missing(NEWEST, tmp_path / "nowhere") == "TensorFlow is not installed"
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    if sys.platform == "linux":
        assert "apt-get install gcc" in driver.missing(NEWEST, folder)
        info.write_text("import collections\nbuild_info = collections.OrderedDict([('is_cuda_build', False)])\n")
        assert "is built without CUDA" in driver.missing(NEWEST, folder)
        with pytest.raises(driver.DriverError, match="C compiler"):
            monkeypatch.setenv("TFMEMLINT_CACHE_DIR", str(tmp_path / "cache"))
            driver.libraries(NEWEST)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "needs Linux" in driver.missing(NEWEST, folder)


@needs_compiler
def test_the_compiler_is_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFMEMLINT_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("CC", f"{(build.compiler() or [''])[0]} --no-such-option")
    with pytest.raises(driver.DriverError, match="no-such-option"):
        driver.libraries(NEWEST)
    assert list(tmp_path.glob("*/*")) == []  # nothing half-made is left


@needs_compiler
def test_two_may_build_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFMEMLINT_CACHE_DIR", str(tmp_path))
    folders: list[Path] = []
    threads = [threading.Thread(target=lambda: folders.append(driver.libraries("2.12.0"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert folders[0] == folders[1]
    assert [path.name for path in folders[0].parent.iterdir()] == [folders[0].name]
    assert "libcudart.so.11.0" in {path.name for path in folders[0].iterdir()}
    assert driver.libraries("2.13.1") == folders[0]
    assert driver.libraries(NEWEST) != folders[0]


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        ({"gpus": 2, "memory_mib": [1]}, "1 memory sizes"),
        ({"gpus": 33}, "0 to 32"),
        ({"gpus": -1}, "0 to 32"),
        ({"memory_mib": [100], "used_mib": 200}, "200 MiB are in use"),
        ({"memory_mib": [0]}, "0 MiB"),
        ({"cuda_order": [1]}, "order"),
        ({"capability": "nine"}, "'nine'"),
    ],
)
def test_impossible_machines_are_refused(machine: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        driver.environment(**machine)


def test_a_log_of_several_processes(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert driver.read_log(log).gpus == []
    log.write_text(
        "7 gpu 0 1 1000 10\n7 context 0 5\n8 gpu 0 0 1000 10\n7 take 0 device 100 105\n8 take 0 device 300 300\n"
        "7 take -1 host 99 0\n7 give 0 device 100 5\n7 refuse 0 device 2000 985\n7 unsimulated cuFoo\n7 take 0 dev"
    )
    first, second = driver.read_log(log), driver.read_log(log, pid=8)
    assert (first.pid, first.processes, first.unsimulated) == (7, (7, 8), ["cuFoo"])
    gpu = first.gpus[0]
    assert (gpu.card, gpu.context, gpu.regions, gpu.refused) == (1, True, [100], [2000])
    assert (gpu.current, gpu.peak, gpu.free) == (5, 105, 985)
    assert second.gpus[0].regions == [300]


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    """All programs on the installed TensorFlow, which is imported once."""
    reason = driver.missing(INSTALLED) if INSTALLED else "TensorFlow is not installed"
    if reason:
        pytest.skip(reason)
    return run(sys.executable, INSTALLED, SCENARIOS | CLAIMS | TRAININGS)


@pytest.mark.parametrize("name", SCENARIOS | CLAIMS)
def test_allocator(outcomes: dict[str, Outcome], name: str) -> None:
    outcome = outcomes[name]
    assert (SCENARIOS | CLAIMS)[name].check(outcome), f"{outcome.error} {outcome.usage}\n{outcome.stderr[-2000:]}"


@pytest.mark.parametrize("name", TRAININGS)
def test_training(outcomes: dict[str, Outcome], name: str) -> None:
    outcome = outcomes[name]
    assert TRAININGS[name].check(outcome), f"{outcome.error} {outcome.usage}\n{outcome.stderr[-2000:]}"
    assert outcome.usage.unsimulated == []
