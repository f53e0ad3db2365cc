"""Documents and configuration files: each program in them is judged as a file of its own would be, and so is what is
only mentioned; what is found stands where the document has it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from tfmemlint.engine.alternatives import are_apart
from tfmemlint.engine.check_source import (
    dedupe,
    dedupe_and_suppress,
    judge_program,
    judge_source,
    syntax_finding,
)
from tfmemlint.model.codes import SYNTAX_ERROR
from tfmemlint.model.finding import Edit, Finding, Fix, Span, Step
from tfmemlint.rulekit.triggers import may_matter
from tfmemlint.sources import kinds
from tfmemlint.sources.documents import blocks
from tfmemlint.sources.documents.document import Document

if TYPE_CHECKING:
    from tfmemlint.fixes.loop import Fixed, Options
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.rule import Rule
    from tfmemlint.sources.documents.snippet import Snippet


@dataclass(frozen=True, slots=True)
class Placed:
    """A finding, as it stands in the document, and as it stands in one of the programs there (None: in its prose)."""

    finding: Finding
    inner: Finding | None = None
    snippet: Snippet | None = None


@dataclass(frozen=True, slots=True)
class Judge:
    """How the programs of a document are judged.

    Attributes:
        rules: what to look for. target: the release. gpu_memory_mib: the memory of one GPU, in MiB, where it is told.
        mixed: the project runs on TensorFlow 1 as well: each example is for the release that its names are of.
        everything: all programs are read, and not only those with a trigger of some rule.
    """

    rules: Sequence[Rule]
    target: Target
    gpu_memory_mib: float | None = None
    mixed: bool = False
    everything: bool = False

    def target_of(self, snippet: Snippet) -> Target:
        """The release that one program is judged for."""
        if not self.mixed and not any(block.legacy for block in snippet.blocks):
            return self.target
        from tfmemlint.project.detect_tf1 import era

        return era(snippet.blocks, self.target)

    def findings(self, document: Document) -> list[Finding]:
        """All that is found in a document, in the order of its rows."""
        return [placed.finding for placed in self.placed(document)]

    def placed(self, document: Document) -> list[Placed]:
        """The same, each with the program that it is found in."""
        if document.page is not None:
            # What the page shows is judged; nothing is changed in place, where tags stand between the words.
            page = document.page
            moved = [page.finding(one) for one in self.findings(document.as_shown())]
            return [Placed(one) for one in sorted(moved, key=lambda one: one.sort_key)]
        found: list[Placed] = []
        snippets = list(document.snippets())
        for snippet in snippets:
            found += [Placed(_moved(one, snippet), one, snippet) for one in self.in_snippet(snippet)]
        found += [Placed(one) for one in self._in_prose(document, snippets)]
        by_code = {rule.code: rule for rule in self.rules}
        kept = {id(one) for one in dedupe([placed.finding for placed in found], by_code)}
        return sorted((one for one in found if id(one.finding) in kept), key=lambda one: one.finding.sort_key)

    def in_snippet(self, snippet: Snippet) -> list[Finding]:
        """What is found in one program, in its own columns."""
        if not (self.everything or may_matter(snippet.text.encode("utf-8", "replace"))):
            return []
        if snippet.language == blocks.PYTHON:
            judged = judge_source(snippet, self.rules, self.target_of(snippet), self.gpu_memory_mib)
            found = [one for one in judged if one.code != SYNTAX_ERROR and not are_apart(snippet, one)]
        else:
            found = list(self._settings(snippet))
        said = dedupe_and_suppress(snippet, found, self.rules)
        return [one for one in said if not snippet.silences(one.span.row, one.code)]

    def _settings(self, snippet: Snippet) -> Iterator[Finding]:
        from tfmemlint.deployment import program_of

        program = program_of(snippet, snippet.language, self.target)
        if program is None or program.configuration is None:
            return
        program.gpu_memory_mib = self.gpu_memory_mib
        yield from judge_program(program, self.rules)
        if snippet.language == blocks.YAML and kinds.kind_of(os.path.basename(snippet.path)) == kinds.YAML:
            # A part of a file need not be valid by itself.
            yield from (
                syntax_finding(snippet.path, row, f"Not valid YAML: {words}", self.rules)
                for row, words in program.configuration.problems
            )

    def _in_prose(self, document: Document, snippets: Sequence[Snippet]) -> list[Finding]:
        """What is found in what is no code, or no code that can be read: all but ``snippets``."""
        if document.skipped or document.kind == kinds.DOCSTRING:
            # The rules that read comments read docstrings too.
            return []
        text = document.prose(snippets)
        # In a configuration file, lines that were understood are looked at again for what has run together.
        seen = document.text if document.kind in kinds.SETTINGS else text
        if not (self.everything or may_matter(seen.encode("utf-8", "replace"))):
            return []
        from tfmemlint.text_checks import findings, in_comments

        rows = document.rows_of_code()
        found = findings(document.path, text, self.rules, self.target, whole=document.text, code=rows)
        if document.kind in kinds.SETTINGS:
            found += in_comments(document.path, document.text, self.rules, self.target)
        return found


def fix(
    document: Document,
    judge: Judge,
    mend: Callable[[Snippet], Fixed],
    asked_for: Callable[[list[Finding]], list[Finding]],
) -> Fixed:
    """Fix what may be fixed in each program of a document, one after the other.

    Args:
        mend: fixes one program. asked_for: leaves out findings that nobody asked for.
    """
    from tfmemlint.fixes.loop import Fixed

    done = Fixed(document.text)
    reasons: dict[object, str] = {}
    number = 0
    while (snippet := next(islice(document.snippets(), number, None), None)) is not None:
        number += 1
        if not any(one.fixable for one in asked_for(judge.in_snippet(snippet))):
            continue
        made = mend(snippet)
        if made.text != snippet.text:
            document = document.replace_text(snippet.as_file(made.text))  # type: ignore[assignment]
            done.applied += [_moved(one, snippet) for one in made.applied]
            done.needs |= made.needs
        now = next(islice(document.snippets(), number - 1, None), snippet)
        reasons.update((_place(_moved(one, now)), one.withheld) for one in made.findings if one.withheld)
    done.text = document.text
    for found in asked_for(judge.findings(document)):
        done.findings.append(dataclasses.replace(found, withheld=reasons.get(_place(found), "")))
    return done


def explain(document: Document, findings: Sequence[Finding], judge: Judge, options: Options) -> list[Finding]:
    """The findings with their fixes, as edits of the document, or with the reasons why they have none."""
    from tfmemlint.fixes.edits import apply, difference
    from tfmemlint.fixes.loop import compute

    by_code = {rule.code: rule for rule in judge.rules}
    known = {_place(placed.finding): placed for placed in judge.placed(document)}
    told: list[Finding] = []
    for finding in findings:
        placed = known.get(_place(finding))
        if placed is None or placed.snippet is None or placed.inner is None or finding.code not in by_code:
            told.append(finding)
            continue
        snippet = placed.snippet
        computed = compute(snippet, placed.inner, by_code[finding.code], judge.target_of(snippet), options)
        made: Fix | None = None
        withheld = computed.withheld
        if computed.fix is not None:
            try:
                text = snippet.as_file(apply(snippet.text, computed.fix.edits))
                made = dataclasses.replace(computed.fix, edits=difference(document.text, text))
            except ValueError as error:
                withheld = str(error)
        told.append(dataclasses.replace(finding, fix=made, withheld=withheld))
    return told


def _place(finding: Finding) -> tuple[object, ...]:
    """What a finding is known by within one text."""
    return finding.code, finding.span, finding.message


def _moved(finding: Finding, snippet: Snippet) -> Finding:
    """A finding in the columns of the document."""
    shifts = snippet.shifts
    fix = finding.fix
    if fix is not None:
        fix = dataclasses.replace(fix, edits=tuple(Edit(_span(one.span, shifts), one.content) for one in fix.edits))
    return dataclasses.replace(
        finding,
        span=_span(finding.span, shifts),
        trace=tuple(
            Step(step.path, _span(step.span, shifts), step.words) if step.path == snippet.path else step
            for step in finding.trace
        ),
        anchors={name: _span(span, shifts) for name, span in finding.anchors.items()},
        fix=fix,
    )


def _span(span: Span, shifts: dict[int, int]) -> Span:
    start, end = shifts.get(span.row, 0), shifts.get(span.end_row, 0)
    return Span(span.row, span.column + start, span.end_row, span.end_column + end)
