"""Let oneDNN's pass over graphs search TensorFlow's kernels once, before programs are forked.

For each operation and type that is new to it, the pass searches all registered kernels, and the thread remembers the
answer: a forked program has the answers of the thread that forked it. Measured on TensorFlow 2.21: a search takes
1.7 ms; a program that makes one constant needs three of them, and the smallest training some twenty. The functions are
none of TensorFlow's interface; they were called on 2.12, 2.15, 2.18, 2.20 and 2.21.
"""

from __future__ import annotations

import ctypes
from typing import Any

_NEW_PASS = "_ZN10tensorflow20MklLayoutRewritePassC2Ev"
"""The constructor of ``tensorflow::MklLayoutRewritePass``."""
_CHECK = "_ZNK10tensorflow20MklLayoutRewritePass19CheckForNodeRewriteEPKNS_4NodeE"
"""``CheckForNodeRewrite(const tensorflow::Node*) const`` of that class, which only looks at the node."""
_PASS_BYTES = 1 << 16
"""Room for an object of that class, which takes 164 bytes in TensorFlow 2.21."""
FLOAT, INT32, STRING, INT64, BOOL, RESOURCE, VARIANT = 1, 3, 7, 9, 10, 20, 21
"""Numbers of ``tensorflow.DataType``."""
TYPES = (INT32, FLOAT, INT64, STRING, BOOL, RESOURCE, VARIANT)
"""The types of nearly all arguments and results of functions."""


class _Output(ctypes.Structure):
    """``TF_Output`` of TensorFlow's interface for C."""

    _fields_ = (("operation", ctypes.c_void_p), ("index", ctypes.c_int))


def search_kernels(interface: ctypes.CDLL, internals: ctypes.CDLL) -> None:
    """Search the kernels of the operations that every graph has: arguments, results and constants.

    Args:
        interface: the library with TensorFlow's interface for C. internals: the one with the pass.

    Raises:
        AttributeError: this release lacks a function.
    """
    pointer = ctypes.c_void_p
    new_pass = _function(internals, _NEW_PASS, None, pointer)
    check = _function(internals, _CHECK, pointer, pointer, pointer)
    graph = _Graph(interface)
    layout_pass = ctypes.create_string_buffer(_PASS_BYTES)
    new_pass(layout_pass)
    for kind in TYPES:
        argument = graph.add(b"_Arg", kind, index=0)
        nodes = [
            argument,
            graph.add(b"_Retval", kind, argument, index=0),
            graph.add(b"_EagerConst", kind, argument),
        ]
        for node in filter(None, nodes):
            check(layout_pass, node)


class _Graph:
    """A graph without a device, made through TensorFlow's interface for C. It is never freed."""

    def __init__(self, interface: ctypes.CDLL) -> None:
        pointer, text = ctypes.c_void_p, ctypes.c_char_p
        self._begin = _function(interface, "TF_NewOperation", pointer, pointer, text, text)
        self._set_type = _function(interface, "TF_SetAttrType", None, pointer, text, ctypes.c_int)
        self._set_number = _function(interface, "TF_SetAttrInt", None, pointer, text, ctypes.c_int64)
        self._add_input = _function(interface, "TF_AddInput", None, pointer, _Output)
        self._finish = _function(interface, "TF_FinishOperation", pointer, pointer, pointer)
        self._graph = _function(interface, "TF_NewGraph", pointer)()
        self._status = _function(interface, "TF_NewStatus", pointer)()

    def add(self, operation: bytes, kind: int, *inputs: int | None, **numbers: int) -> int | None:
        """Add an operation whose attribute ``T`` is ``kind``; return its node, None where this release refuses it.

        A ``TF_Operation`` begins with its ``tensorflow::Node``.
        """
        if None in inputs:
            return None
        description = self._begin(self._graph, operation, operation.strip(b"_") + b"%d" % kind)
        self._set_type(description, b"T", kind)
        for name, number in numbers.items():
            self._set_number(description, name.encode(), number)
        for node in inputs:
            self._add_input(description, _Output(node, 0))
        made: int | None = self._finish(description, self._status)
        return made


def _function(library: ctypes.CDLL, name: str, result: Any, *arguments: Any) -> Any:
    """Return a function of ``library`` with the types of its result and arguments."""
    found = getattr(library, name)
    found.restype, found.argtypes = result, arguments
    return found
