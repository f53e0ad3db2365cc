#!/usr/bin/env python3
"""Write the transcript of an editor's session with ``tfmemlint server`` into docs/editors.md; ``--check`` compares.

The session is real: pygls' client speaks to the server in a process of its own.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from lsprotocol import types  # noqa: E402

from tests.server.editor import Editor  # noqa: E402

PAGE = ROOT / "docs" / "editors.md"
_BLOCK = re.compile(r"(<!-- session -->\n```text\n).*?(^```$)", re.DOTALL | re.MULTILINE)

SETUP = """\
import tensorflow as tf


def setup():
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
"""
TRAIN = """\
import tensorflow as tf

from setup_gpu import setup

strategy = tf.distribute.MirroredStrategy()
setup()
"""


async def session(folder: Path) -> list[str]:
    """Return the lines of a session in an empty folder."""
    (folder / "pyproject.toml").touch()
    (folder / "setup_gpu.py").write_text(SETUP, encoding="utf-8")
    editor = Editor(folder)
    lines: list[str] = []
    result = await editor.start()
    info = result.server_info
    lines += ["-> initialize: a folder with setup_gpu.py, which configures the GPUs", f"<- {info.name if info else ''}"]
    lines += ["-> textDocument/didOpen setup_gpu.py"]
    await editor.open("setup_gpu.py", SETUP)
    lines += _shown(editor, ["setup_gpu.py"])
    lines += ["-> textDocument/didOpen train.py, which is not on disk yet:", *_quoted(TRAIN)]
    await editor.open("train.py", TRAIN)
    late = editor.uri("setup_gpu.py")
    await editor.until(lambda: bool(editor.published[late][1]))
    lines += _shown(editor, ["train.py", "setup_gpu.py"])
    (action, *_) = [each for each in await editor.actions("setup_gpu.py", 5) if "silence" not in each.title]
    lines += ["-> textDocument/codeAction setup_gpu.py:6", *_described(editor, action)]
    text = editor.applied("train.py", action.edit)
    lines += ["-> textDocument/didChange train.py:", *_quoted(text)]
    await editor.change("train.py", text)
    await editor.until(lambda: not editor.published[late][1])
    lines += _shown(editor, ["train.py", "setup_gpu.py"])
    whole = SETUP + "\n\nsetup()\nx = tf.zeros([1])\n"
    lines += ["-> textDocument/didOpen whole.py:", *_quoted(whole)]
    await editor.open("whole.py", whole)
    lines += ["-> textDocument/hover whole.py:6:45"]
    hover = await editor.hover("whole.py", 5, 44)
    lines += [f"<- {line}" for line in hover.split("\n") if line]
    lines += ["-> shutdown"]
    await editor.stop()
    return lines


def _quoted(text: str) -> list[str]:
    return [f"     {number:2} | {line}" for number, line in enumerate(text.rstrip("\n").split("\n"), 1)]


def _shown(editor: Editor, names: Sequence[str]) -> list[str]:
    lines = []
    for name in names:
        found = editor.published[editor.uri(name)][1]
        lines.append(f"<- textDocument/publishDiagnostics {name}: {len(found) or 'nothing'}")
        for diagnostic in found:
            lines += _diagnostic(editor, name, diagnostic)
    return lines


def _diagnostic(editor: Editor, name: str, diagnostic: types.Diagnostic) -> Iterable[str]:
    severity = diagnostic.severity.name if diagnostic.severity is not None else ""
    first, *rest = diagnostic.message.split("\n")
    yield f"     {_place(name, diagnostic.range)} {severity} {diagnostic.code} {first}"
    yield from (f"       {line}" for line in rest)
    for related in diagnostic.related_information or ():
        yield f"       related: {_place(_name(editor, related.location.uri), related.location.range)} {related.message}"


def _described(editor: Editor, action: types.CodeAction) -> Iterable[str]:
    yield f"<- {action.kind}: {action.title}"
    for uri, edits in (action.edit.changes or {}).items() if action.edit is not None else ():
        for edit in edits:
            yield f"     {_place(_name(editor, uri), edit.range)} becomes {edit.new_text!r}"


def _name(editor: Editor, uri: str) -> str:
    return uri.removeprefix(editor.root.as_uri() + "/")


def _place(name: str, place: types.Range) -> str:
    return f"{name}:{place.start.line + 1}:{place.start.character + 1}"


def main() -> int:
    """Write the transcript, or with ``--check`` return 1 if the page has another one."""
    with tempfile.TemporaryDirectory() as folder:
        lines = asyncio.run(session(Path(folder).resolve()))
    text = PAGE.read_text(encoding="utf-8")
    new = _BLOCK.sub(lambda match: match[1] + "\n".join(lines) + "\n" + match[2], text)
    if "--check" in sys.argv[1:]:
        if new != text:
            print("docs/editors.md has another session: run tools/make_editor_session.py")
        return int(new != text)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
