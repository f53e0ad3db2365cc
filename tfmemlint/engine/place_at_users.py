"""Report a defect that only some users of a module have at those users, and not in the module.

A module that configures memory may be right in one program and too late in another. Where programs come to one place of
a module by several ways, and the defect is there on some of them only, it is at the statement at which these part from
the others: the import or the call in the file that uses the module wrongly. A module that is right when it is run, or
imported, by itself is such a way, too. A defect that is there on all ways is one of the module.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, TypeAlias

from tfmemlint.engine.entry_points import library_entry
from tfmemlint.engine.programs import analyze_program
from tfmemlint.engine.suppress import dedupe
from tfmemlint.model.finding import ONLY_IF_ALL_USERS, Finding, Span, Step
from tfmemlint.model.placed_text import place, placed, seen_from
from tfmemlint.project.kinds import Kind
from tfmemlint.rulekit.start_trace import said
from tfmemlint.sources.suppressions import read_suppressions

if TYPE_CHECKING:
    from tfmemlint.engine.context import RunContext
    from tfmemlint.engine.results import ProgramResult

Frames: TypeAlias = tuple[tuple[str, Span], ...]
"""The places of the calls and imports that lead somewhere, outermost first."""


def place_at_users(
    programs: Sequence[ProgramResult], context: RunContext, analyze_alone: Callable[[str], ProgramResult] | None = None
) -> list[ProgramResult]:
    """Return the results of all programs that some modules are part of, with the findings in these modules that not all
    programs have at the users that have them: each has the finding in the module in ``in_module``.

    Args:
        programs: the results.
        context: the run.
        analyze_alone: returns what is found in a module as if a program started there. None: it is analyzed here.
    """
    if not any(finding.way and finding.way.frames for program in programs for finding in program.findings):
        return list(programs)
    if analyze_alone is None:
        return _Placing(programs, context, lambda path: analyze_program(library_entry(path), context)).placed()
    return _Placing(programs, context, analyze_alone).placed()


def modules_with_users(programs: Iterable[ProgramResult]) -> set[str]:
    """Return the modules with findings in programs that start in other files: other programs may be right in them."""
    return {
        finding.path
        for program in programs
        for finding in program.findings
        if finding.way is not None and any(frame.path != finding.path for frame in finding.way.frames)
    }


class _Placing:
    def __init__(
        self, programs: Sequence[ProgramResult], context: RunContext, analyze_alone: Callable[[str], ProgramResult]
    ) -> None:
        self.programs = programs
        self.context = context
        self.reached = {place for program in programs if program.known for place in program.reached}
        """The places that programs reach which really run."""
        concerned = {
            (finding.path, finding.way.span)
            for program in programs
            for finding in program.findings
            if finding.way is not None and finding.way.frames
        }
        starts = {context.modules.name_of(program.entry.path) for program in programs}
        modules = sorted({path for path, _ in concerned} - starts)
        alone = [analyze_alone(path) for path in modules]
        self.ways: dict[tuple[str, Span], list[tuple[int, Frames]]] = {}
        """For each place, the programs that come there, by their numbers, each with the frames of one way."""
        for number, program in enumerate((*programs, *alone)):
            for path, span, frames in () if program.notes else program.ways:
                if (path, span) in concerned:
                    self.ways.setdefault((path, span), []).append((number, frames))
        self.tests = {number for number, program in enumerate(programs) if program.entry.kind is Kind.TEST}
        self.wrong: dict[tuple[str, str, Span], set[tuple[int, Frames]]] = {}
        """For each code and place, the ways on which that is found."""
        self.having: dict[str, set[int]] = {}
        """For each code, the numbers of the programs in which that is found somewhere."""
        for number, program in enumerate((*programs, *alone)):
            for finding in program.findings:
                self.having.setdefault(finding.code, set()).add(number)
                if finding.way is not None:
                    key = (finding.code, finding.path, finding.way.span)
                    self.wrong.setdefault(key, set()).add((number, _frames(finding)))

    def placed(self) -> list[ProgramResult]:
        """Return the programs with their findings where they are to be reported."""
        found = []
        for program in self.programs:
            movable = self._movable(program)
            moved = {id(finding): self._at_user(finding) for finding in movable}
            left_out = {id(finding) for finding in movable if self._is_for_other_users(finding)}
            findings = tuple(
                moved.get(id(finding)) or finding for finding in program.findings if id(finding) not in left_out
            )
            changed = left_out or any(moved.values())
            found.append(dataclasses.replace(program, findings=findings) if changed else program)
        return found

    def _is_for_other_users(self, finding: Finding) -> bool:
        """True for a finding about what a module has for its users, if another user of the module takes that."""
        return ONLY_IF_ALL_USERS in finding.details and any(self._right_ways(finding))

    def _movable(self, program: ProgramResult) -> list[Finding]:
        """Return the findings of a program in its modules that are reported: other rules, or a comment in the module,
        may supersede or silence some."""
        by_path: dict[str, list[Finding]] = {}
        for finding in program.findings:
            by_path.setdefault(finding.path, []).append(finding)
        found: list[Finding] = []
        for path, findings in by_path.items():
            if any(finding.way is not None and finding.way.frames for finding in findings):
                kept = {
                    (finding.code, finding.span)
                    for finding in dedupe(findings, self.context.rules_for(path))
                    if (program.known or (path, finding.span) not in self.reached) and not self._is_silenced(finding)
                }
                found += [finding for finding in findings if (finding.code, finding.span) in kept]
        return found

    def _is_silenced(self, finding: Finding) -> bool:
        module = self.context.modules.get(finding.path)
        if module is None:
            return False
        found = read_suppressions(module.source.text)
        if found.has_names:
            from tfmemlint.rulekit.rule import rules

            found = found.with_codes({rule.name: rule.code for rule in rules()})
        return found.skip_file or found.for_finding(finding) is not None

    def _at_user(self, finding: Finding) -> Finding | None:
        """Return a finding at the user of the module that has it; None if it is one of the module."""
        if finding.way is None or not finding.way.frames:
            return None
        right = self._right_ways(finding)
        if not right or ONLY_IF_ALL_USERS in finding.details:
            return None
        frames = _frames(finding)
        parting = _parting(frames, right)
        user = finding.way.frames[parting]
        if user.path == finding.path or self.context.modules.get(user.path) is None:
            return None
        return self._moved(finding, user, _example(frames[parting + 1 :], right))

    def _right_ways(self, finding: Finding) -> set[Frames]:
        """Return the ways on which programs come to the place of a finding and have no such finding there."""
        if finding.way is None:
            return set()
        wrong = self.wrong[(finding.code, finding.path, finding.way.span)]
        late = "parting" in finding.details
        # In a test it is not known what has started the runtime before. A program that has another defect of the same
        # rule is told of that one first: it does not show that the module is right.
        unsure = self.tests if late else self.having[finding.code]
        ways = self.ways.get((finding.path, finding.way.span), ())
        return {frames for number, frames in ways if (number, frames) not in wrong and number not in unsure}

    def _moved(self, finding: Finding, user: Step, example: tuple[str, Span] | None) -> Finding:
        module = finding.path
        where = f"where {place(example[0], example[1].row)} leads to it" if example else "by itself"
        note = placed(f"{place(module, finding.span.row)} is right {where}.", user.path)
        repaired_in_order = finding.fixable and "parting" in finding.details
        trace = finding.trace
        if not any(step.path == finding.path and step.span.row == finding.span.row for step in trace):
            trace = (*trace, user, Step(finding.path, finding.span, "it is here"))
        return dataclasses.replace(
            finding,
            path=user.path,
            span=user.span,
            noqa_row=self._end_row(user),
            message=seen_from(finding.message, user.path),
            outcome=seen_from(finding.outcome, user.path),
            advice=_advice(finding, user) or seen_from(finding.advice, user.path),
            notes=(*(seen_from(text, user.path) for text in finding.notes), note),
            trace=trace,
            fixable=repaired_in_order,
            withheld="" if repaired_in_order or not finding.fixable else f"{module} is right in other programs",
            anchors={},
            in_module=finding,
        )

    def _end_row(self, user: Step) -> int:
        """Return the last row of the statement at a place: a comment there silences what is found at it."""
        module = self.context.modules.get(user.path)
        assert module is not None
        rows = [
            node.end_lineno or node.lineno
            for node in ast.walk(module.tree)
            if isinstance(node, ast.stmt)
            and not hasattr(node, "body")
            and node.lineno <= user.span.row <= (node.end_lineno or node.lineno)
        ]
        return min(rows, default=user.span.end_row)


def _advice(finding: Finding, user: Step) -> str:
    """Return where the statement of a user belongs, if the early start of the runtime is in the same file; else ""."""
    parting = finding.details.get("parting")
    if not isinstance(parting, int) or parting >= len(finding.trace):
        return ""
    first = finding.trace[parting]
    if first.path != user.path or first.span.row >= user.span.row:
        return ""
    does = said(first)
    leads = f", which {does}" if does.startswith("imports ") else ""
    return placed(f"Move this above {place(first.path, first.span.row)}{leads}", user.path)


def _frames(finding: Finding) -> Frames:
    return tuple((frame.path, frame.span) for frame in finding.way.frames) if finding.way is not None else ()


def _parting(frames: Frames, right: AbstractSet[Frames]) -> int:
    """Return the number of the innermost frame by which no way in ``right`` comes to the place: 0 if they all do."""
    for number in range(len(frames) - 1, -1, -1):
        if not any(_ends_with(other, frames[number:]) for other in right):
            return number
    return 0


def _example(shared: Frames, right: AbstractSet[Frames]) -> tuple[str, Span] | None:
    """Return the frame by which a right way comes to the frames that it shares; None if it starts with these."""
    others = [other for other in right if _ends_with(other, shared)]
    places = [other[len(other) - len(shared) - 1] for other in others if len(other) > len(shared)]
    return min(places, default=None)


def _ends_with(frames: Frames, end: Frames) -> bool:
    return frames[len(frames) - len(end) :] == end if len(end) <= len(frames) else False
