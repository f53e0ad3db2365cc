"""`tfmemlint server` on notebooks: the protocol's notebook part, with a document for each cell."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api.texts import LATE, NUMBERS

pytest.importorskip("pygls")

from lsprotocol import types

from tests.server.editor import Editor, edit_in

pytestmark = pytest.mark.slow

NAME = "train.ipynb"
START = "import tensorflow as tf\nx = tf.zeros([1])\n"
GROW = 'for gpu in tf.config.list_physical_devices("GPU"):\n    tf.config.experimental.set_memory_growth(gpu, True)\n'


def cell(editor: Editor, number: int) -> str:
    return f"{editor.uri(NAME).replace('file:', 'vscode-notebook-cell:')}#{number}"


async def open_notebook(editor: Editor, *texts: str) -> None:
    """Open a notebook with a cell of text and these cells of code, and wait for the first diagnostics."""
    code = types.NotebookCellKind.Code
    cells = [types.NotebookCell(types.NotebookCellKind.Markup, cell(editor, 0))]
    cells += [types.NotebookCell(code, cell(editor, number)) for number in range(1, len(texts) + 1)]
    documents = [types.TextDocumentItem(cell(editor, 0), "markdown", 1, "# A notebook")]
    for number, text in enumerate(texts, 1):
        documents.append(types.TextDocumentItem(cell(editor, number), "python", 1, text))
        editor.texts[cell(editor, number)] = text
    notebook = types.NotebookDocument(editor.uri(NAME), "jupyter-notebook", 1, cells)
    params = types.DidOpenNotebookDocumentParams(notebook, documents)
    await editor.after(cell(editor, len(texts)), lambda: editor.client.notebook_document_did_open(params))


def change(editor: Editor, number: int, text: str) -> None:
    """Replace the text of a cell."""
    editor.texts[cell(editor, number)] = text
    content = types.NotebookDocumentCellContentChanges(
        types.VersionedTextDocumentIdentifier(2, cell(editor, number)),
        [types.TextDocumentContentChangeWholeDocument(text)],
    )
    changes = types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(text_content=[content]))
    identifier = types.VersionedNotebookDocumentIdentifier(2, editor.uri(NAME))
    editor.client.notebook_document_did_change(types.DidChangeNotebookDocumentParams(identifier, changes))


def codes(editor: Editor, number: int) -> list[tuple[int, object]]:
    return [(found.range.start.line, found.code) for found in editor.published[cell(editor, number)][1]]


def test_diagnostics_are_in_their_cells(tmp_path: Path) -> None:
    async def use(editor: Editor) -> None:
        await open_notebook(editor, START, GROW)
        assert (codes(editor, 1), codes(editor, 2)) == ([], [(1, "TFM101")])
        (found,) = editor.published[cell(editor, 2)][1]
        related = [(each.location.uri, each.location.range.start.line) for each in found.related_information or ()]
        assert related == [(cell(editor, 1), 1), (cell(editor, 2), 1)]
        await editor.after(cell(editor, 2), lambda: change(editor, 1, "import tensorflow as tf\n"))
        assert (codes(editor, 1), codes(editor, 2)) == ([], [])

    edit_in(tmp_path, use)


def test_quick_fixes_and_hovers_in_a_cell(tmp_path: Path) -> None:
    async def use(editor: Editor) -> None:
        await open_notebook(editor, "import tensorflow as tf\n", "%matplotlib inline\n" + NUMBERS)
        assert codes(editor, 2) == [(4, "TFM305")]
        fix = (await editor.actions(cell(editor, 2), 4))[0]
        assert "memory_limit=4096" in editor.applied(cell(editor, 2), fix.edit)
        (everything,) = await editor.actions(cell(editor, 2), 0, ["source.fixAll.tfmemlint"])
        assert "memory_limit=4096" in editor.applied(cell(editor, 2), everything.edit)
        await editor.after(cell(editor, 2), lambda: change(editor, 2, LATE))
        assert "cell 3, line 3" in await editor.hover(cell(editor, 2), 4, 30)

    edit_in(tmp_path, use)


def test_closing_takes_the_diagnostics_away(tmp_path: Path) -> None:
    async def use(editor: Editor) -> None:
        await open_notebook(editor, START, GROW)
        assert codes(editor, 2)
        cells = [types.TextDocumentIdentifier(cell(editor, number)) for number in range(3)]
        params = types.DidCloseNotebookDocumentParams(types.NotebookDocumentIdentifier(editor.uri(NAME)), cells)
        await editor.after(cell(editor, 2), lambda: editor.client.notebook_document_did_close(params))
        assert not codes(editor, 2)

    edit_in(tmp_path, use)
