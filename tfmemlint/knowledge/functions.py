"""The functions of TensorFlow that are known by name, under their canonical names, and the words of its checks."""

from __future__ import annotations

import re

SET_GROWTH = "tf.config.experimental.set_memory_growth"
SET_LOGICAL = ("tf.config.set_logical_device_configuration", "tf.config.experimental.set_virtual_device_configuration")
LOGICAL_CONFIGURATION = ("tf.config.LogicalDeviceConfiguration", "tf.config.experimental.VirtualDeviceConfiguration")
SET_VISIBLE = ("tf.config.set_visible_devices", "tf.config.experimental.set_visible_devices")
SET_THREADS = {
    f"tf.config.threading.set_{which}_op_parallelism_threads": (
        f"{which.capitalize()} op parallelism cannot be modified after initialization."
    )
    for which in ("intra", "inter")
}
"""Each with what it says once the context has started: the same in every release from 2.1 to 2.21."""
LIST_PHYSICAL = (
    "tf.config.list_physical_devices",
    "tf.config.experimental.list_physical_devices",
    "tf.config.get_visible_devices",
    "tf.config.experimental.get_visible_devices",
)
_TYPE = re.compile(r"\s*/?(?:physical_|logical_)?(?:device:)?(gpu|cpu)s?(?::\d+)?\s*", re.IGNORECASE)


def meant_type(text: str) -> str:
    """The type of device, ``GPU`` or ``CPU``, that another spelling of it stands for; "" for any other text.

    Source: of these only ``GPU`` and ``CPU`` themselves are types; for ``gpu`` and the like every release from 2.1 to
    2.21 lists no device.
    """
    match = None if text in ("GPU", "CPU") else _TYPE.fullmatch(text)
    return match[1].upper() if match is not None else ""


LIST_LOGICAL = ("tf.config.list_logical_devices", "tf.config.experimental.list_logical_devices")
LIST_LOCAL = "tf.python.client.device_lib.list_local_devices"
SESSIONS = frozenset(
    f"{prefix}{name}"
    for prefix in ("tf.", "tf.compat.v1.")
    for name in (
        "Session",
        "InteractiveSession",
        "train.MonitoredTrainingSession",
        "train.MonitoredSession",
        "train.SingularMonitoredSession",
    )
)
TARGETED = ("Session", "InteractiveSession")
"""The sessions whose parameters are ``target``, ``graph`` and ``config``, in that order."""
PROTOS = frozenset(
    f"{prefix}{name}"
    for prefix in ("tf.", "tf.compat.v1.")
    for name in ("ConfigProto", "GPUOptions", "OptimizerOptions", "GraphOptions", "GPUOptions.Experimental")
)
SET_SESSION = ("tf.keras.backend.set_session", "tf.compat.v1.keras.backend.set_session")
SET_SESSION_OF_KERAS = ("keras.backend.set_session", "keras.backend.tensorflow_backend.set_session")
DISABLE_EAGER = ("tf.compat.v1.disable_eager_execution", "tf.compat.v1.disable_v2_behavior")
ENABLE_EAGER = (
    "tf.enable_eager_execution",
    "tf.compat.v1.enable_eager_execution",
    "tf.compat.v1.enable_v2_behavior",
)
SEQUENTIAL = frozenset(
    f"{prefix}keras.{name}" for prefix in ("tf.", "tf.compat.v1.") for name in ("Sequential", "models.Sequential")
)
MAKES_VARIABLES = ("global_step", "get_variable", "Variable", "minimize", "apply_gradients")
"""How the names of calls end that make a variable, of whatever module or object they are. A monitored session of a
graph without one makes no Saver."""
GRAPHS = frozenset({"tf.Graph().as_default", "tf.compat.v1.Graph().as_default"})

RANKS = {
    f"{package}.rank": f"{package}.local_rank"
    for package in (
        "horovod.tensorflow",
        "horovod.tensorflow.keras",
        "horovod.keras",
        "horovod",
        "byteps.tensorflow",
        "byteps.tensorflow.keras",
        "byteps.keras",
        "smdistributed.dataparallel.tensorflow",
    )
} | {"mpi4py.MPI.COMM_WORLD.Get_rank": ""}
"""What tells a process its number among those of all machines, and what tells its number on its own machine."""

PHYSICAL_FIXED = "Physical devices cannot be modified after being initialized"
VIRTUAL_FIXED = "Virtual devices cannot be modified after being initialized"
VISIBLE_FIXED = "Visible devices cannot be modified after being initialized"
GROWTH_REFUSED = "Cannot set memory growth on device when virtual devices configured"
"""Source: ``tensorflow/python/eager/context.py``; the same words in every release from 2.4 to 2.21."""
