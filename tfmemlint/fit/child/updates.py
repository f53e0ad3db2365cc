"""Know whether each optimizer has updated its variables yet, on Keras 3 and on Keras 2.

A loop that accumulates gradients takes several steps before it does, and a GAN may train one network five times before
it trains the other one. The optimizer's own variables are only made then.
"""

from __future__ import annotations

import weakref
from typing import Any

from tfmemlint.verify.child.recording import module

_KERAS_3 = ("BaseOptimizer", "apply")
_KERAS_2 = ("_BaseOptimizer", "apply_gradients")
_KERAS_2_BEFORE = ("OptimizerV2", "apply_gradients")
_OPTIMIZERS = {
    "keras.src.optimizers.base_optimizer": _KERAS_3,
    "keras.optimizers.optimizer": _KERAS_2,
    "keras.src.optimizers.optimizer": _KERAS_2,
    "tf_keras.src.optimizers.optimizer": _KERAS_2,
    "keras.optimizers.legacy.optimizer_v2": _KERAS_2_BEFORE,
    "keras.src.optimizers.legacy.optimizer_v2": _KERAS_2_BEFORE,
    "tf_keras.src.optimizers.legacy.optimizer_v2": _KERAS_2_BEFORE,
}
"""The classes that all optimizers inherit from, and their functions that apply gradients, by module: Keras 3; Keras 2
of TensorFlow 2.12, of TensorFlow up to 2.15, and beside Keras 3, each with the optimizers of before.
"""


class UpdateWatch:
    """Watches whether optimizers were made, and whether a step ended after each was applied or put into a graph."""

    def __init__(self) -> None:
        """Watch the optimizers that will be made."""
        self._made = self._applied = self._followed = False
        self._waiting: weakref.WeakSet[Any] = weakref.WeakSet()
        when_imported = module("wrapt").register_post_import_hook
        for name, (kind, function) in _OPTIMIZERS.items():
            when_imported(lambda loaded, kind=kind, function=function: self._watch(loaded, kind, function), name)

    def is_missing(self) -> bool:
        """True if there is an optimizer, and no step has ended with its variables there."""
        return self._made and not self._followed

    def step_ended(self) -> None:
        """Note that a training step has ended."""
        self._followed = self._applied and not self._waiting

    def _watch(self, loaded: Any, name: str, function: str) -> None:
        kind = getattr(loaded, name, None)
        if kind is None:  # Keras 3 has a module of that name, too
            return
        real_init, real_apply = kind.__init__, getattr(kind, function)

        def initialize(own: Any, *args: Any, **kwargs: Any) -> None:
            real_init(own, *args, **kwargs)
            self._made = True
            # One with its own way to apply gradients, such as that of mixed precision, passes them to another one.
            by = next(base for base in type(own).__mro__ if function in vars(base))
            if by.__module__ == kind.__module__:
                self._waiting.add(own)

        def apply(own: Any, *args: Any, **kwargs: Any) -> Any:
            found = real_apply(own, *args, **kwargs)
            self._applied = True
            self._waiting.discard(own)
            return found

        kind.__init__ = initialize
        setattr(kind, function, apply)
