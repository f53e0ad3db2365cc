"""TFM108: a new process takes GPU memory without the configuration that its parent made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import CallHanded, ChildStarts
from tfmemlint.interpreter.values import Const
from tfmemlint.knowledge.functions import GROWTH_VARIABLE, SET_GROWTH, SET_VISIBLE
from tfmemlint.model.finding import Finding, Severity, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.model.placed_text import place
from tfmemlint.rulekit.explain import in_line, short
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Call, Program


class ChildWithoutConfiguration(Rule):
    """A new process takes GPU memory without the configuration that its parent made.

    What it does
    ------------
    Finds functions that ``multiprocessing`` runs in a process that is spawned, or ``joblib`` in one of its own, which
    make tensors or models there, while memory growth or a limit is set in the parent process only.

    Finds a function that configures the GPUs and is called where it has to be given:
    ``Pool(2, initializer=claim(512))`` calls it in the parent process, and gives its result, ``None``, to the new ones.

    Why it matters
    --------------
    A setting of ``tf.config`` holds in the process that makes it. A process that is spawned begins anew: it imports the
    main module, without what stands under ``if __name__ == "__main__"``, and takes nearly all of the GPU's memory as
    soon as it makes a tensor; the next process finds none left.

    Example
    -------
    ```python
    import multiprocessing

    import tensorflow as tf


    def train():
        print(tf.random.normal([2]))


    if __name__ == "__main__":
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
        process = multiprocessing.get_context("spawn").Process(target=train)
        process.start()
        process.join()
    ```

    Use instead
    -----------
    ```python
    import multiprocessing

    import tensorflow as tf


    def train():
        for gpu in tf.config.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)
        print(tf.random.normal([2]))


    if __name__ == "__main__":
        process = multiprocessing.get_context("spawn").Process(target=train)
        process.start()
        process.join()
    ```
    """

    code = "TFM108"
    name = "child-without-configuration"
    severity = Severity.ERROR
    fixable = "sometimes"
    whole_program = True
    triggers = (
        *(r"get_context\(", r"set_start_method\(", r"\bdelayed\("),
        *(r"\binitializer\s{0,4}=", r"\btarget\s{0,4}=", r"\bPool\(", r"ProcessPoolExecutor"),
    )

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each function that a new process runs without the parent's configuration, once."""
        handed = {(each.path, each.span): each for each in program.of(CallHanded)}
        for each in handed.values():
            yield self._handed(program, each)
        reported: set[object] = set()
        for event in program.of(ChildStarts):
            if (event.path, event.text) in reported or (event.path, event.made) in handed:
                continue
            reported.add((event.path, event.text))
            setting, start = event.settings[0], event.start
            growth = all(each.name == SET_GROWTH and each.value(1, "enable") == Const(True) for each in event.settings)
            steps = (
                *setting.frames,
                Step(setting.path, setting.span, f"{short(setting.name)} holds for this process"),
                Step(event.path, event.span, f"a new process runs {event.text}()"),
                *start.frames,
                Step(start.path, start.span, f"{start.text} takes the memory there"),
            )
            yield self.finding(
                program,
                event,
                f"{event.text}() runs in a process of its own, which does not have the {_what(setting)} set "
                f"{in_line(setting)}",
                intent=_intent_of(setting.name),
                outcome=f"{start.text} at {place(start.path, start.span.row)} takes nearly all memory of each GPU in "
                "each of the processes",
                advice=f"Configure the GPUs in {event.text}() as well, before anything else",
                trace=steps,
                fixable=growth or (event.own is not None and bool(_configuring(event))),
                anchors={"made": event.made} | ({"own": event.own} if event.own is not None else {}),
                details={"call": _configuring(event), "function": event.text, "growth": growth},
            )

    def _handed(self, program: Program, event: CallHanded) -> Finding:
        """Return the finding about a call in the place of the function that a new process is to call."""
        if event.parameter == "target":
            outcome = "It runs here, before the process is made, which then runs nothing: Process raises nothing"
        elif event.sure:
            outcome = "The processes configure nothing: each takes nearly all memory of each GPU"
        else:
            outcome = (
                "The processes configure nothing: where they are not forked, as by default from Python 3.14 on, each"
                " takes nearly all memory of each GPU"
            )
        return self.finding(
            program,
            event,
            f"{event.text}() is called here, in this process, and {event.parameter} gets its result, None",
            span=event.place,
            severity=Severity.ERROR if event.sure else Severity.WARNING,
            intent=_intent_of(event.called),
            outcome=outcome,
            advice=f"Give {event.text} itself, and its arguments apart",
            fixable=event.may_be_sent,
            details={"handed": event.parameter},
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Call the function that configures the GPUs in the new process as well, or set the variable for growth."""
        from tfmemlint.fixes.rewrites import first_in_function, hand_function

        if "handed" in finding.details:
            hand_function.hand(editor, finding)
            return
        call, growth = str(finding.details["call"]), bool(finding.details["growth"])
        try:
            if not call or "own" not in finding.anchors:
                raise editor.Withheld("no function of the file makes the settings by itself")
            first_in_function.insert_call(editor, finding.anchors["own"], call)
            editor.unsafe(f"Call {call}() in {finding.details['function']}() as well")
        except editor.Withheld:
            if not growth:
                raise
            name = editor.add_import("os")
            lines = f"{name}.environ[{editor.quoted(GROWTH_VARIABLE)}] = {editor.quoted('true')}\n"
            editor.insert_before(editor.statement_at(finding.anchors["made"]), lines)
            editor.unsafe(f"Set {GROWTH_VARIABLE}, which new processes get as well")


def _intent_of(function: str) -> Intent:
    if function in SET_VISIBLE:
        return Intent(Purpose.VISIBLE)
    return Intent(Purpose.GROWTH if function == SET_GROWTH else Purpose.LIMIT)


def _what(setting: Call) -> str:
    return "memory growth" if setting.name == SET_GROWTH else "memory limit"


def _configuring(event: ChildStarts) -> str:
    """Return the function of this file that makes all settings; "" if there is none, or it does not do so for sure."""
    names = {setting.function for setting in event.settings if setting.path == event.path}
    return names.pop() if len(names) == 1 and event.function not in names else ""
