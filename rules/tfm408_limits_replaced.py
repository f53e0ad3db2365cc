"""TFM408: the logical devices of a GPU are set again, which replaces those that were set before."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.values import Const, Device, Limit, Seq, Value
from tfmemlint.knowledge.functions import SET_LOGICAL
from tfmemlint.model.finding import Finding, Severity, Span, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.cells import cells_of
from tfmemlint.rulekit.explain import in_line, short
from tfmemlint.rulekit.replaced_settings import are_in_two_cells, comes_always, is_another_pass
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Call, Program


class LimitsReplaced(Rule):
    """The logical devices of a GPU are set again, which replaces those that were set before.

    What it does
    ------------
    Finds ``set_logical_device_configuration`` in a loop that is not over GPUs, for the same GPU in each pass; and two
    calls with different limits for one GPU, of which the second comes in every run in which the first does.

    Why it matters
    --------------
    The call sets the whole list of a GPU's logical devices; it adds none. Only what is set last is there when the
    runtime starts, and nothing is raised: instead of three logical devices there is one, and ``GPU:1`` does not exist.
    Seen on TensorFlow 2.21.

    Example
    -------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        for _ in range(3):
            limit = tf.config.LogicalDeviceConfiguration(memory_limit=2048)
            tf.config.set_logical_device_configuration(gpus[0], [limit])
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_logical_device_configuration(
            gpus[0], [tf.config.LogicalDeviceConfiguration(memory_limit=2048) for _ in range(3)]
        )
    ```
    """

    code = "TFM408"
    name = "limits-replaced"
    severity = Severity.WARNING
    triggers = ("(?:logical|virtual)_device_configuration",)
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each call that replaces what another one, or an earlier pass of its loop, has set."""
        reported: set[tuple[str, Span]] = set()
        cells = cells_of(program.source)
        for call in program.calls(*SET_LOGICAL):
            device = call.value(0, "device")
            if not isinstance(device, Device) or not isinstance(device.index, int) or call.effect is not None:
                continue
            setting = call.state.limit_of(device.index)
            earlier = setting.by if setting is not None else None
            if setting is not None and setting.either and not _is_under_the_same(call, earlier):
                continue
            if earlier is None or earlier.effect is not None or (call.path, call.span) in reported:
                continue
            if is_another_pass(earlier, call):
                loop = _loop_around(program, call)
                if loop is not None and call.repeated:
                    reported.add((call.path, call.span))
                    yield self._in_loop(program, call, loop)
            elif device.loop or call.repeated or are_in_two_cells(cells, earlier, call):
                continue
            elif _is_other(earlier.value(1, "logical_devices"), call.value(1, "logical_devices")) and (
                comes_always(earlier, call) or _is_under_the_same(call, earlier)
            ):
                reported.add((call.path, call.span))
                yield self._again(program, call, earlier)

    def _in_loop(self, program: Program, call: Call, loop: ast.For) -> Finding:
        words = _device_text(call)
        head = program.source.span(loop.iter)
        return self.finding(
            program,
            call,
            f"Each pass of the loop over {program.source.segment(head)} replaces the logical devices that the one "
            f"before has set for {words}",
            intent=Intent(Purpose.LIMIT, words),
            outcome=f"{words} has the logical devices of the last pass alone; nothing is raised",
            advice=f"Call {short(call.name)} once, with a list of all logical devices",
            trace=(
                *call.frames,
                Step(call.path, head, "goes through the loop more than once"),
                Step(call.path, call.span, f"sets the logical devices of {words} in each pass"),
            ),
            anchors={"loop": program.source.span(loop)},
            details={"loop": True},
        )

    def _again(self, program: Program, call: Call, earlier: Call) -> Finding:
        words = _device_text(call)
        return self.finding(
            program,
            call,
            f"{short(call.name)} replaces the logical devices that the call {in_line(earlier)} sets for {words}"
            if earlier.span != call.span
            else f"{short(call.name)} is called again for the same GPU, and replaces its logical devices",
            intent=Intent(Purpose.LIMIT, words),
            outcome=f"{words} has the logical devices of this call alone; nothing is raised",
            advice=f"Call {short(call.name)} once, with a list of all logical devices",
            trace=(
                *earlier.frames,
                Step(earlier.path, earlier.span, "sets logical devices"),
                *call.frames,
                Step(call.path, call.span, "sets others in their place"),
            ),
            anchors={"earlier": earlier.span},
            details={"loop": False, "together": _names_second(program)},
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Set all logical devices of the GPU by one call."""
        from tfmemlint.fixes.rewrites import logical_devices

        logical_devices.set_at_once(editor, finding)


def _is_under_the_same(call: Call, earlier: Call | None) -> bool:
    """True if a function makes a call that it has made before under the same conditions, none of which has changed.

    Each time ``if self.gpu is None: return`` is another way past the call.
    """
    if earlier is None or earlier.span != call.span or not call.guards or call.guards != earlier.guards:
        return False
    return len(call.ways) == len(earlier.ways) and call.handlers == earlier.handlers


def _device_text(call: Call) -> str:
    device = call.arg(0, "device")
    return device.text if device is not None else "the GPU"


def _is_other(first: Value, second: Value) -> bool:
    """True if two lists of logical devices are known to differ."""
    if not isinstance(first, Seq) or not isinstance(second, Seq):
        return False
    if len(first.items) != len(second.items):
        return True
    for mine, other in zip(first.items, second.items, strict=True):
        match mine, other:
            case Limit(Const(value)), Limit(Const(another)) if value != another:
                return True
            case _:
                pass
    return False


def _loop_around(program: Program, call: Call) -> ast.For | None:
    """Return the innermost loop around a call in its function, if nothing leaves it and nothing of it is the GPU."""
    if call.node is None or call.path != program.source.path or call.node.args is None:
        return None
    found: ast.For | None = None
    pending: list[tuple[ast.AST, ast.AST | None]] = [(program.tree, None)]
    while pending:
        node, around = pending.pop()
        if node is call.node:
            found = around if isinstance(around, ast.For) else None
            break
        inner = around
        if isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
            inner = node
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            inner = None
        pending.extend((child, inner) for child in ast.iter_child_nodes(node))
    if found is None or any(isinstance(node, (ast.Break, ast.Return)) for node in ast.walk(found)):
        return None
    bound = {
        node.id for node in ast.walk(found) if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del))
    }
    device = (
        call.node.args[0]
        if call.node.args
        else next((keyword.value for keyword in call.node.keywords if keyword.arg == "device"), None)
    )
    if device is None or any(isinstance(node, ast.Name) and node.id in bound for node in ast.walk(device)):
        return None
    return found


def _names_second(program: Program) -> bool:
    """True if the program names a logical GPU after the first, so that it is meant to have several."""
    return any(f"GPU:{number}" in text.upper() for text in (program.source.text, *program.others) for number in "123")
