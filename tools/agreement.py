#!/usr/bin/env python3
"""List contradictions: check, plan and verify must say the same of each intent, before and after the fix.

    python tools/agreement.py fixtures/TFM1* --device edge --every 4

A contradiction is a line; the last line counts the programs and the contradictions. Programs of other releases are left
out, and so is what only an allocator shows where the ground is ``edge``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.fixture_files import blank_markers, read_text, strip_markers
from tests.truth.test_plan_and_verify import MEMORY_MIB, contradictions
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.python_file import PythonFile
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Finding, Severity
from tfmemlint.plans.model import PredictionKind
from tfmemlint.plans.read import plan_of
from tfmemlint.sources import Source
from tfmemlint.verify.choose_ground import choose
from tfmemlint.verify.ground import Ground
from tfmemlint.verify.prove import RunOptions, prove_fixed
from tfmemlint.verify.verdict import VerdictKind


def main() -> int:
    """Print the contradictions; 1 if there are any."""
    parser = argparse.ArgumentParser(prog="tools/agreement.py", description="List contradictions of the tool.")
    parser.add_argument("paths", nargs="+", type=Path, help="programs, or directories of programs")
    parser.add_argument("--device", choices=("edge", "driver"), default="edge", help="where to run (default: edge)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="take every Nth program")
    options = parser.parse_args()
    files = [file for path in options.paths for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
    programs = contradicting = 0
    ground, _ = choose(options.device, None)
    with ground:
        for file in files[:: options.every]:
            try:
                found = list(_of_program(file, ground))
            except (SyntaxError, ValueError, RecursionError) as error:
                print(f"{file}: not examined: {error}", flush=True)
                continue
            programs += 1
            contradicting += len(found)
            for line in found:
                print(f"{file}: {line}", flush=True)
    print(f"{programs} programs, {contradicting} contradictions")
    return 1 if contradicting else 0


def _of_program(file: Path, ground: Ground) -> Iterator[str]:
    header = strip_markers(read_text(file))[2]
    if "target" in header or "known" in header:
        return
    gpus = max([int(count) for count in header.get("gpus", "1").split(",") if count], default=1)
    unseen = ground.kind == "edge" and header.get("ground", "").startswith(("driver", "none"))
    source = Source(str(file), blank_markers(read_text(file)))
    context = RunContext(target=Target.newest(), unsafe=True, gpu_memory_mib=float(MEMORY_MIB))
    subject = PythonFile.of(source)
    fixed = subject.apply_fixes(context)
    sides = [("before", source, subject.check(context))]
    if fixed.text != source.text:
        after = source.replace_text(fixed.text)
        sides.append(("after", after, fixed.findings))
    for side, text, findings in sides:
        for line in contradictions(text.text, text.path, ground, gpus, unseen=unseen):  # type: ignore[arg-type]
            yield f"{side}: plan and verify: {line}"
        yield from (f"{side}: {line}" for line in _of_findings(text, findings, gpus))
    if len(sides) > 1 and not unseen:
        yield from _of_fix(source, fixed.text, ground, gpus)


def _of_findings(source: Source, findings: list[Finding], gpus: int) -> Iterator[str]:
    """Yield the errors that check reports at intents of which plan says that they take effect."""
    plan = plan_of(source, Target.newest(), gpus=gpus, memory=MEMORY_MIB)
    for entry in plan.entries:
        for planned in entry.intents:
            happens = planned.prediction.kind is PredictionKind.HAPPENS and planned.certain
            for finding in findings:
                same = finding.span == planned.place.span and finding.severity is Severity.ERROR
                if same and happens and finding.code not in planned.rules:
                    said = f"{finding.code} {finding.message}"
                    yield f"check and plan: line {finding.span.row}: {said!r}, but {planned.prediction.words!r}"


def _of_fix(source: Source, fixed: str, ground: Ground, gpus: int) -> Iterator[str]:
    """Yield the intents that took effect and are lost, and those that a fix wrote without effect."""
    proof = prove_fixed(source, fixed, ground, RunOptions(gpus=gpus, memory_mib=MEMORY_MIB), Target.newest(), 1)
    for run in proof.runs:
        for old, new in zip(run.before or (), run.verdicts, strict=True):
            if old.kind is VerdictKind.HOLDS and new.kind in (VerdictKind.NOTHING, VerdictKind.RAISES):
                yield f"fix: line {old.stated.span.row}: {old.stated.intent.describe()}: lost: {new.reason}"
            elif new.kind is VerdictKind.NOTHING and any(
                other.kind is VerdictKind.HOLDS
                and (other.stated.setting, other.stated.gpu) == (new.stated.setting, new.stated.gpu)
                for other in run.written
            ):
                row, words = old.stated.span.row, old.stated.intent.describe()
                yield f"fix: line {row}: {words}: {new.reason}, but the intent in its place takes effect"
        for verdict in run.written:
            if verdict.kind in (VerdictKind.NOTHING, VerdictKind.RAISES):
                words = f"{verdict.stated.intent.describe()}: {verdict.kind.value}: {verdict.reason}"
                yield f"fix: new line {verdict.stated.span.row}: {words}"


if __name__ == "__main__":
    raise SystemExit(main())
