"""Check the programs and the prose of a document or a configuration file; findings have the document's places."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from tfmemlint.engine.alternatives import are_apart
from tfmemlint.engine.check_source import find_in_source
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.run_rules import run_rules
from tfmemlint.engine.suppress import dedupe, dedupe_and_suppress, judges_comments, unselected
from tfmemlint.engine.trouble import trouble
from tfmemlint.model.codes import SYNTAX_ERROR
from tfmemlint.model.finding import Edit, Finding, Span, Step
from tfmemlint.model.records import dataclass
from tfmemlint.rulekit.triggers import may_matter
from tfmemlint.sources import kinds
from tfmemlint.sources.documents import blocks
from tfmemlint.sources.documents.document import Document

if TYPE_CHECKING:
    from tfmemlint.knowledge.releases import Target
    from tfmemlint.rulekit.rule import Rule
    from tfmemlint.sources.documents.snippet import Snippet

_TENSORFLOW = re.compile(r"(?i)tensor[ -]?flow|keras|(?<![a-z])tf(?![a-z])")


@dataclass(frozen=True, slots=True)
class PlacedFinding:
    """A finding in the document's columns, and the same in the columns of one of its programs (None: in its prose)."""

    finding: Finding
    inner: Finding | None = None
    snippet: Snippet | None = None


@dataclass(frozen=True, slots=True)
class DocumentJudge:
    """Checks the programs of one document.

    Attributes:
        context: the run.
        target: the release that the document is for.
        rules: the rules that are selected for it.
        mixed: the project supports TensorFlow 1 as well: each example is for the release that its names are of.
        gave_up: gets the reasons, in words, why a program was not followed to its end.
    """

    context: RunContext
    target: Target
    rules: Sequence[Rule]
    mixed: bool = False
    gave_up: list[str] = field(default_factory=list, compare=False)

    @classmethod
    def of(cls, document: Document, context: RunContext) -> DocumentJudge:
        """Return the judge of a document.

        The release is the one that is stated, else the one that the document's code is written for, where its project
        does not rule that out.
        """
        path = document.path
        target, mixed = context.target_of(path), False
        oldest = context.oldest_target_of(path)
        if context.target is None and oldest is None:
            from tfmemlint.project.detect_tf1 import era

            target = era(document.blocks, target)
        elif oldest is not None:
            # A project that supports both has examples for each.
            mixed = oldest.major < 2 <= target.major
        return cls(context, target, context.rules_for(path), mixed)

    def target_of(self, snippet: Snippet) -> Target:
        """Return the release that one program is checked for."""
        if not self.mixed and not any(block.legacy for block in snippet.blocks):
            return self.target
        from tfmemlint.project.detect_tf1 import era

        said = all(block.legacy for block in snippet.blocks if block.language == blocks.PYTHON)
        return era(snippet.blocks, self.target, said=said)

    def context_of(self, snippet: Snippet) -> RunContext:
        """Return the context that one program is checked and fixed in."""
        return self.context.for_snippet(self.target_of(snippet), self.rules)

    def find(self, document: Document) -> list[Finding]:
        """Return all that is found in a document, in the order of its rows, without what its comments silence."""
        return [placed.finding for placed in self.find_placed(document)]

    def find_placed(self, document: Document) -> list[PlacedFinding]:
        """Return the same, each finding with the program that it is in."""
        if document.page is not None:
            # The page is checked as it is shown. Nothing is fixed in place, as tags stand between the words.
            page = document.page
            moved = [page.finding(finding) for finding in self.find(document.as_shown())]
            return [PlacedFinding(finding) for finding in sorted(moved, key=lambda finding: finding.sort_key)]
        found: list[PlacedFinding] = []
        snippets = list(document.snippets())
        others = document.kind not in kinds.SETTINGS and _TENSORFLOW.search(document.text) is None
        for snippet in snippets:
            if others and snippet.language != blocks.PYTHON:
                # Other programs read the variables of CUDA, too, some with values of their own.
                continue
            found += [
                PlacedFinding(in_document(finding, snippet), finding, snippet)
                for finding in self.find_in_snippet(snippet)
            ]
        found += [PlacedFinding(finding) for finding in self._find_in_prose(document, snippets)]
        kept = {id(finding) for finding in dedupe([placed.finding for placed in found], self.rules)}
        return sorted(
            (placed for placed in found if id(placed.finding) in kept), key=lambda placed: placed.finding.sort_key
        )

    def find_in_snippet(self, snippet: Snippet) -> list[Finding]:
        """Return what is found in one program, in its own columns."""
        if not self._may_matter(snippet.text):
            return []
        if snippet.language == blocks.PYTHON:
            context = self.context_of(snippet)
            by_code = {rule.code: rule for rule in self.rules}
            found = [
                finding
                for finding in find_in_source(snippet, context, gave_up=self.gave_up)
                if finding.code != SYNTAX_ERROR and not are_apart(snippet, finding, by_code.get(finding.code))
            ]
        else:
            found = list(self._find_in_configuration(snippet))
        kept = dedupe_and_suppress(snippet, found, self.rules)
        return [finding for finding in kept if not snippet.silences(finding.span.row, finding.code)]

    def _may_matter(self, text: str) -> bool:
        """True if a rule may report something in a part of the document."""
        return self.context.reads_every_tensorflow_file or may_matter(text.encode("utf-8", "replace"))

    def _find_in_configuration(self, snippet: Snippet) -> Iterator[Finding]:
        from tfmemlint.deployment import program_of

        program = program_of(snippet, snippet.language, self.target)
        if program is None or program.configuration is None:
            return
        program.gpu_memory_mib = self.context.gpu_memory_mib
        yield from run_rules(program, self.rules)
        if judges_comments(snippet.text, self.rules, python=False):
            yield from run_rules(program, unselected(self.rules))
        if snippet.language == blocks.YAML and kinds.kind_of(os.path.basename(snippet.path)) == kinds.YAML:
            # A block of YAML in a document need not be valid by itself.
            for row, words in program.configuration.problems:
                span = Span(row, 1, row, 1)
                yield from trouble(self.rules, SYNTAX_ERROR, snippet.path, span, f"Not valid YAML: {words}")

    def _find_in_prose(self, document: Document, snippets: Sequence[Snippet]) -> list[Finding]:
        """Return what is found outside ``snippets``: in prose, and in code that can't be read."""
        if document.skipped or document.kind == kinds.DOCSTRING:
            # The rules that read comments read docstrings, too.
            return []
        text = document.prose(snippets)
        # In a configuration file, lines that were understood may still hold settings that have run together.
        seen = document.text if document.kind in kinds.SETTINGS else text
        if not self._may_matter(seen):
            return []
        from tfmemlint.text_checks import findings, in_comments

        rows = document.rows_of_code()
        found = findings(document.path, text, self.rules, self.target, whole=document.text, code=rows)
        if document.kind in kinds.SETTINGS:
            found += in_comments(document.path, document.text, self.rules, self.target)
        return found


def place_of(finding: Finding) -> tuple[object, ...]:
    """Return what a finding is known by within one text."""
    return finding.code, finding.span, finding.message


def in_document(finding: Finding, snippet: Snippet) -> Finding:
    """Return a finding in a snippet with the columns of the document."""
    shifts = snippet.shifts
    fix = finding.fix
    if fix is not None:
        edits = tuple(Edit(_shifted(edit.span, shifts), edit.content) for edit in fix.edits)
        fix = dataclasses.replace(fix, edits=edits)
    return dataclasses.replace(
        finding,
        span=_shifted(finding.span, shifts),
        trace=tuple(
            Step(step.path, _shifted(step.span, shifts), step.words) if step.path == snippet.path else step
            for step in finding.trace
        ),
        anchors={name: _shifted(span, shifts) for name, span in finding.anchors.items()},
        fix=fix,
    )


def _shifted(span: Span, shifts: dict[int, int]) -> Span:
    start, end = shifts.get(span.row, 0), shifts.get(span.end_row, 0)
    return Span(span.row, span.column + start, span.end_row, span.end_column + end)
