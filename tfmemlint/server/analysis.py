"""The analysis of an open document. All of it runs in one thread, apart from the protocol."""

from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Mapping

from tfmemlint.api.convert import changes_of, findings_of
from tfmemlint.api.convert_plan import result_of
from tfmemlint.api.planned import PlanResult
from tfmemlint.api.request import UNNAMED, Group, Options, analysis, files_of
from tfmemlint.api.results import Change, Finding
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.run import from_text, run
from tfmemlint.plans.make import plan_text
from tfmemlint.server.documents import Document


class Cancelled(BaseException):
    """The answer is not wanted any more: no `Exception`, so that no part of the analysis takes it for its own."""


@dataclasses.dataclass(slots=True)
class Token:
    """Says whether an answer is still wanted."""

    _cancelled: threading.Event = dataclasses.field(default_factory=threading.Event)

    def cancel(self) -> None:
        """The answer is not wanted any more."""
        self._cancelled.set()

    def check(self) -> None:
        """Do nothing while the answer is wanted.

        Raises:
            Cancelled: it is not.
        """
        if self._cancelled.is_set():
            raise Cancelled


@dataclasses.dataclass(frozen=True, slots=True)
class Snapshot:
    """A document at one moment, with all others that are open.

    Attributes:
        document: the document.
        open_texts: the contents of all open documents, by their absolute paths.
        options: the editor's settings.
    """

    document: Document
    open_texts: Mapping[str, bytes]
    options: Options

    def context(self, token: Token, **more: object) -> RunContext | None:
        """Return the context of a run; None if the configuration leaves the file out.

        Raises:
            ConfigError: the settings, or a configuration file, can't be followed.
        """
        path = self.document.path
        config = self.options.config_at(path or "")
        context = self.options.context(config, self.open_texts)
        if path is not None and os.path.isfile(path) and not files_of(Group(config, [path]))[0]:
            return None
        in_project = path is not None
        return dataclasses.replace(context, in_project=in_project, checkpoint=token.check, **more)  # type: ignore[arg-type]


def check(snapshot: Snapshot, token: Token, *, explain_fixes: bool = False) -> tuple[Finding, ...]:
    """Return the findings in a document, and those that it brings about in other files.

    Raises:
        ConfigError: as for `Snapshot.context`.
        Cancelled: the answer is not wanted any more.
    """
    document = snapshot.document
    with analysis():
        token.check()
        # A fix may need another file of the project, which an editor can change as well.
        explain = "always" if explain_fixes else "never"
        context = snapshot.context(token, explain_fixes=explain, whole_program=True)
        if context is None:
            return ()
        if document.path is None:
            results = [from_text(document.data, UNNAMED, context)]
        else:
            results = run([(document.path, True)], context)
        return findings_of(results, context)


def fix(snapshot: Snapshot, token: Token) -> tuple[Change, ...]:
    """Return what all safe fixes of a document change, in it alone.

    Raises:
        ConfigError, Cancelled: as for `check`.
    """
    document = snapshot.document
    with analysis():
        token.check()
        context = snapshot.context(token, fix=True, unsafe=False)
        if context is None or document.path is None:
            return ()
        changes = changes_of(run([(document.path, True)], context))
    return tuple(change for change in changes if os.path.abspath(change.path) == os.path.abspath(document.path or ""))


def plan(snapshot: Snapshot, token: Token) -> PlanResult:
    """Return the plan of the program that starts in a document.

    Raises:
        ConfigError, Cancelled: as for `check`.
    """
    document = snapshot.document
    with analysis():
        token.check()
        context = snapshot.context(token)
        if context is None:
            return PlanResult((), False)
        path = document.path or UNNAMED
        return result_of(plan_text(document.data, path, context, None, in_project=document.path is not None))
