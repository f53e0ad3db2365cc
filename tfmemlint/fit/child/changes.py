"""Run a script with a change that could lower its memory, without touching its code.

Each change says whether it found something to act on: a script that does not use Keras' own training has no optimizer
that could be replaced here.
"""

from __future__ import annotations

from typing import Any

from tfmemlint.fit.child.checkpointing import checkpoint
from tfmemlint.verify.child.recording import module

_MIXED = "mixed_float16"
NO_XLA = "no XLA"
"""The change that `FitOptions.jit` makes."""
_applied: set[str] = set()
"""The changes that have acted on something in this process."""
_policies: list[Any] = []
"""The policy of mixed precision that was set here, if any."""


def install(change: str) -> None:
    """Install a change: ``mixed precision``, ``gradient checkpointing`` or ``SGD``; "" for none."""
    when_imported = module("wrapt").register_post_import_hook
    if change == "mixed precision":
        when_imported(_mix_precision, "keras")
    elif change == "gradient checkpointing":
        when_imported(lambda keras: checkpoint(keras, lambda: _applied.add(change)), "keras.src.ops.function")
    elif change == "SGD":
        when_imported(_replace_optimizer, "keras.src.trainers.trainer")


def mark(change: str) -> None:
    """Note that a change has acted on something."""
    _applied.add(change)


def applied(change: str) -> bool:
    """True if a change has acted on something."""
    if change == "mixed precision" and change in _applied:
        # A script that sets a policy by itself runs with that one.
        return module("keras").mixed_precision.global_policy() is _policies[-1]
    return change in _applied


def _mix_precision(keras: Any) -> None:
    keras.mixed_precision.set_global_policy(_MIXED)
    _policies.append(keras.mixed_precision.global_policy())
    _applied.add("mixed precision")


def _replace_optimizer(trainer: Any) -> None:
    """Let Keras 3 train by SGD without momentum, which keeps nothing for a variable, whatever the script wants."""
    real = trainer.Trainer.compile

    def compile_model(model: Any, *args: Any, **kwargs: Any) -> Any:
        smallest = module("keras").optimizers.SGD(1e-3)
        _applied.add("SGD")
        if args:
            return real(model, smallest, *args[1:], **kwargs)
        return real(model, **{**kwargs, "optimizer": smallest})

    trainer.Trainer.compile = compile_model
