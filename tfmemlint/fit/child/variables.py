"""Find the GPU addresses of the values of a script's variables."""

from __future__ import annotations

import ctypes
import gc
from dataclasses import dataclass
from typing import Any

from tfmemlint.verify.child.recording import module


@dataclass(frozen=True, slots=True)
class VariableInfo:
    """A variable: its name, type and shape as TensorFlow writes them, and whether it is trained."""

    name: str
    kind: str
    shape: str
    trained: bool


def addresses() -> dict[int, VariableInfo]:
    """Return the variable at each address; empty if there are none, or TensorFlow doesn't say."""
    found: dict[int, VariableInfo] = {}
    context = module("tensorflow.python.eager.context")
    if not context.executing_eagerly():
        return found
    kind = module("tensorflow.python.ops.resource_variable_ops").BaseResourceVariable
    objects = gc.get_objects()
    paths = _keras_paths(objects)
    for candidate in objects:
        try:
            if not isinstance(candidate, kind) or "GPU" not in str(candidate.device):
                continue
            name = paths.get(id(candidate)) or str(candidate.name).removesuffix(":0")
            shape = f"[{','.join(map(str, candidate.shape))}]"
            found[_address(candidate.read_value())] = VariableInfo(
                name, str(candidate.dtype.name), shape, bool(candidate.trainable)
            )
        except Exception:
            continue  # not initialised yet, of a graph, or of a type that can't be looked at
    return found


def _keras_paths(objects: list[Any]) -> dict[int, str]:
    """Return the paths of Keras 3's variables, which say more than their short names, by the TensorFlow variable
    inside.
    """
    found: dict[int, str] = {}
    for candidate in objects:
        if type(candidate).__module__.startswith("keras.") and isinstance(
            getattr(type(candidate), "path", None), property
        ):
            value = getattr(candidate, "_value", None)
            if value is not None:
                found[id(value)] = str(candidate.path)
    return found


def _address(tensor: Any) -> int:
    """Return the address of a tensor's memory, by DLPack, whose structure begins with it."""
    capsule = module("tensorflow.python.dlpack.dlpack").to_dlpack(tensor)
    interface = ctypes.pythonapi
    interface.PyCapsule_GetName.restype = ctypes.c_char_p
    interface.PyCapsule_GetName.argtypes = [ctypes.py_object]
    interface.PyCapsule_GetPointer.restype = ctypes.c_void_p
    interface.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    structure = interface.PyCapsule_GetPointer(capsule, interface.PyCapsule_GetName(capsule))
    return int(ctypes.c_void_p.from_address(structure).value or 0)
