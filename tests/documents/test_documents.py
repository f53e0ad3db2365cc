"""Code in Markdown, reStructuredText and docstrings is judged and mended where it stands."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tfmemlint.cli.main import main
from tfmemlint.sources.documents import document

LATE = """\
import tensorflow as tf

x = tf.zeros((2, 2))
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
"""
LIMIT = "tf.config.set_memory_limit(gpus[0], 4096)\n"
MENDED = """\
import tensorflow as tf

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)

x = tf.zeros((2, 2))
"""


def fenced(code: str, before: str = "", language: str = "python") -> str:
    """Code in a fenced block, each line with ``before`` in front."""
    lines = [f"```{language}", *code.removesuffix("\n").split("\n"), "```"]
    return "\n".join((before + line).rstrip() for line in lines) + "\n"


def found(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[tuple[str, int, int, str]]:
    """The file, row, column and code of all that a check reports."""
    capsys.readouterr()
    main(["check", "--no-cache", "--output-format", "json", *arguments])
    return [
        (os.path.relpath(one["filename"]), one["location"]["row"], one["location"]["column"], one["code"])
        for one in json.loads(capsys.readouterr().out)
    ]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


SILENT = {
    "blocks that go on from one another are no program": fenced("import tensorflow as tf\nx = tf.zeros((2, 2))")
    + "\nOr, in another program:\n\n"
    + fenced(
        "for gpu in tf.config.list_physical_devices('GPU'):\n    tf.config.experimental.set_memory_growth(gpu, True)"
    ),
    "a block in another language": fenced(LATE, language="text").replace("set_memory_growth", "grow"),
    "a comment of the document": "<!-- tfmemlint: ignore -->\n" + fenced(LATE),
    "a comment of the document, for one rule": "<!-- tfmemlint: ignore[TFM101] -->\n\n" + fenced(LATE),
    "a comment for the whole document": "<!-- tfmemlint: skip-file -->\n\n" + fenced(LATE),
    "a comment in the code": fenced(LATE.replace("gpu, True)", "gpu, True)  # noqa: TFM101")),
    "a name that the document never says is TensorFlow's": fenced("tf = something()\ntf.config.set_memory_limit(1)"),
    "another library by the usual name": fenced("import tinyframe as tf")
    + "\n\n"
    + fenced("tf.config.set_memory_limit(gpu, 0.5)"),
    "code in a comment": f"<!--\n{fenced(LATE)}-->\n",
    "no code": "The GPU's memory grows with `set_memory_growth`, before anything else.\n",
}


@pytest.mark.parametrize("about", SILENT)
def test_silence(about: str, capsys: pytest.CaptureFixture[str]) -> None:
    write("page.md", SILENT[about])
    assert found(capsys, ".") == []


@pytest.mark.parametrize("name", ["page.md", "page.rst", "Dockerfile"])
def test_a_comment_that_is_shown_skips_nothing(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = {
        "page.md": fenced("<!-- tfmemlint: skip-file -->", language="html") + "\n" + fenced(LATE),
        "page.rst": "Text::\n\n    .. tfmemlint: skip-file\n\nMore::\n\n" + indented(LATE),
        "Dockerfile": "FROM tensorflow/tensorflow\nENV A='# tfmemlint: skip-file' TF_FORCE_GPU_ALLOW_GROWTH=1\n",
    }[name]
    write(name, text)
    assert len(found(capsys, ".")) == 1


def indented(code: str) -> str:
    return "".join(f"    {line}" if line.strip() else line for line in code.splitlines(keepends=True))


@pytest.mark.parametrize("before", ["", "   ", "> ", "> > ", ">    "])
def test_a_block_is_found_and_mended_where_it_stands(before: str, capsys: pytest.CaptureFixture[str]) -> None:
    lead = {"   ": "1. First\n\n"}.get(before, "")
    path = write("page.md", f"# Title\n\n{lead}{fenced(LATE, before)}\nThe end.\n")
    row = path.read_text().split("\n").index((before + LATE.split("\n")[4]).rstrip()) + 1
    assert found(capsys, ".") == [("page.md", row, len(before) + 5, "TFM101")]
    main(["fix", "--unsafe-fixes", "--allow-dirty", "--no-cache", "page.md"])
    assert path.read_text() == f"# Title\n\n{lead}{fenced(MENDED, before)}\nThe end.\n"


def test_what_a_block_leaves_out_other_blocks_have(capsys: pytest.CaptureFixture[str]) -> None:
    later = fenced("configure.set_memory_limit(configure.list_physical_devices('GPU')[0], 4096)")
    write("page.md", fenced("from tensorflow import config as configure") + "\nThen:\n\n" + later)
    assert found(capsys, ".") == [("page.md", 8, 1, "TFM202")]


def test_a_mended_block_goes_without_the_imports_of_others(capsys: pytest.CaptureFixture[str]) -> None:
    path = write(
        "page.md", fenced("gpus = tf.config.list_physical_devices('GPU')\ntf.config.set_memory_limit(gpus[0], 4096)")
    )
    main(["fix", "--unsafe-fixes", "--allow-dirty", "--no-cache", "page.md"])
    text = path.read_text()
    assert "set_logical_device_configuration(" in text
    assert "import" not in text
    assert "tfmemlint" not in text


def test_cells_of_a_document_are_one_program(capsys: pytest.CaptureFixture[str]) -> None:
    cells = [LATE.partition("for")[0], "for" + LATE.partition("for")[2]]
    text = "\n".join(fenced(cell, language="{code-cell} python") for cell in cells)
    path = write("page.md", text)
    assert [one[3] for one in found(capsys, ".")] == ["TFM101"]
    main(["fix", "--unsafe-fixes", "--allow-dirty", "--no-cache", "page.md"])
    assert found(capsys, ".") == []
    assert "tfmemlint" not in path.read_text()
    assert path.read_text().count("```{code-cell} python\n") == 2


def test_a_prompt_stays_a_prompt() -> None:
    code = "gpus = tf.config.list_physical_devices('GPU')\ntf.config.set_memory_limit(gpus[0], 4096)\n"
    path = write("page.md", fenced("".join(f">>> {line}\n" for line in code.splitlines()), language="pycon"))
    main(["fix", "--unsafe-fixes", "--allow-dirty", "--no-cache", "page.md"])
    lines = path.read_text().split("\n")[1:-2]
    assert lines[:3] == [
        ">>> gpus = tf.config.list_physical_devices('GPU')",
        ">>> if gpus:",
        "...     tf.config.set_logical_device_configuration(",
    ]
    assert all(line.startswith("... ") for line in lines[3:])


def test_an_example_with_output_is_left_to_a_person(capsys: pytest.CaptureFixture[str]) -> None:
    session = ">>> gpus = tf.config.list_physical_devices('GPU')\n>>> len(gpus)\n1\n>>> " + LIMIT
    path = write("page.md", fenced(session, language="pycon"))
    assert [one[3] for one in found(capsys, ".")] == ["TFM202"]
    before = path.read_text()
    main(["fix", "--unsafe-fixes", "--allow-dirty", "--no-cache", "page.md"])
    assert path.read_text() == before
    assert "change it by hand" in capsys.readouterr().out


def test_docstrings(capsys: pytest.CaptureFixture[str]) -> None:
    text = f'"""Memory.\n\n    >>> gpus = tf.config.list_physical_devices("GPU")\n    >>> {LIMIT}"""\n'
    path = write("module.py", text + "import tensorflow as tf\n")
    assert found(capsys, ".") == [("module.py", 4, 9, "TFM202")]
    assert found(capsys, "--ignore-kinds", "docstring", ".") == []
    main(["fix", "--unsafe-fixes", "--allow-dirty", "--no-cache", "."])
    assert "    >>> if gpus:\n    ...     tf.config.set_logical_device_configuration(\n" in path.read_text()
    assert path.read_text().endswith('"""\nimport tensorflow as tf\n')


def test_after_a_docstring_is_fixed_what_is_left_has_the_lines_of_the_new_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    example = "```python\ntf.config.experimental.set_memory_limit(4096)\n```\n"
    left = "tf.config.experimental.clear_memory()"
    path = write("module.py", f'"""Memory.\n\n{example}"""\nimport tensorflow as tf\n\n{left}\n')
    capsys.readouterr()
    main(["fix", "--unsafe-fixes", "--allow-dirty", "--no-cache", "--output-format", "json", "."])
    (finding,) = json.loads(capsys.readouterr().out)
    row = path.read_text().splitlines().index(left) + 1
    assert row > 7, "the docstring has grown"
    assert (finding["code"], finding["location"]["row"]) == ("TFM202", row)
    assert finding["fix"] is None


def test_an_example_that_is_wrong_is_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    text = '"""See tf.config.gpu.limit_memory.\n\n```python\ntf.vram.cap(2048)\n```\n"""\nimport tensorflow as tf\n'
    write("module.py", text)
    assert found(capsys, "--select", "TFM", ".") == [("module.py", 1, 8, "TFM208"), ("module.py", 4, 1, "TFM202")]


def test_a_file_that_is_left_out_is_left_out_with_its_examples(capsys: pytest.CaptureFixture[str]) -> None:
    text = f'"""Memory.\n\n>>> gpus = tf.config.list_physical_devices("GPU")\n>>> {LIMIT}"""\nimport tensorflow as tf\n'
    write("module.py", f"# tfmemlint: skip-file\n{text}")
    assert found(capsys, ".") == []


def test_an_example_below_its_title(capsys: pytest.CaptureFixture[str]) -> None:
    text = f'Memory.\n\nExample:\n    gpus = tf.config.list_physical_devices("GPU")\n    {LIMIT}'
    write("module.py", f'"""{text}"""\nimport tensorflow as tf\n')
    assert found(capsys, ".") == [("module.py", 5, 5, "TFM202")]


@pytest.mark.parametrize("name", ["page.md", "module.py"])
def test_a_reader_that_fails_takes_no_other_file_with_it(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = document._document

    def fails(one: document.Document) -> document.Document:
        if one.path == name:
            raise KeyError("broken")
        return read(one)

    monkeypatch.setattr(document, "_document", fails)
    write(name, f'"""\n{fenced(LATE)}"""\nimport tensorflow as tf\n')
    write("other.py", LATE)
    assert {(one[0], one[3]) for one in found(capsys, ".")} == {(name, "TFM900"), ("other.py", "TFM101")}


def test_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import sys

    class Given:
        buffer = io.BytesIO(fenced(LATE).encode())

    monkeypatch.setattr(sys, "stdin", Given())
    assert found(capsys, "-", "--stdin-filename", "page.md") == [("page.md", 6, 5, "TFM101")]


def test_the_edits_of_a_fix_are_edits_of_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    path = write("page.md", "- so:\n\n" + fenced("gpus = tf.config.list_physical_devices('GPU')\n" + LIMIT, "  "))
    main(["check", "--no-cache", "--output-format", "json", "page.md"])
    (one,) = json.loads(capsys.readouterr().out)
    text = path.read_text()
    for edit in reversed(one["fix"]["edits"]):
        start, end = (_offset(text, edit[name]) for name in ("location", "end_location"))
        text = text[:start] + edit["content"] + text[end:]
    main(["fix", "--unsafe-fixes", "--allow-dirty", "--no-cache", "page.md"])
    assert path.read_text() == text


def _offset(text: str, place: dict[str, int]) -> int:
    return sum(len(line) + 1 for line in text.split("\n")[: place["row"] - 1]) + place["column"] - 1


@pytest.mark.parametrize("ends", ["\r\n", "\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_line_ends_and_encodings_stay(ends: str, encoding: str) -> None:
    text = f"Grün\n\n{fenced(LATE)}\nÜber\n".replace("\n", ends)
    Path("page.md").write_bytes(text.encode(encoding))
    main(["fix", "--unsafe-fixes", "--allow-dirty", "--no-cache", "page.md"])
    after = Path("page.md").read_bytes()
    assert after != text.encode(encoding)
    assert after.startswith(f"Grün{ends}{ends}```python{ends}".encode(encoding))
    assert after.endswith(f"```{ends}{ends}Über{ends}".encode(encoding))
    assert after.count(b"\n") == after.count(ends.encode())


def test_bad_input_is_one_finding_at_most(capsys: pytest.CaptureFixture[str]) -> None:
    Path("binary.md").write_bytes(b"tf.config\0memory_growth")
    write("open.md", fenced(LATE).removesuffix("```\n"))
    write("broken.md", fenced("import tensorflow as tf\ngpus = tf.config.list_physical_devices('GPU'"))
    assert [(one[0], one[3]) for one in found(capsys, ".")] == [("binary.md", "TFM902"), ("open.md", "TFM101")]
