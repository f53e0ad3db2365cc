"""A document or a configuration file, checked and fixed as a whole; and the examples in docstrings of Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

from tfmemlint.engine.file_key import file_key
from tfmemlint.engine.python_file import cacheable_findings, names_a_variable
from tfmemlint.engine.results import FileResult
from tfmemlint.engine.trouble import internal_error
from tfmemlint.model.records import dataclass
from tfmemlint.sources import Unreadable
from tfmemlint.sources.documents.document import Document, decode_document
from tfmemlint.sources.kinds import SETTINGS

if TYPE_CHECKING:
    from tfmemlint.engine.context import RunContext
    from tfmemlint.engine.document_judge import DocumentJudge
    from tfmemlint.fixes.compute_fix import Options
    from tfmemlint.fixes.loop import Fixed
    from tfmemlint.model.finding import Finding
    from tfmemlint.sources import Source


@dataclass
class DocumentFile:
    """A document or a configuration file (`tfmemlint.engine.subject.Subject`)."""

    path: str
    data: bytes
    kind: str
    gave_up: list[str] = field(default_factory=list, init=False)

    @classmethod
    def of(cls, document: Document) -> DocumentFile:
        """Return the subject for a document that was decoded before."""
        subject = cls(document.path, b"", document.kind)
        subject.source = document
        return subject

    @cached_property
    def source(self) -> Document:
        """The document.

        Raises:
            Unreadable: the file is no text.
        """
        return decode_document(self.path, self.data, self.kind)

    def key(self, context: RunContext) -> str:
        """Return the name under which the findings are cached; "" if other files have a part in them."""
        if self.kind in SETTINGS or names_a_variable(self.data):
            return ""
        return file_key(self.path, self.data, context)

    def examine(self, context: RunContext, cached: object = None) -> FileResult:
        """Check the document and return its result."""
        result = FileResult(self.path, candidate=True)
        try:
            result.source = self.source
            result.own_findings = cached if isinstance(cached, list) else self._find(context)
            result.findings = context.keep(result.own_findings)
            result.notes = tuple(dict.fromkeys(self.gave_up))
        except Unreadable:
            raise
        except Exception as error:  # one file must not take the run with it
            return self._failed(result, error, context)
        return result

    def cacheable(self, result: FileResult, context: RunContext) -> object:
        """Return the findings; None if a part of the tool failed, as it may not fail another time, or if not all was
        read, as each run has to say so."""
        return None if result.is_cut_short else cacheable_findings(result.own_findings)

    def check(self, context: RunContext) -> list[Finding]:
        """Return the findings to report."""
        return context.keep(self._find(context))

    def _find(self, context: RunContext) -> list[Finding]:
        judge = self._judge(context)
        found = judge.find(self.source)
        self.gave_up += judge.gave_up
        return found

    def with_source(self, source: Source) -> DocumentFile:
        """Return the same document with another text."""
        return DocumentFile.of(source)  # type: ignore[arg-type]

    def apply_fixes(self, context: RunContext) -> Fixed:
        """Return the text after its fixes; writes nothing."""
        from tfmemlint.engine.fix_document import fix_document

        return fix_document(self.source, self._judge(context))

    def explain(self, findings: Sequence[Finding], options: Options, context: RunContext) -> list[Finding]:
        """Return ``findings`` with their fixes, or with the reasons why they have none."""
        from tfmemlint.engine.fix_document import explain_document

        return explain_document(self.source, findings, self._judge(context), options)

    def fix(self, context: RunContext) -> FileResult:
        """Fix the document, write it if the context says so, and return the result."""
        from tfmemlint.engine.fix_file import fix_subject

        result = FileResult(self.path, candidate=True)
        try:
            result.source = self.source
            return fix_subject(self, context)
        except Unreadable:
            raise
        except Exception as error:  # one file must not take the run with it
            return self._failed(result, error, context)

    def _judge(self, context: RunContext) -> DocumentJudge:
        from tfmemlint.engine.document_judge import DocumentJudge

        return DocumentJudge.of(self.source, context)

    def _failed(self, result: FileResult, error: Exception, context: RunContext) -> FileResult:
        """Return the result of a document on which the tool has failed; the run goes on."""
        rules = context.rules_for(self.path)
        result.findings = internal_error(self.path, "The reader of documents", error, rules)
        return result
