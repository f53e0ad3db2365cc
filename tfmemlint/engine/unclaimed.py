"""Code that may be for TensorFlow 1 or for 2: branches for another release, and one finding a file elsewhere."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfmemlint.interpreter.program import Use
from tfmemlint.knowledge import names
from tfmemlint.knowledge.memory_names import is_about_gpu_memory
from tfmemlint.model.finding import Finding, Severity

if TYPE_CHECKING:
    from tfmemlint.interpreter.program import Program
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.rule import Rule

_NOT_KNOWN = (
    "Nothing states the release that this code is for, and its names do not tell it: --target-version, or a line in"
    " requirements.txt, does"
)
_MORE_NAMES = "Other names in this file were removed in TensorFlow 2.0 as well: it is code for TensorFlow 1"


def said_once(found: Sequence[Finding], rules: Sequence[Rule], program: Program) -> list[Finding]:
    """Return the findings in a file with one in place of all that are about names of other releases.

    It is the one of the most specific rule. Where the release of the code is claimed, they stay as they are; names that
    have nothing to do with GPU memory stay, too, since they are reported only where the user asks for them.
    """
    target = program.target
    if target.claimed or not any(_left_in_2(use.name, target) for use in program.of(Use)):
        return list(found)
    by_code = {rule.code: rule for rule in rules}
    about = [finding for finding in found if _is_of_another_release(finding, by_code) and not finding.on_request]
    if not about:
        return list(found)
    first = max(about, key=lambda finding: (len(by_code[finding.code].supersedes), -finding.span.row))
    # What a name that is gone stops does not come to pass.
    gone = [finding for finding in about if _is_missing(finding, by_code) and finding.span.row < first.span.row]
    reason = min(gone, key=lambda finding: finding.span.row) if gone and first.severity is not Severity.ERROR else first
    rows = sorted({finding.span.row for finding in about})
    where = f"line{'s' * (len(rows) > 1)} {', '.join(map(str, rows[:8]))}"
    said = dataclasses.replace(
        first,
        severity=Severity.WARNING if first.severity is Severity.ERROR else first.severity,
        message=f"TF1 code: on TensorFlow {target} the options of {where} do not work: {reason.message}",
        notes=(*first.notes, _MORE_NAMES if _has_more_names(program) else _NOT_KNOWN),
    )
    replaced = set(map(id, about))
    return [
        said if finding is first else finding for finding in found if finding is first or id(finding) not in replaced
    ]


def reached_by_release(program: Program, found: list[Finding], rules: Sequence[Rule]) -> list[Finding]:
    """Return the findings at places that the release may reach: those in a branch for another one are none."""
    if not found:
        return found
    from tfmemlint.project.targets.find import current
    from tfmemlint.rulekit.release_guards import ReleaseGuards

    guards = ReleaseGuards(program)
    by_code = {rule.code: rule for rule in rules}
    missing = {str(finding.details["name"]) for finding in found if _is_missing(finding, by_code)}
    if missing:
        # A module of the program may put the name there.
        stored = current().inference.stored_in_program(program.source.path, missing)
        found = [
            finding for finding in found if not _is_missing(finding, by_code) or finding.details["name"] not in stored
        ]
    return [
        finding
        for finding in found
        if not guards.hides(
            finding, of_another_release=_is_of_another_release(finding, by_code) or _is_about_gone(finding, program)
        )
    ]


def reached_in_modules(program: Program, found: list[Finding], rules: Sequence[Rule]) -> list[Finding]:
    """Return the findings in a program of several modules at places that the release may reach."""
    if not found:
        return found
    from tfmemlint.rulekit.release_guards import ReleaseGuards

    paths = {finding.path for finding in found}
    trees = {unit.source.path: unit.tree for unit in program.units if unit.source.path in paths}
    guards = {path: ReleaseGuards(program, path, tree) for path, tree in trees.items()}
    by_code = {rule.code: rule for rule in rules}
    return [
        finding
        for finding in found
        if finding.path not in guards
        or not guards[finding.path].hides(finding, of_another_release=_is_of_another_release(finding, by_code))
    ]


def _is_missing(finding: Finding, by_code: dict[str, Rule]) -> bool:
    """Return True if a finding is about a name of another release."""
    return _is_of_another_release(finding, by_code) and str(finding.details.get("name", "")).startswith("tf.")


def _is_about_gone(finding: Finding, program: Program) -> bool:
    """Return True if a finding is about the use of a name that the release lacks: ``tf.ConfigProto(growth=True)``."""
    name = str(finding.details.get("name", ""))
    return name.startswith("tf.") and not names.exists(name, program.target)


def _has_more_names(program: Program) -> bool:
    """Return True if names that have nothing to do with GPU memory are of TensorFlow 1 only, too."""
    return any(_left_in_2(use.name, program.target) and not is_about_gpu_memory(use.name) for use in program.of(Use))


def _left_in_2(name: str, target: Target) -> bool:
    missing = names.missing_part(name, target)
    return missing is not None and (names.until(missing) or "").startswith("1.")


def _is_of_another_release(finding: Finding, by_code: dict[str, Rule]) -> bool:
    rule = by_code.get(finding.code)
    return rule is not None and rule.of_another_release
