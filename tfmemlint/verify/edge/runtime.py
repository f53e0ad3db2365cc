"""Simulate GPUs at the border between TensorFlow's Python and its C++.

Only functions of the bindings are replaced, and the listing of logical devices for callers outside TensorFlow.
TensorFlow's own code must continue to see CPUs alone, or it would pick GPU kernels and wait for collectives between
GPUs that don't exist.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

from tfmemlint.verify.child import protos
from tfmemlint.verify.child.recording import Recorder, module
from tfmemlint.verify.edge.machine import USED_MIB, SimulatedMachine
from tfmemlint.verify.edge.names import is_simulated_gpu

MIB = 1024 * 1024
_OWN = ("tensorflow", "keras", "tf_keras")
_PASSED_ON = (
    "tensorflow.python.client.device_lib",
    "tensorflow.python.eager.context",
    "tensorflow.python.framework.config",
    "tensorflow.python.framework.test_util",
    "tensorflow.python.util.deprecation",
    "tensorflow.python.util.dispatch",
    "tensorflow.python.util.traceback_utils",
    "tfmemlint.verify.child.watching",
)
"""Modules between a program's own call and the binding."""


@dataclass
class Simulation(Recorder):
    """The calls that the simulated runtime has received so far."""

    machine: SimulatedMachine = field(default_factory=lambda: SimulatedMachine.of(1))
    logical: list[protos.LogicalGpu] = field(default_factory=list)

    @property
    def gpus(self) -> int:
        """Return the number of physical GPUs that TensorFlow sees."""
        return len(self.machine.shown)


def install(machine: SimulatedMachine) -> Simulation:
    """Put the simulated GPUs under the TensorFlow of this process, which must not have listed its devices yet."""
    simulation = Simulation(machine=machine)
    _patch_devices(simulation)
    _patch_context(simulation)
    _patch_memory(simulation)
    _patch_sessions(simulation)
    _patch_device_lib(simulation)
    return simulation


def _patch_devices(simulation: Simulation) -> None:
    binding = module("tensorflow.python.pywrap_tfe")
    # Asked once and here, while every real GPU is hidden: the real driver then has no devices for good.
    others = [name for name in binding.TF_ListPhysicalDevices() if b":GPU:" not in name]
    real_details = binding.TF_GetDeviceDetails

    def list_physical_devices() -> list[bytes]:
        simulation.on_listing()
        return others + [f"/physical_device:GPU:{index}".encode() for index in range(simulation.gpus)]

    def get_device_details(index: int) -> Any:
        if index < len(others):
            return real_details(index)
        card = simulation.machine.shown[index - len(others)]
        return {"device_name": f"Simulated GPU {card.index}", "compute_capability": "9.0"}

    binding.TF_ListPhysicalDevices = list_physical_devices
    binding.TF_GetDeviceDetails = get_device_details


def _patch_context(simulation: Simulation) -> None:
    binding = module("tensorflow.python.pywrap_tfe")
    context_module = module("tensorflow.python.eager.context")
    config_proto = module("tensorflow.core.protobuf.config_pb2").ConfigProto
    real_set = binding.TFE_ContextOptionsSetConfig
    real_new = binding.TFE_NewContext
    real_list = context_module.Context.list_logical_devices
    given = config_proto()

    def set_config(options: Any, serialized: bytes, *more: Any) -> Any:
        nonlocal given
        given = config_proto.FromString(bytes(serialized))
        return real_set(options, protos.without_gpus(given).SerializeToString(), *more)

    def new_context(options: Any) -> Any:
        _refuse(given, simulation)
        context = real_new(options)  # raises if there is no CPU, before it looks at any GPU
        simulation.logical = protos.logical_gpus(given, simulation.gpus)
        simulation.on_context(given)
        return context

    def list_logical_devices(self: Any, device_type: str | None = None) -> list[Any]:
        devices: list[Any] = real_list(self, device_type)
        if device_type in (None, "GPU") and _called_by_program():
            for gpu in simulation.logical:
                name = f"/device:GPU:{gpu.number}"
                devices.append(context_module.LogicalDevice(name=name, device_type="GPU"))
        return devices

    binding.TFE_ContextOptionsSetConfig = set_config
    binding.TFE_NewContext = new_context
    context_module.Context.list_logical_devices = list_logical_devices


def _patch_memory(simulation: Simulation) -> None:
    binding = module("tensorflow.python.pywrap_tfe")
    real_info = binding.TFE_GetMemoryInfo
    real_reset = binding.TFE_ResetMemoryStats

    def get_memory_info(context: Any, name: Any) -> Any:
        names = [gpu.name for gpu in simulation.logical]
        if is_simulated_gpu(name, names, lambda other: real_info(context, other)):
            return {"current": 0, "peak": 0}
        return real_info(context, name)

    def reset_memory_stats(context: Any, name: Any) -> Any:
        names = [gpu.name for gpu in simulation.logical]
        if is_simulated_gpu(name, names, lambda other: real_reset(context, other)):
            return None
        return real_reset(context, name)

    binding.TFE_GetMemoryInfo = get_memory_info
    binding.TFE_ResetMemoryStats = reset_memory_stats


def _patch_sessions(simulation: Simulation) -> None:
    binding = module("tensorflow.python.client.pywrap_tf_session")
    config_proto = module("tensorflow.core.protobuf.config_pb2").ConfigProto
    real = binding.TF_NewSessionOptions

    def new_session_options(target: Any = None, config: Any = None) -> Any:
        given = config_proto()
        if config is not None:
            given.CopyFrom(config)
        if not target:  # a session of another process makes no devices here
            _refuse(given, simulation)
            simulation.on_session(given)
        simulation.sessions.append(protos.report(given, simulation.gpus))
        clean = protos.without_gpus(given)
        clean.allow_soft_placement = True  # or an operation placed on a simulated GPU would find no device
        return real(target=target, config=clean)

    binding.TF_NewSessionOptions = new_session_options


def _patch_device_lib(simulation: Simulation) -> None:
    binding = module("tensorflow.python.client._pywrap_device_lib")
    config_proto = module("tensorflow.core.protobuf.config_pb2").ConfigProto
    attributes = module("tensorflow.core.framework.device_attributes_pb2").DeviceAttributes
    real = binding.list_devices

    def list_devices(serialized: bytes | None = None) -> list[bytes]:
        config = config_proto.FromString(serialized) if serialized else config_proto()
        _refuse(config, simulation)
        simulation.on_device_lib(config)
        found: list[bytes] = list(real(protos.without_gpus(config).SerializeToString()))
        if not _called_by_program():
            return found
        fraction = config.gpu_options.per_process_gpu_memory_fraction
        for gpu in protos.logical_gpus(config, simulation.gpus):
            card = simulation.machine.shown[gpu.physical]
            limit = gpu.limit_mib or (card.total_mib * fraction if fraction else _default_mib(card.total_mib))
            described = (
                f"device: {gpu.physical}, name: Simulated GPU {card.index}, pci bus id: 0000:{card.bus:02x}:00.0"
            )
            device = attributes(
                name=f"/device:GPU:{gpu.number}",
                device_type="GPU",
                memory_limit=int(limit * MIB),
                physical_device_desc=f"{described}, compute capability: 9.0",
            )
            found.append(device.SerializeToString())
        return found

    binding.list_devices = list_devices


def _default_mib(total_mib: int) -> int:
    """Return the memory that TensorFlow takes by default, in MiB: the free memory without what it leaves to the
    system.
    """
    free = total_mib - USED_MIB
    return free - (1800 if free >= 2048 else 225)


def _refuse(config: Any, simulation: Simulation) -> None:
    """Raise the error that the device factory raises for ``config``."""
    refused = protos.refusal(config, simulation.gpus)
    conflict = simulation.allocators.conflict(config, simulation.gpus) if refused is None else ""
    if conflict:
        refused = ("AlreadyExistsError", conflict)
    if refused is not None:
        name, message = refused
        raise getattr(module("tensorflow.python.framework.errors_impl"), name)(None, None, message)


def _called_by_program() -> bool:
    """True if the caller, past TensorFlow's own public functions, is outside of TensorFlow and Keras."""
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") in _PASSED_ON:
        frame = frame.f_back
    name = frame.f_globals.get("__name__") or "" if frame is not None else ""
    return name.split(".")[0] not in _OWN
