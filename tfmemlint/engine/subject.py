"""Subjects, each checked and fixed as a whole: a Python file, a file in which programs start, a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tfmemlint.engine.context import RunContext
    from tfmemlint.engine.results import FileResult
    from tfmemlint.fixes.compute_fix import Options
    from tfmemlint.fixes.loop import Fixed
    from tfmemlint.model.finding import Finding
    from tfmemlint.sources import Source


class Subject(Protocol):
    """A file, program or document that is checked and fixed as a whole."""

    @property
    def path(self) -> str:
        """The file."""

    @property
    def gave_up(self) -> list[str]:
        """Why the subject was not followed to its end, in words, once it was checked."""

    @property
    def source(self) -> Source:
        """The text.

        Raises:
            Unreadable: the file is no text.
        """

    def key(self, context: RunContext) -> str:
        """Return the name under which the results are cached: all that they depend on; "" if they are not cached."""

    def examine(self, context: RunContext, cached: object = None) -> FileResult:
        """Check the subject and return its result.

        Args:
            context: the run.
            cached: what an earlier run has cached under `key`; None if there is nothing.

        Raises:
            Unreadable: the file is no text.
        """

    def cacheable(self, result: FileResult, context: RunContext) -> object:
        """Return the part of a result that is cached; None if the next run is to start anew."""

    def check(self, context: RunContext) -> list[Finding]:
        """Return the findings to report: not those that comments silence, nor advice that is not selected."""

    def with_source(self, source: Source) -> Subject:
        """Return the same subject with another text."""

    def apply_fixes(self, context: RunContext) -> Fixed:
        """Return the text after its fixes; writes nothing."""

    def explain(self, findings: Sequence[Finding], options: Options, context: RunContext) -> list[Finding]:
        """Return ``findings`` with their fixes, or with the reasons why they have none."""

    def fix(self, context: RunContext) -> FileResult:
        """Fix the file, write it if the context says so, and return the result.

        Raises:
            Unreadable: the file is no text.
        """
