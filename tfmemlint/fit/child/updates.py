"""Know whether an optimizer has updated its variables yet, on Keras 3.

A loop that accumulates gradients takes several steps before it does. The optimizer's own variables are only made then.
"""

from __future__ import annotations

from typing import Any

from tfmemlint.verify.child.recording import module

_MODULE = "keras.src.optimizers.base_optimizer"


class UpdateWatch:
    """Watches whether optimizers were made, and whether a step ended after one was applied or put into a graph."""

    def __init__(self) -> None:
        """Watch the optimizers that will be made."""
        self._made = self._applied = self._followed = False
        module("wrapt").register_post_import_hook(self._watch, _MODULE)

    def is_missing(self) -> bool:
        """True if there is an optimizer, and no step has ended with its variables there."""
        return self._made and not self._followed

    def step_ended(self) -> None:
        """Note that a training step has ended."""
        self._followed = self._applied

    def _watch(self, loaded: Any) -> None:
        kind = loaded.BaseOptimizer
        real_init, real_apply = kind.__init__, kind.apply

        def initialize(own: Any, *args: Any, **kwargs: Any) -> None:
            real_init(own, *args, **kwargs)
            self._made = True

        def apply(own: Any, *args: Any, **kwargs: Any) -> Any:
            found = real_apply(own, *args, **kwargs)
            self._applied = True
            return found

        kind.__init__, kind.apply = initialize, apply
