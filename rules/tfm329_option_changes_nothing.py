"""TFM329: an option of the command line is the same with and without it, and decides about GPU memory."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Event
from tfmemlint.interpreter.state import State
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding, Severity, Step
from tfmemlint.model.intent import Intent
from tfmemlint.rulekit.frozen_options import FrozenOption, frozen_options
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program


class OptionChangesNothing(Rule):
    """An option of the command line changes nothing, and decides about GPU memory.

    What it does
    ------------
    Finds options of ``argparse`` and ``optparse`` with ``action="store_false", default=False``, or with
    ``action="store_true", default=True``, that decide whether GPUs are configured: directly, through a name or a
    parameter. An option that another one turns back, or that gets a value in another way, is not reported.

    Why it matters
    --------------
    The option is False with and without it, or True. What depends on it is never run, or can't be turned off; nothing
    is raised. A process that does not configure its GPUs takes nearly all of their memory.

    Example
    -------
    ```python
    import argparse

    import tensorflow as tf

    parser = argparse.ArgumentParser()
    parser.add_argument("--growth", action="store_false", default=False)
    args = parser.parse_args([])
    if args.growth:
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
    ```

    Use instead
    -----------
    ```python
    import argparse

    import tensorflow as tf

    parser = argparse.ArgumentParser()
    parser.add_argument("--growth", action="store_true", default=False)
    args = parser.parse_args([])
    if args.growth:
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
    ```
    """

    code = "TFM329"
    name = "option-changes-nothing"
    severity = Severity.WARNING
    fixable = "sometimes"
    triggers = (r"store_(?:true|false)",)

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each option that is the same with and without it."""
        if program.configuration is not None:
            return
        for option in frozen_options(program.tree):
            yield self._finding(program, option)

    def _finding(self, program: Program, option: FrozenOption) -> Finding:
        source = program.source
        place = source.span(option.call)
        event = Event(path=source.path, span=place, statement=place, state=State())
        what, right = _right(option)
        if not right and _may_turn_back(program, option):
            right = "argparse.BooleanOptionalAction"
        anchor = option.default if what == "default" else option.action
        return self.finding(
            program,
            event,
            f"{option.name} changes nothing: it is {option.value} with and without it",
            intent=Intent(option.purpose),
            outcome="The GPUs are always configured, and nothing turns it off"
            if option.runs
            else "The GPUs are never configured, and nothing is raised",
            advice=f"Write {what}={right}" if right else "Write action=argparse.BooleanOptionalAction",
            trace=(Step(source.path, source.span(option.configured), "this depends on it"),),
            fixable=bool(right),
            anchors={"place": source.span(anchor)},
            details={"right": right},
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Correct the default, or the action."""
        right = str(finding.details["right"]).replace('"', editor.quoted("")[:1])
        editor.replace(editor.expression_at(finding.anchors["place"]), right)
        editor.unsafe("Let the option change what it is by default")


def _may_turn_back(program: Program, option: FrozenOption) -> bool:
    """True if Python has actions for ``--no-growth`` (from 3.9 on, which TensorFlow 2.14 needs), under that name."""
    assert isinstance(option.call.func, ast.Attribute)
    return (
        option.call.func.attr == "add_argument"
        and program.target >= Target.parse("2.14")
        and any(isinstance(statement, ast.Import) and _imports(statement) for statement in program.tree.body)
    )


def _imports(statement: ast.Import) -> bool:
    return any(alias.name == "argparse" and alias.asname is None for alias in statement.names)


def _right(option: FrozenOption) -> tuple[str, str]:
    """Return which keyword is to be corrected, and what it should be; "" if that depends on what is wanted."""
    if not option.value:
        if option.negative and option.reads_positive:
            return "default", "True"
        return "action", '"store_true"'
    return ("default", "False") if option.negative else ("action", "")
