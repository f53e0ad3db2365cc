"""The TensorFlow functions that the tool knows by canonical name, and the error messages of TensorFlow's checks."""

from __future__ import annotations

import re

from tfmemlint.model.patterns import late_pattern

SET_GROWTH = "tf.config.experimental.set_memory_growth"
GROWTH_VARIABLE = "TF_FORCE_GPU_ALLOW_GROWTH"
SET_LOGICAL = ("tf.config.set_logical_device_configuration", "tf.config.experimental.set_virtual_device_configuration")
LOGICAL_CONFIGURATION = ("tf.config.LogicalDeviceConfiguration", "tf.config.experimental.VirtualDeviceConfiguration")
SET_VISIBLE = ("tf.config.set_visible_devices", "tf.config.experimental.set_visible_devices")
CONFIGURES_GPUS = frozenset({SET_GROWTH, *SET_LOGICAL, *SET_VISIBLE})
GPU_TESTS = ("tf.test.is_gpu_available", "tf.test.gpu_device_name")
"""Tests for GPUs that make the devices; to list the physical ones does not."""
SET_THREADS = {
    f"tf.config.threading.set_{which}_op_parallelism_threads": (
        f"{which.capitalize()} op parallelism cannot be modified after initialization."
    )
    for which in ("intra", "inter")
}
"""Functions that set thread counts, each with the error that it raises after the context has started: the same in every
release from 2.1 to 2.21."""
LIST_PHYSICAL = (
    "tf.config.list_physical_devices",
    "tf.config.experimental.list_physical_devices",
    "tf.config.get_visible_devices",
    "tf.config.experimental.get_visible_devices",
)
_TYPE = late_pattern(r"\s*/?(?:physical_|logical_)?(?:device:)?(gpu|cpu)s?(?::\d+)?\s*", re.IGNORECASE)


def meant_type(text: str) -> str:
    """Return the device type, ``GPU`` or ``CPU``, that ``text`` is another spelling of; "" for any other text.

    Source: only ``GPU`` and ``CPU`` themselves are device types; for ``gpu`` and similar spellings every release from
    2.1 to 2.21 lists no device.
    """
    match = None if text in ("GPU", "CPU") else _TYPE.fullmatch(text)
    return match[1].upper() if match is not None else ""


LIST_LOGICAL = ("tf.config.list_logical_devices", "tf.config.experimental.list_logical_devices")
MEMORY_INFO = "tf.config.experimental.get_memory_info"
MEMORY_REPORTS = (MEMORY_INFO, "tf.config.experimental.get_memory_usage")
"""The functions that report the memory in use of a GPU."""
RESET_STATS = "tf.config.experimental.reset_memory_stats"
MEMORY_CALLS = (*MEMORY_REPORTS, RESET_STATS)
NAMING_A_GPU = frozenset({"device", "OneDeviceStrategy", "get_memory_info", "reset_memory_stats", "get_memory_usage"})
"""The last names of functions that take the name of a logical device."""
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
"""Sessions whose parameters are ``target``, ``graph`` and ``config``, in that order."""
SESSION_LOOPS = {
    "tf.contrib.slim.learning.train": (22, "session_config", "master"),
    "tf.contrib.slim.evaluation.evaluate_once": (13, "session_config", "master"),
    "tf.contrib.slim.evaluation.evaluation_loop": (16, "session_config", "master"),
    "tf.contrib.training.train": (9, "config", "master"),
    "tf.contrib.training.evaluate_once": (8, "config", "master"),
    "tf.contrib.training.evaluate_repeatedly": (9, "config", "master"),
} | {
    f"{prefix}train.{method}": (position, "config", "master")
    for prefix in ("tf.", "tf.compat.v1.")
    for method, position in (
        ("Supervisor().managed_session", 1),
        ("Supervisor().prepare_or_wait_for_session", 1),
        ("SessionManager().prepare_session", 7),
        ("SessionManager().recover_session", 6),
        ("SessionManager().wait_for_session", 1),
    )
}
"""Functions that make a session by themselves: the position and the name of its options, and the name of the argument
by which it may run in another process. From the signatures of TensorFlow 1.15.5."""
SESSION_CREATORS = frozenset(
    f"{prefix}train.{name}SessionCreator" for prefix in ("tf.", "tf.compat.v1.") for name in ("Chief", "Worker")
)
"""Classes that make the session of a ``MonitoredSession``; each takes its options as the third argument."""
PROTOS = frozenset(
    f"{prefix}{name}"
    for prefix in ("tf.", "tf.compat.v1.")
    for name in ("ConfigProto", "GPUOptions", "OptimizerOptions", "GraphOptions", "GPUOptions.Experimental")
)
RUN_CONFIGS = tuple(
    f"tf.{place}RunConfig"
    for place in ("estimator.", "compat.v1.estimator.", "estimator.tpu.", "compat.v1.estimator.tpu.", "contrib.tpu.")
)
"""Classes that tell an estimator how to run, with which options for its sessions as well."""
SET_SESSION = ("tf.keras.backend.set_session", "tf.compat.v1.keras.backend.set_session")
TENSORFLOW_FLAGS = ("tf.flags", "tf.app.flags", "tf.compat.v1.flags", "tf.compat.v1.app.flags")
"""The names in TensorFlow of ``absl.flags``."""
KERAS_BACKEND = "keras.backend.tensorflow_backend"
"""The module in which Keras up to 2.3 had its session."""
SET_SESSION_OF_KERAS = ("keras.backend.set_session", f"{KERAS_BACKEND}.set_session")
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
"""Suffixes of calls that create a variable, on any module or object. A monitored session on a graph without a variable
creates no Saver."""
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
"""Functions that return a process's rank among all machines, each with the function that returns its rank on its own
machine."""

PHYSICAL_FIXED = "Physical devices cannot be modified after being initialized"
VIRTUAL_FIXED = "Virtual devices cannot be modified after being initialized"
VISIBLE_FIXED = "Visible devices cannot be modified after being initialized"
GROWTH_REFUSED = "Cannot set memory growth on device when virtual devices configured"
"""Source: ``tensorflow/python/eager/context.py``; the same message in every release from 2.4 to 2.21."""
