"""Do once, before programs are forked, what TensorFlow would do in each of them when its runtime starts.

None of it starts the runtime, or makes a thread or a device. What a release lacks, each program does by itself.
Measured with ``perf`` on TensorFlow 2.21: without it, this is a seventh of the processor time of a program that only
starts the runtime; of the rest, oneDNN's searches for kernels are a quarter. (To leave oneDNN out is no way: without it
the CPU's allocator, which stands for the simulated GPUs', tells nothing of its memory.)
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
from pathlib import Path

from tfmemlint.verify.child.onednn import search_kernels

_XLA_KERNELS = "_ZN10tensorflow13XlaOpRegistry26RegisterCompilationKernelsEv"
"""``tensorflow::XlaOpRegistry::RegisterCompilationKernels()``, which does nothing when it is called again."""


def warm_up(folder: Path) -> None:
    """Fill the registries that TensorFlow, imported from ``folder``, fills when they are first asked."""
    for module, function in (("op_def_registry", "get"), ("kernels", "get_registered_kernels_for_op")):
        with contextlib.suppress(Exception):
            getattr(importlib.import_module(f"tensorflow.python.framework.{module}"), function)("no_operation")
    with contextlib.suppress(OSError, AttributeError):
        library = _loaded(folder / "libtensorflow_cc.so.2")
        getattr(library, _XLA_KERNELS)()
        search_kernels(library, _loaded(folder / "libtensorflow_framework.so.2"))


def _loaded(library: Path) -> ctypes.CDLL:
    """Return a library that TensorFlow has loaded.

    Raises:
        OSError: it has not.
    """
    return ctypes.CDLL(str(library), mode=os.RTLD_NOW | os.RTLD_NOLOAD)
