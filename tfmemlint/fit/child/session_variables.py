"""Find the GPU addresses of the variables of TensorFlow 1's sessions.

A session gives no tensor out that stays on its GPU, but for callables: a fetch may name the device that it stays on.
The array that is returned is a view of the tensor's memory. Only a simulated GPU has that in this process, so that the
array can be made at all; its contents are never read (seen on TensorFlow 2.21).
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

from tfmemlint.fit.child.variables import VariableInfo
from tfmemlint.verify.child.recording import module

_SCOPE = "tfmemlint_variables"
"""The name scope of the operations that are added to the graph of a session."""

_UPDATES = ("ResourceApply", "ResourceSparseApply", "Apply", "SparseApply")
"""The beginnings of the types of operations that update a variable, and what an optimizer keeps for it."""


class SessionVariables:
    """The sessions of a run, and what their variables are."""

    def __init__(self) -> None:
        """Watch the sessions that will be made."""
        self._sessions: weakref.WeakSet[Any] = weakref.WeakSet()
        self.closing: Any = None
        """Called without arguments before a session is closed, and its variables are gone."""
        kind = module("tensorflow.python.client.session").BaseSession
        real_init, real_close = kind.__init__, kind.close

        def initialize(own: Any, *args: Any, **kwargs: Any) -> None:
            real_init(own, *args, **kwargs)
            self._sessions.add(own)

        def close(own: Any) -> None:
            if own in self._sessions:
                if self.closing is not None:
                    self.closing()
                self._sessions.discard(own)
            real_close(own)

        kind.__init__, kind.close = initialize, close

    def addresses(self) -> dict[int, VariableInfo]:
        """Return the variable at each address, of all sessions that are open."""
        found: dict[int, VariableInfo] = {}
        for session in list(self._sessions):
            try:
                found.update(_in_session(session))
            except Exception:
                continue  # it is remote, has no GPU, or its graph can't be extended
        return found


def _in_session(session: Any) -> dict[int, VariableInfo]:
    gpus = [device.name for device in session.list_devices() if device.device_type == "GPU"]
    ops = module("tensorflow.python.framework.ops")
    graph, finalized = session.graph, session.graph.finalized
    keys = (ops.GraphKeys.GLOBAL_VARIABLES, ops.GraphKeys.LOCAL_VARIABLES, ops.GraphKeys.TRAINABLE_VARIABLES)
    variables = {id(kept): kept for key in keys for kept in graph.get_collection(key) if _has_numbers(kept)}.values()
    if not gpus or not variables:
        return {}
    if finalized:
        graph._unsafe_unfinalize()
    try:
        with graph.as_default(), ops.name_scope_v1(_SCOPE), graph.control_dependencies(None):
            there = [variable for variable, known in zip(variables, _set(session, variables), strict=True) if known]
            values = [(variable, variable.value()) for variable in there]
    finally:
        if finalized:
            graph.finalize()
    slots = _slots(list(variables))
    found: dict[int, VariableInfo] = {}
    for device in gpus:
        placed = [(variable, value) for variable, value in values if _is_on(variable, device, gpus)]
        arrays = _fetch(session, [value for _, value in placed], device)
        for (variable, _), array in zip(placed, arrays, strict=True):
            if getattr(array, "shape", None):  # a scalar is copied
                found[int(array.ctypes.data)] = _info(variable, id(variable) in slots)
    return found


def _slots(variables: list[Any]) -> set[int]:
    """Return which of the variables an optimizer keeps, by their ids. The optimizer itself is often gone by then.

    They are not trained, and given to an operation that updates a variable; or have the name of a variable, with more
    behind it, and its shape, as in optimizers that people write.
    """
    trained = [(f"{variable.op.name}/", variable.shape) for variable in variables if variable.trainable]
    found: set[int] = set()
    for variable in variables:
        if variable.trainable:
            continue
        handle = variable.handle if hasattr(variable, "handle") else variable._ref()
        updated = any(operation.type.startswith(_UPDATES) for operation in handle.consumers())
        shape, name = variable.shape, variable.op.name
        if updated or any(shape == of and _is_slot(name, whose) for whose, of in trained):
            found.add(id(variable))
    return found


def _is_slot(name: str, variable: str) -> bool:
    """True if ``name`` is what an optimizer keeps for ``variable``, a name and a slash; Keras puts its own first."""
    return f"/{variable}" in f"/{name}"


def _has_numbers(variable: Any) -> bool:
    return hasattr(variable, "initializer") and bool(variable.dtype.base_dtype.is_numpy_compatible)


def _set(session: Any, variables: Iterable[Any]) -> list[bool]:
    """Return which of the variables have a value."""
    is_set = module("tensorflow.python.ops.state_ops").is_variable_initialized
    return [bool(known) for known in _fetch(session, [is_set(variable) for variable in variables], None)]


def _is_on(variable: Any, device: str, gpus: list[str]) -> bool:
    """True if a variable is on a GPU, as its graph says; without a word of it, TensorFlow takes the first one."""
    named = str(variable.device)
    if "CPU" in named.upper():
        return False
    number = named.upper().rpartition("GPU:")[2] if "GPU:" in named.upper() else "0"
    return device.endswith(f"GPU:{number}") or (len(gpus) == 1)


def _fetch(session: Any, tensors: list[Any], device: str | None) -> list[Any]:
    """Run tensors of a session, which stay on ``device``; None for copies in this machine's memory."""
    if not tensors:
        return []
    options = module("tensorflow.core.protobuf.config_pb2").CallableOptions()
    for tensor in tensors:
        options.fetch.append(tensor.name)
        if device is not None:
            options.fetch_devices[tensor.name] = device
    options.fetch_skip_sync = device is not None
    return list(session._make_callable_from_options(options)())


def _info(variable: Any, of_optimizer: bool) -> VariableInfo:
    shape = f"[{','.join(map(str, variable.shape))}]"
    name, kind = str(variable.op.name), str(variable.dtype.base_dtype.name)
    return VariableInfo(name, kind, shape, bool(variable.trainable), of_optimizer)
