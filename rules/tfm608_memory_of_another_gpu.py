"""TFM608: the memory of a GPU is reported that the program does not work on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge.device_names import logical_gpu
from tfmemlint.knowledge.effects import Effect, effect
from tfmemlint.knowledge.functions import MEMORY_CALLS, MEMORY_REPORTS, RESET_STATS
from tfmemlint.knowledge.variables import VISIBLE
from tfmemlint.model.finding import Finding, Severity, Span, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.explain import short
from tfmemlint.rulekit.rule import Rule
from tfmemlint.rulekit.told_devices import loop_that_tells

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Call, Program

_PLACE = "tf.device"
_ELSEWHERE = ("tf.distribute.", "tf.compat.v1.distribute.")
_IDLE = re.compile(r"(?i)\b(?:other|idle|unused|untouched|spill\w*|leak\w*)\b")
_NO_WORK = ("tf.config.", "tf.random.set_seed", "tf.keras.utils.set_random_seed", "tf.get_logger")


class MemoryOfAnotherGpu(Rule):
    """The memory of a GPU is reported that the program does not work on.

    What it does
    ------------
    Finds ``get_memory_info``, ``get_memory_usage`` and ``reset_memory_stats`` for one GPU, where all work of the
    program is under ``tf.device`` for another. A program that names a device in a way that isn't known, that works
    anywhere else as well, or that reports both, is not reported. Finds a loop over the devices of which each pass asks
    for the same one, and tells the figure as that of its own.

    Why it matters
    --------------
    Each GPU has an allocator of its own, with figures of its own. Those of a GPU without work stay where they are, and
    nothing is raised.

    Example
    -------
    ```python
    import tensorflow as tf

    if len(tf.config.list_physical_devices("GPU")) > 1:
        with tf.device("/GPU:1"):
            weights = tf.random.normal((64, 64))
        print(tf.config.experimental.get_memory_info("GPU:0")["peak"])
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    if len(tf.config.list_physical_devices("GPU")) > 1:
        with tf.device("/GPU:1"):
            weights = tf.random.normal((64, 64))
        print(tf.config.experimental.get_memory_info("GPU:1")["peak"])
    ```

    Ground
    ------
    Without a GPU there is no memory to report.
    """

    code = "TFM608"
    name = "memory-of-another-gpu"
    severity = Severity.WARNING
    triggers = ("memory_(?:info|usage|stats)",)
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield the first report of a GPU that the program does not work on, or the same one for each GPU of a loop."""
        looped = list(self._of_each(program))
        if looped:
            yield from looped
            return
        places, reports = _numbers(program, _PLACE), _numbers(program, *MEMORY_CALLS)
        if not places or not reports:
            return
        worked = set(places.values())
        # The right GPU is reset, and another one is read.
        reports = {call: number for call, number in reports.items() if call.name != RESET_STATS or number not in worked}
        reported = set(reports.values())
        if len(worked) != 1 or len(reported) != 1 or worked == reported:
            return
        if any(call.state.limits or call.state.visible is not None or VISIBLE in call.state.env for call in reports):
            # Then a number is that of a part of a GPU, or of another one.
            return
        if _is_asked_whether_idle(program, reports) or _works_elsewhere(program, places):
            return
        first = min(reports, key=lambda call: (call.name == RESET_STATS, call.span))
        place = min(places, key=lambda call: call.span)
        idle, used = reported.pop(), worked.pop()
        yield self.finding(
            program,
            first,
            f"{short(first.name)} asks for GPU {idle}, and all work is on GPU {used}",
            intent=Intent(Purpose.REPORT, f"GPU {used}"),
            outcome=f"The figures are those of GPU {idle}, which does nothing; nothing is raised",
            advice=f"Ask for GPU {used}",
            trace=(
                *place.frames,
                Step(place.path, place.span, f"places work on GPU {used}"),
                Step(first.path, first.span, f"asks for the memory of GPU {idle}"),
            ),
            anchors={f"device{number}": _device_span(call) for number, call in enumerate(reports)},
            details={"idle": idle, "used": used},
        )

    def _of_each(self, program: Program) -> Iterator[Finding]:
        """Yield the report of one GPU that each pass of a loop over all of them tells as that of its own."""
        for call in program.calls(*MEMORY_REPORTS):
            given = call.arg(0, "device")
            if given is None or not isinstance(given.value, Const) or call.path != program.source.path:
                continue
            loop = loop_that_tells(program.tree, call.node) if call.node is not None else None
            if loop is None:
                continue
            name = loop.target.id
            yield self.finding(
                program,
                call,
                f"{short(call.name)} asks for {given.value.value} in each pass of the loop, and {name} is told with it",
                intent=Intent(Purpose.REPORT, name),
                outcome="All figures are those of one GPU; nothing is raised",
                advice=f"Ask for the device of the pass: {name}",
                trace=(
                    Step(call.path, program.source.span(loop.iter), "goes through the devices"),
                    Step(call.path, call.span, "asks for the same one in each pass"),
                ),
                anchors={"device": given.span},
                details={"name": name if loop.has_names else ""},
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Ask for the GPU that the work is on, in all calls."""
        from tfmemlint.fixes.rewrites import memory_reports

        if "name" in finding.details:
            memory_reports.ask_for_each(editor, finding)
            return
        memory_reports.renumber(editor, finding)


def _numbers(program: Program, *names: str) -> dict[Call, int]:
    """Return the calls that name a GPU, one for each place, with its number; none if a device isn't known."""
    found: dict[Span, tuple[Call, int]] = {}
    for call in program.calls(*names):
        given = call.value(0, "device_name" if call.name == _PLACE else "device")
        number = logical_gpu(given.value if isinstance(given, Const) else getattr(given, "default", None))
        if number is None:
            if isinstance(given, Const) and "CPU" in str(given.value).upper():
                continue
            return {}
        if call.path != program.source.path or found.setdefault(call.span, (call, number))[1] != number:
            return {}
    return dict(found.values())


def _device_span(call: Call) -> Span:
    given = call.arg(0, "device")
    return given.span if given is not None else call.span


def _is_asked_whether_idle(program: Program, reports: dict[Call, int]) -> bool:
    """True if a report is compared or asserted, as a test does that a GPU is left alone, or is told as that of another
    one."""
    nodes = {id(call.node) for call in reports}
    asked: list[ast.AST] = []
    names: set[str] = set()
    for node in all_nodes(program.tree):
        if isinstance(node, (ast.Assert, ast.Compare)):
            asked.append(node)
        elif isinstance(node, ast.Assign) and any(id(part) in nodes for part in ast.walk(node.value)):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.Expr) and any(id(part) in nodes for part in ast.walk(node)):
            told = program.source.segment(program.source.span(node))
            if _IDLE.search(told):
                return True
    return any(
        id(part) in nodes or (isinstance(part, ast.Name) and part.id in names)
        for node in asked
        for part in ast.walk(node)
    )


def _works_elsewhere(program: Program, places: dict[Call, int]) -> bool:
    """True if something may run on another device than those of ``tf.device``."""
    placed = {id(call.node) for call in places}
    inside = [
        program.source.span(node)
        for node in all_nodes(program.tree)
        if isinstance(node, ast.With) and any(id(item.context_expr) in placed for item in node.items)
    ]
    for call in program.calls():
        if call.name.startswith(_ELSEWHERE):
            return True
        if call.name in (_PLACE, *MEMORY_CALLS) or call.name.startswith(_NO_WORK):
            continue
        if effect(call.name, program.target) not in (Effect.STARTS, None):
            continue
        if not call.name.startswith(("tf.", "keras.")):
            continue
        where = [call.span, *(step.span for step in call.frames if step.path == program.source.path)]
        if not any(block.contains(span) for block in inside for span in where):
            return True
    return False
