"""The options of ``tf.config.optimizer`` that TensorFlow reads, by release.

Source: ``rewriter_toggle``, ``rewriter_bool`` and ``min_graph_nodes`` in ``Context.config`` of
``tensorflow/python/eager/context.py``, read in 2.0, 2.1, 2.4, 2.9 and 2.12 to 2.21. ``tests/knowledge`` sets each of
them in the installed TensorFlow, and looks for it in the resulting ``ConfigProto``. TensorFlow never checks the keys:
it keeps an unknown key in a dictionary that nothing reads.
"""

from __future__ import annotations

from collections.abc import Mapping

from tfmemlint.knowledge.releases import Target

SET_OPTIONS = "tf.config.optimizer.set_experimental_options"
SET_JIT = "tf.config.optimizer.set_jit"

FIRST_READ = Target(2, 0)
"""Releases before 2.0 did not read the keys."""

_ALWAYS = frozenset(
    {
        *("layout_optimizer", "constant_folding", "shape_optimization", "remapping", "arithmetic_optimization"),
        *("dependency_optimization", "loop_optimization", "function_optimization", "debug_stripper"),
        *("disable_model_pruning", "scoped_allocator_optimization", "pin_to_host_optimization"),
        *("implementation_selector", "auto_mixed_precision", "disable_meta_optimizer", "min_graph_nodes"),
    }
)
_CAME: Mapping[str, tuple[Target, Target]] = {
    "auto_mixed_precision_mkl": (Target(2, 4), Target(2, 9)),
    "use_plugin_optimizers": (Target(2, 4), Target(2, 9)),
    "auto_mixed_precision_onednn_bfloat16": (Target(2, 9), Target(2, 12)),
}
"""The last release without a key, and the first release with it, among those that were read."""

JIT_VALUES = (True, "autoclustering")
"""Values that enable the compiler from `JIT_CHECKED` on. Source: ``set_optimizer_jit`` in
``tensorflow/python/framework/config.py`` (2.9, 2.12 to 2.21); before that, any true value did (2.0, 2.4)."""
JIT_CHECKED = Target(2, 9)


def reads_option(key: str, target: Target) -> bool | None:
    """Return True if TensorFlow reads an option of its graph optimizer; None if that is unknown for this release."""
    if target < FIRST_READ:
        return None
    if key in _ALWAYS:
        return True
    if key not in _CAME:
        return False
    without, with_it = _CAME[key]
    if target >= with_it:
        return True
    return False if target <= without else None


def options(target: Target) -> tuple[str, ...]:
    """Return the keys that are known to be read, in alphabetical order."""
    return tuple(sorted(key for key in (*_ALWAYS, *_CAME) if reads_option(key, target)))
