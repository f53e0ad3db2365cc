"""The server: takes the editor's notifications and requests, and has one thread answer them.

The latest change goes first. An analysis of a text that has changed since ends at the next file of the program, and its
result is not sent.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from tfmemlint import __version__
from tfmemlint.api import ConfigError
from tfmemlint.api.request import Options
from tfmemlint.api.results import Finding
from tfmemlint.fixes.edits import difference
from tfmemlint.server import analysis, answers
from tfmemlint.server.analysis import Cancelled, Snapshot, Token
from tfmemlint.server.documents import Document, Documents
from tfmemlint.server.places import Places
from tfmemlint.sources import decode
from tfmemlint.sources.notebook import Notebook

AnswerT = TypeVar("AnswerT")

_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    [types.NotebookDocumentFilterWithNotebook("*", [types.NotebookCellLanguage("python")])]
)


class Server(LanguageServer):
    """The server of one editor.

    Attributes:
        documents: what is open.
        options: the editor's settings.
    """

    def __init__(self) -> None:
        super().__init__("tfmemlint", __version__, notebook_document_sync=_NOTEBOOKS)
        self.options = Options()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="tfmemlint")
        self._documents: Documents | None = None
        self._dirty: dict[str, None] = {}
        """The documents to check, the latest change last."""
        self._later: dict[str, None] = {}
        """The documents to check after these: others that a change may have to do with."""
        self._current: tuple[str, Token] | None = None
        self._task: asyncio.Task[None] | None = None
        self._shown: dict[str, set[str]] = {}
        """For each document, the names under which its diagnostics were sent."""
        self._answers: dict[tuple[str, str], tuple[int, Any]] = {}
        self._complaint = ""

    @property
    def documents(self) -> Documents:
        """The open documents."""
        if self._documents is None:
            self._documents = Documents(self.workspace)
        return self._documents

    def changed(self, uri: str) -> None:
        """Check a document, and then the others that are open."""
        self.documents.note_change(uri)
        if self._current is not None and self._current[0] == uri:
            self._current[1].cancel()
        self._dirty.pop(uri, None)
        self._dirty[uri] = None
        self._later.update(dict.fromkeys(other for other in self.documents.uris() if other != uri))
        self._start()

    def changed_on_disk(self) -> None:
        """Check all open documents."""
        self.documents.generation += 1
        self._later.update(dict.fromkeys(self.documents.uris()))
        self._start()

    def closed(self, uri: str) -> None:
        """Take the diagnostics of a document away, and check the others."""
        self.documents.note_change(uri)
        for name in self._shown.pop(uri, set()):
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(name, []))
        self._dirty.pop(uri, None)
        self._later.pop(uri, None)
        self.changed_on_disk()

    def _start(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._work())

    async def _work(self) -> None:
        while self._dirty or self._later:
            queue = self._dirty or self._later
            uri = next(reversed(queue))
            del queue[uri]
            self._later.pop(uri, None)
            token = Token()
            self._current = uri, token
            await self._check(uri, token)
            self._current = None

    async def _check(self, uri: str, token: Token) -> None:
        document = self.documents.get(uri)
        if document is None:
            return
        snapshot = self._snapshot(document)
        nothing: tuple[Finding, ...] = ()
        findings = await self._ask(lambda: analysis.check(snapshot, token), nothing)
        if findings is None or self.documents.get(uri) is not document:
            return
        found = answers.diagnostics(findings, self.places(), document)
        for gone in self._shown.get(uri, set()) - found.keys():
            found[gone] = []
        for name, listed in found.items():
            if name == uri or name in document.cells or not self._is_open(name):
                self.text_document_publish_diagnostics(
                    types.PublishDiagnosticsParams(name, listed, self._version_of(name))
                )
        self._shown[uri] = {name for name, listed in found.items() if listed or name == uri}

    def _version_of(self, uri: str) -> int | None:
        """Return the editor's number of the text of an open document: by it the editor knows what comes too late."""
        return self.workspace.text_documents[uri].version if self._is_open(uri) else None

    def _is_open(self, uri: str) -> bool:
        return uri in self.workspace.text_documents

    async def _ask(self, function: Callable[[], AnswerT], otherwise: AnswerT) -> AnswerT | None:
        """Return the answer of the thread; None if it is not wanted any more.

        What can't be followed in the settings is shown to the user once, and answered by ``otherwise``.
        """
        try:
            answer = await asyncio.get_running_loop().run_in_executor(self._worker, _caught, function)
        except ConfigError as error:
            if str(error) != self._complaint:
                self._complaint = str(error)
                self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"tfmemlint: {error}"))
            return otherwise
        self._complaint = ""
        return answer

    async def answer(self, uri: str, kind: str, function: Callable[[Snapshot, Token], AnswerT]) -> AnswerT | None:
        """Return an answer about a document as it is now; None if there is none. A cancelled request ends the work.

        Args:
            uri: the document.
            kind: the name of the answer, under which it is kept until something changes.
            function: gives the answer, in the thread.
        """
        document = self.documents.get(uri)
        if document is None:
            return None
        generation = self.documents.generation
        known = self._answers.get((uri, kind))
        if known is not None and known[0] == generation:
            found: AnswerT = known[1]
            return found
        token = Token()
        snapshot = self._snapshot(document)
        try:
            answer = await self._ask(lambda: function(snapshot, token), None)
        except asyncio.CancelledError:
            token.cancel()
            raise
        if answer is not None:
            self._answers[uri, kind] = generation, answer
        return answer

    def _snapshot(self, document: Document) -> Snapshot:
        return Snapshot(document, self.documents.open_texts(), self.options)

    def places(self) -> Places:
        """Return what translates the places of one answer."""
        documents = filter(None, map(self.documents.get, self.documents.uris()))
        by_path = {os.path.abspath(document.path): document for document in documents if document.path is not None}
        return Places(self.workspace.position_codec, by_path)


def _caught(function: Callable[[], AnswerT]) -> AnswerT | None:
    """Return what a function returns; None if it was cancelled: a thread can't hand on such an exception."""
    try:
        return function()
    except Cancelled:
        return None


def make_server() -> Server:
    """Return a server with all its features."""
    server = Server()
    feature: Callable[..., Callable[[Any], Any]] = server.feature

    @feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.options = _options(params.initialization_options)
        root = server.workspace.root_path
        if root and os.path.isdir(root):
            os.chdir(root)  # paths in messages start there

    @feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.changed(params.text_document.uri)

    @feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.changed(params.text_document.uri)

    @feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)

    @feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.changed_on_disk()

    @feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def watched(params: types.DidChangeWatchedFilesParams) -> None:
        server.changed_on_disk()

    @feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    async def notebook_opened(params: types.DidOpenNotebookDocumentParams) -> None:
        server.changed(params.notebook_document.uri)

    @feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    async def notebook_changed(params: types.DidChangeNotebookDocumentParams) -> None:
        server.changed(params.notebook_document.uri)

    @feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    async def notebook_closed(params: types.DidCloseNotebookDocumentParams) -> None:
        server.closed(params.notebook_document.uri)

    kinds = [types.CodeActionKind.QuickFix, answers.FIX_ALL]

    @feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=kinds))
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        return await _code_actions(server, params)

    @feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        uri = server.documents.owner_of(params.text_document.uri)
        document = server.documents.get(uri)
        plan = await server.answer(uri, "plan", analysis.plan)
        if plan is None or document is None:
            return None
        return answers.hover(plan, params, server.places(), document)

    return server


async def _code_actions(server: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    uri = server.documents.owner_of(params.text_document.uri)
    document = server.documents.get(uri)
    wanted = params.context.only or [types.CodeActionKind.QuickFix]
    actions: list[types.CodeAction] = []
    if document is not None and any(_covers(kind, types.CodeActionKind.QuickFix) for kind in wanted):
        findings = await server.answer(
            uri, "fixes", lambda snapshot, token: analysis.check(snapshot, token, explain_fixes=True)
        )
        actions += answers.quick_fixes(findings or (), params, server.places(), document)
    if document is not None and any(_covers(kind, answers.FIX_ALL) for kind in wanted):
        changes = await server.answer(uri, "changes", analysis.fix)
        edits: dict[str, list[types.TextEdit]] = {}
        for change in changes or ():
            edits |= _whole_edits(server, document, change.old, change.new)
        if edits:
            edit = types.WorkspaceEdit(changes=edits)
            actions.append(types.CodeAction("tfmemlint: make all safe fixes", kind=answers.FIX_ALL, edit=edit))
    return actions


def _covers(kind: str, other: str) -> bool:
    return other == kind or other.startswith(f"{kind}.")


def _whole_edits(server: Server, document: Document, old: str, new: str) -> dict[str, list[types.TextEdit]]:
    """Return the edits that make a document's new text, by the names of the texts that they are in."""
    if not document.cells:
        return {document.uri: _edits(server, old, new)}
    assert document.path is not None
    before, after = (decode(document.path, text.encode()) for text in (old, new))
    assert isinstance(before, Notebook) and isinstance(after, Notebook)
    found = {}
    for number, cell in enumerate(document.cells, 1):
        if cell is not None and before.cell_text(number) != after.cell_text(number):
            found[cell] = _edits(server, before.cell_text(number), after.cell_text(number))
    return found


def _edits(server: Server, old: str, new: str) -> list[types.TextEdit]:
    codec = server.workspace.position_codec
    plain = old.replace("\r\n", "\n").replace("\r", "\n")
    lines = plain.split("\n")

    def position(row: int, column: int) -> types.Position:
        line = lines[row - 1] if row <= len(lines) else ""
        return types.Position(row - 1, codec.client_num_units(line[: column - 1]))

    return [
        types.TextEdit(
            types.Range(position(edit.span.row, edit.span.column), position(edit.span.end_row, edit.span.end_column)),
            edit.content,
        )
        for edit in difference(plain, new.replace("\r\n", "\n").replace("\r", "\n"))
    ]


def _options(settings: Any) -> Options:
    """Return the editor's settings: those of docs/editors.md, in the words of the command or in camel case."""
    given = settings if isinstance(settings, dict) else {}

    def value(name: str) -> Any:
        head, *rest = name.split("-")
        return given.get(name, given.get(head + "".join(part.capitalize() for part in rest)))

    return Options(
        select=value("select"),
        extend_select=value("extend-select") or (),
        ignore=value("ignore") or (),
        target_version=value("target-version"),
        gpu_memory=value("gpu-memory"),
    )
