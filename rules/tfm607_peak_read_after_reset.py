"""TFM607: the peak of the GPU memory is read right after its reset."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import dotted
from tfmemlint.facts.tree_walk import all_nodes, scope_nodes
from tfmemlint.interpreter.program import ItemLookup
from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge.functions import MEMORY_INFO, RESET_STATS
from tfmemlint.model.finding import Finding, Severity, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.explain import in_line, short
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Call, Program

_TAKES_NO_MEMORY = re.compile(
    r"print|len|str|int|float|round|range|sorted|enumerate|list|dict|isinstance|format"
    r"|(?:\w+\.)*(?:log|logger|logging|LOG|LOGGER|_logger)\.\w+|time\.\w+|datetime\.\w+"
)
"""Functions that run no operation on a GPU, by which memory could be taken between the reset and the report."""
_BASELINE = re.compile(r"(?i)start|base|before|init|begin|zero|prev|old")


class PeakReadAfterReset(Rule):
    """The peak of the GPU memory is read right after its reset.

    What it does
    ------------
    Finds ``get_memory_info(...)["peak"]`` where ``reset_memory_stats`` has been called just before it, and nothing in
    between can have taken memory. A peak that is read as the base of a later one is not reported.

    Why it matters
    --------------
    The reset sets the peak to what is in use at that moment. The report always shows the memory that is in use, never
    the peak of the work before it. Seen on TensorFlow 2.21: after 32 MiB were taken and given back, the peak was 32 MiB
    before the reset, and 1280 bytes after it, as much as was in use.

    Example
    -------
    ```python
    import tensorflow as tf


    def report(epoch):
        tf.config.experimental.reset_memory_stats("GPU:0")
        info = tf.config.experimental.get_memory_info("GPU:0")
        print(f"epoch {epoch}: peak {info['peak'] / 2**20:.0f} MiB")


    if tf.config.list_physical_devices("GPU"):
        report(0)
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf


    def report(epoch):
        info = tf.config.experimental.get_memory_info("GPU:0")
        tf.config.experimental.reset_memory_stats("GPU:0")
        print(f"epoch {epoch}: peak {info['peak'] / 2**20:.0f} MiB")


    if tf.config.list_physical_devices("GPU"):
        report(0)
    ```

    Ground
    ------
    Without a GPU there is no memory to report.
    """

    code = "TFM607"
    name = "peak-read-after-reset"
    severity = Severity.WARNING
    triggers = ("reset_memory_stats",)
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each reset whose next report is of the peak, with nothing in between."""
        resets = _by_node(program, RESET_STATS)
        peaks: dict[int, Call] = {}
        for item in program.of(ItemLookup):
            if (
                item.of == MEMORY_INFO
                and item.key == Const("peak")
                and item.call is not None
                and item.call.node is not None
            ):
                peaks[id(item.call.node)] = item.call
        if not resets or not peaks:
            return
        for scope in all_nodes(program.tree):
            if not isinstance(scope, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            own = list(scope_nodes(scope))
            reads = [node for node in own if isinstance(node, ast.Call) and id(node) in peaks]
            for block in _blocks(scope, own):
                for reset, read in _pairs(block, resets, peaks):
                    if any(program.source.span(other) > read.span for other in reads):
                        # It is what a later peak is compared with.
                        continue
                    yield self._found(program, reset, read)

    def _found(self, program: Program, reset: Call, read: Call) -> Finding:
        return self.finding(
            program,
            reset,
            f"{short(reset.name)} is called right before the peak is read {in_line(read)}",
            intent=Intent(Purpose.REPORT, "", "peak"),
            outcome="The reset sets the peak to the memory in use: the report never shows a peak; nothing is raised",
            advice="Read the peak first, and reset it afterwards",
            trace=(
                *reset.frames,
                Step(reset.path, reset.span, "sets the peak to the memory in use"),
                Step(read.path, read.span, "reads that as the peak"),
            ),
            anchors={"read": read.span},
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Move the reset below the statement that reads the peak."""
        from tfmemlint.fixes.rewrites import memory_stats

        memory_stats.reset_after(editor, finding)


def _by_node(program: Program, name: str) -> dict[int, Call]:
    """Return the first event of each call of a function that stands in the file, by its node."""
    found: dict[int, Call] = {}
    for call in program.calls(name):
        if call.node is not None and call.path == program.source.path:
            found.setdefault(id(call.node), call)
    return found


def _blocks(scope: ast.AST, own: list[ast.AST]) -> Iterator[list[ast.stmt]]:
    for node in (scope, *own):
        if node is not scope and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for part in ("body", "orelse", "finalbody"):
            block = getattr(node, part, None)
            if isinstance(block, list):
                yield block


def _pairs(block: list[ast.stmt], resets: dict[int, Call], peaks: dict[int, Call]) -> Iterator[tuple[Call, Call]]:
    """Yield each reset that is a statement of a block, with the first report of the peak after it."""
    pending: Call | None = None
    for statement in block:
        match statement:
            case ast.Expr(ast.Call() as call) if id(call) in resets:
                pending = resets[id(call)]
                continue
            case ast.For(body=[ast.Expr(ast.Call() as call)], orelse=[]) if id(call) in resets:
                pending = resets[id(call)]
                continue
            case _:
                pass
        if pending is None:
            continue
        read = next((peaks[id(node)] for node in ast.walk(statement) if id(node) in peaks), None)
        if read is not None and not _is_base(statement) and _of_same_device(pending, read):
            simple = not isinstance(statement, (ast.While, ast.With, ast.Try, ast.FunctionDef, ast.ClassDef))
            if simple and (not isinstance(statement, (ast.For, ast.If)) or _takes_no_memory(statement, peaks)):
                yield pending, read
        if read is not None or not _takes_no_memory(statement, peaks):
            pending = None


def _is_base(statement: ast.stmt) -> bool:
    """True for an assignment to an attribute, or to a name that says that something is compared with it later."""
    targets: list[ast.expr] = []
    match statement:
        case ast.Assign(targets):
            pass
        case ast.AnnAssign(target) | ast.AugAssign(target):
            targets = [target]
        case _:
            pass
    return any(not isinstance(target, ast.Name) or _BASELINE.search(target.id) for target in targets)


def _of_same_device(reset: Call, read: Call) -> bool:
    first, second = reset.value(0, "device"), read.value(0, "device")
    return not (isinstance(first, Const) and isinstance(second, Const) and first != second)


def _takes_no_memory(statement: ast.stmt, peaks: dict[int, Call]) -> bool:
    """True if a statement calls nothing that could run an operation, and doesn't leave the block."""
    for node in ast.walk(statement):
        if isinstance(node, (ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await, ast.With, ast.Try)):
            return False
        if isinstance(node, ast.Call) and id(node) not in peaks:
            name = dotted(node.func)
            if not (_TAKES_NO_MEMORY.fullmatch(name) or name.rpartition(".")[2] in ("get_memory_info", "format")):
                return False
    return True
