"""Words that occur in code that configures GPUs with ``tf.config`` or environment variables.

Such configuration can come too late. A module without any of these words cannot change the configuration of another
module.
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
"""Environment variables about GPU memory that TensorFlow reads when it lists or creates the GPU devices
(``data/env.txt``)."""
MADE_UP = ("set_memory_limit", "set_gpu_memory")
"""Prefixes of the most common made-up functions for a memory limit; code that calls them needs a real setting there."""

SESSION_OPTIONS = ("gpu_options", "GPUOptions")
"""The options of a session about memory, as code names them. They are passed to the session itself, and come too late
if another module has made the GPU devices."""
ANY_VARIABLE = (
    "load_dotenv",
    *(f"environ.setdefault({name}" for name in ("key", "name", "k,")),
    *(f"environ[{name}" for name in ("key", "name")),
)
"""Code that sets variables whose names it gets from elsewhere, such as a configuration file, as most people call them.
More words would make each program of a project that sets any variables cost several times as much."""
WORDS: tuple[str, ...] = tuple(
    sorted({*(name.rpartition(".")[2] for name in _FUNCTIONS), *VARIABLES, *MADE_UP, *SESSION_OPTIONS, *ANY_VARIABLE})
)
"""Substrings, at least one of which occurs in all code that configures GPUs."""

INTENT_WORDS = ("growth", "memory", "gpu", "cuda", "visible", "environ", "putenv", "session", "configproto")
"""Lower-case substrings, at least one of which occurs in all code that states an intent about GPU memory, even through
a helper function: names of the kinds of intent, and names that set an environment variable or session options."""

LATE_WORDS = r"VISIBLE_DEVICES|TF_GPU|TF_FORCE_GPU|(?:TF_|CUDA_)\w{0,60}(?:GROW|GROT|MEM|FRACTION|ALLOC|DEVI[CS]|GPU)"
"""A regular expression for variables that may come too late, whether or not anything else is configured."""
LATE_PARTS = ("VISIBLE_DEVICES", "TF_", "CUDA_")
"""Parts of which every match of `LATE_WORDS` has one."""
OTHER_WORDS = r"\bSession\b|InteractiveSession|ConfigProto|GPUOptions|TF_GPU_ALLOCATOR|list_local_devices"
"""A regular expression for what is judged by what was configured long before: sessions with options of their own, an
allocator without reports, what makes the GPU devices to list them."""
OTHER_PARTS = ("Session", "ConfigProto", "GPUOptions", "TF_GPU_ALLOCATOR", "list_local_devices")
"""Parts of which every match of `OTHER_WORDS` has one."""
_OF_SESSIONS = ("ConfigProto", "GPUOptions", "gpu_options", r"Session\([^)\n]{0,200}config")
_LISTED = ("physical_devices", "logical_devices", "list_local_devices", "memory_(?:info|stats|usage)")
ABOUT_MEMORY = "|".join((*(word for word in WORDS if word not in ANY_VARIABLE), LATE_WORDS, *_OF_SESSIONS, *_LISTED))
"""A regular expression for a text that configures or measures GPU memory, of which only the words are known."""
