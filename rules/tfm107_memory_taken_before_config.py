"""TFM107: a listing of devices takes the GPUs before their memory is configured."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Call, RuntimeStart, SessionMade
from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge.functions import LIST_LOCAL, SESSIONS, SET_GROWTH, SET_LOGICAL
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.explain import growth_intent, in_line, limit_intent, plain_options, short, start_trace, written
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program

_INSTEAD = {
    LIST_LOCAL: "tf.config.list_physical_devices('GPU')",
    "tf.test.is_gpu_available": "bool(tf.config.list_physical_devices('GPU'))",
    "tf.test.gpu_device_name": "tf.config.list_physical_devices('GPU')",
}


class MemoryTakenBeforeConfig(Rule):
    """A listing of devices takes the GPUs before their memory is configured.

    What it does
    ------------
    Finds ``device_lib.list_local_devices()``, ``tf.test.is_gpu_available()``, ``tf.test.gpu_device_name()`` and TF1
    sessions that create the GPU devices of the process in a program that also sets memory growth or a memory limit:
    after the call, or before a listing that ignores it. If the rule is selected by its own code, it also reports
    ``list_local_devices()`` in files that show no configuration.

    Why it matters
    --------------
    These calls create every GPU device, and with it the allocator of the whole process, with default options. They do
    not start the eager context, so a later ``set_memory_growth`` raises nothing and has no effect: the first tensor
    takes nearly all of the memory. Without a GPU they do no harm.

    Example
    -------
    ```python
    import tensorflow as tf
    from tensorflow.python.client import device_lib

    print(device_lib.list_local_devices())
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    print(tf.config.list_physical_devices())
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    ```

    Ground
    ------
    Only the allocator in TensorFlow's C++ part shows this; without a GPU there is nothing to see.
    """

    code = "TFM107"
    name = "memory-taken-before-config"
    severity = Severity.ERROR
    about_earlier_settings = True
    triggers = (
        "local_device",
        "is_gpu_available",
        "gpu_device_name",
        "memory_growth",
        "(?:logical|virtual)_device",
        "(?:Logical|Virtual)Device",
    )
    whole_program = True
    fixable = "sometimes"
    supersedes = ("TFM706",)

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each call that creates the GPU devices with other options than the program sets."""
        reported: set[object] = set()
        options = {
            (session.path, session.span): sorted(name.rpartition(".")[2] for name in plain_options(session.fields))
            for session in program.of(SessionMade)
        }
        growing = {
            (session.path, session.span)
            for session in program.of(SessionMade)
            if (session.fields or {}).get("gpu_options.allow_growth") == Const(True)
        }
        for call in program.calls():
            outcome = call.effect
            if outcome is not None and outcome.kind == "lost" and outcome.cause is not None:
                if call.name == SET_GROWTH and _is_true(call) and (outcome.cause.path, outcome.cause.span) in growing:
                    # The allocator grows: the session's own options say the same.
                    continue
                reported.add((outcome.cause.path, outcome.cause.span))
                kept = options.get((outcome.cause.path, outcome.cause.span), [])
                yield self._lost(program, outcome.cause, call, outcome.certain, kept)
        for start in program.of(RuntimeStart):
            if (
                start.what != "allocator"
                or (start.path, start.span) in reported
                or start.state.max_gpus == 0
                or _grows(start)
            ):
                continue
            ignored = next(iter((*start.state.growth.values(), *start.state.limits.values())), None)
            if start.name in _INSTEAD and ignored is not None and ignored.by is not None:
                yield self._ignored(program, start, ignored.by)
            elif start.name == LIST_LOCAL and not start.state.in_child_process:
                yield self._alone(program, start)

    def _lost(self, program: Program, start: RuntimeStart, call: Call, certain: bool, kept: Sequence[str]) -> Finding:
        return self.finding(
            program,
            start,
            f"{written(start.text)} makes the GPU devices: {short(call.name)} {in_line(call)} does nothing",
            severity=Severity.ERROR if certain else Severity.WARNING,
            intent=_intent(call),
            outcome=f"Nothing is raised; the allocator keeps the session's own options: {', '.join(kept)}"
            if kept
            else "Nothing is raised; the allocator keeps its default options and takes nearly all of the memory",
            advice=_advice(start.name, call),
            trace=start_trace(start, call, f"{short(call.name)} has no effect any more"),
            fixable=start.name in _INSTEAD or (start.name in SESSIONS and start.path == call.path),
            details={"name": start.name},
            anchors={"call": call.span},
        )

    def _ignored(self, program: Program, start: RuntimeStart, call: Call) -> Finding:
        return self.finding(
            program,
            start,
            f"{written(start.text)} makes the GPU devices and ignores {short(call.name)} {in_line(call)}",
            intent=_intent(call),
            outcome="Nothing is raised; the allocator gets its default options and takes nearly all of the memory",
            advice=_advice(start.name, call),
            fixable=start.name in _INSTEAD,
            details={"name": start.name},
        )

    def _alone(self, program: Program, start: RuntimeStart) -> Finding:
        return self.finding(
            program,
            start,
            f"{written(start.text)} lists the devices by making them, with default options",
            severity=Severity.ADVICE,
            intent=Intent(Purpose.DEVICES),
            outcome="Memory growth or a limit that is set later in this process has no effect, without an error",
            advice=f"Use {_INSTEAD[LIST_LOCAL]}, which only asks the driver",
            details={"name": start.name},
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """List the physical devices instead, or configure the memory above the session."""
        from tfmemlint.fixes.rewrites import device_listing

        name = str(finding.details["name"])
        if name in SESSIONS:
            late = dataclasses.replace(finding, span=finding.anchors["call"], anchors={"start": finding.span})
            editor.move_above_start(late)
        elif name == LIST_LOCAL:
            device_listing.replace_local_devices(editor, finding.span)
        else:
            device_listing.replace_gpu_test(editor, finding.span)


def _is_true(call: Call) -> bool:
    return call.value(1, "enable") == Const(True)


def _intent(call: Call) -> Intent:
    return growth_intent(call) if call.name == SET_GROWTH else limit_intent(call)


def _advice(name: str, call: Call) -> str:
    if name in _INSTEAD:
        return f"Use {_INSTEAD[name]}, which only asks the driver"
    if name in SESSIONS and call.name in (SET_GROWTH, *SET_LOGICAL):
        return "Configure the memory before the first session, or in the session's own ConfigProto"
    return "Configure the memory first"


def _grows(start: RuntimeStart) -> bool:
    return start.state.env.get("TF_FORCE_GPU_ALLOW_GROWTH") == Const("true")
