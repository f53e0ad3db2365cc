"""The words of code that configures GPUs by ``tf.config`` or by the environment, which is what can come too late.

A module without one of them cannot change what another module configures. The options of a session are no part of it:
they come with the session itself.
"""

from __future__ import annotations

from tfmemlint.knowledge.functions import LOGICAL_CONFIGURATION, SET_GROWTH, SET_LOGICAL, SET_THREADS, SET_VISIBLE

_FUNCTIONS = (SET_GROWTH, *SET_LOGICAL, *LOGICAL_CONFIGURATION, *SET_VISIBLE, *SET_THREADS)
VARIABLES = (
    "CUDA_VISIBLE_DEVICES",
    "TF_FORCE_GPU_ALLOW_GROWTH",
    "TF_GPU_ALLOCATOR",
    "TF_PER_DEVICE_MEMORY_LIMIT_MB",
)
"""Variables about GPU memory that TensorFlow reads when it lists or makes the GPU devices (``data/env.txt``)."""
MADE_UP = ("set_memory_limit", "set_gpu_memory")
"""How the commonest made-up functions for a memory limit begin: each stands where a real setting is to be."""

WORDS: tuple[str, ...] = tuple(sorted({*(name.rpartition(".")[2] for name in _FUNCTIONS), *VARIABLES, *MADE_UP}))
"""Parts of words, one of which is in all code that configures GPUs."""

INTENT_WORDS = ("growth", "memory", "gpu", "cuda", "visible", "environ", "putenv", "session", "configproto")
"""Parts of words in lower case, one of which is in all code that asks for something of a GPU's memory, if only through
a helper of its own: what each kind of intent is called, and what sets a variable or the options of a session."""
