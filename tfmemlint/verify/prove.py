"""Prove one program: find its intents, run its slices, and judge each intent."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tfmemlint.engine.whole_program import Whole, whole_of
from tfmemlint.intents import Wanted, entries, wanted_by
from tfmemlint.interpreter.program import Program
from tfmemlint.sources import Source
from tfmemlint.sources.line_map import Rows
from tfmemlint.verify.judge import asked_for, died_elsewhere, judge, judge_elsewhere
from tfmemlint.verify.observation import Observation
from tfmemlint.verify.run_options import RunOptions, facts_of, gpus_named
from tfmemlint.verify.slicing.slices import CannotSlice, Slice, missing_argument, slice_program
from tfmemlint.verify.verdict import Verdict, VerdictKind

__all__ = ["Proof", "ProofRun", "RunOptions", "gpus_named", "prove", "prove_fixed"]

if TYPE_CHECKING:
    from tfmemlint.deployment.launches import Launch
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.verify.ground import Ground
    from tfmemlint.verify.result import Result


@dataclass(slots=True)
class ProofRun:
    """One run of an entry point.

    Attributes:
        entry: ``module``, or the function that was called. slice: the slice that was run; None for the whole program.
        seen: its observations; None if nothing could be run. verdicts: one for each intent of the entry point.
        before: the verdicts on the text before its fixes, if ``verdicts`` are those on the text after them.
        written: then, one verdict for each intent that the fixes themselves have written, with rows of the new text.
        notes: what a reader has to know, a sentence each. failure: the output of a program that failed.
    """

    entry: str
    slice: Slice | None
    seen: Observation | None
    verdicts: list[Verdict]
    before: list[Verdict] | None = None
    written: list[Verdict] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failure: str = ""


@dataclass(slots=True)
class Proof:
    """The result for one file.

    Attributes:
        path: the file. gpus: the number of GPUs of its runs. runs: one for each entry point with an intent.
        problem: why nothing could be run, or "". fixes: the number of fixes that were applied, None if none were tried.
        rows: of the program's files. rows_after: those after the fixes.
        begun: how a configuration file starts the program; None for a start by hand.
    """

    path: str
    gpus: int = 0
    runs: list[ProofRun] = field(default_factory=list)
    problem: str = ""
    fixes: int | None = None
    rows: Rows | None = None
    rows_after: Rows | None = None
    begun: Launch | None = None

    def rows_of(self, run: ProofRun) -> Rows | None:
        """Return the rows of the files that ``run`` is a run of."""
        return self.rows_after if run.before is not None else self.rows

    @property
    def verdicts(self) -> list[Verdict]:
        """Return the verdicts of all runs."""
        return [verdict for run in self.runs for verdict in run.verdicts]


def prove(source: Source, ground: Ground, conditions: RunOptions, target: Target, begun: Launch | None = None) -> Proof:
    """Return the proof of a program: its intents, and what the running TensorFlow makes of each.

    Args:
        begun: how a configuration file starts it. It is run with the variables of that start, and functions that
            nothing calls are left out.

    Raises:
        SyntaxError, ValueError: it can't be parsed.
        GroundError: the ground failed.
    """
    whole_program = whole_of(source, target, begun=begun)
    program = whole_program.program
    wishes = [one for one in _wishes(whole_program) if begun is None or one.entry == "module"]
    gpus = conditions.gpus if conditions.gpus is not None else gpus_named(program, wishes)
    proof = Proof(source.path, gpus, rows=whole_program.rows, begun=begun)
    whole = _whole(whole_program, wishes, ground, conditions, gpus) if wishes else None
    for entry in dict.fromkeys(one.entry for one in wishes):
        mine = [one for one in wishes if one.entry == entry]
        run = _run(whole_program, mine, entry, ground, conditions, gpus, whole)
        if run.seen is not None:
            # What it is started with is there before its first line.
            run.seen.reached.update(one.statement.row for one in whole_program.environment)
            facts = facts_of(ground, run.seen.result, conditions, gpus)
            run.verdicts = [judge(one, run.seen, facts, [other.span for other in mine]) for one in mine]
            missing = missing_argument(program, entry, run.seen.result.traceback_line) if run.slice is not None else ""
            if missing:
                reason = f"{entry}() is called here without arguments, and fails as {missing} is None then"
                reason += "; verify the program that calls it"
                run.verdicts = [Verdict(one, VerdictKind.UNPROVEN, reason=reason) for one in mine]
        run.verdicts = _told(run.verdicts, whole_program.rows)
        proof.runs.append(run)
    return proof


def prove_fixed(
    source: Source, fixed: str, ground: Ground, conditions: RunOptions, target: Target, fixes: int
) -> Proof:
    """Return the proof of a program before and after its fixes.

    Raises:
        SyntaxError, ValueError: it can't be parsed.
        GroundError: the ground failed.
    """
    proof = prove(source, ground, conditions, target)
    proof.fixes = fixes
    whole_program = whole_of(Source(source.path, fixed), target)
    proof.rows_after = whole_program.rows
    wishes = _wishes(whole_program)
    changed = _changed(source.text, fixed)
    whole = _whole(whole_program, wishes, ground, conditions, proof.gpus) if proof.runs else None
    for run in proof.runs:
        mine = [one for one in wishes if one.entry == run.entry]
        after = _run(whole_program, mine, run.entry, ground, conditions, proof.gpus, whole, changed)
        run.before = run.verdicts
        run.notes += [note for note in after.notes if note not in run.notes]
        run.failure = after.failure
        fresh = [
            one for one in mine if not set(changed).isdisjoint(range(one.statement.row, one.statement.end_row + 1))
        ]
        if after.seen is None:
            run.verdicts = after.verdicts or [Verdict(one.wanted, VerdictKind.UNPROVEN) for one in run.before]
            run.written = [Verdict(one, VerdictKind.UNPROVEN) for one in fresh]
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
        run.verdicts = _told(run.verdicts, whole_program.rows)
        run.written = _told(run.written, whole_program.rows)
    return proof


def _told(verdicts: Sequence[Verdict], rows: Rows) -> list[Verdict]:
    """Return ``verdicts`` with the rows in their sentences as people read them."""
    return [
        replace(one, reason=rows.words(one.reason), configuration=rows.words(one.configuration)) for one in verdicts
    ]


def _wishes(whole: Whole) -> list[Wanted]:
    """Return the intents of a program, without functions of its other modules that it never calls."""
    path = whole.program.source.path
    found: list[Wanted] = []
    for entry, events in entries(whole.program):
        if entry == "module" or any(event.path == path for event in events):
            found.extend(wanted_by(entry, events))
    return found


def _run(
    whole_program: Whole,
    wishes: Sequence[Wanted],
    entry: str,
    ground: Ground,
    conditions: RunOptions,
    gpus: int,
    whole: Observation | None,
    changed: Sequence[int] = (),
) -> ProofRun:
    program, rows = whole_program.program, whole_program.rows
    if whole is not None:
        if entry != "module" and whole.reached.isdisjoint(one.statement.row for one in wishes):
            reason = f"the program never calls {entry}(), or not before it uses a GPU; verify the program that calls it"
            return ProofRun(entry, None, None, [Verdict(one, VerdictKind.UNPROVEN, reason=reason) for one in wishes])
        return ProofRun(entry, None, whole, [], failure=rows.output(_failure(whole.result)))
    try:
        part = _cut(whole_program, wishes, entry, changed)
    except CannotSlice as reason:
        return ProofRun(entry, None, None, [Verdict(one, VerdictKind.UNPROVEN, reason=str(reason)) for one in wishes])
    result = _start(part.text, whole_program, ground, conditions, gpus, part.marks, modules=part.modules)
    notes: list[str] = []
    line = result.traceback_line
    if line is not None and result.error and (line in part.local or _lacks_something(result, line, program)):
        # What a module of the project needs may be missing here; what it does can't be seen then.
        where = "" if line <= len(program.source.lines) else f"{rows.shown(line)}: "
        notes.append(f"left out, because it fails here ({result.error}): {where}{rows.text(line).strip()}")
        part = _cut(whole_program, wishes, entry, changed, local=False)
        result = _start(part.text, whole_program, ground, conditions, gpus, part.marks, modules=part.modules)
    return ProofRun(entry, part, Observation(result), [], notes=notes, failure=rows.output(_failure(result)))


def _cut(whole: Whole, wishes: Sequence[Wanted], entry: str, changed: Sequence[int], *, local: bool = True) -> Slice:
    """Return the slice of a program, with the call at its end that a command of its project makes."""
    end = whole.function if entry == "module" else ""
    return slice_program(
        whole.program, wishes, entry, local=local, rows=changed, files=whole.files, own=whole.is_own, called=end
    )


def _lacks_something(result: Result, line: int, program: Program) -> bool:
    """True if a module of the program ends it because something is missing here."""
    return line > len(program.source.lines) and died_elsewhere(result)


def _whole(
    whole: Whole, wishes: Sequence[Wanted], ground: Ground, conditions: RunOptions, gpus: int
) -> Observation | None:
    """Return the one run of the program itself for all of its entry points, if it is requested."""
    if not conditions.whole:
        return None
    given = {one.statement.row for one in whole.environment}
    rows = frozenset(one.statement.row for one in wishes) - given
    # Whether anything calls a function that nothing in the file calls shows up to the first use of a GPU, or never.
    stop = frozenset(one.statement.row for one in wishes if one.entry == "module") - given
    text = whole.program.source.text
    if whole.function:
        text = f"{text.rstrip()}\n\n{whole.function}()\n"
    modules = {path: one.source.text for path, one in whole.files.items()}
    return Observation(_start(text, whole, ground, conditions, gpus, rows, stop, modules=modules))


def _start(
    text: str,
    whole: Whole,
    ground: Ground,
    conditions: RunOptions,
    gpus: int,
    rows: frozenset[int],
    stop: frozenset[int] | None = None,
    *,
    modules: Mapping[str, str] | None = None,
) -> Result:
    return ground.run(
        text,
        gpus=gpus,
        memory_mib=[conditions.memory_mib] * gpus,
        filename=str(Path(whole.program.source.path).resolve()),
        env={**conditions.env, **whole.variables},
        argv=conditions.argv,
        timeout=conditions.timeout,
        host_mib=conditions.host_mib,
        cwd=conditions.cwd,
        rows=rows,
        stop=stop,
        modules=modules,
        imported=whole.imported,
        package=whole.package,
        path=whole.path,
    )


def _changed(old: str, new: str) -> list[int]:
    """Return the rows of the new text that fixes have written. All of them are run."""
    matcher = difflib.SequenceMatcher(None, old.split("\n"), new.split("\n"), autojunk=False)
    return [row + 1 for tag, _, _, first, end in matcher.get_opcodes() if tag != "equal" for row in range(first, end)]


def _failure(result: Result) -> str:
    """Return the last output of a program that failed, for a person to read."""
    if result.ok and not result.exit_code:
        return ""
    lines = (result.stdout + result.stderr).strip().splitlines()
    return "\n".join(line[:500] for line in lines[-20:])
