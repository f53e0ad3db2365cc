"""An editor for the tests: pygls' own client, speaking to a server in a process of its own."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

WAIT_SECONDS = 60
"""Only what hangs takes that long."""


class Editor:
    """An editor with a folder open in it.

    Attributes:
        client: the client of the protocol. root: the folder. texts: of the documents that are open, by their names.
        versions: the numbers of these texts. Diagnostics of an older text are not shown, as in other editors.
        published: the last diagnostics of each document, with the number of times that they came.
        answered: the name of each text for which diagnostics came, with its number.
    """

    def __init__(self, root: Path) -> None:
        self.client = LanguageClient("an editor", "1")
        self.root = root
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.published: dict[str, tuple[int, Sequence[types.Diagnostic]]] = {}
        self.answered: list[tuple[str, int | None]] = []
        self.messages: list[str] = []
        self._news = asyncio.Condition()

        feature: Any = self.client.feature

        @feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        async def publish(params: types.PublishDiagnosticsParams) -> None:
            self.answered.append((params.uri, params.version))
            if params.version is not None and params.version < self.versions.get(params.uri, 0):
                return
            async with self._news:
                number = self.published.get(params.uri, (0, ()))[0]
                self.published[params.uri] = number + 1, params.diagnostics
                self._news.notify_all()

        @feature(types.WINDOW_SHOW_MESSAGE)  # type: ignore[untyped-decorator]
        async def show(params: types.ShowMessageParams) -> None:
            async with self._news:
                self.messages.append(params.message)
                self._news.notify_all()

    async def start(self, **settings: object) -> types.InitializeResult:
        """Start the server in the folder."""
        await self.client.start_io(sys.executable, "-m", "tfmemlint", "server", cwd=str(self.root))
        capabilities = types.ClientCapabilities(
            notebook_document=types.NotebookDocumentClientCapabilities(types.NotebookDocumentSyncClientCapabilities())
        )
        result = await self.client.initialize_async(
            types.InitializeParams(capabilities, root_uri=self.root.as_uri(), initialization_options=settings)
        )
        self.client.initialized(types.InitializedParams())
        return result

    async def stop(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        stop: Any = self.client.stop
        await stop()

    def uri(self, name: str) -> str:
        return name if ":" in name else (self.root / name).as_uri()

    async def open(self, name: str, text: str, language: str = "python") -> Sequence[types.Diagnostic]:
        """Open a document, and return its diagnostics."""
        uri = self.uri(name)
        self.texts[uri], self.versions[uri] = text, 1
        item = types.TextDocumentItem(uri, language, 1, text)
        return await self.after(name, lambda: self.client.text_document_did_open(types.DidOpenTextDocumentParams(item)))

    def type(self, name: str, text: str) -> None:
        """Replace the text of a document, and wait for nothing."""
        uri = self.uri(name)
        self.texts[uri] = text
        self.versions[uri] += 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.versions[uri], uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    async def change(self, name: str, text: str) -> Sequence[types.Diagnostic]:
        """Replace the text of a document, and return its new diagnostics."""
        return await self.after(name, lambda: self.type(name, text))

    async def after(self, name: str, do: Callable[[], None]) -> Sequence[types.Diagnostic]:
        """Do something, and return the diagnostics of a document that come then.

        They may be those of a check that was under way, unless it gives the document another text: then use `shows`.
        """
        uri = self.uri(name)
        number = self.published.get(uri, (0, ()))[0]
        do()
        await self.until(lambda: self.published.get(uri, (0, ()))[0] > number)
        return self.published[uri][1]

    async def shows(self, name: str, expected: object, seen: Callable[[Sequence[types.Diagnostic]], object]) -> None:
        """Wait until the diagnostics of a document are those expected.

        Raises:
            AssertionError: they never are.
        """
        uri = self.uri(name)
        try:
            await self.until(lambda: uri in self.published and seen(self.published[uri][1]) == expected)
        except asyncio.TimeoutError:
            raise AssertionError(f"{name}: {seen(self.published[uri][1])}, and not {expected}") from None

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something that the server sends makes a condition true."""
        async with self._news:
            await asyncio.wait_for(self._news.wait_for(holds), WAIT_SECONDS)

    async def actions(self, name: str, line: int, only: Sequence[str] | None = None) -> list[types.CodeAction]:
        """Return the code actions on a line, from 0."""
        where = types.Range(types.Position(line, 0), types.Position(line, 200))
        found = await self.client.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(self.uri(name)), where, types.CodeActionContext([], only)
            )
        )
        return [action for action in found or () if isinstance(action, types.CodeAction)]

    async def hover(self, name: str, line: int, character: int) -> str:
        """Return what is shown at a position; "" for nothing."""
        found = await self.client.text_document_hover_async(
            types.HoverParams(types.TextDocumentIdentifier(self.uri(name)), types.Position(line, character))
        )
        return str(getattr(found.contents, "value", "")) if found is not None else ""

    def applied(self, name: str, edit: types.WorkspaceEdit | None) -> str:
        """Return the text of an open document with an edit made in it."""
        assert edit is not None and edit.changes is not None
        uri = self.uri(name)
        text = self.texts[uri].replace("\r\n", "\n")
        lines = text.split("\n")

        def offset(position: types.Position) -> int:
            line = lines[position.line].encode("utf-16-le")[: 2 * position.character].decode("utf-16-le")
            return sum(len(each) + 1 for each in lines[: position.line]) + len(line)

        for change in sorted(edit.changes.get(uri, ()), key=lambda change: offset(change.range.start), reverse=True):
            text = text[: offset(change.range.start)] + change.new_text + text[offset(change.range.end) :]
        return text


def edit_in(root: Path, use: Callable[[Editor], Awaitable[Any]], **settings: object) -> None:
    """Let ``use`` work with an editor in a folder."""

    async def run() -> None:
        editor = Editor(root)
        await editor.start(**settings)
        await use(editor)
        await editor.stop()

    asyncio.run(asyncio.wait_for(run(), 3 * WAIT_SECONDS))
