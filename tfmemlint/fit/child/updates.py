"""Know whether each optimizer has updated its variables yet, on Keras 3.

A loop that accumulates gradients takes several steps before it does, and a GAN may train one network five times before
it trains the other one. The optimizer's own variables are only made then.
"""

from __future__ import annotations

import weakref
from typing import Any

from tfmemlint.verify.child.recording import module

_MODULE = "keras.src.optimizers.base_optimizer"


class UpdateWatch:
    """Watches whether optimizers were made, and whether a step ended after each was applied or put into a graph."""

    def __init__(self) -> None:
        """Watch the optimizers that will be made."""
        self._made = self._applied = self._followed = False
        self._waiting: weakref.WeakSet[Any] = weakref.WeakSet()
        module("wrapt").register_post_import_hook(self._watch, _MODULE)

    def is_missing(self) -> bool:
        """True if there is an optimizer, and no step has ended with its variables there."""
        return self._made and not self._followed

    def step_ended(self) -> None:
        """Note that a training step has ended."""
        self._followed = self._applied and not self._waiting

    def _watch(self, loaded: Any) -> None:
        kind = loaded.BaseOptimizer
        real_init, real_apply = kind.__init__, kind.apply

        def initialize(own: Any, *args: Any, **kwargs: Any) -> None:
            real_init(own, *args, **kwargs)
            self._made = True
            # One with its own way to apply gradients, such as that of mixed precision, passes them to another one.
            if next(base for base in type(own).__mro__ if "apply" in vars(base)) is kind:
                self._waiting.add(own)

        def apply(own: Any, *args: Any, **kwargs: Any) -> Any:
            found = real_apply(own, *args, **kwargs)
            self._applied = True
            self._waiting.discard(own)
            return found

        kind.__init__, kind.apply = initialize, apply
