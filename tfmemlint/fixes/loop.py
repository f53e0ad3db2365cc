"""The fix loop: compute rewrites, try them, and keep those that remove the finding and bring nothing worse."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from tfmemlint.fixes.compute_fix import DECLINED, NEEDS_UNSAFE, NOT_CHOSEN, Fixer, Options, compute, withheld
from tfmemlint.fixes.edits import apply, overlap
from tfmemlint.fixes.finding_places import Place, in_first_text, keys_in_new_text, marked, place
from tfmemlint.fixes.shown_ways import shown_ways
from tfmemlint.model.finding import Applicability, Edit, Finding, Severity
from tfmemlint.model.records import dataclass
from tfmemlint.sources.documents.blocks import PYTHON

if TYPE_CHECKING:
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.sources import Source

STILL_THERE = "the finding would still be there"
_USER_CHOICES = (NEEDS_UNSAFE, NOT_CHOSEN, DECLINED)
_MAX_CHAINED_FIXES = 4
"""The number of further fixes that one fix may need; a bound against endless chains, without a deeper reason."""


@dataclass(slots=True)
class Fixed:
    """The result for one file.

    Attributes:
        text: the new text. applied: the findings that are gone, each with its fix, whose edits refer to the text just
            before it. Each is at its row in the old text, or at the row just above if another fix introduced the code.
        findings: what remains, with the reason why it wasn't fixed.
        needs: packages that the new code imports and the old code did not.
    """

    text: str
    applied: list[Finding] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    needs: set[str] = field(default_factory=set)


def _parse(source: Source, text: str) -> None:
    """Parse a text in the language of ``source``.

    Raises:
        SyntaxError, ValueError, RecursionError: it can't be read.
    """
    if source.language == PYTHON:
        ast.parse(text)


def fix_source(
    source: Source,
    *,
    rules: Sequence[Fixer],
    target: Target,
    check: Callable[[Source], list[Finding]],
    options: Options,
    plan: Planner | None = None,
) -> Fixed:
    """Fix all that may be fixed, round after round, until nothing changes.

    ``check`` returns the findings of a source. ``findings`` of the result are those of the new text. ``plan`` is asked
    for what no rule can fix.
    """
    return _FixRun({rule.code: rule for rule in rules}, target, check, options, plan).run(source)


Planner = Callable[["Source", Finding, list[Finding]], "tuple[Finding, str, list[Finding]] | str | None"]
"""Returns, for a finding of a source with all that is found there, the finding with its fix, the new text and what is
found in that; the reason why there is none; or None if it is nothing that a planner could help."""

_FixStep = tuple["Source", list[Finding], list[tuple[Finding, str]]]
"""A changed source, its findings, and the fixed findings with the text that each was found in."""


class _FixRun:
    def __init__(
        self,
        rules: dict[str, Fixer],
        target: Target,
        check: Callable[[Source], list[Finding]],
        options: Options,
        plan: Planner | None = None,
    ) -> None:
        self.rules = rules
        self.target = target
        self.check = check
        self.options = options
        self.refused = dict(options.refused)
        self.plan = plan

    def run(self, source: Source) -> Fixed:
        findings = self.check(source)
        self.refused = shown_ways(source, findings) | self.refused
        first, found_first = source.text, findings
        done = Fixed(first)
        seen = {first}
        reasons: dict[Place, str] = {}
        # A finding is fixed or refused in one round; the rest is room for findings that fixes bring to light.
        for _ in range(2 * len(findings) + 10):
            computed = [_unless_worse(self._computed(source, finding), findings) for finding in findings]
            computed = self._withhold_partial_groups(computed)
            ready = [finding for finding in computed if finding.fix is not None and not finding.withheld]
            reasons = {place(finding): finding.withheld for finding in computed if finding.withheld}
            step = (
                self._try_together(source, findings, ready, seen)
                or self._first_working_fix(source, findings, ready, seen, reasons)
                or self._planned(source, findings, seen, reasons)
            )
            if step is None:
                break
            new, after, applied = step
            if self.options.ask is not None and not self.options.ask(applied[0][0], [(source, new)]):
                self.refused[place(applied[0][0])] = DECLINED
                continue
            self.refused = keys_in_new_text(self.refused, source.text, new.text)
            source, findings = new, after
            seen.add(source.text)
            done.applied.extend(in_first_text(finding, first, text) for finding, text in applied)
        done.applied = marked(done.applied, found_first)
        done.text = source.text
        done.needs = {need for finding in done.applied if finding.fix is not None for need in finding.fix.needs}
        done.findings = [
            withheld(finding, reasons[place(finding)]) if place(finding) in reasons else finding for finding in findings
        ]
        return done

    def _computed(self, source: Source, finding: Finding) -> Finding:
        """Return the finding with its fix, or with the reason why it isn't fixed."""
        rule = self.rules.get(finding.code)
        if rule is None or not finding.fixable:
            return finding
        if place(finding) in self.refused:
            return withheld(finding, self.refused[place(finding)])
        if self.options.only and not finding.code.startswith(self.options.only):
            return withheld(finding, NOT_CHOSEN)
        found = compute(source, finding, rule, self.target, self.options)
        if found.fix is None:
            return found
        if found.fix.applicability is Applicability.DISPLAY:
            return replace(found, withheld="for display only")
        if found.fix.applicability is Applicability.UNSAFE and not self.options.unsafe:
            return replace(found, withheld=NEEDS_UNSAFE)
        return found

    @staticmethod
    def _withhold_partial_groups(computed: list[Finding]) -> list[Finding]:
        """Return the findings, without the fixes of a group of errors (``details["whole"]``) of which one can't be
        fixed.

        Code that is half rewritten runs on no release at all.
        """
        reasons: dict[object, str] = {}
        for finding in computed:
            group = finding.details.get("whole")
            left = finding.fix is None and finding.withheld not in _USER_CHOICES
            if group and left and finding.severity is Severity.ERROR:
                why = f" ({finding.withheld})" if finding.withheld else ""
                reasons.setdefault(group, f"line {finding.span.row} stays as it is{why}, and so does this")
        return [
            withheld(finding, reasons[group])
            if finding.fix is not None and (group := finding.details.get("whole")) in reasons
            else finding
            for finding in computed
        ]

    def _try_together(
        self, source: Source, findings: list[Finding], ready: list[Finding], seen: set[str]
    ) -> _FixStep | None:
        """Make as many non-overlapping fixes at once as possible, if all of them work. With ``ask`` they are made
        one by one.
        """
        if self.options.ask is not None:
            return None
        chosen: list[Finding] = []
        edits: list[Edit] = []
        for finding in ready:
            assert finding.fix is not None
            fresh = [edit for edit in finding.fix.edits if edit not in edits]
            if not any(overlap(edit, other) for edit in fresh for other in edits):
                chosen.append(finding)
                edits.extend(fresh)
        if len(chosen) < 2:
            return None
        tried = self._try(source, edits, seen)
        if tried is None or isinstance(tried, str):
            return None
        new, after = tried
        gone = Counter(finding.code for finding in findings)
        gone.subtract(finding.code for finding in after)
        wanted = Counter(finding.code for finding in chosen)
        if any(gone[code] < count for code, count in wanted.items()) or _new_errors(findings, after, set()):
            return None
        return new, after, [(finding, source.text) for finding in chosen]

    def _first_working_fix(
        self,
        source: Source,
        findings: list[Finding],
        ready: list[Finding],
        seen: set[str],
        reasons: dict[Place, str],
    ) -> _FixStep | None:
        """Return the first fix that works. The reasons why those before it don't are added to ``reasons``."""
        for finding in ready:
            step = self._chain(source, findings, finding, seen, _MAX_CHAINED_FIXES)
            if not isinstance(step, str):
                return step
            reasons[place(finding)] = step
        return None

    def _planned(
        self, source: Source, findings: list[Finding], seen: set[str], reasons: dict[Place, str]
    ) -> _FixStep | None:
        """Return the first repair that the planner finds for what no rule can fix."""
        for finding in findings if self.plan is not None else ():
            reason = reasons.get(place(finding))
            if reason is None or reason in _USER_CHOICES or place(finding) in self.refused:
                continue
            assert self.plan is not None
            planned = self.plan(source, finding, findings)
            if planned is None:
                continue
            if isinstance(planned, str):
                reasons[place(finding)] = planned
                continue
            repaired, text, after = planned
            if not self.options.unsafe:
                reasons[place(finding)] = NEEDS_UNSAFE
            elif text not in seen:
                return source.replace_text(text), after, [(repaired, source.text)]
        return None

    def _chain(
        self, source: Source, findings: list[Finding], finding: Finding, seen: set[str], depth: int
    ) -> _FixStep | str:
        """Make one fix, and the fixes of the errors that it uncovers; or return the reason why that does not work."""
        assert finding.fix is not None
        tried = self._try(source, finding.fix.edits, seen)
        if isinstance(tried, str):
            return tried
        new, after = tried
        applied = [(finding, source.text)]
        # The next statement that starts the runtime may cause the same finding again: fix it, too.
        while _count(after, finding.code) >= _count(findings, finding.code):
            further = (
                self._another_of_rule(new, after, finding.code, seen | {new.text}) if len(applied) <= depth else None
            )
            if further is None:
                return STILL_THERE
            text = new.text
            new, after, also = further
            applied.append((also, text))
        for _ in range(depth):
            new_errors = _new_errors(findings, after, {finding.code})
            if not new_errors:
                return new, after, applied
            for other in new_errors:
                repair = self._computed(new, other)
                if repair.fix is None or repair.withheld:
                    continue
                better = self._try(new, repair.fix.edits, seen)
                if not isinstance(better, str) and _count(better[1], other.code) < _count(after, other.code):
                    applied.append((repair, new.text))
                    new, after = better
                    break
            else:
                break
        new_errors = _new_errors(findings, after, {finding.code})
        if not new_errors:
            return new, after, applied
        return f"the fix would bring {new_errors[0].code}: {new_errors[0].message}"

    def _another_of_rule(
        self, source: Source, findings: list[Finding], code: str, seen: set[str]
    ) -> tuple[Source, list[Finding], Finding] | None:
        """Make one more fix of the same rule that makes nothing worse."""
        for other in findings:
            repair = self._computed(source, other) if other.code == code else other
            if repair.fix is None or repair.withheld:
                continue
            tried = self._try(source, repair.fix.edits, seen)
            if not isinstance(tried, str) and _count(tried[1], code) <= _count(findings, code):
                return *tried, repair
        return None

    def _try(self, source: Source, edits: Iterable[Edit], seen: set[str]) -> tuple[Source, list[Finding]] | str:
        """Return the source with edits applied and its findings; or the reason why that isn't possible."""
        try:
            text = apply(source.text, edits)
            _parse(source, text)
        except (SyntaxError, ValueError, RecursionError):
            return "the new code would not parse"
        if text in seen:
            return "another fix would undo it"
        try:
            source.as_file(text)
        except ValueError as error:
            return str(error)
        new = source.replace_text(text)
        return new, self.check(new)


def _new_errors(before: list[Finding], after: list[Finding], without: set[str]) -> list[Finding]:
    """Return the errors whose code occurs more often than before; what raises counts, though a handler hides it."""
    old = Counter(finding.code for finding in before if _is_error(finding))
    new = Counter(finding.code for finding in after if _is_error(finding))
    return [
        finding
        for finding in after
        if _is_error(finding) and finding.code not in without and new[finding.code] > old[finding.code]
    ]


def _is_error(finding: Finding) -> bool:
    return finding.severity is Severity.ERROR or bool(finding.details.get("handled"))


def _unless_worse(finding: Finding, findings: list[Finding]) -> Finding:
    """Return the finding without its fix if an error that a handler catches would give way to one that nothing
    catches.
    """
    if finding.fix is None or finding.withheld or not finding.details.get("caught"):
        return finding
    errors = (other for other in findings if other.severity is Severity.ERROR and other.code != finding.code)
    other = next((other for other in errors if other.span == finding.span), None)
    return finding if other is None else withheld(finding, f"a handler hides what {other.code} says of it")


def _count(findings: list[Finding], code: str) -> int:
    return sum(finding.code == code for finding in findings)


__all__ = ["Fixed", "Planner", "fix_source"]
