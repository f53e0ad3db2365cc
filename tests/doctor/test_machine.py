"""What NVML says of the cards, and what becomes of what it refuses."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.doctor.fakes import GIB, error, nvml, raises
from tfmemlint.doctor.host import Host, look
from tfmemlint.doctor.nvml_query import MigSlice, NvmlGpu, Process, read
from tfmemlint.verify.edge.machine import SimulatedMachine as Simulated
from tfmemlint.verify.edge.nvml import module


def test_an_idle_card_is_told_in_mib() -> None:
    machine = read(nvml())
    assert (machine.driver, machine.cuda, machine.trouble) == ("550.54.15", "12.4", None)
    assert machine.cards == (
        NvmlGpu(
            index=0,
            name="NVIDIA H100",
            uuid="GPU-01010101-0101-0101-0101-010101010101",
            bus_id="00000000:01:00.0",
            total_mib=81920,
            used_mib=1024,
            free_mib=80896,
            processes=(),
            mig=None,
        ),
    )


def test_the_binding_is_asked_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", module(Simulated.of(2, [8192, 40960])))
    machine = read()
    assert [(card.index, card.total_mib) for card in machine.cards] == [(0, 8192), (1, 40960)]
    assert [card.processes for card in machine.cards] == [None, None], "this binding lacks the function"


@pytest.mark.parametrize(
    ("kind", "what", "do"),
    [
        ("LibraryNotFound", "no NVML library", ""),
        ("DriverNotLoaded", "installed but not loaded", "modprobe"),
        ("NoPermission", "not allowed", "/dev/nvidiactl"),
        ("LibRmVersionMismatch", "another version", "restart"),
        ("Unknown", "NVML doesn't start: Unknown", ""),
    ],
)
def test_where_nvml_does_not_start_the_reason_and_the_way_out_are_told(kind: str, what: str, do: str) -> None:
    machine = read(nvml(nvmlInit=raises(kind)))
    assert machine.cards == ()
    assert machine.trouble is not None
    assert what in machine.trouble.what
    assert do in machine.trouble.do


def test_a_missing_binding_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    trouble = read().trouble
    assert trouble is not None
    assert trouble.do == "pip install nvidia-ml-py"


def test_a_driver_that_never_answers_costs_no_more_than_the_time_given() -> None:
    ended = threading.Event()
    trouble = read(nvml(nvmlInit=lambda: ended.wait(30)), seconds=0.1).trouble
    ended.set()
    assert trouble is not None
    assert trouble.what == "NVML gave no answer within 0.1 s"


def test_an_unforeseen_failure_of_the_binding_is_told() -> None:
    trouble = read(nvml(nvmlDeviceGetCount=lambda: "many")).trouble
    assert trouble is not None
    assert trouble.what.startswith("NVML failed: ")


def test_the_greatest_user_of_a_busy_card_comes_first_and_each_comes_once() -> None:
    users = [SimpleNamespace(pid=7, usedGpuMemory=GIB), SimpleNamespace(pid=9, usedGpuMemory=3 * GIB)]
    drawing = [SimpleNamespace(pid=7, usedGpuMemory=2 * GIB)]
    machine = read(
        nvml(
            nvmlDeviceGetComputeRunningProcesses=lambda handle: users,
            nvmlDeviceGetGraphicsRunningProcesses=lambda handle: drawing,
        )
    )
    assert machine.cards[0].processes == (Process(9, "program9", 3072), Process(7, "program7", 2048))


def test_a_process_of_which_only_the_number_is_known_is_told() -> None:
    machine = read(
        nvml(
            nvmlDeviceGetComputeRunningProcesses=lambda handle: [SimpleNamespace(pid=7, usedGpuMemory=None)],
            nvmlDeviceGetGraphicsRunningProcesses=raises("NotSupported"),
            nvmlSystemGetProcessName=raises("NotFound"),
        )
    )
    assert machine.cards[0].processes == (Process(7, "", None),)


def test_what_is_not_supported_is_unknown_and_the_rest_is_told() -> None:
    refused = raises("NotSupported")
    machine = read(
        nvml(
            nvmlSystemGetCudaDriverVersion=refused,
            nvmlDeviceGetMemoryInfo=refused,
            nvmlDeviceGetComputeRunningProcesses=refused,
            nvmlDeviceGetGraphicsRunningProcesses=refused,
            nvmlDeviceGetPciInfo=refused,
        )
    )
    assert machine.cuda == ""
    assert machine.cards == (NvmlGpu(0, "NVIDIA H100", "GPU-01010101-0101-0101-0101-010101010101"),)


def test_used_memory_that_is_not_available_is_unknown() -> None:
    sizes = SimpleNamespace(total=16 * GIB, used=None, free=None)
    (card,) = read(nvml(nvmlDeviceGetMemoryInfo=lambda handle: sizes)).cards
    assert (card.total_mib, card.used_mib, card.free_mib) == (16384, None, None)


def test_want_of_permission_is_told_with_what_is_known() -> None:
    (card,) = read(nvml(nvmlDeviceGetComputeRunningProcesses=raises("NoPermission"))).cards
    assert card.total_mib == 81920
    assert "permission" in card.problem


def test_a_card_without_access_does_not_hide_the_others() -> None:
    def handle(index: int) -> str:
        if index == 0:
            raise error("GpuIsLost")
        return f"card{index}"

    lost, other = read(nvml(nvmlDeviceGetCount=lambda: 2, nvmlDeviceGetHandleByIndex=handle)).cards
    assert lost == NvmlGpu(0, problem="NVML gives no access to it: GpuIsLost")
    assert other.name == "NVIDIA H100"


def test_mig_devices_are_told_with_their_sizes() -> None:
    def part(handle: str, number: int) -> str:
        if number == 1:
            raise error("NotFound")
        return f"part{number}"

    (card,) = read(
        nvml(
            nvmlDeviceGetMigMode=lambda handle: [1, 1],
            nvmlDeviceGetMaxMigDeviceCount=lambda handle: 3,
            nvmlDeviceGetMigDeviceHandleByIndex=part,
            nvmlDeviceGetUUID=lambda handle: f"MIG-{handle}",
            nvmlDeviceGetMemoryInfo=lambda handle: SimpleNamespace(total=5 * GIB, used=0, free=5 * GIB),
        )
    ).cards
    assert card.mig is True
    assert card.slices == (MigSlice("NVIDIA H100", "MIG-part0", 5120), MigSlice("NVIDIA H100", "MIG-part2", 5120))


def test_names_in_bytes_from_older_bindings_are_read() -> None:
    machine = read(
        nvml(
            nvmlSystemGetDriverVersion=lambda: b"418.39",
            nvmlDeviceGetName=lambda handle: b"Tesla K80",
            nvmlDeviceGetPciInfo=lambda handle: SimpleNamespace(busId=b"0000:01:00.0"),
        )
    )
    assert (machine.driver, machine.cards[0].name, machine.cards[0].bus_id) == ("418.39", "Tesla K80", "0000:01:00.0")


def test_a_card_without_a_driver_is_seen_on_the_bus(tmp_path: Path) -> None:
    for number, (vendor, kind) in enumerate([("0x10de", "0x030000"), ("0x10de", "0x040300"), ("0x8086", "0x030000")]):
        device = tmp_path / "sys/bus/pci/devices" / f"0000:0{number}:00.0"
        device.mkdir(parents=True)
        (device / "vendor").write_text(vendor + "\n")
        (device / "class").write_text(kind + "\n")
    (tmp_path / ".dockerenv").touch()
    assert look(tmp_path) == Host(nvidia_on_bus=1, container=True, wsl=False), "its sound device is no GPU"


def test_where_nothing_can_be_seen_nothing_is_claimed(tmp_path: Path) -> None:
    assert look(tmp_path) == Host(nvidia_on_bus=None)
