"""TFM407: the chosen allocator ignores memory limits, or keeps no statistics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Call, Event, SessionMade
from tfmemlint.interpreter.state import Tri
from tfmemlint.interpreter.values import Const, DeviceName, Limit, Seq, Value
from tfmemlint.knowledge.environment import ALLOCATORS_MEASURED_FROM
from tfmemlint.knowledge.variables import ALLOCATOR
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.env_writes import beaten_by, settings_in_force, write_of
from tfmemlint.rulekit.explain import device_words, handler_notes, in_line, limit_intent, options_intent, short
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.interpreter.state import State

_FRACTION = "gpu_options.per_process_gpu_memory_fraction"
_REPORTS = {
    "tf.config.experimental.get_memory_info": "Allocator stats not available for device 'GPU:0'",
    "tf.config.experimental.reset_memory_stats": "Cannot reset memory stats for device 'GPU:0'",
}


class AllocatorIgnoresLimit(Rule):
    """The chosen allocator ignores memory limits, or keeps no statistics.

    What it does
    ------------
    Finds programs that choose ``TF_GPU_ALLOCATOR=cuda_malloc_async`` or ``cuda_malloc`` and also set a memory limit,
    and ``get_memory_info`` or ``reset_memory_stats`` calls if ``cuda_malloc`` is chosen. A Dockerfile, script, compose
    file or workflow that starts the program may also set the variable.

    Why it matters
    --------------
    TensorFlow's own allocator enforces limits. The allocators of CUDA hand out memory beyond them, up to what the GPU
    has, and nothing is raised. ``cuda_malloc`` keeps no statistics, so asking for them raises an error.

    Example
    -------
    ```python
    import os

    os.environ["TF_GPU_ALLOCATOR"] = "cuda_malloc_async"
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=512)])
    x = tf.zeros((2, 2))
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=512)])
    x = tf.zeros((2, 2))
    ```

    Seen as
    -------
    For reports, with ``cuda_malloc``: ``ValueError: Allocator stats not available for device 'GPU:0'``
    """

    code = "TFM407"
    name = "allocator-ignores-limit"
    severity = Severity.ERROR
    triggers = ("TF_GPU_ALLOCATOR",)
    whole_program = True
    sees_launch_environment = True

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each limit and each memory report that the chosen allocator does not support."""
        reported: set[object] = set()
        for call, setting, state in settings_in_force(program, lambda state: state.limits.values()):
            if _limits(setting.value) and (call.path, call.span) not in reported:
                reported.add((call.path, call.span))
                yield from self._limit(program, call, state, limit_intent(call))
        for session in program.of(SessionMade):
            share = (session.fields or {}).get(_FRACTION)
            value = share.value if isinstance(share, Const) and isinstance(share.value, float) else None
            if value and value < 1 and session.state.allocator.has is Tri.NO and not session.repeated:
                yield from self._limit(program, session, session.state, options_intent({_FRACTION: value}))
        for call in program.calls(*_REPORTS):
            if not call.repeated and _chosen(program, call.state) == "cuda_malloc" and _of_gpu(call.value(0, "device")):
                yield self._report(program, call)

    def _limit(self, program: Program, event: Event, state: State, intent: Intent) -> Iterator[Finding]:
        allocator = _chosen(program, state)
        write = write_of(program, ALLOCATOR, state)
        if allocator is None or write is None:
            return
        sure = event.certain and write.certain and write.how != "setdefault" and not state.entry_unknown
        yield self.finding(
            program,
            event,
            f"{ALLOCATOR}={allocator}, set {in_line(write)}, ignores memory limits",
            severity=Severity.ERROR if sure else Severity.WARNING,
            intent=intent,
            outcome="TensorFlow takes memory beyond the limit, up to what the GPU has; nothing is raised",
            advice=f"Remove {ALLOCATOR}, or the limit",
            trace=beaten_by(write, event, "a limit is set, which that allocator ignores"),
        )

    def _report(self, program: Program, call: Call) -> Finding:
        write = write_of(program, ALLOCATOR, call.state)
        where = f", set {in_line(write)}," if write is not None else ""
        sure = call.handler_for("ValueError") is None and (write is None or write.how != "setdefault")
        device = call.arg(0, "device")
        words = device_words(device.value, device.text) if device is not None else ""
        return self.finding(
            program,
            call,
            f"{ALLOCATOR}=cuda_malloc{where} keeps no statistics: {short(call.name)} has nothing to ask",
            severity=Severity.ERROR if sure else Severity.WARNING,
            intent=Intent(Purpose.REPORT, words, "current"),
            outcome=f"TensorFlow raises ValueError: {_REPORTS[call.name]}",
            advice=f"Use cuda_malloc_async, which does keep them, or remove {ALLOCATOR}",
            notes=handler_notes(call, "ValueError", "nothing is reported"),
        )


def _chosen(program: Program, state: State) -> str | None:
    """Return the CUDA allocator that the program has chosen, or None for any other allocator and for unmeasured
    releases."""
    value = state.env.get(ALLOCATOR)
    name = value.value if isinstance(value, Const) else None
    since = ALLOCATORS_MEASURED_FROM.get(name) if isinstance(name, str) else None
    if since is None or (program.target.major, program.target.minor) < since or state.max_gpus == 0:
        return None
    return str(name)


def _limits(value: Value) -> bool:
    return isinstance(value, Seq) and any(isinstance(item, Limit) and item.value is not None for item in value.items)


def _of_gpu(value: Value) -> bool:
    if isinstance(value, DeviceName):
        return value.device.type == "GPU" and value.device.kind == "logical"
    return isinstance(value, Const) and isinstance(value.value, str) and "gpu" in value.value.lower()
