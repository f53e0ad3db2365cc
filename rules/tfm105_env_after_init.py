"""TFM105: an environment variable is set after TensorFlow has read it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Call, EnvWrite, SessionMade
from tfmemlint.interpreter.state import Tri
from tfmemlint.interpreter.values import UNKNOWN, Choice, Const, FileValue, Value
from tfmemlint.knowledge.environment import VARIABLES, Moment, read_at
from tfmemlint.knowledge.functions import GPU_TESTS, SESSIONS
from tfmemlint.model.finding import Finding, Severity, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.env_writes import SET_FROM_FILES, hides_what_is_hidden, is_for_the_next_program, puts_back
from tfmemlint.rulekit.explain import file_trace, fork_anchors, fork_details, fork_notes, in_line, start_trace, written
from tfmemlint.rulekit.rule import Rule
from tfmemlint.rulekit.set_after_child import KIND as CHILD
from tfmemlint.rulekit.set_after_child import set_after_child
from tfmemlint.rulekit.start_trace import start_anchors, start_details, where_to

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program

_PHASES = {Moment.LISTING: "listed", Moment.DEVICES: "allocator"}
_PURPOSES = {
    "CUDA_VISIBLE_DEVICES": Purpose.VISIBLE,
    "TF_FORCE_GPU_ALLOW_GROWTH": Purpose.GROWTH,
    "TF_GPU_ALLOCATOR": Purpose.ALLOCATOR,
}


_ONE_EACH = "Run each pass of the loop in a process of its own"


class EnvAfterInit(Rule):
    """An environment variable is set after TensorFlow has read it.

    What it does
    ------------
    Finds assignments to ``os.environ`` that come too late. TensorFlow reads ``CUDA_VISIBLE_DEVICES`` when it lists the
    devices for the first time (``list_physical_devices`` is enough). It reads ``TF_FORCE_GPU_ALLOW_GROWTH``,
    ``TF_GPU_ALLOCATOR`` and the other variables of the allocator when it creates the GPU devices. The import of
    TensorFlow reads none of them, so an assignment after the import is fine.

    Finds variables that are set for a process by what it gets as an argument, below the line that starts it: it has a
    copy of those that were set before.

    Why it matters
    --------------
    Nothing is raised and nothing is logged: the program runs on all GPUs and takes all of their memory.

    Example
    -------
    ```python
    import os
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    os.environ["CUDA_VISIBLE_DEVICES"] = "0"
    ```

    Use instead
    -----------
    ```python
    import os
    import tensorflow as tf

    os.environ["CUDA_VISIBLE_DEVICES"] = "0"
    gpus = tf.config.list_physical_devices("GPU")
    ```
    """

    code = "TFM105"
    name = "env-after-init"
    severity = Severity.ERROR
    triggers = (
        "VISIBLE_DEVICES",
        "TF_GPU",
        "TF_FORCE_GPU",
        SET_FROM_FILES,
        r"(?:TF_|CUDA_)\w{0,60}(?:GROW|GROT|MEM|FRACTION|ALLOC|DEVI[CS]|GPU)",
    )
    whole_program = True
    fixable = "sometimes"

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each write that gives a variable another value after TensorFlow has read it."""
        for write in program.of(EnvWrite):
            moment = read_at(write.name)
            which = _PHASES.get(moment) if moment is not None else None
            if which is None or write.state.max_gpus == 0:
                # Without a GPU nothing can be too late.
                continue
            phase = getattr(write.state, which).under(write.guards)
            before = write.state.env.get(write.name)
            if phase.has not in (Tri.YES, Tri.MAYBE):
                continue
            again = write.repeated and write.varies
            if before is not None and before == write.value and not (again and write.value == UNKNOWN):
                continue
            if _is_set_once_more(program, write, before) or _is_read_anew(program, write):
                continue
            if is_for_the_next_program(program, write) or hides_what_is_hidden(write) or puts_back(program, write):
                continue
            start = phase.by
            # The variable may already have the same value, so that nothing is lost.
            same = before is not None and UNKNOWN in (before, write.value)
            certain = phase.has is Tri.YES and write.certain and not write.state.entry_unknown and not same
            certain = certain and not isinstance(write.value, FileValue)
            read = f"{written(start.text)} {in_line(start)}" if start is not None else "something before"
            what = f"Set {write.name}"
            value = write.value.value if isinstance(write.value, (Const, FileValue)) else None
            verb = "lists the GPUs" if which == "listed" else "makes the GPU devices"
            told = file_trace(write.value, write, write.span)[:1]
            yield self.finding(
                program,
                write,
                f"{write.name} is set after TensorFlow has read it: {read} {verb}",
                severity=Severity.ERROR if certain else Severity.WARNING,
                intent=Intent(
                    _PURPOSES.get(write.name, Purpose.OTHER),
                    value=True if write.name == "TF_FORCE_GPU_ALLOW_GROWTH" and value == "true" else None,
                    text="" if write.name == "TF_FORCE_GPU_ALLOW_GROWTH" else (write.text or str(value)),
                ),
                outcome=f"TensorFlow keeps using the value that {write.name} had before; nothing is raised",
                advice=_ONE_EACH
                if write.varies
                else where_to(start, write, what)
                if start is not None
                else f"{what} at the program's start",
                # A process lists its devices once: no pass but the first could have others.
                fixable=not write.varies,
                trace=told + start_trace(start, write, f"{write.name} is set too late"),
                notes=fork_notes(write),
                anchors={**start_anchors(start, write), **fork_anchors(write)},
                details={
                    **fork_details(write),
                    "later_pass": again,
                    **{name: place + len(told) for name, place in start_details(start, write).items()},
                    "test": which != "listed"
                    and start is not None
                    and start.path == write.path
                    and start.name in GPU_TESTS,
                },
            )

        for found in set_after_child(program):
            write, row = found.write, found.start.row
            yield self.finding(
                program,
                write,
                f"{write.name} is set after line {row} has started the process that it is for",
                severity=Severity.WARNING,
                intent=Intent(_PURPOSES.get(write.name, Purpose.OTHER), text=write.text),
                outcome="Nothing is raised; the process keeps the value that it has been started with",
                advice=f"Set {write.name} " + (f"above line {row}" if found.may_move else "in the process itself"),
                trace=(Step(write.path, found.start, "starts the process"),),
                fixable=found.may_move,
                anchors={"start": found.start},
                details={"kind": CHILD},
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Move the assignment above what reads the variable, or replace a test for GPUs that reads it."""
        if finding.details.get("kind") == CHILD:
            editor.carry_up([editor.statement_at(finding.span)], editor.statement_at(finding.anchors["start"]))
            editor.unsafe("Set it before the process starts")
            return
        if finding.details["test"]:
            from tfmemlint.fixes.rewrites import device_listing

            device_listing.replace_gpu_test(editor, finding.anchors["start"])
            return
        editor.statement_at(finding.span)
        editor.move_above_start(finding, editor.ENVIRONMENT_SET)


def _is_read_anew(program: Program, write: EnvWrite) -> bool:
    """Return True if a session that is made afterwards may read the variable for its own devices.

    Where a session has read it, the program works with sessions. So do Estimators.
    """
    known = VARIABLES.get(write.name)
    if known is None or not known.of_each_session:
        return False
    first = write.state.allocator.under(write.guards).by
    if first is not None and first.name in SESSIONS:
        return True
    later = itertools.dropwhile(lambda event: event is not write, program.events)
    return any(
        isinstance(event, SessionMade) or (isinstance(event, Call) and "stimator" in event.name) for event in later
    )


def _is_set_once_more(program: Program, write: EnvWrite, before: Value | None) -> bool:
    """Return True if the same constant may be set already: on some way to here, or as the same line ran before; or if
    all of its flags are."""
    if not isinstance(write.value, Const):
        return False
    if isinstance(before, Const) and write.name == "TF_XLA_FLAGS":
        return set(str(write.value.value).split()) <= set(str(before.value).split())
    if isinstance(before, Choice):
        return write.value in before.options
    if before != UNKNOWN:
        return False
    earlier = itertools.takewhile(lambda event: event is not write, program.of(EnvWrite))
    return any((event.path, event.span, event.value) == (write.path, write.span, write.value) for event in earlier)
