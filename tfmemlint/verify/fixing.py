"""Proving fixes before they are written: what a program wants must take effect in the new text, on TensorFlow."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Callable, Iterator

from tfmemlint.engine.results import Unproven
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Span
from tfmemlint.sources import Source
from tfmemlint.verify.choose_ground import choose
from tfmemlint.verify.command import target_of_version
from tfmemlint.verify.ground import Ground
from tfmemlint.verify.prove import Proof, RunOptions, prove_fixed
from tfmemlint.verify.result import GroundError
from tfmemlint.verify.verdict import Verdict, VerdictKind


@contextlib.contextmanager
def prover(device: str, python: str | None) -> Iterator[Callable[[Source, str], list[Unproven]]]:
    """Proves on the best ground that there is, or on ``device``.

    Raises:
        GroundError: there is none.
    """
    ground, _ = choose(device, python)
    with ground:
        target = target_of_version(ground.version)
        ground.overhead_mib()
        yield lambda source, text: _unproven(source, text, ground, target)


def _unproven(source: Source, text: str, ground: Ground, target: Target) -> list[Unproven]:
    """What does not take effect in ``text``, of all that the program wants."""
    try:
        proof = prove_fixed(source, text, ground, RunOptions(), target, 1)
    except (GroundError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        whole = Span(1, 1, len(source.lines) + 1, 1)
        return [Unproven(whole, f"could not be proven: {error}", before=True)]
    return list(_of(proof, source.text, text))


def _of(proof: Proof, old: str, new: str) -> Iterator[Unproven]:
    for run in proof.runs:
        for before, after in zip(run.before or (), run.verdicts, strict=False):
            if before.kind is VerdictKind.HOLDS and after.kind is not VerdictKind.HOLDS:
                yield Unproven(before.wanted.statement, _words(after), before=True)
        for verdict in run.written:
            if verdict.kind is not VerdictKind.HOLDS:
                yield Unproven(_back(verdict.wanted.statement, old, new), _words(verdict), before=False)


def _back(span: Span, old: str, new: str) -> Span:
    """The lines of ``old`` whose place those of ``span``, in ``new``, have taken."""
    matcher = difflib.SequenceMatcher(None, old.split("\n"), new.split("\n"), autojunk=False)
    rows: set[int] = set()
    for _, first, end, start, stop in matcher.get_opcodes():
        if start < span.end_row and span.row <= stop:
            rows.update((first + 1, max(first + 1, end)))
    return Span(min(rows, default=1), 1, max(rows, default=1), 1)


def _words(verdict: Verdict) -> str:
    why = verdict.reason or verdict.configuration
    if verdict.kind is VerdictKind.UNPROVEN:
        return f"could not be proven: {why}" if why else "could not be proven"
    said = "it would still raise" if verdict.kind is VerdictKind.RAISES else "it would have no effect"
    return f"on TensorFlow {said}: {why}" if why else f"on TensorFlow {said}"
