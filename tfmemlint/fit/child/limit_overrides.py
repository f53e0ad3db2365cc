"""Override the memory limits that a script configures, at the border between TensorFlow's Python and its runtime.

By then TensorFlow has made all its own checks of the script's configuration.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from tfmemlint.verify.child.recording import Recorder, module

LIFTED_LIMIT_MIB = 512 * 1024
"""The limits of a GPU's logical devices together, in MiB, if the script's own are lifted: the GPU must stay split."""
_IN_THE_WAY = ("TF_PER_DEVICE_MEMORY_LIMIT_MB", "TF_DEVICE_MIN_SYS_MEMORY_IN_MB")


def override_limits(limit_mib: float | None, lifted: bool, recorder: Recorder, on_devices: Callable[[], None]) -> None:
    """Rewrite the configuration with which the runtime is started.

    Args:
        limit_mib: the memory limit of every logical GPU; None for the script's own.
        lifted: remove the script's limits, and let memory grow.
        recorder: knows the number of GPUs.
        on_devices: called when the GPU devices have been made.
    """
    binding = module("tensorflow.python.pywrap_tfe")
    sessions = module("tensorflow.python.client.pywrap_tf_session")
    device_lib = module("tensorflow.python.client._pywrap_device_lib")
    config_proto = module("tensorflow.core.protobuf.config_pb2").ConfigProto
    real_set, real_new = binding.TFE_ContextOptionsSetConfig, binding.TFE_NewContext
    real_session, real_devices = sessions.TF_NewSessionOptions, device_lib.list_devices

    def rewritten(config: Any) -> Any:
        if lifted:
            # The runtime reads them when it makes the devices, whatever the script has set before.
            os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"
            for name in _IN_THE_WAY:
                os.environ.pop(name, None)
            remove_limits(config)
        elif limit_mib is not None:
            set_limits(config, limit_mib, recorder.gpus)
        return config

    def set_config(options: Any, serialized: bytes, *more: Any) -> Any:
        config = rewritten(config_proto.FromString(bytes(serialized)))
        return real_set(options, config.SerializeToString(), *more)

    def new_context(options: Any) -> Any:
        context = real_new(options)
        on_devices()
        return context

    def new_session_options(target: Any = None, config: Any = None) -> Any:
        if not target:
            asked = config_proto()
            if config is not None:
                asked.CopyFrom(config)
            config = rewritten(asked)
            on_devices()
        return real_session(target=target, config=config)

    def list_devices(*serialized: Any) -> Any:
        asked = config_proto.FromString(serialized[0]) if any(serialized) else config_proto()
        return real_devices(rewritten(asked).SerializeToString())

    binding.TFE_ContextOptionsSetConfig = set_config
    binding.TFE_NewContext = new_context
    sessions.TF_NewSessionOptions = new_session_options
    device_lib.list_devices = list_devices


def remove_limits(config: Any) -> None:
    """Remove all limits from a ``ConfigProto``."""
    options = config.gpu_options
    options.allow_growth = True
    options.per_process_gpu_memory_fraction = 0.0
    for gpu in options.experimental.virtual_devices:
        gpu.memory_limit_mb[:] = [LIFTED_LIMIT_MIB / len(gpu.memory_limit_mb)] * len(gpu.memory_limit_mb)


def set_limits(config: Any, limit_mib: float, gpus: int) -> None:
    """Give every logical GPU of a ``ConfigProto`` the same limit; ``gpus`` is the number of physical ones."""
    options = config.gpu_options
    options.allow_growth = False
    options.per_process_gpu_memory_fraction = 0.0
    devices = options.experimental.virtual_devices
    if not devices:
        shown = options.visible_device_list
        for _ in range(len(shown.split(",")) if shown else gpus):
            devices.add()
    for gpu in devices:
        gpu.memory_limit_mb[:] = [limit_mib] * max(len(gpu.memory_limit_mb), 1)
