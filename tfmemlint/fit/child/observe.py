"""Watch a script's GPU memory from inside its process, and report when it ends."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tfmemlint.fit.child import changes, shortcuts
from tfmemlint.fit.child.limit_overrides import override_limits
from tfmemlint.fit.child.session_variables import SessionVariables
from tfmemlint.fit.child.steps import StepCounter
from tfmemlint.fit.child.trace import AllocationTrace
from tfmemlint.fit.child.updates import UpdateWatch
from tfmemlint.fit.child.variables import VariableInfo, addresses
from tfmemlint.verify.child.recording import Recorder, module

MAX_MESSAGES = 5
"""The number of out-of-memory messages that are kept; all are counted. A bound without a deeper reason."""
MAX_MESSAGE_CHARACTERS = 3000
"""The part of a message that is kept, as TensorFlow may append the allocator's state; a bound without deeper reason."""


class Observer:
    """The observations of one run."""

    def __init__(
        self,
        options: dict[str, Any],
        recorder: Recorder,
        note: Callable[..., None],
        enough: Callable[[], None],
    ) -> None:
        """Watch TensorFlow.

        Args:
            options: ``steps`` (end after this many training steps, 0 for never), ``limit_mib`` (a memory limit for
                every logical GPU), ``lifted`` (no limits, growth), ``trace`` (record every allocation), ``jit``
                (let XLA compile what the script wants compiled), ``progress`` (the file for the number of steps),
                ``change`` (a change that could lower the memory, or "").
            recorder: records what the runtime is configured with.
            note: writes a line into the journal of the run. enough: ends the run.
        """
        self._recorder = recorder
        self._note = note
        self._peaks: dict[str, int] = {}
        self._exhausted: list[str] = []
        self._out_of_memory = 0
        self._trouble = ""
        self._progress = Path(options["progress"])
        if not options["jit"]:
            _without_xla()
        shortcuts.install()
        self._change: str = options["change"]
        changes.install(self._change)
        self._updates = UpdateWatch()
        self._steps = StepCounter(options["steps"], self._after_step, enough, self._updates.is_missing)
        self._trace = AllocationTrace() if options["trace"] else None
        self._looks: list[dict[int, VariableInfo]] = []
        self._sessions = SessionVariables()
        self._sessions.closing = self._look
        override_limits(options["limit_mib"], options["lifted"], recorder, self._on_devices)
        self._steps.install()
        self._watch_errors()
        self._watch_resets()

    def report(self) -> dict[str, Any]:
        """Return the observations, as fields of `Result`."""
        seen: dict[str, Any] = {
            "steps": self._steps.done,
            "exhausted": self._exhausted,
            "times_exhausted": self._out_of_memory,
            "error": self._trouble,
            "devices": [],
            "held": {},
            "changed": not self._change or changes.applied(self._change),
            "whole": self._trace is not None and self._trace.running,
        }
        try:
            if self._trace is not None:
                self._trace.stop()
            names = self._logical_gpus()
            self._take_peaks(names)
            seen["devices"] = [{"name": name, "peak": self._peaks.get(name)} for name in names]
            if self._trace is not None:
                looks = [*self._looks, self._variables()]
                seen["held"] = {name: memory.report(looks) for name, memory in self._trace.read().items()}
        except Exception as error:
            seen["error"] = f"{type(error).__name__}: {str(error)[:300]}"
        return {
            "observer": seen,
            "effective": self._recorder.allocators.report(),
            "allocator": self._recorder.allocators.made_by,
            "environment": self._recorder.environment,
            "physical": self._recorder._gpus or 0,
        }

    def _on_devices(self) -> None:
        """Start the trace: the GPUs exist, and nothing has been allocated yet."""
        if self._trace is None:
            return
        try:
            self._trace.start()
        except Exception as error:  # the script runs without a trace
            self._trace = None
            self._trouble = f"{type(error).__name__}: {str(error)[:300]}"

    def _after_step(self, done: int) -> None:
        """Write what is known so far into the journal: a run that is killed can't report any more."""
        self._updates.step_ended()
        if self._trace is not None:
            self._trace.mark_step()
            # A function that trains, and returns, takes its variables along.
            if not self._looks and not self._updates.is_missing():
                self._look()
        self._take_peaks(self._logical_gpus())
        self._note(step=done, peaks=self._peaks)
        with contextlib.suppress(OSError):
            self._progress.write_text(str(done), encoding="ascii")
        if self._trace is not None and done >= self._trace.most_steps:
            self._trace.stop()

    def _variables(self) -> dict[int, VariableInfo]:
        return {**addresses(), **self._sessions.addresses()}

    def _look(self) -> None:
        """Take the addresses of the variables that there are now: at the end of the run they may be gone."""
        if self._trace is not None and self._trace.running:
            found = self._variables()
            if found:
                self._looks.append(found)
                self._trace.mark_look()

    def _logical_gpus(self) -> list[str]:
        """Return the names of the logical GPUs, if the script has made any."""
        if self._recorder.allocators.report() is None:
            return []
        context = module("tensorflow.python.eager.context")
        with context.eager_mode():
            context.context().ensure_initialized()
            devices = context.context().list_logical_devices("GPU")
        return [str(device.name).rpartition("/device:")[2] for device in devices]

    def _take_peaks(self, names: list[str]) -> None:
        context = module("tensorflow.python.eager.context").context()
        for name in names:
            try:
                peak = int(self._memory_info(context, name)["peak"])
            except ValueError:  # an allocator that keeps no statistics
                continue
            self._peaks[name] = max(self._peaks.get(name, 0), peak)

    def _memory_info(self, context: Any, name: str) -> dict[str, int]:
        return dict(type(context).get_memory_info(context, name))

    def _watch_errors(self) -> None:
        """Record out-of-memory errors, also those that the script catches."""
        kind = module("tensorflow.python.framework.errors_impl").ResourceExhaustedError
        real = kind.__init__

        def initialise(error: Any, *args: Any, **kwargs: Any) -> None:
            real(error, *args, **kwargs)
            self._out_of_memory += 1
            if len(self._exhausted) < MAX_MESSAGES:
                message = str(getattr(error, "_message", "") or error)[:MAX_MESSAGE_CHARACTERS]
                self._exhausted.append(message)
                self._note(exhausted=message)

        kind.__init__ = initialise

    def _watch_resets(self) -> None:
        """Record the peak before the script resets it to measure by itself."""
        context = module("tensorflow.python.eager.context").Context
        real = context.reset_memory_stats

        def reset_memory_stats(own: Any, device: Any) -> Any:
            self._take_peaks(self._logical_gpus())
            return real(own, device)

        context.reset_memory_stats = reset_memory_stats


def _without_xla() -> None:
    """Let XLA compile no function, whoever asks for it; Keras does by default."""
    kind = module("tensorflow.python.eager.polymorphic_function.polymorphic_function").Function
    real, real_call = kind.__init__, kind.__call__
    compiled: weakref.WeakSet[Any] = weakref.WeakSet()

    def initialise(function: Any, *args: Any, **kwargs: Any) -> None:
        real(function, *args, **kwargs)
        if function._jit_compile:
            compiled.add(function)
        function._jit_compile = None

    def call(function: Any, *args: Any, **kwargs: Any) -> Any:
        if function in compiled:
            changes.mark(changes.NO_XLA)
        return real_call(function, *args, **kwargs)

    kind.__init__, kind.__call__ = initialise, call
