"""Proving one program: its intents, its slices, their runs, and a verdict for each intent."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tfmemlint.flow import analyze
from tfmemlint.flow.program import EnvWrite, Program
from tfmemlint.flow.values import Const
from tfmemlint.intent import Wish
from tfmemlint.sources import Source
from tfmemlint.verify.edge.machine import DEFAULT_MIB
from tfmemlint.verify.grounds import MOST_GPUS
from tfmemlint.verify.judge import asked_for, judge, judge_elsewhere
from tfmemlint.verify.seen import Seen
from tfmemlint.verify.slices import CannotCut, Slice, cut
from tfmemlint.verify.verdict import Facts, Kind, Verdict
from tfmemlint.wanted import Wanted, wanted

if TYPE_CHECKING:
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.verify.ground import Ground
    from tfmemlint.verify.result import Result

_NUMBERED = re.compile(r"\bgpus?\[(\d+)\]|\bGPU:(\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Conditions:
    """Under which conditions programs are run.

    Attributes:
        gpus: how many GPUs a simulated machine has; None for as many as the program names.
        memory_mib: the memory of each of them, in MiB.
        timeout: seconds for one run. host_mib: MiB of this machine's own memory that one run may take.
        argv: the program's arguments. whole: run the program itself, not its slice.
        cwd: the folder to run in; None for an empty one.
    """

    gpus: int | None = None
    memory_mib: int = DEFAULT_MIB
    timeout: float = 60.0
    host_mib: float | None = 8192.0
    argv: tuple[str, ...] = ()
    whole: bool = False
    cwd: str | None = None


@dataclass(slots=True)
class Run:
    """One run of an entry point.

    Attributes:
        entry: ``module``, or the function that was called. slice: what was run; None for the whole program.
        seen: what was seen; None where nothing could be run. verdicts: one for each intent of the entry point.
        before: the verdicts on the text as it is, where ``verdicts`` are those on the text after its fixes.
        written: then, one verdict for each intent that the fixes themselves have written, in terms of the new text.
        notes: what a reader has to know, a sentence each. failure: the output of a program that failed.
    """

    entry: str
    slice: Slice | None
    seen: Seen | None
    verdicts: list[Verdict]
    before: list[Verdict] | None = None
    written: list[Verdict] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failure: str = ""


@dataclass(slots=True)
class Proof:
    """All that was found out about one file.

    Attributes:
        path: the file. gpus: how many GPUs its runs had. runs: one for each entry point that wants something.
        problem: why nothing could be run, or "". fixes: how many fixes were applied, None where none were tried.
    """

    path: str
    gpus: int = 0
    runs: list[Run] = field(default_factory=list)
    problem: str = ""
    fixes: int | None = None

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdicts of all runs."""
        return [verdict for run in self.runs for verdict in run.verdicts]


def prove(source: Source, ground: Ground, conditions: Conditions, target: Target) -> Proof:
    """What the running TensorFlow makes of each intent of a program.

    Raises:
        SyntaxError, ValueError: it can't be parsed.
        GroundError: the ground failed.
    """
    program = analyze(source, target)
    wishes = wanted(program)
    gpus = conditions.gpus if conditions.gpus is not None else gpus_named(program, wishes)
    proof = Proof(source.path, gpus)
    whole = _whole(program, wishes, ground, conditions, gpus) if wishes else None
    for entry in dict.fromkeys(one.entry for one in wishes):
        mine = [one for one in wishes if one.entry == entry]
        run = _run(program, mine, entry, ground, conditions, gpus, whole)
        if run.seen is not None:
            facts = facts_of(ground, run.seen.result, conditions, gpus)
            run.verdicts = [judge(one, run.seen, facts, [other.span for other in mine]) for one in mine]
        proof.runs.append(run)
    return proof


def prove_fixed(
    source: Source, fixed: str, ground: Ground, conditions: Conditions, target: Target, fixes: int
) -> Proof:
    """What becomes of the intents of a program before and after its fixes.

    Raises:
        SyntaxError, ValueError: it can't be parsed.
        GroundError: the ground failed.
    """
    proof = prove(source, ground, conditions, target)
    proof.fixes = fixes
    program = analyze(Source(source.path, fixed), target)
    wishes = wanted(program)
    changed = _changed(source.text, fixed)
    whole = _whole(program, wishes, ground, conditions, proof.gpus) if proof.runs else None
    for run in proof.runs:
        mine = [one for one in wishes if one.entry == run.entry]
        after = _run(program, mine, run.entry, ground, conditions, proof.gpus, whole, changed)
        run.before = run.verdicts
        run.notes += [note for note in after.notes if note not in run.notes]
        run.failure = after.failure
        fresh = [
            one for one in mine if not set(changed).isdisjoint(range(one.statement.row, one.statement.end_row + 1))
        ]
        if after.seen is None:
            run.verdicts = after.verdicts or [Verdict(one.wanted, Kind.UNPROVEN) for one in run.before]
            run.written = [Verdict(one, Kind.UNPROVEN) for one in fresh]
            continue
        facts = facts_of(ground, after.seen.result, conditions, proof.gpus)
        run.written = [judge(one, after.seen, facts, [other.span for other in mine]) for one in fresh]
        original = run.seen
        run.verdicts = [
            judge_elsewhere(
                one.wanted, after.seen, facts, asked_for(one.wanted, original) if original is not None else []
            )
            for one in run.before
        ]
        run.seen, run.slice = after.seen, after.slice
    return proof


def _run(
    program: Program,
    wishes: Sequence[Wanted],
    entry: str,
    ground: Ground,
    conditions: Conditions,
    gpus: int,
    whole: Seen | None,
    changed: Sequence[int] = (),
) -> Run:
    if whole is not None:
        if entry != "module" and whole.reached.isdisjoint(one.statement.row for one in wishes):
            reason = f"the program never calls {entry}(), or not before it uses a GPU; verify the program that calls it"
            return Run(entry, None, None, [Verdict(one, Kind.UNPROVEN, reason=reason) for one in wishes])
        return Run(entry, None, whole, [], failure=_failure(whole.result))
    try:
        part = cut(program, wishes, entry, rows=changed)
    except CannotCut as reason:
        return Run(entry, None, None, [Verdict(one, Kind.UNPROVEN, reason=str(reason)) for one in wishes])
    result = _start(part.text, program, ground, conditions, gpus, part.marks)
    notes: list[str] = []
    if result.error and result.traceback_line in part.local:
        # What a module of the project needs may be missing here; what it does can't be seen then.
        line = program.source.lines[result.traceback_line - 1].strip()
        notes.append(f"left out, because it fails here ({result.error}): {line}")
        part = cut(program, wishes, entry, local=False, rows=changed)
        result = _start(part.text, program, ground, conditions, gpus, part.marks)
    return Run(entry, part, Seen(result), [], notes=notes, failure=_failure(result))


def _whole(
    program: Program, wishes: Sequence[Wanted], ground: Ground, conditions: Conditions, gpus: int
) -> Seen | None:
    """The run of the program itself, where that is asked for: one for all of its entry points."""
    if not conditions.whole:
        return None
    rows = frozenset(one.statement.row for one in wishes)
    # Whether anything calls a function that nothing in the file calls shows up to the first use of a GPU, or never.
    stop = frozenset(one.statement.row for one in wishes if one.entry == "module")
    return Seen(_start(program.source.text, program, ground, conditions, gpus, rows, stop))


def _start(
    text: str,
    program: Program,
    ground: Ground,
    conditions: Conditions,
    gpus: int,
    rows: frozenset[int],
    stop: frozenset[int] | None = None,
) -> Result:
    return ground.run(
        text,
        gpus=gpus,
        memory_mib=[conditions.memory_mib] * gpus,
        filename=str(Path(program.source.path).resolve()),
        argv=conditions.argv,
        timeout=conditions.timeout,
        host_mib=conditions.host_mib,
        cwd=conditions.cwd,
        rows=rows,
        stop=stop,
    )


def facts_of(ground: Ground, result: Result, conditions: Conditions, gpus: int) -> Facts:
    """What is known of the ground of a run."""
    total: list[float] = [float(conditions.memory_mib)] * gpus
    if ground.kind == "gpu":
        devices = (result.probe or {}).get("devices", [])
        total = [0.0] * result.physical
        for device in devices:
            total[device["physical"]] = float(device["total_mib"] or 0.0)
    return Facts(ground.kind, tuple(total), ground.overhead_mib())


def gpus_named(program: Program, wishes: Sequence[Wanted]) -> int:
    """How many GPUs a machine needs to have all that a program names; at least one."""
    numbers = [one.gpu for one in wishes if isinstance(one.gpu, int)]
    for match in _NUMBERED.finditer(program.source.text):
        numbers.append(int(match[1] or match[2]))
    for write in program.of(EnvWrite):
        value = write.value.value if isinstance(write.value, Const) else None
        if write.name == "CUDA_VISIBLE_DEVICES" and isinstance(value, str):
            numbers += [int(part) for part in value.split(",") if part.strip().isdigit()]
    for wish in wishes:
        if wish.intent.wish is Wish.VISIBLE and isinstance(wish.intent.value, str):
            numbers += [int(part) for part in wish.intent.value.split(",") if part.strip().isdigit()]
    return min(max(numbers, default=0) + 1, MOST_GPUS)


def _changed(old: str, new: str) -> list[int]:
    """The rows of the new text that fixes have written: what they put there is to be run, whatever it is."""
    matcher = difflib.SequenceMatcher(None, old.split("\n"), new.split("\n"), autojunk=False)
    return [row + 1 for tag, _, _, first, end in matcher.get_opcodes() if tag != "equal" for row in range(first, end)]


def _failure(result: Result) -> str:
    """What a program that failed had said, for a person to read."""
    if result.ok and not result.exit_code:
        return ""
    lines = (result.stdout + result.stderr).strip().splitlines()
    return "\n".join(line[:500] for line in lines[-20:])
