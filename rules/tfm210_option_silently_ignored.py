"""TFM210: an option that TensorFlow accepts and never reads."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Arg, Call
from tfmemlint.interpreter.values import Const, Dict, Proto
from tfmemlint.knowledge import names
from tfmemlint.knowledge.functions import ENABLE_EAGER
from tfmemlint.knowledge.options import JIT_CHECKED, JIT_VALUES, SET_JIT, SET_OPTIONS, options, reads_option
from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.correction import Correction


class OptionSilentlyIgnored(Rule):
    """An option that TensorFlow accepts and never reads.

    What it does
    ------------
    Finds keys of ``tf.config.optimizer.set_experimental_options`` that TensorFlow never reads, such as
    ``memory_optimization``; values of ``tf.config.optimizer.set_jit`` that mean off, such as ``'xla'`` (since 2.9); and
    a configuration passed to ``enable_eager_execution`` under TensorFlow 2 (TFM505 reports it if it is about GPU
    memory).

    Why it matters
    --------------
    Nothing is raised and nothing changes: the program runs as if the line were missing. No option of the graph
    optimizer is about GPU memory.

    Example
    -------
    ```python
    import tensorflow as tf

    tf.config.optimizer.set_experimental_options({"memory_optimization": True})
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    ```
    """

    code = "TFM210"
    name = "option-silently-ignored"
    severity = Severity.ERROR
    triggers = ("set_jit", "set_experimental_options", "enable_eager_execution")

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each key, value or configuration that TensorFlow ignores."""
        for call in program.calls(SET_OPTIONS, SET_JIT, *ENABLE_EAGER):
            if call.probed:
                continue
            if call.name == SET_OPTIONS:
                yield from self._keys(program, call)
            elif call.name == SET_JIT:
                yield from self._jit(program, call)
            else:
                yield from self._eager(program, call)

    def _keys(self, program: Program, call: Call) -> Iterator[Finding]:
        given = call.arg(0, "options")
        if given is None or not isinstance(given.value, Dict):
            return
        target = program.target
        for key in given.value.items:
            if not isinstance(key, str) or reads_option(key, target) is not False:
                continue
            # The graph optimizer has no option about memory, so no name is close in meaning.
            about_memory = "mem" in key
            near = [] if about_memory else difflib.get_close_matches(key, options(target), n=1, cutoff=0.75)
            what = "Leave it out: no option of the graph optimizer is about GPU memory"
            yield self.finding(
                program,
                call,
                f"TensorFlow {target} has no optimizer option {key!r}",
                span=_key(program, given, key) or call.span,
                intent=Intent(Purpose.OTHER, text=f"the optimizer option {key}"),
                outcome="Nothing is raised, and nothing is changed: TensorFlow never reads the key",
                advice=f"The nearest option is {near[0]!r}" if near else (what if about_memory else "Leave it out"),
                fixable=False,
            )

    def _jit(self, program: Program, call: Call) -> Iterator[Finding]:
        enabled = call.arg(0, "enabled")
        if program.target < JIT_CHECKED or enabled is None or not isinstance(enabled.value, Const):
            return
        value = enabled.value.value
        if not value or value in JIT_VALUES:
            return
        yield self.finding(
            program,
            call,
            f"set_jit({enabled.text}) switches the compiler off",
            intent=Intent(Purpose.OTHER, text="operations compiled by XLA"),
            outcome=f"Nothing is raised; from {JIT_CHECKED} on, only True and 'autoclustering' switch it on",
            advice="Use tf.config.optimizer.set_jit('autoclustering')",
            fixable=False,
        )

    def _eager(self, program: Program, call: Call) -> Iterator[Finding]:
        config = call.arg(0, "config")
        if program.target.major < 2 or config is None or not names.exists(call.name, program.target):
            return
        if call.state.eager is not True or not isinstance(config.value, Proto):
            return
        # Soft placement is on by default.
        lost = {name for name, value in config.value.record.fields.items() if (name, value) != _ON_ANYWAY}
        if not lost:
            return
        fields = ", ".join(sorted(lost))
        yield self.finding(
            program,
            call,
            "TensorFlow 2 ignores this configuration: eager execution is on already",
            intent=Intent(Purpose.OTHER, text=fields),
            outcome=f"Nothing is raised; {fields} of the configuration has no effect",
            advice="Set it with tf.config, as in tf.debugging.set_log_device_placement(True)"
            if "log_device_placement" in lost
            else "Set it with tf.config, before the first operation",
            fixable=False,
        )

    def correction(self, finding: Finding, text: str, target: Target) -> Correction:
        """Return what to write instead."""
        from tfmemlint.rulekit.correction import KEY, Correction, of_use

        if text[:1] not in ("'", '"'):
            return of_use(text)
        return Correction(KEY, text.strip("'\""), None, "TensorFlow's optimizer has no such option")


_ON_ANYWAY = ("allow_soft_placement", Const(True))


def _key(program: Program, given: Arg, key: str) -> Span | None:
    """Return the span of a key of a dictionary, or None if the call does not contain the key literally."""
    if not isinstance(given.node, ast.Dict):
        return None
    for node in given.node.keys:
        if isinstance(node, ast.Constant) and node.value == key:
            return program.source.span(node)
    return None
