"""Print facts about an interpreter and its TensorFlow. Not imported: the interpreter in question runs it.

That interpreter may be any Python from 3.7 on and need not have tfmemlint, so this file uses only the standard library
and TensorFlow. Each fact is one line of JSON, written at once: if TensorFlow crashes or hangs, the facts before are
known, and so is the step at which it happened. Physical devices are only listed: that asks the driver for the devices
and takes no GPU memory.

Arguments: this file, the file for the facts, and `cuda_libraries.NEEDED` as JSON.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

DISTRIBUTIONS = (
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-gpu",
    "tensorflow-intel",
    "tensorflow-macos",
    "tensorflow-rocm",
    "tf-nightly",
    "tf-nightly-cpu",
    "tf-nightly-gpu",
)


def main(facts: str, libraries: str) -> None:
    """Collect the facts, and write each to the file ``facts`` at once."""
    with Path(facts).open("a", encoding="utf-8") as out:

        def say(step: str, **found: Any) -> None:
            out.write(json.dumps(dict(found, step=step)) + "\n")
            out.flush()

        say(
            "python",
            version=list(sys.version_info[:3]),
            executable=sys.executable,
            platform=sys.platform,
            machine=platform.machine(),
            fork=hasattr(os, "fork"),
        )
        gc.disable()  # this process is short, and to look for garbage takes a quarter of the time of the import
        try:
            tf = importlib.import_module("tensorflow")
            version, folder = str(tf.__version__), str(Path(str(tf.__file__)).parent)
            build = _build(tf)
        except (Exception, SystemExit) as error:
            absent = isinstance(error, ImportError) and error.name == "tensorflow" and not error.path
            say("failed", absent=absent, error=type(error).__name__, message=str(error))
            return
        say("tensorflow", version=version, folder=folder, build=build, **_distribution(folder))
        try:
            gpus = _gpus(tf)
        except Exception as error:
            say("failed", absent=False, error=type(error).__name__, message=str(error))
            return
        say("devices", gpus=gpus)
        if gpus:
            say("uuids", uuids=_uuids())
        if build.get("is_cuda_build"):
            say("libraries", opened=[_open(name, folder) for name in _needed(json.loads(libraries), build, version)])


def _build(tf: Any) -> dict[str, Any]:
    if hasattr(tf.sysconfig, "get_build_info"):  # since 2.3
        info = dict(tf.sysconfig.get_build_info())
    else:
        info = {"is_cuda_build": bool(tf.test.is_built_with_cuda())}
    return {str(name): value for name, value in info.items() if isinstance(value, (bool, str, list, tuple))}


def _needed(rows: list[list[Any]], build: dict[str, Any], version: str) -> list[str]:
    release = [int(part) for part in version.split(".")[:2] if part.isdigit()]
    major = str(build.get("cuda_version", "")).split(".")[0]
    return [
        name.replace("{cudnn}", str(build.get("cudnn_version", "")).split(".")[0])
        for cuda, name, first, last in rows
        if cuda == major and first <= release and (last is None or release <= last)
    ]


def _distribution(folder: str) -> dict[str, Any]:
    """Return what was installed, by pip's records: more than one package provides ``tensorflow``."""
    try:
        metadata = importlib.import_module("importlib.metadata")  # since Python 3.8
    except ImportError:
        return {"distribution": "", "and_cuda": False}
    for name in DISTRIBUTIONS:
        try:
            found = metadata.distribution(name)
            if Path(str(found.locate_file("tensorflow"))) != Path(folder):
                continue
        except Exception:  # not installed, or its records are broken
            continue
        extras = found.metadata.get_all("Provides-Extra") or []
        return {"distribution": name, "and_cuda": "and-cuda" in extras}
    return {"distribution": "", "and_cuda": False}


def _gpus(tf: Any) -> list[dict[str, Any]]:
    config = tf.config if hasattr(tf.config, "list_physical_devices") else tf.config.experimental
    found = []
    for device in config.list_physical_devices("GPU"):
        try:
            details = dict(tf.config.experimental.get_device_details(device))
        except Exception:  # before 2.3 there is none
            details = {}
        found.append(
            {
                "name": str(device.name).replace("/physical_device:", ""),
                "model": str(details.get("device_name", "")),
                "capability": list(details.get("compute_capability", ())),
            }
        )
    return found


def _uuids() -> list[str]:
    """Return the UUIDs of the GPUs that CUDA sees, in its order. TensorFlow has initialised the driver before."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
        count = ctypes.c_int()
        if cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)):
            return []
        found = []
        for number in range(count.value):
            device, uuid = ctypes.c_int(), (ctypes.c_ubyte * 16)()
            # Not cuDeviceGetUuid_v2, which returns a MIG device's own: this is that of its physical GPU, as in NVML.
            if cuda.cuDeviceGet(ctypes.byref(device), number) or cuda.cuDeviceGetUuid(uuid, device):
                return []
            digits = bytes(uuid).hex()
            found.append("GPU-" + "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])))
        return found
    except (OSError, AttributeError):
        return []


def _open(name: str, folder: str) -> dict[str, Any]:
    """Return whether the loader finds a library by its name, or among pip's packages beside TensorFlow."""
    problem = ""
    for path in [name, *map(str, sorted(Path(folder).parent.glob("nvidia/*/lib/" + name)))]:
        try:
            ctypes.CDLL(path)
            return {"name": name, "opened": True, "problem": ""}
        except OSError as error:
            problem = problem or str(error)
    return {"name": name, "opened": False, "problem": problem}


if __name__ == "__main__":
    main(*sys.argv[2:])
