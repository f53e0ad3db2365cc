"""TFM212: a made-up name is asked for before it is used, so that nothing is ever configured."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.syntax import does_nothing
from tfmemlint.facts.tree_walk import all_nodes
from tfmemlint.interpreter.program import Call, EnvWrite, NameAsked, ProtoMade
from tfmemlint.knowledge import names, purposes
from tfmemlint.knowledge.functions import CONFIGURES_GPUS
from tfmemlint.knowledge.misplaced import REAL_PLACES
from tfmemlint.knowledge.variables import ALLOCATOR, GROWTH, VISIBLE
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.model.intent import Intent
from tfmemlint.rulekit.explain import short
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.model.finding import Span

_VARIABLES = frozenset({GROWTH, VISIBLE, ALLOCATOR})


class MadeUpNameAsked(Rule):
    """A made-up name is asked for before it is used, so that nothing is ever configured.

    What it does
    ------------
    Finds ``hasattr`` and ``getattr`` with a default that ask TensorFlow for a function about memory which no release
    has. A program that configures its GPUs in another way as well is not reported, nor a question with something in
    its place (``getattr(...) or ...``, a function for a default) that does anything: it asks for the name in order to
    choose.

    Why it matters
    --------------
    The answer is the same on every TensorFlow: what stands under the condition never runs. Nothing is raised, and the
    process takes nearly all of the GPU's memory.

    Example
    -------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    if gpus and hasattr(tf.config, "set_memory_limit"):
        tf.config.set_memory_limit(gpus[0], 2048)
    print(tf.constant(1))
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        limit = tf.config.LogicalDeviceConfiguration(memory_limit=2048)
        tf.config.set_logical_device_configuration(gpus[0], [limit])
    print(tf.constant(1))
    ```
    """

    code = "TFM212"
    name = "made-up-name-asked"
    severity = Severity.WARNING
    triggers = (r"\b(?:hasattr|getattr)\(",)
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each question for a made-up function about memory, in a program that configures nothing."""
        asked = [event for event in program.of(NameAsked) if _purpose_of(event.name) is not None]
        if not asked or _configures(program):
            return
        chosen = _first_choices(program)
        for event in asked:
            if event.replaced or event.span in chosen:
                continue
            made_up = _purpose_of(event.name)
            if made_up is None or names.ever_existed(event.name):
                continue
            real = _real_place(event.name, program.target) if event.how == "getattr" else ""
            answer = "is False" if event.how == "hasattr" else "returns its default"
            yield self.finding(
                program,
                event,
                f"No TensorFlow has {event.name}: {event.how} {answer} everywhere",
                intent=Intent(made_up.purpose),
                outcome=f"Nothing is raised, and nothing is configured: {short(event.name)} is never called",
                advice="Call the function that TensorFlow has, without a condition",
                fixable=bool(real),
                details={"asked": event.name, "real": real},
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Take the function that TensorFlow has, which takes the same arguments."""
        from tfmemlint.fixes.rewrites.made_up import take_real_place

        take_real_place(editor, finding)


def _real_place(asked: str, target: Target) -> str:
    """Return the name by which TensorFlow has a function with the same arguments; "" if it has none."""
    real = REAL_PLACES.get(asked, "")
    return real if real and names.exists(real, target) else ""


def _purpose_of(name: str) -> purposes.MadeUp | None:
    """Return the purpose of a made-up function, or of a module of made-up functions: ``tf.config.gpu``."""
    return purposes.purpose_of(name) or (
        purposes.purpose_of(f"{name}.set_memory_growth") if name.rpartition(".")[2] == "gpu" else None
    )


def _first_choices(program: Program) -> frozenset[Span]:
    """Return where operands of ``or`` stand that have another behind them which does something: ``f`` in ``f or g``."""
    return frozenset(
        program.source.span(operand)
        for node in all_nodes(program.tree)
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or)
        for number, operand in enumerate(node.values[:-1], 1)
        if not all(isinstance(other, ast.Lambda) and does_nothing(other) for other in node.values[number:])
    )


def _configures(program: Program) -> bool:
    """Return True if a program configures GPUs, or their memory, with what TensorFlow has."""
    return (
        any(call.name in CONFIGURES_GPUS for call in program.of(Call))
        or any(write.name in _VARIABLES for write in program.of(EnvWrite))
        or any(True for _ in program.of(ProtoMade))
    )
