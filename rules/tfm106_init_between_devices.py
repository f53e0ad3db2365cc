"""TFM106: a loop over the GPUs starts the runtime before all of them are configured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Call, RuntimeStart
from tfmemlint.knowledge.functions import SET_GROWTH, SET_LOGICAL, SET_VISIBLE
from tfmemlint.model.finding import Finding, Severity, Step
from tfmemlint.rulekit.explain import growth_intent, handler_notes, limit_intent, short, visible_intent, written
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program
    from tfmemlint.model.intent import Intent


class InitBetweenDevices(Rule):
    """A loop over the GPUs starts the runtime before all of them are configured.

    What it does
    ------------
    Finds loops over GPUs that configure a GPU and, in the same iteration, start TensorFlow's runtime, for example by
    asking for the GPU's memory or by creating a tensor on it.

    Why it matters
    --------------
    With one GPU the program works. With two, the first iteration starts the runtime before the second GPU is
    configured. Memory growth then raises ``ValueError`` at once; a memory limit raises ``RuntimeError`` in the second
    iteration.

    Example
    -------
    ```python
    import tensorflow as tf

    for i, gpu in enumerate(tf.config.list_physical_devices("GPU")):
        tf.config.experimental.set_memory_growth(gpu, True)
        print(tf.config.experimental.get_memory_info(f"GPU:{i}"))
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    for i, gpu in enumerate(tf.config.list_physical_devices("GPU")):
        print(tf.config.experimental.get_memory_info(f"GPU:{i}"))
    ```

    Seen as
    -------
    ``ValueError: Memory growth cannot differ between GPU devices``, or
    ``RuntimeError: Virtual devices cannot be modified after being initialized``
    """

    code = "TFM106"
    name = "init-between-devices"
    severity = Severity.WARNING
    triggers = ("memory_growth", "(?:logical|virtual)_device", "visible_device")
    whole_program = True
    fixable = "sometimes"
    supersedes = ("TFM402",)

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each event that starts the runtime in a loop over devices that also configures them."""
        configuring: dict[object, Call] = {}
        for call in program.calls(SET_GROWTH, *SET_LOGICAL, *SET_VISIBLE):
            if call.devices_loop is not None:
                configuring.setdefault(call.devices_loop, call)
        late = {
            call.devices_loop
            for call in program.calls()
            if call.effect is not None and call.effect.kind == "late" and call.effect.several
        }
        for start in program.of(RuntimeStart):
            found = configuring.get(start.devices_loop) if start.devices_loop is not None else None
            if start.what != "context" or found is None or start.state.one_gpu:
                continue
            growth = found.name == SET_GROWTH and start.state.partial_growth is not None
            if not growth and start.devices_loop not in late:
                continue
            if found.name != SET_GROWTH and start.state.single_gpu:
                continue
            what = "Physical" if found.name == SET_GROWTH else "Virtual"
            seen = (
                "ValueError: Memory growth cannot differ between GPU devices"
                if growth
                else f"RuntimeError: {what} devices cannot be modified after being initialized"
            )
            exception = seen.partition(":")[0]
            yield self.finding(
                program,
                start,
                f"{written(start.text)} starts the runtime while the loop still has GPUs to configure",
                intent=_intent(found),
                outcome=f"With two or more GPUs this raises {seen}",
                advice=f"Finish the loop that configures the GPUs before the first {short(start.name)}",
                trace=(
                    Step(found.path, found.span, f"{short(found.name)} configures the first GPU"),
                    Step(start.path, start.span, f"{written(start.text)} starts the runtime"),
                    Step(found.path, found.span, f"{short(found.name)} comes too late for the second GPU"),
                ),
                notes=handler_notes(start if growth else found, exception, "that GPU is left as it is"),
                anchors={"configure": found.span, "loop": start.devices_loop},
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Split the loop into two: the first configures the GPUs, the second does the rest."""
        from tfmemlint.fixes.rewrites import split_loop

        split_loop.split(editor, finding)


def _intent(call: Call) -> Intent:
    if call.name == SET_GROWTH:
        return growth_intent(call)
    return limit_intent(call) if call.name in SET_LOGICAL else visible_intent(call)
