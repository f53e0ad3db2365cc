"""TFM402: memory growth is set on some of the visible GPUs only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Call, End, RuntimeStart
from tfmemlint.interpreter.values import Const
from tfmemlint.model.finding import Finding, Severity, Step
from tfmemlint.rulekit.explain import growth_intent, in_line, short, written
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Event, Program


class GrowthOnOneGpu(Rule):
    """Memory growth is set on some of the visible GPUs only.

    What it does
    ------------
    Finds programs that set memory growth on ``gpus[0]`` alone (or on another single GPU) while the others stay visible.
    Unset, ``False`` and ``True`` are three different values.

    Why it matters
    --------------
    With one GPU all is well. With two or more TensorFlow raises when the runtime starts: out of the first tensor, far
    from the line that is to blame. It is the commonest real bug of its kind in public code.

    Example
    -------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.experimental.set_memory_growth(gpus[0], True)
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)
    ```

    Seen as
    -------
    ``ValueError: Memory growth cannot differ between GPU devices``
    """

    code = "TFM402"
    name = "growth-on-one-gpu"
    severity = Severity.WARNING
    raises_when_runtime_starts = True
    for_any_gpu_count = True
    triggers = ("memory_growth",)
    whole_program = True
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Growth that some visible GPU lacks, where the runtime starts or the program ends."""
        reported: set[object] = set()
        for event in program.events:
            if not (isinstance(event, End) or (isinstance(event, RuntimeStart) and event.what == "context")):
                continue
            for setting in (event.state.partial_growth or {}).values():
                call = setting.by
                if call is None or (call.path, call.span) in reported:
                    continue
                if call.state.single_gpu:
                    # Set under the condition that there is but one, ``if len(gpus) == 1:``.
                    continue
                if isinstance(event, RuntimeStart) and event.devices_loop and event.devices_loop == call.devices_loop:
                    # The loop would go on to the other GPUs, were it not for what starts the runtime in it.
                    continue
                reported.add((call.path, call.span))
                yield self._partial(program, call, event)

    def _partial(self, program: Program, call: Call, event: Event) -> Finding:
        device = call.arg(0, "device")
        words = device.text if device is not None else "one GPU"
        starts = isinstance(event, RuntimeStart)
        where = f" out of {written(event.text)} {in_line(event, call.path)}" if isinstance(event, RuntimeStart) else ""
        others = [setting.value for setting in event.state.growth.values() if setting.by is not call]
        verb = "switched off" if call.value(1, "enable") == Const(False) else "set"
        trace: tuple[Step, ...] = (*call.frames, Step(call.path, call.span, f"{short(call.name)} on {words} alone"))
        if starts:
            trace = (*trace, *event.frames, Step(event.path, event.span, "starts the runtime, which compares the GPUs"))
        return self.finding(
            program,
            call,
            f"Memory growth is {verb} on {words} only: with two or more GPUs the runtime does not start",
            intent=growth_intent(call),
            outcome=f"With two or more visible GPUs TensorFlow raises ValueError{where}: "
            "Memory growth cannot differ between GPU devices",
            advice="Set it for every GPU in a loop, or make this GPU the only visible one",
            trace=trace,
            details={"device": words, "enable": _text(call, 1, "enable") or "True", "alone": not others},
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Spread the growth over all GPUs."""
        from tfmemlint.fixes.rewrites import call_arguments

        call_arguments.grow_every_gpu(editor, finding)


def _text(call: Call, position: int, keyword: str) -> str:
    argument = call.arg(position, keyword)
    return argument.text if argument is not None else ""
