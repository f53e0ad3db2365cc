"""Record what TensorFlow's Python passes to its runtime.

On every ground the same few functions at the border between TensorFlow's Python and its C++ are watched. Here they are
only watched; the ``edge`` ground also answers for the GPUs that don't exist.
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass, field
from typing import Any

from tfmemlint.verify.child import protos
from tfmemlint.verify.child.allocators import Allocators
from tfmemlint.verify.child.environ import variable

VARIABLES = (
    "CUDA_VISIBLE_DEVICES",
    "TF_DEVICE_MIN_SYS_MEMORY_IN_MB",
    "TF_FORCE_GPU_ALLOW_GROWTH",
    "TF_GPU_ALLOCATOR",
    "TF_PER_DEVICE_MEMORY_LIMIT_MB",
)
"""The variables that TensorFlow reads: the first when it lists the devices, the others when it makes them."""

OWN_CONTEXT = "the eager context"
SESSION = "tf.compat.v1.Session()"


def module(name: str) -> Any:
    """Return a module of TensorFlow's, untyped as it is."""
    return importlib.import_module(name)


@dataclass
class Recorder:
    """The calls that the runtime has received so far."""

    allocators: Allocators = field(default_factory=Allocators)
    captured: Any = None
    """The `ConfigProto` that the eager context was last started with."""
    sessions: list[dict[str, Any]] = field(default_factory=list)
    forced: bool = False
    """Set while the harness itself starts the runtime."""
    environment: dict[str, str] = field(default_factory=dict)
    """The variables in `VARIABLES`, as they were when they were read."""
    meter: Any = None
    """Measures the memory that is taken, on the grounds that allocate."""
    _listed: bool = False
    _made: bool = False
    _gpus: int | None = None

    @property
    def gpus(self) -> int:
        """Return the number of physical GPUs that TensorFlow sees.

        It is asked only when devices are made, as asking initialises the driver.
        """
        if self._gpus is None:
            binding = module("tensorflow.python.pywrap_tfe")
            self._gpus = sum(b":GPU:" in name for name in binding.TF_ListPhysicalDevices())
        return self._gpus

    def growth_said(self) -> list[bool | None]:
        """Return the growth that the program has set for each visible GPU."""
        context = module("tensorflow.python.eager.context").context()
        growth = context._memory_growth_map or {}
        return [growth.get(device) for device in context._visible_device_list or [] if device.device_type == "GPU"]

    def config(self) -> dict[str, Any] | None:
        """Return the reported form of the configuration with which the eager context was started."""
        if self.captured is None:
            return None
        return {**protos.report(self.captured, self.gpus, self.growth_said()), "forced": self.forced}

    def on_listing(self) -> None:
        """Note that the physical devices are being listed: the driver reads its variables now."""
        if not self._listed:
            self._listed = True
            self._read("CUDA_VISIBLE_DEVICES")

    def on_context(self, config: Any) -> None:
        """Note that the eager context has been started with ``config``."""
        self.captured = config
        said = protos.report(config, self.gpus, self.growth_said())["allow_growth"]
        self.on_devices()
        self.allocators.create(OWN_CONTEXT, config, self.gpus, said=said, forced=self.forced)

    def on_session(self, config: Any) -> None:
        """Note that a session of this process is being made with ``config``."""
        self.on_devices()
        self.allocators.create(SESSION, config, self.gpus)

    def on_device_lib(self, config: Any) -> None:
        """Note that ``device_lib`` is making the devices to list them."""
        self.on_devices()
        self.allocators.create(asker(), config, self.gpus)

    def on_devices(self) -> None:
        """Note that the GPU devices are being made: TensorFlow reads its variables now."""
        self.on_listing()
        if not self._made and self.gpus:
            self._made = True
            self._read(*VARIABLES[1:])

    def _read(self, *names: str) -> None:
        values = {name: variable(name) for name in names}
        self.environment.update({name: value for name, value in values.items() if value is not None})


def watch(recorder: Recorder) -> None:
    """Record the calls, and change nothing."""
    binding = module("tensorflow.python.pywrap_tfe")
    sessions = module("tensorflow.python.client.pywrap_tf_session")
    device_lib = module("tensorflow.python.client._pywrap_device_lib")
    config_proto = module("tensorflow.core.protobuf.config_pb2").ConfigProto
    real_list, real_set, real_new = (
        binding.TF_ListPhysicalDevices,
        binding.TFE_ContextOptionsSetConfig,
        binding.TFE_NewContext,
    )
    real_session, real_devices = sessions.TF_NewSessionOptions, device_lib.list_devices
    given = config_proto()

    def list_physical_devices() -> Any:
        recorder.on_listing()
        return real_list()

    def set_config(options: Any, serialized: bytes, *more: Any) -> Any:
        nonlocal given
        given = config_proto.FromString(bytes(serialized))
        return real_set(options, serialized, *more)

    def new_context(options: Any) -> Any:
        recorder.on_devices()
        context = real_new(options)
        recorder.on_context(given)
        return context

    def new_session_options(target: Any = None, config: Any = None) -> Any:
        asked = config_proto()
        if config is not None:
            asked.CopyFrom(config)
        if not target:  # a session of another process makes no devices here
            recorder.on_session(asked)
        recorder.sessions.append(protos.report(asked, recorder.gpus))
        return real_session(target=target, config=config)

    def list_devices(*serialized: Any) -> Any:
        recorder.on_devices()
        found = real_devices(*serialized)
        recorder.on_device_lib(config_proto.FromString(serialized[0]) if any(serialized) else config_proto())
        return found

    binding.TF_ListPhysicalDevices = list_physical_devices
    binding.TFE_ContextOptionsSetConfig = set_config
    binding.TFE_NewContext = new_context
    sessions.TF_NewSessionOptions = new_session_options
    device_lib.list_devices = list_devices


def asker() -> str:
    """Return the function of TensorFlow's interface that caused the listing of devices."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == "tensorflow.python.framework.test_util":
            return f"tf.test.{frame.f_code.co_name}()"
        if frame.f_back is None:
            break
        frame = frame.f_back
    return "device_lib.list_local_devices()"
