"""TFM312: A GPU is chosen by the rank of the process among the processes of all machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import RankTaken
from tfmemlint.knowledge.functions import RANKS
from tfmemlint.model.finding import Finding, Severity, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.rule import Rule
from tfmemlint.rulekit.start_trace import written

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program

_OUTCOMES = {
    "index": "On the second machine, where the rank of the first process equals the number of GPUs, Python raises "
    "IndexError: list index out of range",
    "list": "On the second machine the session raises InvalidArgumentError: 'visible_device_list' listed an invalid "
    "Device id",
    "environment": "On the second machine the variable names a GPU that is not there; nothing is raised, and the "
    "process runs on the CPU",
}


class RankIsNotLocalRank(Rule):
    """A GPU is chosen by the rank of the process among the processes of all machines.

    What it does
    ------------
    Finds ``hvd.rank()`` (of Horovod, BytePS or SageMaker's library) and MPI's ``COMM_WORLD.Get_rank()`` as the index of
    a GPU, in ``visible_device_list`` or in ``CUDA_VISIBLE_DEVICES``, also where it comes through a field, a property or
    a function of another module, and where it is 0 without Horovod (``hvd.rank() if hvd else 0``). A rank that is
    reduced first (``rank % len(gpus)``), or that is used under a condition about ranks, is not reported.

    Why it matters
    --------------
    Each machine numbers its GPUs from 0; ranks continue from machine to machine. On one machine the two are the same.
    On the second machine, the rank is the number of a GPU that does not exist there.

    Example
    -------
    ```python
    import horovod.tensorflow as hvd
    import tensorflow as tf

    hvd.init()
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[hvd.rank()], "GPU")
    ```

    Use instead
    -----------
    ```python
    import horovod.tensorflow as hvd
    import tensorflow as tf

    hvd.init()
    gpus = tf.config.list_physical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
    ```

    Seen as
    -------
    ``IndexError: list index out of range``, on the second machine

    Ground
    ------
    Needs Horovod and two machines; the fixtures stand in for them.
    """

    code = "TFM312"
    name = "rank-is-not-local-rank"
    severity = Severity.WARNING
    triggers = ("(?:logical|physical|visible)_device", "VISIBLE_DEVICES")
    fixable = "sometimes"
    whole_program = True

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield each choice of a GPU by the global rank of the process."""
        for taken in program.of(RankTaken):
            if any(word in text for text, _ in taken.guards for word in ("rank", "size", "local")):
                continue
            local, rank = RANKS[taken.rank.name], taken.rank
            span = taken.given or taken.span
            here = rank.path == taken.path and taken.statement.contains(rank.span)
            caught = taken.how == "index" and taken.handler_for("IndexError") is not None
            yield self.finding(
                program,
                taken,
                f"{written(rank.text)}() counts the processes of all machines, but GPUs are numbered on each machine",
                span=span,
                intent=Intent(Purpose.VISIBLE, text="the process's own GPU"),
                outcome=_OUTCOMES[taken.how]
                if not caught
                else "On the second machine the process gets no GPU of its own",
                advice=f"Use {local.rsplit('.', 1)[-1]}()"
                if local
                else "Use the rank among the processes of the machine",
                trace=() if here else _trace(taken),
                fixable=bool(local) and rank.path == taken.path,
                noqa_row=span.end_row,
                anchors={"rank": rank.span, "given": span},
                details={"function": rank.function == taken.function},
            )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Use the local rank."""
        from tfmemlint.fixes.rewrites import local_rank

        local_rank.make_local(editor, finding)


def _trace(taken: RankTaken) -> tuple[Step, ...]:
    rank = taken.rank
    return (
        Step(rank.path, rank.span, "asks for the number among all processes"),
        Step(taken.path, taken.given or taken.span, "takes the GPU of that number"),
    )
