"""Measure what would lower a script's memory, by running it with each change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.fit.observation import FitRun
    from tfmemlint.fit.runner import FitOptions, Runner


@dataclass(frozen=True, slots=True)
class Change:
    """A change: its name, what it is in words, and variables of the environment that make it."""

    name: str
    words: str
    env: tuple[tuple[str, str], ...] = ()
    jit: bool | None = None


CHANGES = (
    Change("mixed precision", 'tf.keras.mixed_precision.set_global_policy("mixed_float16")'),
    Change("gradient checkpointing", "tf.recompute_grad around segments of the model's layers"),
    Change("SGD", 'model.compile("sgd"): an optimizer that keeps nothing'),
    Change("no XLA", "model.compile(jit_compile=False)", jit=False),
    Change("growth", "TF_FORCE_GPU_ALLOW_GROWTH=true", env=(("TF_FORCE_GPU_ALLOW_GROWTH", "true"),)),
)
"""The changes that are tried, in this order."""


@dataclass(frozen=True, slots=True)
class ChangedRun:
    """The result of a run with a change.

    Attributes:
        change: its name. words: what it is. peak: that of the fullest GPU in bytes; None if it isn't known.
        fits: True if the script runs with it on the GPU that the user describes; None if it isn't known.
        problem: why nothing is known, or "".
    """

    change: str
    words: str
    peak: int | None = None
    fits: bool | None = None
    problem: str = ""


def try_changes(
    runner: Runner, conditions: FitOptions, grows: bool, describe: Callable[[FitRun], str]
) -> list[ChangedRun]:
    """Run the script with each change; ``grows``: it lets memory grow by itself; ``describe`` says why a run failed.

    With a change that doesn't make it fit, it is run without limits as well, for its peak.
    """
    return [
        _try(runner.with_options(_options(change, conditions)), change, describe)
        for change in CHANGES
        if (change.jit is None or change.jit != conditions.jit) and not (change.env and grows)
    ]


def _options(change: Change, conditions: FitOptions) -> FitOptions:
    return replace(
        conditions,
        env={**conditions.env, **dict(change.env)},
        jit=conditions.jit if change.jit is None else change.jit,
        change="" if change.env else change.name,
    )


def _try(runner: Runner, change: Change, describe: Callable[[FitRun], str]) -> ChangedRun:
    seen = runner.run(f"running it with {change.name}", trace=False)
    if seen.failed and not seen.out_of_memory:
        return ChangedRun(change.name, change.words, problem=describe(seen))
    if not seen.changed:
        return ChangedRun(change.name, change.words, problem="nothing in the script that this could act on")
    works = not seen.failed
    if not works:
        seen = runner.run(f"running it with {change.name} and without limits", lifted=True, trace=False)
    peak = max((device.peak or 0 for device in seen.devices), default=0)
    return ChangedRun(change.name, change.words, peak or None, works)
