"""TFM326: the number of a GPU is tested for being there, and GPU 0 is taken for none."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.facts.tree_walk import unparsed
from tfmemlint.interpreter.program import Event
from tfmemlint.interpreter.state import State
from tfmemlint.model.finding import Finding, Severity, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.number_tests import NumberTest, number_tests
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program


class ZeroTakenForNone(Rule):
    """The number of a GPU is tested for being there, and GPU 0 is taken for none.

    What it does
    ------------
    Finds ``if args.gpu:`` and ``if not args.gpu: return`` where ``args.gpu`` is a whole number (an option with
    ``type=int``, a parameter that is declared as ``int``, what ``int(...)`` has made) and chooses a GPU:
    ``gpus[args.gpu]``, ``CUDA_VISIBLE_DEVICES``, ``f"/GPU:{args.gpu}"``. Counts of GPUs, and tests that choose a GPU in
    both cases, are not reported.

    Why it matters
    --------------
    0 is as false as None. With ``--gpu 0`` no GPU is chosen and nothing is configured: TensorFlow sees all GPUs and
    takes nearly all memory of each. Nothing is raised.

    Example
    -------
    ```python
    import argparse
    import os

    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", type=int)
    args = parser.parse_args()
    if args.gpu:
        os.environ["CUDA_VISIBLE_DEVICES"] = str(args.gpu)
    import tensorflow as tf

    print(tf.config.list_physical_devices("GPU"))
    ```

    Use instead
    -----------
    ```python
    import argparse
    import os

    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", type=int)
    args = parser.parse_args()
    if args.gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = str(args.gpu)
    import tensorflow as tf

    print(tf.config.list_physical_devices("GPU"))
    ```
    """

    code = "TFM326"
    name = "zero-taken-for-none"
    severity = Severity.WARNING
    fixable = "sometimes"
    triggers = (
        r"(?:VISIBLE_DEVICES|visible_device|logical_device|virtual_device|memory_growth)",
        r"(?i:[\"'/]gpu:)",
    )

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each test that takes GPU 0 for none."""
        for found in number_tests(program.tree):
            yield self._finding(program, found)

    def _finding(self, program: Program, found: NumberTest) -> Finding:
        place, text = program.source.span(found.test), unparsed(found.number)
        event = Event(path=program.source.path, span=place, statement=place, state=State())
        notes = ("0 is the default: nothing of it runs by default.",) if found.default == 0 else ()
        return self.finding(
            program,
            event,
            f"{text} is 0 for the first GPU, and 0 is as false as None: GPU 0 is taken for none",
            intent=Intent(Purpose.VISIBLE),
            outcome="With GPU 0 nothing is chosen or configured, and nothing is raised",
            advice=f"Write {_written(found)}",
            trace=(
                Step(program.source.path, place, "0 is false here"),
                Step(program.source.path, program.source.span(found.used), f"{text} is the number of a GPU here"),
            ),
            notes=notes,
            fixable=not (found.default == 0 and found.negated and _list_of(found) and not found.is_measured),
            details={"written": _written(found) + _there(found)},
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Ask whether the number is there."""
        editor.replace(editor.expression_at(finding.span), str(finding.details["written"]))
        editor.unsafe(f"Write {finding.details['written']}")


def _list_of(found: NumberTest) -> str:
    """Return the list that a number is an index of; "" for any other use."""
    return unparsed(found.used.value) if isinstance(found.used, ast.Subscript) else ""


def _there(found: NumberTest) -> str:
    """Return what asks for GPUs as well: where 0 is the default, the program runs on machines without one today."""
    listed = _list_of(found)
    return f" and {listed}" if listed and found.default == 0 and not found.negated and not found.is_measured else ""


def _written(found: NumberTest) -> str:
    return f"{unparsed(found.number)} is {'' if found.negated else 'not '}None"
