"""TFM402: memory growth is set on some of the visible GPUs only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Call, End, RuntimeStart
from tfmemlint.interpreter.state.numbering import is_growth_hidden, state_where
from tfmemlint.interpreter.values import Const, Device
from tfmemlint.model.finding import Finding, Severity, Step
from tfmemlint.rulekit.cells import is_for_colab
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
    Unset, ``False`` and ``True`` are three different values. Growth on a GPU that ``set_visible_devices`` hides is
    reported, too.

    Why it matters
    --------------
    With one GPU the program works. With two or more, TensorFlow raises an error when the runtime starts: at the
    first tensor, far from the line that causes it. This is the most common real bug of its kind in public code.

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
        """Yield each growth setting that some visible GPU lacks when the runtime starts or the program ends."""
        reported: set[object] = set()
        for event in program.events:
            if not (isinstance(event, End) or (isinstance(event, RuntimeStart) and event.what == "context")):
                continue
            hidden = is_growth_hidden(event.state)
            partial = event.state.growth if hidden else event.state.partial_growth or {}
            for setting in partial.values():
                call = setting.by
                if call is None or (call.path, call.span) in reported:
                    continue
                here = state_where(event.state, call.guards)
                if is_growth_hidden(here):
                    if (
                        here.visible is not None
                        and here.visible.by is not None
                        and call.value(1, "enable") == Const(True)
                    ):
                        reported.add((call.path, call.span))
                        yield self._hidden(program, call, here.visible.by)
                    continue
                if is_for_colab(program.source):
                    # Its machines have one GPU.
                    continue
                if call.state.single_gpu:
                    # The call runs only if there is one GPU: ``if len(gpus) == 1:``.
                    continue
                if isinstance(event, RuntimeStart) and event.devices_loop and event.devices_loop == call.devices_loop:
                    # The loop would reach the other GPUs if nothing in it started the runtime.
                    continue
                reported.add((call.path, call.span))
                yield self._partial(program, call, event)

    def _hidden(self, program: Program, call: Call, shows: Call) -> Finding:
        device = call.arg(0, "device")
        words = device.text if device is not None else "one GPU"
        shown = shows.value(0, "devices")
        unless = " unless it shows that one" if isinstance(shown, Device) and isinstance(shown.index, str) else ""
        trace = (
            *call.frames,
            Step(call.path, call.span, f"{short(call.name)} on {words}"),
            *shows.frames,
            Step(shows.path, shows.span, "hides it, and leaves another GPU visible"),
        )
        return self.finding(
            program,
            call,
            f"Memory growth is set on {words}, which {short(shows.name)} {in_line(shows)} hides{unless}",
            intent=growth_intent(call),
            outcome="Nothing is raised; the GPU that stays visible has no growth: nearly all of its memory is taken",
            advice="Set it for the GPU that stays visible, or for every GPU in a loop",
            trace=trace,
            details={"device": words, "enable": _text(call, 1, "enable") or "True", "alone": True},
        )

    def _partial(self, program: Program, call: Call, event: Event) -> Finding:
        device = call.arg(0, "device")
        words = device.text if device is not None else "one GPU"
        starts = isinstance(event, RuntimeStart)
        where = f" out of {written(event.text)} {in_line(event)}" if isinstance(event, RuntimeStart) else ""
        others = [setting.value for setting in event.state.growth.values() if setting.by is not call]
        verb = "switched off" if call.value(1, "enable") == Const(False) else "set"
        looped = call.devices_loop is not None
        message = f"Memory growth is {verb} on {words} only: with two or more GPUs the runtime does not start"
        if looped:
            message = (
                f"Memory growth is {verb} on a part of the GPUs only: with more than these the runtime does not start"
            )
        alone = "on the GPUs of this loop alone" if looped else f"on {words} alone"
        trace: tuple[Step, ...] = (*call.frames, Step(call.path, call.span, f"{short(call.name)} {alone}"))
        if starts:
            trace = (*trace, *event.frames, Step(event.path, event.span, "starts the runtime, which compares the GPUs"))
        return self.finding(
            program,
            call,
            message,
            intent=growth_intent(call),
            outcome=f"With {'more' if looped else 'two or more'} visible GPUs TensorFlow raises ValueError{where}: "
            "Memory growth cannot differ between GPU devices",
            advice="Set it for every GPU in a loop, or make "
            + ("these GPUs the only visible ones" if looped else "this GPU the only visible one"),
            trace=trace,
            details={"device": words, "enable": _text(call, 1, "enable") or "True", "alone": not others},
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Set memory growth on all GPUs."""
        from tfmemlint.fixes.rewrites import call_arguments, truth_of_none

        if not finding.details["alone"] or not truth_of_none.reach_every_item(editor, finding):
            call_arguments.grow_every_gpu(editor, finding)


def _text(call: Call, position: int, keyword: str) -> str:
    argument = call.arg(position, keyword)
    return argument.text if argument is not None else ""
