"""A request that the editor takes back: the work on it ends, its answer is an error, and the next one is answered."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.api.texts import LATE

pytest.importorskip("pygls")

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.workspace import Workspace

from tests.server.editor import WAIT_SECONDS, Editor, edit_in
from tfmemlint.api.request import Options
from tfmemlint.server import analysis
from tfmemlint.server.analysis import Cancelled, Snapshot, Token
from tfmemlint.server.app import Server
from tfmemlint.server.documents import Documents

URI = "file:///late.py"
REQUEST_CANCELLED = -32800
"""``RequestCancelled`` of the Language Server Protocol."""


def _documents() -> Documents:
    """A document that is open, without a folder."""
    workspace = Workspace(None)
    workspace.put_text_document(types.TextDocumentItem(URI, "python", 1, LATE))
    return Documents(workspace)


def _snapshot(path: Path) -> Snapshot:
    document = _documents().get(URI)
    assert document is not None
    return Snapshot(dataclasses.replace(document, path=str(path)), {str(path): document.data}, Options())


@dataclasses.dataclass
class CountingToken(Token):
    """A token that is asked, and cancelled when it is asked for the ``last`` time."""

    last: int = 10**9
    asked: int = 0

    def check(self) -> None:
        self.asked += 1
        if self.asked == self.last:
            self.cancel()
        super().check()


@pytest.mark.parametrize("work", [analysis.check, analysis.fix, analysis.plan])
def test_work_ends_where_it_is_cancelled(work: Callable[[Snapshot, Token], object], tmp_path: Path) -> None:
    path = tmp_path / "late.py"
    path.write_text(LATE)
    whole = CountingToken()
    work(_snapshot(path), whole)
    assert whole.asked > 1, "it is asked at the start alone"
    for last in {1, 2, whole.asked}:
        token = CountingToken(last=last)
        with pytest.raises(Cancelled):
            work(_snapshot(path), token)
        assert token.asked == last, "it went on"


def test_the_work_on_a_request_is_cancelled_and_its_answer_is_not_kept() -> None:
    server = Server()
    server._documents = _documents()
    started, ended = threading.Event(), threading.Event()

    def wait(_: Snapshot, token: Token) -> str:
        started.set()
        if token._cancelled.wait(WAIT_SECONDS):
            ended.set()
        token.check()
        return "not cancelled"

    async def use() -> None:
        asked = asyncio.ensure_future(server.answer(URI, "kind", wait))
        await asyncio.to_thread(started.wait, WAIT_SECONDS)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert await server.answer(URI, "kind", lambda *_: "the next one") == "the next one"

    asyncio.run(use())
    assert ended.is_set()


def test_a_change_cancels_the_check_of_the_text_before_it() -> None:
    server = Server()
    server._documents = _documents()
    checked, other = Token(), Token()

    async def use() -> None:
        for uri, token in ((URI, checked), ("file:///other.py", other)):
            server._current = uri, token
            server.changed(URI)
            assert server._task is not None
            server._task.cancel()

    asyncio.run(use())
    with pytest.raises(Cancelled):
        checked.check()
    other.check()


def test_the_answer_to_a_cancelled_request_is_an_error(tmp_path: Path) -> None:
    async def use(editor: Editor) -> None:
        await editor.open("late.py", LATE)
        # The thread has work, so that the request is still waiting when it is taken back.
        editor.type("late.py", LATE + "tf.config.set_memory_limit(1)\n" * 300)
        asked = editor.client.protocol.send_request(
            types.TEXT_DOCUMENT_HOVER,
            types.HoverParams(types.TextDocumentIdentifier(editor.uri("late.py")), types.Position(4, 30)),
            msg_id="hover",
        )
        editor.client.cancel_request(types.CancelParams("hover"))
        with pytest.raises(JsonRpcException) as raised:
            await asyncio.wait_for(asyncio.wrap_future(asked), WAIT_SECONDS)
        assert raised.value.code == REQUEST_CANCELLED
        assert "too late" in await editor.hover("late.py", 4, 30), "it does not go on"

    edit_in(tmp_path, use)
