"""Repair the order of configuration and start: in a file on its own, and across the files of programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.fixes.loop import Planner
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.model.finding import Finding
    from tfmemlint.sources import Source

MAX_EXPLAINED_REPAIRS = 8
"""Findings of one file for which `check` looks for a repair: each analyzes the program several times."""
MAX_EXPLAINED_PROGRAMS = 40
"""Programs of one file for which `check` looks for a repair: each is analyzed again with every change that is tried."""


def needs_planner(finding: Finding) -> bool:
    """True if a finding is one that a repair of the order may help."""
    return finding.fixable and "parting" in finding.details


def planner_of_file(check: Callable[[Source], list[Finding]], release: Target) -> Planner:
    """Return what repairs the order in a file that is a program of its own."""

    def plan(
        source: Source, finding: Finding, findings: list[Finding]
    ) -> tuple[Finding, str, list[Finding]] | str | None:
        if not needs_planner(finding):
            return None
        from tfmemlint.fixes.order.files import Files
        from tfmemlint.fixes.order.planner import Workspace, repair
        from tfmemlint.fixes.withheld import Withheld
        from tfmemlint.project.line_length import line_length_of

        def read(path: str) -> Source | None:
            return source if path == source.path else None

        def check_texts(texts: Mapping[str, str]) -> list[Finding]:
            try:
                return check(source.replace_text(texts[source.path]))
            except ValueError as reason:
                # A notebook has lines that are not Python, and that a change of the Python would change.
                raise Withheld(str(reason)) from None

        def reaches(called: str, texts: Mapping[str, str]) -> bool:
            from tfmemlint.interpreter import analyze

            program = analyze(source.replace_text(texts[source.path]), release)
            return any(call.name.rpartition(".")[2] == called for call in program.calls())

        follow_up = follow_up_in(read, release)
        workspace = Workspace(
            Files(read, line_length_of=line_length_of), release, check_texts, reaches=reaches, follow_up=follow_up
        )
        found = repair(finding, findings, workspace)
        if isinstance(found, str):
            return found
        text = found.texts[source.path]
        try:
            source.as_file(text)
        except ValueError as error:
            return str(error)
        return found.finding, text, found.findings

    return plan


def follow_up_in(
    read: Callable[[str], Source | None], release: Target
) -> Callable[[Finding, str], tuple[str, str] | None]:
    """Return what fixes a finding that a repair has brought to light, by the finding's own rule."""

    def follow_up(finding: Finding, text: str) -> tuple[str, str] | None:
        from tfmemlint.fixes.compute_fix import Options, compute
        from tfmemlint.fixes.edits import apply
        from tfmemlint.rulekit.rule import rules

        source = read(finding.path)
        rule = next((rule for rule in rules() if rule.code == finding.code), None)
        if source is None or rule is None:
            return None
        fixed = compute(source.replace_text(text), finding, rule, release, Options(unsafe=True))
        return (apply(text, fixed.fix.edits), fixed.fix.message) if fixed.fix is not None else None

    return follow_up


def with_planned(source: Source, explained: Sequence[Finding], plan: Planner) -> list[Finding]:
    """Return findings with the fixes that only a planner finds, for the first few that need one."""
    import dataclasses

    findings = list(explained)
    left = MAX_EXPLAINED_REPAIRS
    for number, finding in enumerate(findings):
        if not finding.withheld or not needs_planner(finding) or not left:
            continue
        left -= 1
        planned = plan(source, dataclasses.replace(finding, withheld=""), list(explained))
        if isinstance(planned, str):
            findings[number] = dataclasses.replace(finding, withheld=planned)
        elif planned is not None:
            findings[number] = planned[0]
    return findings
