"""TFM609: the peaks of several passes of a loop are compared, and none of them is reset."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import ItemLookup
from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge.functions import MEMORY_INFO, RESET_STATS
from tfmemlint.model.finding import Finding, Severity, Span, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.measured_passes import measured_passes, name_of_one_pass
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Call, Program


class PeakOfEarlierPasses(Rule):
    """The peaks of several passes of a loop are compared, and none of them is reset.

    What it does
    ------------
    Finds ``get_memory_info(...)["peak"]`` that each pass of a loop over sizes or models tells, where nothing in the
    file calls ``reset_memory_stats``, and a peak whose name says that it is that of one pass (``epoch_peak``). A
    callback may read it in the training of each pass. Numbers that rise from pass to pass are right by accident, and
    are not reported, nor are loops over epochs and steps.

    Why it matters
    --------------
    The peak is that of the process, since it started or since the last reset. Every pass after the largest one shows
    the peak of the largest. Seen on TensorFlow 2.21 over a simulated driver: after 64 MiB were taken and given back, a
    pass that took 4 MiB still told 64 MiB, and 4 MiB after a reset.

    Example
    -------
    ```python
    import tensorflow as tf

    if tf.config.list_physical_devices("GPU"):
        for batch in (64, 32, 16):
            print(float(tf.reduce_sum(tf.ones((batch, 1024)))))
            peak = tf.config.experimental.get_memory_info("GPU:0")["peak"]
            print(f"batch {batch}: {peak / 2**20:.0f} MiB")
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    if tf.config.list_physical_devices("GPU"):
        for batch in (64, 32, 16):
            tf.config.experimental.reset_memory_stats("GPU:0")
            print(float(tf.reduce_sum(tf.ones((batch, 1024)))))
            peak = tf.config.experimental.get_memory_info("GPU:0")["peak"]
            print(f"batch {batch}: {peak / 2**20:.0f} MiB")
    ```

    Ground
    ------
    Without a GPU there is no memory to report.
    """

    code = "TFM609"
    name = "peak-of-earlier-passes"
    severity = Severity.WARNING
    triggers = ("get_memory_info",)
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each peak that the passes of a loop tell, and that nothing resets."""
        peaks: dict[int, Call] = {}
        lookups: dict[Span, Call] = {}
        for item in program.of(ItemLookup):
            call = item.call if item.of == MEMORY_INFO and item.key == Const("peak") else None
            if call is not None and call.node is not None and call.path == program.source.path:
                peaks.setdefault(id(call.node), call)
                lookups.setdefault(item.span, call)
        if not peaks or "reset_memory" in program.source.text or any(program.calls(RESET_STATS)):
            return
        for place, read in lookups.items():
            name = name_of_one_pass(program.tree, program.source, place)
            if name and not read.state.in_child_process:
                yield self.finding(
                    program,
                    read,
                    f"This peak is that of all passes so far, and it is called {name}: nothing resets it",
                    span=place,
                    intent=Intent(Purpose.REPORT, "", "peak"),
                    outcome="Each pass after the largest tells the peak of the largest; nothing is raised",
                    advice="Call tf.config.experimental.reset_memory_stats at the beginning of each pass",
                    trace=(Step(read.path, place, "reads the peak since the program has started"),),
                    anchors={"read": read.span},
                    details={"after": True},
                )
        for passes in measured_passes(program.tree, peaks):
            read = peaks[id(passes.read)]
            over = program.source.segment(program.source.span(passes.loop.iter))
            loop = program.source.span(passes.loop)
            yield self.finding(
                program,
                read,
                f"This peak is that of all passes so far: nothing in the loop over {over} resets it",
                intent=Intent(Purpose.REPORT, "", "peak"),
                outcome="Each pass after the largest tells the peak of the largest; nothing is raised",
                advice="Call tf.config.experimental.reset_memory_stats at the beginning of each pass",
                trace=(
                    Step(read.path, program.source.span(passes.loop.iter), "each pass tells a peak"),
                    Step(read.path, read.span, "reads the peak since the program has started"),
                ),
                anchors={"loop": loop, "home": program.source.span(passes.home)},
                details={"run": passes.run},
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Reset the peak at the beginning of each pass, or behind the report of one."""
        from tfmemlint.fixes.rewrites import memory_stats

        if "after" in finding.details:
            memory_stats.reset_behind(editor, finding)
            return
        if finding.details["run"]:
            memory_stats.reset_in_callback(editor, finding, str(finding.details["run"]))
            return
        memory_stats.reset_before_work(editor, finding)
