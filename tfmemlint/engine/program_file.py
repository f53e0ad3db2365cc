"""A file that is part of programs of several files, checked and fixed as such."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfmemlint.engine.item import Item
from tfmemlint.engine.place_at_users import place_at_users
from tfmemlint.engine.plain_names import all_names_exist
from tfmemlint.engine.programs import analyze_program, is_covered_by_key, program_key
from tfmemlint.engine.python_file import PythonFile
from tfmemlint.engine.results import FileResult, ProgramResult
from tfmemlint.engine.scan_file import wanted_by_rules
from tfmemlint.engine.suppress import dedupe_and_suppress
from tfmemlint.facts.prefilter import ABOUT
from tfmemlint.model.records import dataclass
from tfmemlint.project.kinds import Kind
from tfmemlint.rulekit.triggers import scan

if TYPE_CHECKING:
    from tfmemlint.engine.context import RunContext
    from tfmemlint.model.finding import Finding
    from tfmemlint.project.entries import Entry
    from tfmemlint.sources import Source


_REPORTED_AT = "reported_at"
"""The key in the details of a finding in a module that is reported at a file which uses it: that file."""


@dataclass
class ProgramFile(PythonFile):
    """A file that is part of programs of several files (`tfmemlint.engine.subject.Subject`).

    Attributes:
        entries: where those programs start. A file that is examined is the start of exactly one.
    """

    entries: tuple[Entry, ...] = ()

    @classmethod
    def of_program(cls, source: Source, entries: tuple[Entry, ...]) -> ProgramFile:
        """Return the subject for a text that was decoded before."""
        subject = cls(source.path, b"", entries)
        subject.source = source
        return subject

    def key(self, context: RunContext) -> str:
        """Return the name under which the result of the program that starts here is cached."""
        return program_key(self.entries[0], context)

    def examine(self, context: RunContext, cached: object = None) -> FileResult:
        """Check the program that starts here, and the file by itself.

        The findings of the result are still empty: `merge_program_results` gives each file those of all programs.
        """
        source, (entry,) = self.source, self.entries
        result = FileResult(self.path, candidate=True, source=source, entries=self.entries)
        if isinstance(cached, ProgramResult):
            result.program = cached
        else:
            store = context.modules
            store.make_room(store.contents.get(entry.path, ()))
            result.program = analyze_program(entry, context)
            result.own_findings = own_findings(source, context)
        result.notes = result.program.notes
        return result

    def cacheable(self, result: FileResult, context: RunContext) -> object:
        """Return the program's result; None if it depends on files that the key does not know."""
        program = result.program
        return program if program is not None and is_covered_by_key(program, context) else None

    def check(self, context: RunContext) -> list[Finding]:
        """Return the findings in this file, by itself and in its programs.

        Those that are reported at other files, which use this one wrongly, are among them, and are not fixable here: no
        change of this file may be taken for a fix that brings one.
        """
        source = self.source
        modules = context.modules.with_instead({source.path: source})
        changed = dataclasses.replace(context, modules=modules)
        programs = place_at_users([analyze_program(entry, changed) for entry in self.entries], changed)
        found = findings_in(source, programs, PythonFile.of(source).find(context), context)
        known = {(finding.code, finding.span) for finding in found}
        found += [
            dataclasses.replace(there, fixable=False, details={_REPORTED_AT: finding.path})
            for program in programs
            for finding in program.findings
            if (there := finding.in_module) and there.path == source.path and (there.code, there.span) not in known
        ]
        return report(source, found, context)

    def _planner(self, context: RunContext) -> None:
        """Return None: the order of a program of several files is repaired as a whole, after its files."""

    def with_source(self, source: Source) -> ProgramFile:
        """Return the same file with another text."""
        return ProgramFile.of_program(source, self.entries)

    def fix(self, context: RunContext) -> FileResult:
        """Fix the file; what is checked from here on sees its new text."""
        result = super().fix(context)
        result.findings = [finding for finding in result.findings if _REPORTED_AT not in finding.details]
        if result.source is not None:
            context.modules.set_text(result.source)
        return result


def own_findings(source: Source, context: RunContext) -> list[Finding]:
    """Return the findings in a file by itself, before comments silence any.

    A file without a word that a rule waits for, in which all names of TensorFlow's exist, has none.
    """
    module = context.modules.get(source.path)
    same = module is not None and module.source.text == source.text
    if same and not _may_have_findings(source, context):
        return []
    return PythonFile.of(source).find(context, module if same else None)


def _may_have_findings(source: Source, context: RunContext) -> bool:
    """True if a rule may report something in a text by itself."""
    data = source.text.encode("utf-8", "surrogatepass")
    words = scan(data)
    if wanted_by_rules(context)(Item(source.path, data, words=words)):
        return True
    if not words & ABOUT:
        return False
    return not all_names_exist(source.text, context.target_of(source.path))


def findings_in(
    source: Source, programs: Sequence[ProgramResult], own: Sequence[Finding], context: RunContext
) -> list[Finding]:
    """Return the findings in one file: those of the programs that it is part of, and its ``own``.

    Where a program that really runs reaches a place, it is known what happens there: what might happen if another
    program reached it is not reported.
    """
    from tfmemlint.rulekit.rule import rules

    codes = {rule.code for rule in rules() if rule.whole_program}
    name_of = context.modules.name_of
    starts_here = any(name_of(program.entry.path) == source.path and not program.notes for program in programs)
    reached = {span for program in programs if program.known for path, span in program.reached if path == source.path}
    tried = reached - {
        span
        for program in programs
        if program.known and program.entry.kind is not Kind.TEST
        for path, span in program.reached
        if path == source.path
    }
    placed = {
        (finding.code, finding.in_module.span)
        for program in programs
        for finding in program.findings
        if finding.in_module is not None and finding.in_module.path == source.path
    }
    by_itself = not any(name_of(program.entry.path) == source.path for program in programs)

    def is_open(finding: Finding) -> bool:
        """True if what programs do at the place of a finding does not refute it: a test gives some arguments, and
        users give others."""
        if finding.span not in reached:
            return True
        return finding.span in tried and "parting" not in finding.details and (finding.code, finding.span) not in placed

    found = [
        finding
        for finding in own
        if finding.code not in codes
        or (finding.span not in reached and not starts_here)
        or (by_itself and is_open(finding))
    ]
    for program in programs:
        here = (finding for finding in program.findings if finding.path == source.path)
        found.extend(finding for finding in here if program.known or is_open(finding))
    return found


def report(source: Source, found: Sequence[Finding], context: RunContext) -> list[Finding]:
    """Return the findings to report, of all that were found in a file, of rules that are selected for it."""
    context = context.at(source.path)
    rules = context.rules_for(source.path)
    return context.keep(dedupe_and_suppress(source, found, rules, keep_suppressed=context.keep_suppressed))
