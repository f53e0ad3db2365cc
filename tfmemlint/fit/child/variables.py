"""Find the GPU addresses of the values of a script's variables."""

from __future__ import annotations

import ctypes
import gc
from dataclasses import dataclass
from typing import Any

from tfmemlint.verify.child.recording import module

_OPTIMIZERS = ("BaseOptimizer", "OptimizerV2", "_BaseOptimizer")
"""The classes that all optimizers of a version of Keras inherit from."""


@dataclass(frozen=True, slots=True)
class VariableInfo:
    """A variable: its name, type and shape as TensorFlow writes them, whether it is trained, and whether it is an
    optimizer's.
    """

    name: str
    kind: str
    shape: str
    trained: bool
    of_optimizer: bool = False

    @property
    def role(self) -> str:
        """Return what it is for."""
        if self.of_optimizer:
            return "variables of optimizers"
        return "trained variables" if self.trained else "other variables"


def addresses() -> dict[int, VariableInfo]:
    """Return the variable at each address; empty if there are none, or TensorFlow doesn't say."""
    found: dict[int, VariableInfo] = {}
    context = module("tensorflow.python.eager.context")
    if not context.executing_eagerly():
        return found
    kind = module("tensorflow.python.ops.resource_variable_ops").BaseResourceVariable
    objects = gc.get_objects()
    paths, slots = _keras_paths(objects), _of_optimizers(objects)
    for candidate in objects:
        try:
            if not isinstance(candidate, kind) or "GPU" not in str(candidate.device):
                continue
            name = paths.get(id(candidate)) or str(candidate.name).removesuffix(":0")
            shape = f"[{','.join(map(str, candidate.shape))}]"
            # Elsewhere it would be a copy that is read.
            with module("tensorflow.python.framework.ops").device(candidate.device):
                value = candidate.read_value()
            found[_address(value)] = VariableInfo(
                name, str(candidate.dtype.name), shape, bool(candidate.trainable), id(candidate) in slots
            )
        except Exception:
            continue  # not initialised yet, of a graph, or of a type that can't be looked at
    return found


def _keras_paths(objects: list[Any]) -> dict[int, str]:
    """Return the paths of Keras 3's variables, which say more than their short names, by the TensorFlow variable
    inside.
    """
    found: dict[int, str] = {}
    is_of_keras: dict[type, bool] = {}
    for candidate in objects:
        kind = type(candidate)
        wanted = is_of_keras.get(kind)
        if wanted is None:
            of_path = getattr(kind, "path", None)
            wanted = is_of_keras[kind] = kind.__module__.startswith("keras.") and isinstance(of_path, property)
        if wanted:
            value = getattr(candidate, "_value", None)
            if value is not None:
                found[id(value)] = str(candidate.path)
    return found


def _of_optimizers(objects: list[Any]) -> set[int]:
    """Return the TensorFlow variables of Keras' optimizers, of all its versions, by their ids."""
    found: set[int] = set()
    # There are more than a million objects, of some thousand types.
    is_optimizer: dict[type, bool] = {}
    for candidate in objects:
        kind = type(candidate)
        wanted = is_optimizer.get(kind)
        if wanted is None:
            wanted = is_optimizer[kind] = _is_optimizer(kind)
        if not wanted:
            continue
        try:
            variables = candidate.variables
            for variable in variables() if callable(variables) else variables:
                value = getattr(variable, "_value", variable)
                # A distributed variable has one on each GPU.
                found.update(id(part) for part in [value, *getattr(value, "values", ())])
        except Exception:
            continue  # not built yet
    return found


def _is_optimizer(kind: type) -> bool:
    return any("keras" in base.__module__ and base.__name__ in _OPTIMIZERS for base in kind.__mro__)


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
