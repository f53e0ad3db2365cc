"""`tfmemlint server`, spoken to by pygls' client as an editor does it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.api.texts import CLEAN, HELPER, LATE, MAIN, MAIN_IN_ORDER, NUMBERS
from tests.safety.hostile_modules import plant

pytest.importorskip("pygls")

from lsprotocol import types

from tests.server.editor import Editor, edit_in

pytestmark = pytest.mark.slow

FIXED_NUMBERS = NUMBERS.replace(
    "tf.config.set_logical_device_configuration(gpus[0], [4096])",
    "tf.config.set_logical_device_configuration(\n    gpus[0],\n"
    "    [tf.config.LogicalDeviceConfiguration(memory_limit=4096)],\n)",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder that is open, with a program of two files, of which the second is right."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "pyproject.toml").touch()
    (root / "main.py").write_text(MAIN_IN_ORDER)
    (root / "helper.py").write_text(HELPER)
    return root


def codes(found: Sequence[types.Diagnostic]) -> list[tuple[int, object]]:
    return [(diagnostic.range.start.line, diagnostic.code) for diagnostic in found]


def test_nothing_wrong(root: Path) -> None:
    async def use(editor: Editor) -> None:
        assert codes(await editor.open("clean.py", CLEAN)) == []
        assert codes(await editor.open("main.py", MAIN_IN_ORDER)) == []
        assert codes(await editor.open("notes.md", "# Nothing\n", "markdown")) == []
        assert await editor.actions("clean.py", 3) == []
        assert await editor.hover("clean.py", 0, 3) == ""

    edit_in(root, use)


def test_diagnostics_as_you_type(root: Path) -> None:
    async def use(editor: Editor) -> None:
        assert codes(await editor.open("new.py", "import tensorflow as tf\n")) == []
        (found,) = await editor.change("new.py", LATE)
        assert (found.code, found.source, found.severity) == ("TFM101", "tfmemlint", types.DiagnosticSeverity.Error)
        assert (found.range.start, found.range.end) == (types.Position(4, 4), types.Position(4, 55))
        assert "starts it" in found.message and "RuntimeError" in found.message
        assert found.code_description is not None and found.code_description.href.endswith("TFM101.md")
        related = [(each.location.range.start.line, each.message) for each in found.related_information or ()]
        assert related == [(2, "tf.zeros starts the runtime"), (4, "set_memory_growth comes too late")]
        assert codes(await editor.change("new.py", "import tensorflow as tf\ndef f(:\n")) == [(1, "TFM901")]
        assert codes(await editor.change("new.py", CLEAN)) == []
        assert not (root / "new.py").exists()

    edit_in(root, use)


def test_other_files_count_from_disk_and_from_open_texts(root: Path) -> None:
    async def use(editor: Editor) -> None:
        assert codes(await editor.open("helper.py", HELPER)) == []
        late = [(5, "TFM101")]
        (root / "main.py").write_text(MAIN)
        _saved(editor, "helper.py")
        await editor.shows("helper.py", late, codes)
        found = editor.published[editor.uri("helper.py")][1]
        (related, *_) = found[0].related_information or ()
        assert (related.location.uri, related.location.range.start.line) == (editor.uri("main.py"), 4)
        # What is typed in main.py counts before it is saved.
        _open(editor, "main.py", MAIN_IN_ORDER)
        await editor.shows("helper.py", [], codes)
        editor.type("main.py", MAIN)
        await editor.shows("helper.py", late, codes)

    edit_in(root, use)


def test_what_a_file_brings_about_is_shown_where_it_happens(root: Path) -> None:
    async def use(editor: Editor) -> None:
        await editor.open("main.py", MAIN)
        await editor.shows("helper.py", [(5, "TFM101")], codes)
        await editor.change("main.py", MAIN_IN_ORDER)
        await editor.shows("helper.py", [], codes)

    edit_in(root, use)


def _saved(editor: Editor, name: str) -> None:
    document = types.TextDocumentIdentifier(editor.uri(name))
    editor.client.text_document_did_save(types.DidSaveTextDocumentParams(document))


def _open(editor: Editor, name: str, text: str) -> None:
    editor.texts[editor.uri(name)], editor.versions[editor.uri(name)] = text, 1
    item = types.TextDocumentItem(editor.uri(name), "python", 1, text)
    editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))


def test_quick_fixes(root: Path) -> None:
    async def use(editor: Editor) -> None:
        await editor.open("numbers.py", NUMBERS)
        fix, silence = await editor.actions("numbers.py", 3)
        assert (fix.kind, fix.is_preferred, "unsafe" in fix.title) == ("quickfix", True, False)
        assert editor.applied("numbers.py", fix.edit) == FIXED_NUMBERS
        silenced = editor.applied("numbers.py", silence.edit)
        assert silenced == NUMBERS.replace("[4096])", "[4096])  # noqa: TFM305")
        assert codes(await editor.change("numbers.py", silenced)) == []
        await editor.open("late.py", LATE)
        fix, _ = await editor.actions("late.py", 4)
        assert (fix.is_preferred, "unsafe" in fix.title) == (False, True)
        assert codes(await editor.change("late.py", editor.applied("late.py", fix.edit))) == []
        assert await editor.actions("late.py", 0) == []

    edit_in(root, use)


def test_a_quick_fix_in_another_file(root: Path) -> None:
    async def use(editor: Editor) -> None:
        await editor.open("main.py", MAIN)
        await editor.open("helper.py", HELPER)
        await editor.shows("helper.py", [(5, "TFM101")], codes)
        fixes = [action for action in await editor.actions("helper.py", 5) if "silence" not in action.title]
        assert [list(action.edit.changes or ()) for action in fixes if action.edit] == [[editor.uri("main.py")]]
        await editor.change("main.py", editor.applied("main.py", fixes[0].edit))
        await editor.shows("helper.py", [], codes)

    edit_in(root, use)


def test_a_program_that_is_not_on_disk_yet(root: Path) -> None:
    (root / "main.py").unlink()

    async def use(editor: Editor) -> None:
        await editor.open("helper.py", HELPER)
        await editor.open("main.py", MAIN)
        await editor.shows("helper.py", [(5, "TFM101")], codes)
        fixes = [action for action in await editor.actions("helper.py", 5) if "silence" not in action.title]
        assert "setup()\nx =" in editor.applied("main.py", fixes[0].edit)

    edit_in(root, use)


def test_all_safe_fixes_at_once(root: Path) -> None:
    async def use(editor: Editor) -> None:
        await editor.open("numbers.py", NUMBERS)
        (action,) = await editor.actions("numbers.py", 0, ["source.fixAll.tfmemlint"])
        assert editor.applied("numbers.py", action.edit) == FIXED_NUMBERS
        await editor.open("late.py", LATE)
        assert await editor.actions("late.py", 0, ["source.fixAll"]) == [], "an unsafe fix is not among them"

    edit_in(root, use)


def test_hover(root: Path) -> None:
    async def use(editor: Editor) -> None:
        await editor.open("late.py", LATE)
        shown = await editor.hover("late.py", 4, 30)
        assert "**Intent:** memory growth for every GPU" in shown
        assert "comes too late" in shown and "`tf.zeros` (late.py:3)" in shown and "TFM101" in shown
        await editor.change("late.py", CLEAN)
        shown = await editor.hover("late.py", 3, 30)
        assert "takes effect" in shown and "`tf.zeros` (late.py:5)" in shown
        assert await editor.hover("late.py", 0, 0) == ""

    edit_in(root, use)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_columns_are_those_of_the_editor(root: Path, end: str) -> None:
    """The protocol counts UTF-16 units by default: a character beyond the first plane is two."""
    text = 'import tensorflow as tf\ngpus = tf.config.list_physical_devices("GPU")\n'
    text += 's = "🚀é"; tf.config.set_logical_device_configuration(gpus[0], [4096])\n'
    text = text.replace("\n", end)

    async def use(editor: Editor) -> None:
        (found,) = await editor.open("rocket.py", text)
        line = text.split(end)[2].encode("utf-16-le")
        start, stop = found.range.start.character, found.range.end.character
        assert line[2 * start : 2 * stop].decode("utf-16-le") == "[4096]"
        fix = (await editor.actions("rocket.py", 2))[0]
        assert 's = "🚀é"; tf.config' in editor.applied("rocket.py", fix.edit)

    edit_in(root, use)


def test_a_text_without_a_file(root: Path) -> None:
    async def use(editor: Editor) -> None:
        assert codes(await editor.open("untitled:Untitled-1", LATE)) == [(4, "TFM101")]
        assert await editor.hover("untitled:Untitled-1", 4, 30)
        assert await editor.actions("untitled:Untitled-1", 4)

    edit_in(root, use)


def test_documents_with_code(root: Path) -> None:
    async def use(editor: Editor) -> None:
        page = f"Set it up:\n\n```python\n{LATE}```\n"
        assert codes(await editor.open("notes.md", page, "markdown")) == [(7, "TFM101")]
        docker = "FROM tensorflow/tensorflow:2.15.0-gpu\nENV TF_FORCE_GPU_ALLOW_GROWTH=yes\n"
        assert codes(await editor.open("Dockerfile", docker, "dockerfile")) != []

    edit_in(root, use)


def test_closing_takes_the_diagnostics_away(root: Path) -> None:
    async def use(editor: Editor) -> None:
        assert await editor.open("late.py", LATE)
        document = types.TextDocumentIdentifier(editor.uri("late.py"))
        params = types.DidCloseTextDocumentParams(document)
        editor.client.text_document_did_close(params)
        await editor.shows("late.py", [], codes)

    edit_in(root, use)


def test_settings_of_the_editor_and_of_the_project(root: Path) -> None:
    async def use(editor: Editor) -> None:
        assert codes(await editor.open("late.py", LATE)) == []
        assert codes(await editor.open("numbers.py", NUMBERS)) == [(3, "TFM305")]

    edit_in(root, use, ignore=["TFM101"])
    (root / "tfmemlint.toml").write_text('extend-exclude = ["left_out.py"]\nignore = ["TFM305"]\n')
    (root / "left_out.py").touch()

    async def use_project(editor: Editor) -> None:
        assert codes(await editor.open("late.py", LATE)) == [(4, "TFM101")]
        assert codes(await editor.open("numbers.py", NUMBERS)) == []
        assert codes(await editor.open("left_out.py", LATE)) == []
        (root / "tfmemlint.toml").write_text('select = ["NOTHING"]\n')
        _saved(editor, "late.py")
        await editor.shows("late.py", [], codes)
        await editor.until(lambda: bool(editor.messages))
        assert "NOTHING" in editor.messages[0]
        (root / "tfmemlint.toml").write_text("")
        _saved(editor, "late.py")
        await editor.shows("late.py", [(4, "TFM101")], codes)

    edit_in(root, use_project)


def test_diagnostics_name_the_text_that_they_are_of(root: Path) -> None:
    async def use(editor: Editor) -> None:
        await editor.open("late.py", LATE)
        await editor.change("late.py", CLEAN)
        late, helper = editor.uri("late.py"), editor.uri("helper.py")
        assert [version for uri, version in editor.answered if uri == late] == [1, 2]
        await editor.open("main.py", MAIN)
        await editor.shows("helper.py", [(5, "TFM101")], codes)
        assert {version for uri, version in editor.answered if uri == helper} == {None}, "it is not open"

    edit_in(root, use)


def test_the_last_of_many_changes_counts(root: Path) -> None:
    async def use(editor: Editor) -> None:
        await editor.open("late.py", LATE)
        for number in range(30):
            editor.type("late.py", LATE + f"# {number}\n")
        editor.type("late.py", CLEAN)
        await editor.until(lambda: codes(editor.published[editor.uri("late.py")][1]) == [])
        assert editor.published[editor.uri("late.py")][0] < 20, "not each of them is checked to its end"

    edit_in(root, use)


def test_no_code_of_the_project_is_run(root: Path, tmp_path: Path) -> None:
    plant(root, tmp_path / "canary", ["pygls", "lsprotocol", "cattrs", "yaml", "libcst", "asyncio", "helper"])
    program = f"open({str(tmp_path / 'canary')!r}, 'w')\nimport helper\n{LATE}"

    async def use(editor: Editor) -> None:
        await editor.open("run.py", program)
        await editor.actions("run.py", 6)
        await editor.hover("run.py", 6, 30)

    edit_in(root, use)
    assert not (tmp_path / "canary").exists()


def test_a_server_that_was_told_to_exit_has_not_failed(tmp_path: Path) -> None:
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ]
    given = b""
    for message in messages:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        given += b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    command = [sys.executable, "-m", "tfmemlint", "server"]
    done = subprocess.run(command, input=given, capture_output=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
