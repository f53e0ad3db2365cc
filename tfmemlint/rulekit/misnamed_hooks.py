"""GPUs that are configured in a method which its framework would call by another name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.misnamed_hooks import MisnamedHook, misnamed_hooks
from tfmemlint.interpreter.program import NeverRun
from tfmemlint.rulekit.turned_guards import configuring_calls, never_run

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program

KIND = "hook"


def hooks_that_configure(program: Program) -> Iterator[tuple[NeverRun, MisnamedHook]]:
    """Yield the call that configures GPUs in each such method, with the method."""
    if program.configuration is not None:
        return
    for hook in misnamed_hooks(program.tree, program.source.text):
        # In the method, or in a function that it alone calls.
        call = next(configuring_calls((hook.function, *hook.alone)), None)
        if call is not None:
            yield never_run(program, call, KIND), hook
