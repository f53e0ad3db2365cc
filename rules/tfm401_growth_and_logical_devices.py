"""TFM401: memory growth and logical devices exclude each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import EnvWrite
from tfmemlint.interpreter.state import Tri
from tfmemlint.interpreter.values import Const, Seq
from tfmemlint.knowledge.functions import SET_GROWTH, SET_LOGICAL, SET_VISIBLE
from tfmemlint.knowledge.variables import GROWTH as FORCE
from tfmemlint.model.finding import Finding, Severity, Span, Step
from tfmemlint.rulekit.explain import growth_intent, handler_notes, in_line, is_swallowed, limit_intent, line, short
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Call, Program


class GrowthAndLogicalDevices(Rule):
    """Memory growth and logical devices exclude each other.

    What it does
    ------------
    Finds programs that set both memory growth and logical devices (a memory limit), on one GPU or on several, and
    reports which of the two takes effect.

    Why it matters
    --------------
    Setting growth after a limit raises ``ValueError``. Setting a limit after growth is accepted, but TensorFlow
    silently drops growth, on every other GPU too, and even if only the CPU was split. The only way to have both is the
    environment variable ``TF_FORCE_GPU_ALLOW_GROWTH=true``.

    Example
    -------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=4096)])
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=4096)])
    ```

    Seen as
    -------
    ``ValueError: Cannot set memory growth on device when virtual devices configured``, or nothing at all
    """

    code = "TFM401"
    name = "growth-and-logical-devices"
    severity = Severity.ERROR
    for_any_gpu_count = True
    between_alternatives = True
    triggers = ("memory_growth",)
    whole_program = True
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each setting that another setting makes invalid or ineffective. The finding is at the growth call,
        which loses."""
        forced = _forced(program)
        for call in program.calls(SET_GROWTH, *SET_LOGICAL):
            outcome = call.effect
            if outcome is None or outcome.setting is None:
                continue
            certain = outcome.certain and not _works_elsewhere(program, call)
            if call.name == SET_GROWTH and _asks_for_limits(call):
                continue
            if outcome.kind == "refused" and not _is_of_other_gpus(call, outcome.setting):
                yield self._refused(program, call, outcome.setting, certain)
            elif forced:
                continue
            elif outcome.kind == "refused":
                yield self._dropped(program, call, outcome.setting, False, forced)
            elif outcome.kind == "dropped":
                sure = certain and not _taken_back(program, call)
                yield self._dropped(program, call, outcome.setting, sure, forced)
            elif outcome.kind == "drops":
                growth = outcome.setting
                if _asks_for_limits(growth):
                    continue
                if call.repeated and _is_refused_after(program, growth, call):
                    # The limit comes first in each pass: where it is set, the growth of that pass raises.
                    continue
                # A loop may end before it reaches this call a second time.
                sure = outcome.certain and call.comes_with(growth) and not call.repeated and not _hidden(program, call)
                yield self._dropped(program, growth, call, sure, forced)

    def _refused(self, program: Program, growth: Call, limit: Call, certain: bool) -> Finding:
        hidden = is_swallowed(growth, "ValueError")
        return self.finding(
            program,
            growth,
            f"set_memory_growth is refused: {line(limit)} has configured logical devices",
            severity=Severity.ERROR if certain and not hidden else Severity.WARNING,
            intent=growth_intent(growth),
            outcome="TensorFlow raises ValueError: Cannot set memory growth on device when virtual devices configured",
            advice="Drop the growth: a limit and growth exclude each other",
            trace=_trace(limit, growth, "comes first, and wins"),
            notes=handler_notes(growth, "ValueError", "the limit stays in force, without growth"),
            anchors=_anchors(growth, limit),
            details={"limit": limit_intent(limit).describe(), "caught": hidden, "kind": "refused", "certain": certain},
        )

    def _dropped(self, program: Program, growth: Call, limit: Call, certain: bool, forced: bool | None) -> Finding:
        certain = certain and forced is False
        return self.finding(
            program,
            growth,
            f"This memory growth is dropped: {short(limit.name)} {in_line(limit)} wins",
            severity=Severity.ERROR if certain else Severity.WARNING,
            intent=growth_intent(growth),
            outcome="Nothing is raised; with any logical device configured, TensorFlow leaves growth unset on all GPUs",
            advice="Drop the growth, or set TF_FORCE_GPU_ALLOW_GROWTH=true in the environment to have both",
            trace=_trace(limit, growth, "cancels it"),
            notes=() if forced is False else (f"{FORCE}=true, if it is set in time, turns growth on again.",),
            anchors=_anchors(growth, limit),
            details={
                "limit": limit_intent(limit).describe(),
                "caught": growth.handler_for("ValueError") is not None,
                "kind": "dropped",
                "certain": certain,
                "forced": forced is not False,
                "refused": any(
                    later.span == growth.span and later.path == growth.path and _is_refused(later)
                    for later in program.calls(SET_GROWTH)
                ),
            },
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Remove the growth call where it loses in any case, or set growth where no limit is set."""
        from tfmemlint.fixes.orphans import Remover

        call = editor.call_at(finding.span, "set_memory_growth")
        if finding.details.get("forced"):
            raise editor.Withheld(f"{FORCE} may bring the growth back")
        if not finding.details["certain"]:
            from tfmemlint.fixes.rewrites import exclusive_growth

            exclusive_growth.exclude(editor, finding, call)
            return
        Remover(editor, finding.path).remove(editor.statement_of(call))
        if finding.details["kind"] == "dropped" and not finding.details["refused"]:
            editor.safe("Drop the growth, which has no effect")
        elif finding.details["caught"]:
            editor.unsafe(
                "Drop the growth, which is refused"
                " (a handler catches the error now, so the program will run differently)"
            )
        else:
            editor.unsafe("Drop the growth, which is refused")


def _anchors(growth: Call, limit: Call) -> dict[str, Span]:
    """Return the place of the limit, if it is in the file of the growth."""
    return {"limit": limit.span} if limit.path == growth.path else {}


def _asks_for_limits(growth: Call) -> bool:
    """Return True if a test of the configured devices decides whether a GPU gets growth."""
    return any(re.search(r"get_(?:logical|virtual)_device_configuration\(", text) for text, _ in growth.guards)


def _is_of_other_gpus(growth: Call, limit: Call) -> bool:
    """Return True if a test of the GPU, in a loop of its own, decides whether it gets growth: ``if gpu.name in limited:
    continue``. Then it is not one that has logical devices, and the growth is dropped as that of all GPUs is."""
    device = growth.arg(0, "device")
    name = device.text.partition(".")[0].partition("[")[0] if device is not None else ""
    if not name.isidentifier() or growth.devices_loop is None or growth.devices_loop == limit.devices_loop:
        return False
    return any(re.search(rf"\b{name}\b", text) for text, _ in growth.guards)


def _works_elsewhere(program: Program, growth: Call) -> bool:
    """Return True if the same line has an effect on a path that the current conditions exclude."""
    passes = (call for call in program.calls(growth.name) if (call.path, call.span) == (growth.path, growth.span))
    return not growth.certain and any(
        (call.effect is None or not call.effect.certain) and not call.state.entry_unknown for call in passes
    )


def _forced(program: Program) -> bool | None:
    """Return True if ``TF_FORCE_GPU_ALLOW_GROWTH``, set before the GPU devices are created, forces growth whatever else
    is set, False if it does not, and None if the analysis cannot tell."""
    writes = [
        write for write in program.of(EnvWrite) if write.name == FORCE and write.state.allocator.has is not Tri.YES
    ]
    if not writes:
        return False
    last = writes[-1]
    if (
        last.value == Const("true")
        and last.certain
        and last.state.allocator.has is Tri.NO
        and not last.state.entry_unknown
    ):
        return True
    return None if any(write.value != Const("false") for write in writes) else False


def _hidden(program: Program, limit: Call) -> bool:
    """Return True if all GPUs are hidden afterwards, so that none is left to grow."""
    later = iter(program.calls(*SET_VISIBLE, *SET_LOGICAL))
    return limit in later and any(call.value(0, "devices") == Seq(()) and call.effect is None for call in later)


def _taken_back(program: Program, growth: Call) -> bool:
    """Return True if growth is switched off again afterwards, so that no growth can be lost."""
    later = iter(program.calls(SET_GROWTH))
    if growth.value(1, "enable") == Const(False) or growth not in later:
        return False
    return any(call.value(1, "enable") != growth.value(1, "enable") for call in later)


def _is_refused_after(program: Program, growth: Call, limit: Call) -> bool:
    """Return True if the call of a growth is refused, on some path, because of that limit."""
    same = (call for call in program.calls(SET_GROWTH) if (call.path, call.span) == (growth.path, growth.span))
    refused_by = [call.effect.setting for call in same if call.effect is not None and _is_refused(call)]
    return any(by is not None and (by.path, by.span) == (limit.path, limit.span) for by in refused_by)


def _is_refused(growth: Call) -> bool:
    return growth.effect is not None and growth.effect.kind == "refused"


def _trace(limit: Call, growth: Call, words: str) -> tuple[Step, ...]:
    growth_step, limit_step = (
        Step(growth.path, growth.span, "set_memory_growth"),
        Step(limit.path, limit.span, f"{short(limit.name)} {words}"),
    )
    if growth.path != limit.path:
        # Each step follows the frames that lead to it; the words say which comes first.
        return (*growth.frames, growth_step, *limit.frames, limit_step)
    return tuple(sorted((growth_step, limit_step), key=lambda step: step.span))
