"""A file of Python, or a notebook, checked and fixed on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

from tfmemlint.engine.config_files import named_config_files
from tfmemlint.engine.file_key import file_key
from tfmemlint.engine.results import FileResult
from tfmemlint.model.codes import INTERNAL_ERROR
from tfmemlint.model.patterns import late_pattern
from tfmemlint.model.records import dataclass
from tfmemlint.sources import Source, decode
from tfmemlint.sources.text import NOTEBOOK

if TYPE_CHECKING:
    from tfmemlint.engine.context import RunContext
    from tfmemlint.fixes.compute_fix import Options
    from tfmemlint.fixes.loop import Fixed, Planner
    from tfmemlint.interpreter.unit import ParsedModule
    from tfmemlint.model.finding import Finding

_VARIABLE = late_pattern(rb"\b(?:TF|CUDA|XLA|NVIDIA|PYTORCH)_[A-Z]")


def names_a_variable(data: bytes) -> bool:
    """True if a file may name an environment variable, of which other files of its project may say what it is for."""
    return _VARIABLE.search(data) is not None


@dataclass
class PythonFile:
    """A file of Python, or a notebook, checked and fixed on its own (`tfmemlint.engine.subject.Subject`)."""

    path: str
    data: bytes
    gave_up: list[str] = field(default_factory=list, init=False)
    """Why the program was not followed to its end, in words, once it was checked."""
    config_files: set[str] = field(default_factory=set, init=False)
    """The configuration files that it has asked for, by their absolute paths, once it was checked."""

    @classmethod
    def of(cls, source: Source) -> PythonFile:
        """Return the subject for a text that was decoded before."""
        subject = cls(source.path, b"")
        subject.source = source
        return subject

    @cached_property
    def source(self) -> Source:
        """The text.

        Raises:
            Unreadable: the file is no text.
        """
        return decode(self.path, self.data)

    def key(self, context: RunContext) -> str:
        """Return the name under which the findings are cached; "" if other files have a part in them."""
        if self.path.endswith(NOTEBOOK) and names_a_variable(self.data):
            return ""
        return file_key(self.path, self.data, context)

    def examine(self, context: RunContext, cached: object = None) -> FileResult:
        """Check the file and return its result."""
        source = self.source
        found = cached if isinstance(cached, list) else self.find(context)
        findings = self._to_report(found, context)
        result = FileResult(self.path, candidate=True, source=source, findings=findings, own_findings=found)
        result.notes = tuple(dict.fromkeys(self.gave_up))
        return result

    def cacheable(self, result: FileResult, context: RunContext) -> object:
        """Return the findings before comments; None if a part of the tool failed, as it may not fail another
        time, if not all was read, as each run has to say so, or if a file has a part in them that the key leaves
        out."""
        if self.config_files and not self.config_files <= named_config_files(self.path, self.data):
            return None
        return None if result.is_cut_short else cacheable_findings(result.own_findings)

    def find(self, context: RunContext, parsed: ParsedModule | None = None) -> list[Finding]:
        """Return the findings in the file, before comments silence any; ``parsed``: the file, if it was parsed."""
        from tfmemlint.engine.check_source import find_in_source

        return find_in_source(self.source, context, parsed, self.gave_up, self.config_files)

    def check(self, context: RunContext) -> list[Finding]:
        """Return the findings to report."""
        return self._to_report(self.find(context), context)

    def _to_report(self, found: Sequence[Finding], context: RunContext) -> list[Finding]:
        from tfmemlint.engine.suppress import dedupe_and_suppress

        rules = context.rules_for(self.path)
        return context.keep(dedupe_and_suppress(self.source, found, rules, keep_suppressed=context.keep_suppressed))

    def with_source(self, source: Source) -> PythonFile:
        """Return the same file with another text."""
        return PythonFile.of(source)

    def apply_fixes(self, context: RunContext) -> Fixed:
        """Return the text after its fixes; writes nothing."""
        from tfmemlint.engine.fix_file import fix_text

        def check(source: Source) -> list[Finding]:
            return self.with_source(source).check(context)

        return fix_text(self.source, check, context.target_of(self.path), context, self._planner(context))

    def _planner(self, context: RunContext) -> Planner | None:
        """Return what repairs the order of this file, which is a program of its own."""
        from tfmemlint.engine.order_repairs import planner_of_file

        return planner_of_file(lambda source: self.with_source(source).check(context), context.target_of(self.path))

    def explain(self, findings: Sequence[Finding], options: Options, context: RunContext) -> list[Finding]:
        """Return ``findings`` with their fixes, or with the reasons why they have none."""
        from tfmemlint.fixes.compute_fix import compute
        from tfmemlint.fixes.shown_ways import shown_ways, with_reasons
        from tfmemlint.rulekit.rule import rules

        by_code = {rule.code: rule for rule in rules()}
        target = context.target_of(self.path)
        explained = [compute(self.source, finding, by_code[finding.code], target, options) for finding in findings]
        plan = self._planner(context)
        shown = shown_ways(self.source, findings)
        if plan is None or shown:
            return with_reasons(explained, shown)
        from tfmemlint.engine.order_repairs import with_planned

        return with_planned(self.source, explained, plan)

    def fix(self, context: RunContext) -> FileResult:
        """Fix the file, write it if the context says so, and return the result."""
        from tfmemlint.engine.fix_file import fix_subject

        return fix_subject(self, context)


def cacheable_findings(found: list[Finding] | None) -> list[Finding] | None:
    """Return the findings of a file if they are to be cached."""
    if found is None or any(finding.code == INTERNAL_ERROR for finding in found):
        return None
    return found
