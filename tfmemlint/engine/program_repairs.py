"""Repair the order of configuration and start in programs of several files: a fix may change any of their files."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from tfmemlint.engine.entry_points import library_entry
from tfmemlint.engine.order_repairs import follow_up_in, needs_planner
from tfmemlint.engine.programs import analyze_program
from tfmemlint.engine.results import FileResult, ProgramResult
from tfmemlint.model.records import dataclass

if TYPE_CHECKING:
    from tfmemlint.engine.context import RunContext
    from tfmemlint.fixes.concrete_tree import ConcreteTree
    from tfmemlint.fixes.order.planner import Repair, Workspace
    from tfmemlint.model.finding import Finding
    from tfmemlint.project.entries import Entry
    from tfmemlint.sources import Source

_Key: TypeAlias = "tuple[Entry, tuple[tuple[str, int], ...]]"
"""The start of a program, and the other texts that it was analyzed with."""
NOT_NAMED = "it needs a change in {path}, which was not named: give --whole-program, or name the project"
OUTSIDE = "it needs a change in {path}, which is not in the project"
_USER_CHOICES = ("declined", "left out by --fix-only")


def repair_programs(
    results: list[FileResult], programs: Sequence[ProgramResult], given: set[str], context: RunContext
) -> list[FileResult]:
    """Return the results after repairs of the order across files.

    Args:
        results: of all files, each fixed by itself.
        programs: all programs of several files, as they were before.
        given: the paths of the files that the user named, or that are in folders that the user named.
        context: the run.
    """
    if not any(_open_findings(result) for result in results):
        return results
    return _ProgramRepairs(results, programs, given, context).run()


def explain_across(results: list[FileResult], programs: Sequence[ProgramResult], context: RunContext) -> None:
    """Give findings the fixes that change several files of a program, as far as `check` looks for them."""
    from tfmemlint.engine.order_repairs import MAX_EXPLAINED_PROGRAMS, MAX_EXPLAINED_REPAIRS

    repairs = _ProgramRepairs(results, programs, {result.path for result in results}, context)
    repairs.trust_programs()
    left = MAX_EXPLAINED_REPAIRS
    for result in results:
        for number, finding in enumerate(result.findings):
            if result.entries and finding.withheld and needs_planner(finding) and left:
                left -= 1
                if repairs.count_programs(finding) > MAX_EXPLAINED_PROGRAMS:
                    reason = f"more than {MAX_EXPLAINED_PROGRAMS} programs run this file: `fix --diff` looks for a fix"
                    result.findings[number] = dataclasses.replace(finding, withheld=reason)
                    continue
                found = repairs.attempt(dataclasses.replace(finding, withheld=""))
                if isinstance(found, str):
                    result.findings[number] = dataclasses.replace(finding, withheld=found)
                else:
                    result.findings[number] = found.finding


def _open_findings(result: FileResult) -> list[Finding]:
    if not result.entries or result.problem:
        return []
    return [finding for finding in result.findings if needs_planner(finding) and finding.withheld not in _USER_CHOICES]


@dataclass
class _ProgramRepairs:
    results: list[FileResult]
    programs: Sequence[ProgramResult]
    given: set[str]
    context: RunContext
    _checked: dict[_Key, ProgramResult] = field(default_factory=dict)
    _alone: dict[_Key, ProgramResult] = field(default_factory=dict)
    """Of modules that no program starts in, as if one did."""
    _own: dict[tuple[str, str], list[Finding]] = field(default_factory=dict)
    """The findings in files by themselves, by their paths and texts."""
    _trees: dict[str, ConcreteTree] = field(default_factory=dict)

    def count_programs(self, finding: Finding) -> int:
        """Return how many programs the file of a finding, or of its module, is part of."""
        return len(self._programs_of({(finding.in_module or finding).path}))

    def trust_programs(self) -> None:
        """Take the results of the programs for those of the texts as they are: nothing has been changed."""
        self._checked = {(program.entry, ()): program for program in self.programs}
        for result in self.results:
            if result.source is not None and result.own_findings is not None:
                self._own[result.path, result.source.text] = result.own_findings

    def run(self) -> list[FileResult]:
        for result in list(self.results):
            tried: set[tuple[str, str]] = set()
            while True:
                finding = next((f for f in _open_findings(result) if (f.code, f.message) not in tried), None)
                if finding is None:
                    break
                tried.add((finding.code, finding.message))
                found = self.attempt(dataclasses.replace(finding, withheld=""))
                reason = found if isinstance(found, str) else self._make(found)
                if reason:
                    _set_reason(result, finding, reason)
                else:
                    # What stood in the way of another repair may be gone.
                    tried = {(finding.code, finding.message)}
        return self.results

    def attempt(self, finding: Finding) -> Repair | str:
        """Return the repair of a finding, or why there is none; nothing is changed."""
        from tfmemlint.fixes.order.planner import repair

        there = finding.in_module
        workspace = self._workspace(there or finding)
        if there is None:
            return repair(finding, workspace.check({}), workspace)
        workspace = dataclasses.replace(workspace, spares=lambda texts: self._spares(there, texts))
        found = repair(there, workspace.check({}), workspace)
        if isinstance(found, str):
            return found
        return dataclasses.replace(found, finding=_at_user(found.finding, finding))

    def _make(self, found: Repair) -> str:
        """Make a repair in all of its files; return why it was not made, or ""."""
        from tfmemlint.fixes.compute_fix import DECLINED, NEEDS_UNSAFE

        context = self.context
        if not context.at(found.finding.path).unsafe:
            return NEEDS_UNSAFE
        changes = [(self._source(path), text) for path, text in sorted(found.texts.items())]
        pairs = [(source, source.replace_text(text)) for source, text in changes if source is not None]
        if context.prove is not None:
            from tfmemlint.project.roots import project_root

            entry = found.finding.trace[0].path
            unproven = context.prove.program(project_root(entry), entry, found.texts)
            if unproven:
                return unproven
        if context.ask is not None and not context.ask(found.finding, pairs):
            return DECLINED
        problem = self._write(pairs)
        if problem:
            return problem
        for old, new in pairs:
            result = self._result(old.path)
            result.old = result.old or old
            result.source = new
            context.modules.set_text(new)
        owner = self._result(found.finding.path)
        owner.applied.append(found.finding)
        self._checked.clear()
        self._alone.clear()
        self._spread(found)
        return ""

    def _spread(self, found: Repair) -> None:
        """Give each file that the repair was checked with its findings after it.

        A file may have lost all of its findings: they were about what another file does.
        """
        changed = set(found.texts) | {found.finding.path}
        programs = self._programs_of(changed)
        files = {path for program in programs for path in program.paths | program.read}
        gone = {result.path for result in self.results if result.findings and result.path in files}
        checked = {finding.path for finding in found.findings} | changed | gone
        for path in sorted(checked):
            result = self._result(path)
            known = {(finding.code, finding.message): finding.withheld for finding in result.findings}
            result.findings = [
                dataclasses.replace(finding, withheld=known.get((finding.code, finding.message), ""))
                for finding in found.findings
                if finding.path == path
            ]

    def _write(self, pairs: Sequence[tuple[Source, Source]]) -> str:
        """Write files together; return why none was written, or ""."""
        from tfmemlint.engine.fix_file import objection
        from tfmemlint.fixes.write import ChangedError
        from tfmemlint.fixes.write_together import replace_together

        if not self.context.write:
            return ""
        for old, _ in pairs:
            # What this run has fixed before differs from what git has.
            fixed = self._result(old.path).old is not None
            problem = "" if fixed else objection(old.path, self.context)
            if problem:
                return f"{old.path} {problem}"
        try:
            replace_together([(old.path, old.encode(old.text), new.encode(new.text)) for old, new in pairs])
        except ChangedError as error:
            return f"{error} has changed since it was read"
        except (OSError, ValueError) as error:
            return f"could not be written; all files were left unchanged: {getattr(error, 'strerror', None) or error}"
        return ""

    def _result(self, path: str) -> FileResult:
        for result in self.results:
            if result.path == path:
                return result
        result = FileResult(path, candidate=True, source=self._source(path))
        result.entries = tuple(program.entry for program in self._programs_of({path}))
        self.results.append(result)
        return result

    def _source(self, path: str) -> Source | None:
        module = self.context.modules.get(path)
        return module.source if module is not None else None

    def _programs_of(self, paths: set[str]) -> list[ProgramResult]:
        """Return the programs that some of these files are part of."""
        name_of = self.context.modules.name_of
        return [
            program
            for program in self.programs
            if not paths.isdisjoint(program.read | program.paths) or name_of(program.entry.path) in paths
        ]

    def _workspace(self, finding: Finding) -> Workspace:
        from tfmemlint.fixes.order.files import Files
        from tfmemlint.fixes.order.planner import Workspace
        from tfmemlint.project.line_length import line_length_of
        from tfmemlint.project.roots import search_path

        context = self.context
        own = self._programs_of({finding.path})
        start = next((p.entry for p in own if _starts(p, finding, context)), None) or (own[0].entry if own else None)
        search = search_path(start.path, kind=start.kind, listings=context.modules.listings) if start else None
        search = search.certain() if search is not None else None
        files = Files(self._source, search, context.modules.name_of, line_length_of, trees=self._trees)

        def check(texts: Mapping[str, str]) -> list[Finding]:
            return self._check({finding.path}, texts)

        def left_in_one(texts: Mapping[str, str]) -> list[Finding]:
            return self._left_in_one(finding, texts)

        def reaches(called: str, texts: Mapping[str, str]) -> bool:
            return self._reaches(finding, called, texts)

        release = context.target_of(start.path if start else finding.path)
        follow_up = follow_up_in(self._source, release)
        return Workspace(files, release, check, self._refuse, reaches, follow_up, left_in_one=left_in_one)

    def _refuse(self, path: str) -> str:
        """Return why a file may not be changed, or ""."""
        from tfmemlint.project.roots import project_root

        if path in self.given:
            return ""
        roots = {project_root(given) for given in self.given}
        is_there = os.path.abspath(path) in self.context.modules.open_texts or os.path.exists(path)
        if project_root(path) not in roots or not is_there:
            return OUTSIDE.format(path=path)
        return "" if self.context.whole_program else NOT_NAMED.format(path=path)

    def _reaches(self, finding: Finding, called: str, texts: Mapping[str, str]) -> bool:
        """True if the programs that make a late call still make one of that name, with other texts in some files."""
        self._check({finding.path}, texts)
        for program in self._programs_of({finding.path}):
            if not _starts(program, finding, self.context):
                continue
            result = self._checked.get(self._key(program, texts))
            if result is not None and not self._calls(result, called, texts):
                return False
        return True

    def _left_in_one(self, finding: Finding, texts: Mapping[str, str]) -> list[Finding]:
        """Return what one program that has a finding still has of its rule in its file, with other texts in some."""
        program = next((p for p in self._programs_of({finding.path}) if _starts(p, finding, self.context)), None)
        if program is None:
            return []
        found = self._analyzed(program, texts, self._with_texts(texts)).findings
        return [each for each in found if (each.code, each.path) == (finding.code, finding.path)]

    def _spares(self, finding: Finding, texts: Mapping[str, str]) -> bool:
        """True if the programs that have nothing wrong at the place of a finding still run that line, with other texts
        in some files."""
        source = self._source(finding.path)
        if source is None:
            return True
        line = source.lines[finding.span.row - 1].strip()
        context = self._with_texts(texts)
        for program in self._programs_of({finding.path}):
            if finding.way is None or (finding.path, finding.way.span) not in program.reached:
                continue
            if _starts(program, finding, self.context):
                continue
            if not self._calls(self._analyzed(program, texts, context), line, texts):
                return False
        alone = self._analyzed_alone(finding.path, {}, self.context)
        if finding.way is None or (finding.path, finding.way.span, ()) not in alone.ways:
            return True
        return self._calls(self._analyzed_alone(finding.path, texts, context), line, texts)

    def _calls(self, program: ProgramResult, called: str, texts: Mapping[str, str]) -> bool:
        for path, span in program.reached:
            source = self._source(path)
            text = texts.get(path, source.text if source is not None else "")
            lines = text.split("\n")[span.row - 1 : span.end_row]
            if called in "\n".join(lines):
                return True
        return False

    def _with_texts(self, texts: Mapping[str, str]) -> RunContext:
        """Return the run in which some files have other texts."""
        changed = {path: source.replace_text(text) for path, text in texts.items() if (source := self._source(path))}
        return dataclasses.replace(self.context, modules=self.context.modules.with_instead(changed))

    def _check(self, about: set[str], texts: Mapping[str, str]) -> list[Finding]:
        """Return the findings of all files of the programs that some files are part of, with other texts in some."""
        from tfmemlint.engine.place_at_users import place_at_users
        from tfmemlint.engine.program_file import findings_in, own_findings, report

        context = self._with_texts(texts)
        concerned = self._programs_of(about | set(texts))
        programs = place_at_users(
            [self._analyzed(program, texts, context) for program in concerned],
            context,
            lambda path: self._analyzed_alone(path, texts, context),
        )
        found: list[Finding] = []
        for path in sorted(
            {path for program in programs for path in program.paths | program.read} | about | set(texts)
        ):
            name = context.modules.name_of(path)
            module = context.modules.get(path)
            if module is None or name != path:
                continue
            mine = [program for program in programs if path in program.paths or path in program.read]
            key = (path, module.source.text)
            if key not in self._own:
                self._own[key] = own_findings(module.source, context.at(path))
            found += report(module.source, findings_in(module.source, mine, self._own[key], context), context)
        return found

    def _analyzed(self, program: ProgramResult, texts: Mapping[str, str], context: RunContext) -> ProgramResult:
        """Return what is found in a program with other texts in some files: those of ``context``."""
        key = self._key(program, texts)
        if key not in self._checked:
            self._checked[key] = analyze_program(program.entry, context)
        return self._checked[key]

    def _analyzed_alone(self, path: str, texts: Mapping[str, str], context: RunContext) -> ProgramResult:
        """Return what is found in a module as if a program started there, with other texts in some files."""
        entry = library_entry(path)
        if (entry, ()) not in self._alone:
            self._alone[entry, ()] = analyze_program(entry, self.context)
        key = self._key(self._alone[entry, ()], texts)
        if key not in self._alone:
            self._alone[key] = analyze_program(entry, context)
        return self._alone[key]

    def _key(self, program: ProgramResult, texts: Mapping[str, str]) -> _Key:
        """Return what the result of a program with other texts depends on: not those of files that it never reads."""
        read = program.read | program.paths | {program.entry.path, self.context.modules.name_of(program.entry.path)}
        if read.isdisjoint(texts):
            return program.entry, ()
        return program.entry, tuple(sorted((path, hash(text)) for path, text in texts.items()))


def _at_user(repaired: Finding, finding: Finding) -> Finding:
    """Return a finding at the user of a module with the fix of the same one in the module."""
    fix = repaired.fix
    if fix is not None:
        paths = [(edit.path or repaired.path) for edit in fix.edits]
        edits = [
            dataclasses.replace(edit, path="" if path == finding.path else path)
            for edit, path in zip(fix.edits, paths, strict=True)
        ]
        fix = dataclasses.replace(fix, edits=tuple(edits))
    return dataclasses.replace(finding, fix=fix, withheld="")


def _starts(program: ProgramResult, finding: Finding, context: RunContext) -> bool:
    """True if a finding is one of what this program does."""
    return any(other.span == finding.span and other.path == finding.path for other in program.findings)


def _set_reason(result: FileResult, finding: Finding, reason: str) -> None:
    result.findings = [
        dataclasses.replace(other, fix=None, withheld=reason)
        if (other.code, other.span, other.message) == (finding.code, finding.span, finding.message)
        else other
        for other in result.findings
    ]
