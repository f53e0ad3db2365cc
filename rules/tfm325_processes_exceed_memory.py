"""TFM325: processes that share a GPU are given more memory together than it has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import EnvWrite
from tfmemlint.interpreter.state.workers import WorkersRun
from tfmemlint.interpreter.values import Const
from tfmemlint.model.finding import Finding, Severity, Step
from tfmemlint.model.intent import Intent, Purpose
from tfmemlint.rulekit.gpu_listings import listings_in
from tfmemlint.rulekit.memory_totals import TOLERANCE, stated_totals
from tfmemlint.rulekit.rule import Rule
from tfmemlint.rulekit.worker_claims import Claim, claims_of
from tfmemlint.rulekit.worker_numbers import is_known_to

if TYPE_CHECKING:
    from tfmemlint.fixes.editor import Editor
    from tfmemlint.interpreter.program import Program


class ProcessesExceedMemory(Rule):
    """Processes that share a GPU are given more memory together than it has.

    What it does
    ------------
    Finds processes of one program that run beside each other (``multiprocessing.Process`` in a loop, a ``Pool``, a
    ``ProcessPoolExecutor``) and take memory of the same GPU: shares that add up to more than 1, and limits
    that add up to more than the memory of the GPU, where its size is known (``--gpu-memory``, or a constant of the
    program such as ``TOTAL_MB``). A limit that is all of that memory is too much for each of several processes.

    Processes that get GPUs of their own, that run one after the other, or whose memory grows, are left alone.

    Why it matters
    --------------
    A limit and a share hold for one process; TensorFlow knows nothing of the others. Each takes its part as soon
    as it uses the GPU. Those that come last find less than they were promised: TensorFlow asks for less and less until
    the driver grants it, and raises nothing before the memory is used up.

    Example
    -------
    ```python
    import multiprocessing

    import tensorflow as tf

    TOTAL_MB = 16384
    WORKERS = 4


    def work(number):
        gpus = tf.config.list_physical_devices("GPU")
        limit = tf.config.LogicalDeviceConfiguration(memory_limit=TOTAL_MB)
        tf.config.set_logical_device_configuration(gpus[0], [limit])
        print(number, tf.random.normal([2]))


    if __name__ == "__main__":
        context = multiprocessing.get_context("spawn")
        processes = [context.Process(target=work, args=(number,)) for number in range(WORKERS)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
    ```

    Use instead
    -----------
    ```python
    import multiprocessing

    import tensorflow as tf

    TOTAL_MB = 16384
    WORKERS = 4


    def work(number):
        gpus = tf.config.list_physical_devices("GPU")
        limit = tf.config.LogicalDeviceConfiguration(memory_limit=TOTAL_MB // WORKERS)
        tf.config.set_logical_device_configuration(gpus[0], [limit])
        print(number, tf.random.normal([2]))


    if __name__ == "__main__":
        context = multiprocessing.get_context("spawn")
        processes = [context.Process(target=work, args=(number,)) for number in range(WORKERS)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
    ```

    Ground
    ------
    Only a GPU that several processes use shows this.
    """

    code = "TFM325"
    name = "processes-exceed-memory"
    severity = Severity.ERROR
    fixable = "sometimes"
    whole_program = True
    sees_launch_environment = True
    triggers = ("memory_limit", "(?:Logical|Virtual)DeviceConfiguration", "per_process_gpu_memory_fraction")

    def check(self, program: Program) -> Iterator[Finding]:
        """Yield the setting that is too much for each of several processes, once."""
        groups = list(program.of(WorkersRun))
        if not groups or _is_chosen_by_parent(program):
            return
        reported: set[object] = set()
        listings = frozenset(name for unit in program.units for name in listings_in(unit.tree))
        for group in groups:
            claims = [claim for run in group.runs for claim in claims_of(run, listings)]
            for share in (True, False):
                for key in dict.fromkeys(claim.key for claim in claims):
                    alike = [claim for claim in claims if claim.key == key and claim.is_share is share]
                    found = self._judge(program, group, alike)
                    if found is not None and (found.path, found.span) not in reported:
                        reported.add((found.path, found.span))
                        yield found

    def _judge(self, program: Program, group: WorkersRun, claims: list[Claim]) -> Finding | None:
        """Return what is wrong with what several processes take of one GPU; None if it fits, or that is not known."""
        number = sum(claim.times for claim in claims)
        if number < 2:
            return None
        last = claims[-1]
        together = sum(claim.amount * claim.times for claim in claims)
        name, size = ("", 1.0) if last.is_share else _size(program, claims)
        if not size or together <= size * TOLERANCE or max(claim.amount for claim in claims) > size * TOLERANCE:
            return None
        one_place = len({(claim.event.path, claim.span) for claim in claims}) == 1
        same = one_place and len({claim.amount for claim in claims}) == 1
        everyone = number == sum(run.times for run in group.runs)
        one_function = len({run.function for run in group.runs}) == 1
        beside = everyone and one_function and is_known_to(program, group, group.runs[0], last.event)
        details = {
            "number": (everyone and group.text) or str(number),
            "total": name,
            "made_in": group.made_in,
            "beside": beside,
        }
        return self.finding(
            program,
            last.event,
            _message(claims, number if same else 0, name, size),
            span=last.span,
            severity=Severity.ERROR if group.sure and not group.state.entry_unknown else Severity.WARNING,
            intent=_intent(last),
            outcome="Nothing is raised at first: the processes that come first get their part, the last ones get what "
            "is left",
            advice=f"Give each of them at most {int(100 / number) / 100:g}"
            if last.is_share and same and not last.whole
            else "Divide the memory by the number of processes",
            trace=(
                *group.frames,
                Step(group.path, group.span, _runs(number, last.function)),
                *last.event.frames,
                Step(last.event.path, last.span, "each of them takes this"),
            )
            if same
            else (),
            fixable=same and (last.whole or not last.is_share),
            details=details,
        )

    def fix(self, finding: Finding, editor: Editor) -> None:
        """Divide the limit by the number of processes."""
        from tfmemlint.fixes.rewrites import divided_limits

        divided_limits.divide(editor, finding)


def _runs(number: int, function: str) -> str:
    return f"{number} processes run {function}()" if function else f"{number} processes run this program again"


def _intent(claim: Claim) -> Intent:
    if claim.whole:
        return Intent(Purpose.LIMIT, "", None, claim.text)
    return Intent(Purpose.FRACTION if claim.is_share else Purpose.LIMIT, "", claim.amount, claim.text)


def _message(claims: list[Claim], number: int, name: str, size: float) -> str:
    """Return what is wrong; ``number`` is 0 where not all processes take the same."""
    each, together = claims[-1].amount, sum(claim.amount * claim.times for claim in claims)
    shown = " + ".join(f"{claim.amount:g}" for claim in claims for _ in range(claim.times))
    if claims[-1].whole and number:
        return f"{number} processes take all of the memory of one GPU each: {claims[-1].text}"
    if claims[-1].is_share and number:
        return f"{number} processes take {each:g} of one GPU's memory each, together {together:g}"
    if claims[-1].is_share:
        return f"Processes that run beside each other take {shown} = {together:g} of one GPU's memory"
    limit = f"{name} is {size:g} MiB" if name else f"a GPU has {size:g} MiB"
    if number:
        return f"{number} processes take {each:g} MiB of one GPU each, together {together:g} MiB, where {limit}"
    return f"Processes that run beside each other take {shown} = {together:g} MiB of one GPU, where {limit}"


def _is_chosen_by_parent(program: Program) -> bool:
    """True if the program may show another GPU to each of the processes that it starts."""
    values = [
        write.value
        for write in program.of(EnvWrite)
        if write.name == "CUDA_VISIBLE_DEVICES" and not write.state.in_child_process
    ]
    return any(not isinstance(value, Const) for value in values) or len(set(values)) > 1


def _size(program: Program, claims: list[Claim]) -> tuple[str, float]:
    """Return the memory of a GPU in MiB, with the name that the program has for it; 0 if nobody says it."""
    if program.gpu_memory_mib is not None:
        return "", program.gpu_memory_mib
    parts = {claim.part for claim in claims}
    if len(parts) == 1 and None not in parts:
        return parts.pop() or ("", 0.0)
    found: set[tuple[str, float]] = set()
    for unit in program.units:
        found |= stated_totals(unit.tree) or set()
    return found.pop() if len(found) == 1 else ("", 0.0)
