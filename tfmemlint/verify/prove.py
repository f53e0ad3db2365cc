"""Prove one program: find its intents, run its slices, and judge each intent."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tfmemlint.engine.whole_program import Whole, whole_of
from tfmemlint.intents import StatedIntent, entries, intents_of
from tfmemlint.interpreter.program import EnvWrite, Program
from tfmemlint.rulekit.env_writes import is_for_the_next_program
from tfmemlint.sources import Source
from tfmemlint.sources.line_map import Rows
from tfmemlint.verify.counterparts import counterparts, without_those_taken_out
from tfmemlint.verify.judge import asked_for, died_elsewhere, judge, judge_elsewhere
from tfmemlint.verify.observation import Observation
from tfmemlint.verify.read_files import read_files
from tfmemlint.verify.run_options import RunOptions, facts_of, gpus_named
from tfmemlint.verify.sandbox_options import hint, kept_apart
from tfmemlint.verify.slicing.slices import CannotSlice, Slice, missing_argument, slice_program
from tfmemlint.verify.verdict import GroundFacts, Verdict, VerdictKind

__all__ = ["Proof", "ProofRun", "RunOptions", "gpus_named", "prove", "prove_fixed"]

FOR_THE_NEXT = "it is for the program that is started next; for this one it comes too late"
"""The reason why nothing is proven of a variable that a program sets for another one, in the words of the plan."""

if TYPE_CHECKING:
    from tfmemlint.deployment.launches import Launch
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.verify.ground import Ground
    from tfmemlint.verify.result import Result


@dataclass(slots=True)
class ProofRun:
    """One run of an entry point.

    Attributes:
        entry: ``module``, or the function that was called.
        slice: the slice that was run; None for the whole program.
        seen: its observations; None if nothing could be run.
        verdicts: one for each intent of the entry point.
        before: the verdicts on the text before its fixes, if ``verdicts`` are those on the text after them.
        written: then, one verdict for each intent that the fixes themselves have written, with rows of the new text.
        notes: what a reader has to know, a sentence each.
        failure: the output of a program that failed.
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
        path: the file.
        gpus: the number of GPUs of its runs.
        runs: one for each entry point with an intent.
        problem: the reason why nothing could be run, or "".
        fixes: the number of fixes that were applied, None if none were tried.
        rows: the rows of the program's files.
        rows_after: those after the fixes.
        begun: the launch of the program by a configuration file; None for a start by hand.
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
    """Return the proof of a program: its intents, and their effect in the running TensorFlow.

    Args:
        begun: the launch by a configuration file. The program is run with the variables of that launch, and functions
            that nothing calls are left out.

    Raises:
        SyntaxError, ValueError: it can't be parsed.
        GroundError: the ground failed.
    """
    whole_program = whole_of(source, target, begun=begun)
    program = whole_program.program
    intents = [stated for stated in _stated_intents(whole_program) if begun is None or stated.entry == "module"]
    of_container = begun.gpus if begun is not None and conditions.gpus is None else None
    gpus = next((n for n in (conditions.gpus, of_container) if n is not None), None)
    gpus = gpus_named(program, intents) if gpus is None else gpus
    proof = Proof(source.path, gpus, rows=whole_program.rows, begun=begun)
    whole = _whole(whole_program, intents, ground, conditions, gpus) if intents else None
    for entry in dict.fromkeys(stated.entry for stated in intents):
        of_entry = [stated for stated in intents if stated.entry == entry]
        run = _run(whole_program, of_entry, entry, ground, conditions, gpus, whole)
        if run.seen is not None:
            # The variables of the launch are set before its first line.
            run.seen.reached.update(stated.statement.row for stated in whole_program.environment)
            facts = facts_of(ground, run.seen.result, conditions, gpus)
            facts = replace(facts, has_all_gpus=of_container is not None)
            run.verdicts = [judge(nearby, run.seen, facts, [stated.span for stated in of_entry]) for nearby in of_entry]
            missing = missing_argument(program, entry, run.seen.result.traceback_line) if run.slice is not None else ""
            if missing:
                reason = f"{entry}() is called here without arguments, and fails as {missing} is None then"
                reason += "; verify the program that calls it"
                run.verdicts = [Verdict(stated, VerdictKind.UNPROVEN, reason=reason) for stated in of_entry]
        run.verdicts = _with_file_names(_without_those_for_others(run.verdicts, program), whole_program.rows)
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
    whole_program = whole_of(source.replace_text(fixed), target)
    proof.rows_after = whole_program.rows
    intents = _stated_intents(whole_program)
    changed = _changed(source.text, fixed)
    whole = _whole(whole_program, intents, ground, conditions, proof.gpus) if proof.runs else None
    for run in proof.runs:
        of_entry = [stated for stated in intents if stated.entry == run.entry]
        after = _run(whole_program, of_entry, run.entry, ground, conditions, proof.gpus, whole, changed)
        run.notes += [note for note in after.notes if note not in run.notes]
        run.failure = after.failure
        fresh = [
            stated
            for stated in of_entry
            if not set(changed).isdisjoint(range(stated.statement.row, stated.statement.end_row + 1))
        ]
        run.before = run.verdicts
        if after.seen is None:
            reason = next((verdict.reason for verdict in after.verdicts), "")
            run.verdicts = [Verdict(verdict.stated, VerdictKind.UNPROVEN, reason=reason) for verdict in run.before]
            run.written = [Verdict(stated, VerdictKind.UNPROVEN, reason=reason) for stated in fresh]
            continue
        facts = facts_of(ground, after.seen.result, conditions, proof.gpus)
        run.written = [judge(nearby, after.seen, facts, [stated.span for stated in of_entry]) for nearby in fresh]
        run.verdicts = _verdicts_after(run, after.seen, facts, of_entry, _changed(fixed, source.text))
        run.seen, run.slice = after.seen, after.slice
        run.verdicts = [
            _as_for_the_next(verdict) if before.reason == FOR_THE_NEXT else verdict
            for before, verdict in zip(run.before, run.verdicts, strict=True)
        ]
        run.verdicts = _with_file_names(run.verdicts, whole_program.rows)
        run.written = _without_those_for_others(run.written, whole_program.program)
        run.written = _with_file_names(run.written, whole_program.rows)
    return proof


def _verdicts_after(
    run: ProofRun, seen: Observation, facts: GroundFacts, intents: Sequence[StatedIntent], changed: Sequence[int]
) -> list[Verdict]:
    """Return the verdicts on the intents of the old text, by the run of the new one.

    An intent of a defective text may not say what is wanted: ``'True'``, or bytes for MiB. If it does not hold as it
    was written, the intent that has taken its place is judged.

    Args:
        run: the run of the old text, with its verdicts. seen: the run of the new text.
        intents: those of the new text. changed: the rows of the old text that the fixes have rewritten.
    """
    places = [stated.span for stated in intents]
    found, missing = [], []
    for number, (old, new) in enumerate(
        zip(run.verdicts, counterparts([old.stated for old in run.verdicts], intents), strict=True)
    ):
        asked = asked_for(old.stated, run.seen) if run.seen is not None else []
        verdict = judge_elsewhere(old.stated, seen, facts, asked)
        if new is None:
            missing.append(number)
        elif VerdictKind.HOLDS not in (verdict.kind, old.kind):
            verdict = replace(judge(new, seen, facts, places), stated=old.stated)
        found.append(verdict)
    return without_those_taken_out(run.verdicts, found, missing, changed)


def _without_those_for_others(verdicts: Sequence[Verdict], program: Program) -> list[Verdict]:
    """Return ``verdicts``; of variables that are for the program which is started next nothing is proven."""
    return [
        _as_for_the_next(verdict)
        if isinstance(verdict.stated.event, EnvWrite) and is_for_the_next_program(program, verdict.stated.event)
        else verdict
        for verdict in verdicts
    ]


def _as_for_the_next(verdict: Verdict) -> Verdict:
    """Return a verdict on a variable for the program that is started next: that this one leaves it alone is right."""
    if verdict.kind is not VerdictKind.NOTHING:
        return verdict
    return replace(verdict, kind=VerdictKind.UNPROVEN, reason=FOR_THE_NEXT)


def _with_file_names(verdicts: Sequence[Verdict], rows: Rows) -> list[Verdict]:
    """Return ``verdicts`` with the rows in their sentences as messages show them."""
    return [
        replace(verdict, reason=rows.words(verdict.reason), configuration=rows.words(verdict.configuration))
        for verdict in verdicts
    ]


def _stated_intents(whole: Whole) -> list[StatedIntent]:
    """Return the intents of a program, without functions of its other modules that it never calls."""
    path = whole.program.source.path
    found: list[StatedIntent] = []
    for entry, events in entries(whole.program):
        if entry == "module" or any(event.path == path for event in events):
            found.extend(intents_of(entry, events))
    return found


def _run(
    whole_program: Whole,
    intents: Sequence[StatedIntent],
    entry: str,
    ground: Ground,
    conditions: RunOptions,
    gpus: int,
    whole: Observation | None,
    changed: Sequence[int] = (),
) -> ProofRun:
    program, rows = whole_program.program, whole_program.rows
    if whole is not None:
        if entry != "module" and whole.reached.isdisjoint(stated.statement.row for stated in intents):
            reason = f"the program never calls {entry}(), or not before it uses a GPU; verify the program that calls it"
            return ProofRun(
                entry, None, None, [Verdict(stated, VerdictKind.UNPROVEN, reason=reason) for stated in intents]
            )
        notes = _notes(whole.result, conditions)
        return ProofRun(entry, None, whole, [], notes=notes, failure=rows.output(_failure(whole.result)))
    try:
        part = _cut(whole_program, intents, entry, changed)
    except CannotSlice as reason:
        return ProofRun(
            entry, None, None, [Verdict(stated, VerdictKind.UNPROVEN, reason=str(reason)) for stated in intents]
        )
    result = _start(part.text, whole_program, ground, conditions, gpus, part.marks, modules=part.modules)
    notes = []
    line = result.traceback_line
    if line is not None and result.error and (line in part.local or _lacks_something(result, line, program)):
        # A module of the project may need something that is missing here; its effects are then unknown.
        where = "" if line <= len(program.source.lines) else f"{rows.shown(line)}: "
        notes.append(f"left out, because it fails here ({result.error}): {where}{rows.text(line).strip()}")
        part = _cut(whole_program, intents, entry, changed, local=False)
        result = _start(part.text, whole_program, ground, conditions, gpus, part.marks, modules=part.modules)
    notes += _notes(result, conditions)
    return ProofRun(entry, part, Observation(result), [], notes=notes, failure=rows.output(_failure(result)))


def _cut(
    whole: Whole, intents: Sequence[StatedIntent], entry: str, changed: Sequence[int], *, local: bool = True
) -> Slice:
    """Return the slice of a program, with the call at its end that a command of its project makes."""
    end = whole.function if entry == "module" else ""
    return slice_program(
        whole.program, intents, entry, local=local, rows=changed, files=whole.files, own=whole.is_own, called=end
    )


def _lacks_something(result: Result, line: int, program: Program) -> bool:
    """True if a module of the program ends it because something is missing here."""
    return line > len(program.source.lines) and died_elsewhere(result)


def _whole(
    whole: Whole, intents: Sequence[StatedIntent], ground: Ground, conditions: RunOptions, gpus: int
) -> Observation | None:
    """Return the one run of the program itself for all of its entry points, if it is requested."""
    if not conditions.whole:
        return None
    given = {stated.statement.row for stated in whole.environment}
    rows = frozenset(stated.statement.row for stated in intents) - given
    # If anything calls a function that nothing in the file calls, it does so before the first use of a GPU, or never.
    stop = frozenset(stated.statement.row for stated in intents if stated.entry == "module") - given
    text = whole.program.source.text
    if whole.function:
        text = f"{text.rstrip()}\n\n{whole.function}()\n"
    modules = {path: module.source.text for path, module in whole.files.items()}
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
        files=read_files(whole) if conditions.cwd is None else None,
        rows=rows,
        stop=stop,
        modules=modules,
        imported=whole.imported,
        package=whole.package,
        path=whole.path,
        sandbox=conditions.sandbox,
    )


def _changed(old: str, new: str) -> list[int]:
    """Return the rows of the new text that fixes have written. All of them are run."""
    matcher = difflib.SequenceMatcher(None, old.split("\n"), new.split("\n"), autojunk=False)
    return [row + 1 for tag, _, _, first, end in matcher.get_opcodes() if tag != "equal" for row in range(first, end)]


def _notes(result: Result, conditions: RunOptions) -> list[str]:
    """Return what a reader has to know of where a program ran."""
    found = kept_apart(result), hint(result, conditions.sandbox), _lacks_file(result, conditions)
    return [words for words in found if words]


def _lacks_file(result: Result, conditions: RunOptions) -> str:
    """Return the option that would let a program find its files; "" if that is not why it failed."""
    if conditions.cwd is not None or result.exception != "FileNotFoundError":
        return ""
    return "of its files, it finds only configuration files that it is known to read: --cwd DIR runs it in DIR"


def _failure(result: Result) -> str:
    """Return the last output of a program that failed, for a person to read."""
    if result.ok and not result.exit_code:
        return ""
    lines = (result.stdout + result.stderr).strip().splitlines()
    return "\n".join(line[:500] for line in lines[-20:])
