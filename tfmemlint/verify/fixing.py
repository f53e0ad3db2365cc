"""Proves fixes before they are written: every intent must take effect in the new text, on TensorFlow."""

from __future__ import annotations

import contextlib
import difflib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tfmemlint.engine.results import Unproven
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Span
from tfmemlint.sources import Source
from tfmemlint.verify.choose_ground import choose
from tfmemlint.verify.command import target_of_version
from tfmemlint.verify.ground import Ground
from tfmemlint.verify.prove import Proof, RunOptions, prove, prove_fixed
from tfmemlint.verify.result import GroundError
from tfmemlint.verify.verdict import Verdict, VerdictKind


@dataclass(frozen=True, slots=True)
class Prover:
    """Proves fixes on a ground, before they are written."""

    ground: Ground
    target: Target

    def __call__(self, source: Source, text: str) -> list[Unproven]:
        """Return what does not take effect in the new text of one file, of all that the program wants."""
        return _unproven(source, text, self.ground, self.target)

    def program(self, root: str, entry: str, texts: Mapping[str, str]) -> str:
        """Return why a change of several files does not take effect in the program that starts at ``entry``, or "".

        Args:
            root: the directory of the project, of which a copy is run.
            entry: the file in which the program starts. texts: the new texts, by file.
        """
        from tfmemlint.sources import walk

        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder).resolve()
            for path in walk([os.path.relpath(root)]).files:
                place = copy / os.path.relpath(path, root)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, place)
            try:
                before = self._misses(copy / os.path.relpath(entry, root))
                for path, text in texts.items():
                    (copy / os.path.relpath(path, root)).write_text(text, encoding="utf-8")
                after = self._misses(copy / os.path.relpath(entry, root))
            except (GroundError, SyntaxError, ValueError, RecursionError, MemoryError, OSError) as error:
                return f"could not be proven: {error}"
        if len(after) >= max(len(before), 1):
            return next((words for words in after if words not in before), after[0])
        return ""

    def _misses(self, path: Path) -> list[str]:
        """Return what does not take effect in the program that starts in a file."""
        proof = prove(Source(str(path), path.read_text(encoding="utf-8")), self.ground, RunOptions(), self.target)
        return [_words(verdict) for verdict in proof.verdicts if verdict.kind is not VerdictKind.HOLDS]


@contextlib.contextmanager
def prover(device: str, python: str | None) -> Iterator[Prover]:
    """Proves on the best ground that there is, or on ``device``.

    Raises:
        GroundError: no ground is available.
    """
    ground, _ = choose(device, python)
    with ground:
        target = target_of_version(ground.version)
        ground.overhead_mib()
        yield Prover(ground, target)


def _unproven(source: Source, text: str, ground: Ground, target: Target) -> list[Unproven]:
    """Return the intents of the program that do not take effect in ``text``."""
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
                yield Unproven(before.stated.statement, _words(after), before=True)
        for verdict in run.written:
            if verdict.kind is not VerdictKind.HOLDS:
                yield Unproven(_back(verdict.stated.statement, old, new), _words(verdict), before=False)


def _back(span: Span, old: str, new: str) -> Span:
    """Return the lines of ``old`` that those of ``span``, in ``new``, have replaced."""
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
