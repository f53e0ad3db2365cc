"""Try strategies on an order problem, from the least to the most intrusive, and keep the first that works.

After each candidate the whole program is analyzed again. A candidate works if the finding is gone and no other came.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property

from tfmemlint.fixes.edits import difference
from tfmemlint.fixes.order.files import Files
from tfmemlint.fixes.order.names import unresolved_names
from tfmemlint.fixes.order.problem import OrderProblem
from tfmemlint.fixes.order.strategies import PLANS, Plan
from tfmemlint.fixes.withheld import Withheld, already_set, failure_words
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Applicability, Edit, Finding, Fix, Severity
from tfmemlint.model.records import dataclass

_MAX_FOLLOW_UPS = 2
"""Further fixes that one repair may need at most; a bound against endless chains."""
_MAX_STARTERS = 6
"""Statements that start the runtime that one repair changes at most; a bound against endless chains."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """The program that is repaired.

    Attributes:
        files: its files. release: the one that new code is for.
        check: returns all findings of the program, some of whose files have other texts.
        refuse: returns why a file may not be changed, or "".
        reaches: returns True if the program still makes a call of this name, with other texts in some files.
        follow_up: returns the new text of a file in which a candidate has brought a finding to light, after that rule's
            own fix, and what that does; None if there is none.
        left_in_one: returns what one program that has the finding still has of its rule there, with other texts in some
            files: a candidate that does not help that program need not be tried on hundreds of others.
        spares: returns True if the programs that are right as they are still configure what they do.
    """

    files: Files
    release: Target
    check: Callable[[Mapping[str, str]], list[Finding]]
    refuse: Callable[[str], str] = lambda _: ""
    reaches: Callable[[str, Mapping[str, str]], bool] = lambda _called, _texts: True
    follow_up: Callable[[Finding, str], tuple[str, str] | None] = lambda _finding, _text: None
    spares: Callable[[Mapping[str, str]], bool] = lambda _texts: True
    left_in_one: Callable[[Mapping[str, str]], list[Finding]] = lambda _texts: []


@dataclass(frozen=True, slots=True)
class Repair:
    """A change that works.

    Attributes:
        finding: what it repairs, with its fix. texts: the new texts, by file.
        findings: all findings of the program after it.
    """

    finding: Finding
    texts: Mapping[str, str]
    findings: list[Finding]


def repair(finding: Finding, before: Sequence[Finding], workspace: Workspace) -> Repair | str:
    """Return the least intrusive repair of a finding that works, or why there is none.

    Args:
        finding: the configuration that comes too late.
        before: all findings of the program as it is.
        workspace: the program.
    """
    if finding.details.get("before") is not None:
        return already_set(finding)
    if finding.details.get("training"):
        return "it is meant to change the memory during training, and no call can"
    run = _Run(finding, before, workspace)
    reason = ""
    for plan in PLANS:
        if plan.last_resort and run.refused:
            break
        found = run.try_plan(plan)
        if isinstance(found, Repair):
            return found
        # The first reason is about the simplest repair: the one that people think of first.
        reason = reason or found
    return run.refused or reason


@dataclass
class _Run:
    """The attempts to repair one finding.

    Attributes:
        refused: why a file that some attempt changes may not be changed.
        _failed: the changes that did not work, each analyzed once.
    """

    finding: Finding
    before: Sequence[Finding]
    workspace: Workspace
    refused: str = ""
    _failed: set[frozenset[tuple[str, str]]] = field(default_factory=set)

    def try_plan(self, plan: Plan) -> Repair | str:
        """Return the repair that a plan finds, or why it finds none."""
        try:
            return self._chain(plan, self.finding, {}, [], _MAX_STARTERS)
        except Withheld as reason:
            return str(reason)
        except Exception as error:  # a strategy that fails must not take the run with it
            return failure_words(error)

    def _chain(
        self, plan: Plan, finding: Finding, texts: Mapping[str, str], done: list[str], left: int
    ) -> Repair | str:
        """Apply strategies one after the other, the last to each statement that starts the runtime too early."""
        strategy, *following = plan.steps
        files = self.workspace.files.letting_output_move() if plan.moves_output else self.workspace.files
        files = files.with_texts(texts) if texts else files
        problem = OrderProblem(finding, files, self.workspace.release)
        reason = ""
        for candidate in strategy(problem):
            changed = {**texts, **candidate.texts}
            if not following and not plan.repeats:
                if frozenset(changed.items()) in self._failed:
                    continue
                self._failed.add(frozenset(changed.items()))
            refused = next((why for path in candidate.texts if (why := self.workspace.refuse(path))), "")
            if refused or any(unresolved_names(files, path, text) for path, text in candidate.texts.items()):
                self.refused = self.refused or refused
                reason = reason or refused or "a name would not be defined"
                continue
            words = [*done, candidate.message]
            after = self.workspace.left_in_one(changed)
            left_over = 0 < self._in_one <= len(self._alike(after, files.with_texts(candidate.texts)))
            if not left_over:
                changed, after = self._with_follow_ups(files, changed, self.workspace.check(changed), words)
            objection = "the finding would still be there" if left_over else self._objection(after)
            reason = reason or objection
            if not objection:
                called = self.finding.details.get("called")
                if isinstance(called, str) and not plan.last_resort and not self.workspace.reaches(called, changed):
                    reason = reason or "the configuration would not be reached any more"
                    continue
                if not self.workspace.spares(changed):
                    reason = reason or f"programs in which {self.finding.path} is right would lose the configuration"
                    continue
                if plan.moves_output:
                    words.append("what is printed or written comes in another order then")
                return Repair(self._with_fix(changed, words), changed, after)
            again = self._next(after, files.with_texts(candidate.texts))
            if again is None or not left or not (following or (plan.repeats and _progress(finding, again))):
                continue
            rest = dataclasses.replace(plan, steps=tuple(following)) if following else plan
            further = self._chain(rest, again, changed, words, left - 1)
            if isinstance(further, Repair):
                return further
        return reason

    def _with_follow_ups(
        self, files: Files, texts: dict[str, str], after: list[Finding], words: list[str]
    ) -> tuple[dict[str, str], list[Finding]]:
        """Return the texts with the fixes of findings that the configuration has now that it is in time."""
        old = _counts(self.before)
        for _ in range(_MAX_FOLLOW_UPS):
            new = _counts(after)
            found = next(
                (
                    finding
                    for finding in after
                    if finding.fixable and finding.in_module is None and new[finding.code] > old[finding.code]
                ),
                None,
            )
            if found is None or found.code == self.finding.code:
                break
            source = files.read(found.path)
            text = texts.get(found.path, source.text if source is not None else "")
            fixed = self.workspace.follow_up(found, text)
            if fixed is None or self.workspace.refuse(found.path):
                break
            texts = {**texts, found.path: fixed[0]}
            words.append(fixed[1])
            after = self.workspace.check(texts)
        return texts, after

    def _objection(self, after: Sequence[Finding]) -> str:
        """Return what is wrong with the program after a candidate, or ""."""
        old, new = _counts(self.before), _counts(after)
        worse = next((code for code in new if new[code] > old[code]), None)
        if worse is not None:
            found = next(finding for finding in after if finding.code == worse)
            return f"the fix would bring {worse}: {found.message}"
        if new[self.finding.code] >= old[self.finding.code]:
            return "the finding would still be there"
        return ""

    def _next(self, after: Sequence[Finding], files: Files) -> Finding | None:
        """Return the same configuration that is still too late, if another statement now starts the runtime."""
        return next(iter(self._alike(after, files)), None)

    def _alike(self, findings: Sequence[Finding], files: Files) -> list[Finding]:
        """Return the findings of the same rule at lines that read the same."""
        try:
            line = self.workspace.files.get(self.finding.path).source.lines[self.finding.span.row - 1].strip()
            lines = files.get(self.finding.path).source.lines
        except (Withheld, IndexError):
            return []
        own = (self.finding.code, self.finding.path)
        there = [each.in_module or each for each in findings]
        return [each for each in there if (each.code, each.path) == own and lines[each.span.row - 1].strip() == line]

    @cached_property
    def _in_one(self) -> int:
        """The number of times that one program has the finding as it is; 0 where all are analyzed at once."""
        return len(self._alike(self.workspace.left_in_one({}), self.workspace.files))

    def _with_fix(self, texts: Mapping[str, str], words: Sequence[str]) -> Finding:
        edits: list[Edit] = []
        for path, text in sorted(texts.items()):
            source = self.workspace.files.get(path).source
            other = "" if path == self.finding.path else path
            edits += [dataclasses.replace(edit, path=other) for edit in difference(source.text, text)]
        message = "; ".join(dict.fromkeys([words[0], *(word[:1].lower() + word[1:] for word in words[1:])]))
        fix = Fix(Applicability.UNSAFE, message, tuple(edits))
        return dataclasses.replace(self.finding, fix=fix, withheld="")


def _progress(finding: Finding, again: Finding) -> bool:
    """True if another statement starts the runtime now."""
    return [step.words for step in finding.trace] != [step.words for step in again.trace] or (
        finding.message != again.message
    )


def _counts(findings: Sequence[Finding]) -> Counter[str]:
    return Counter(finding.code for finding in findings if finding.severity is not Severity.ADVICE)


__all__ = ["Repair", "Workspace", "repair"]
