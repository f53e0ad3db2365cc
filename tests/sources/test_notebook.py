"""Notebooks: their cells as one Python text, and back."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfmemlint.cli.main import main
from tfmemlint.engine.context import RunContext
from tfmemlint.engine.results import FileResult
from tfmemlint.engine.run import run
from tfmemlint.model.finding import Finding, Severity, Span
from tfmemlint.project.targets.find import Finder
from tfmemlint.reporters.cells import in_cells
from tfmemlint.rulekit import triggers
from tfmemlint.sources import Source, Unreadable, decode, walk
from tfmemlint.sources.notebook import Notebook
from tfmemlint.sources.walking import Choice

LIMIT = "tf.config.experimental.set_memory_limit(gpu, 4096)"


def notebook(*cells: str | tuple[str, str], **settings: Any) -> bytes:
    """A notebook with these cells, code unless they say otherwise; ``settings`` are those of `json.dumps`."""
    made = []
    for one in cells:
        kind, source = one if isinstance(one, tuple) else ("code", one)
        cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True)}
        if kind == "code":
            cell |= {"execution_count": 1, "outputs": [{"output_type": "stream", "name": "stdout", "text": ["a\n"]}]}
        made.append(cell)
    whole = {"cells": made, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(whole, **({"indent": 1, "ensure_ascii": False} | settings)) + "\n").encode()


def read(data: bytes) -> Notebook:
    source = decode("a.ipynb", data)
    assert isinstance(source, Notebook)
    return source


def code(data: bytes) -> list[str]:
    """The code cells of a notebook."""
    return ["".join(cell["source"]) for cell in json.loads(data)["cells"] if cell["cell_type"] == "code"]


# There and back


@pytest.mark.parametrize(
    "settings",
    [{}, {"indent": 2}, {"indent": 4}, {"indent": None}, {"ensure_ascii": True}, {"indent": "\t"}, {"sort_keys": True}],
)
def test_without_a_change_every_byte_is_as_it_was(settings: dict[str, Any]) -> None:
    data = notebook(("markdown", "# é"), "import tensorflow as tf\n%matplotlib inline\n", "", "x = 'é'", **settings)
    source = read(data)
    assert source.encode(source.text) == data
    ast.parse(source.text)


@given(
    st.lists(st.tuples(st.sampled_from(["code", "markdown", "raw"]), st.text())),
    st.sampled_from([None, 1, 2]),
    st.booleans(),
)
def test_any_cells_come_back(cells: list[tuple[str, str]], indent: int | None, plain: bool) -> None:
    data = notebook(*cells, indent=indent, ensure_ascii=plain) if _is_utf8(cells) else notebook()
    source = read(data)
    assert source.encode(source.text) == data
    ast.parse(source.text)


def test_a_notebook_without_code_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "Growth:\n\n```python\nimport tensorflow as tf\ntf.config.set_logical_device_configuration(gpu, [])\n```\n"
    for name, cells in (("text", [("markdown", text)]), ("nothing", [])):
        (tmp_path / f"{name}.ipynb").write_bytes(notebook(*cells))
    assert main(["check", "--no-cache", "--isolated", str(tmp_path)]) == 0
    assert "TFM900" not in capsys.readouterr().out


def _is_utf8(cells: list[tuple[str, str]]) -> bool:
    return not any("\ud800" <= character <= "\udfff" for _, text in cells for character in text)


def test_a_change_is_the_changed_lines() -> None:
    data = notebook(
        "import tensorflow as tf\n", ("markdown", "Text"), f"# é\nfor gpu in gpus:\n    {LIMIT}\nprint('<é>')"
    )
    source = read(data)
    new = source.encode(source.text.replace("4096", "2048"))
    changed = [(a, b) for a, b in zip(data.splitlines(), new.splitlines(), strict=True) if a != b]
    assert [b.decode().strip() for _, b in changed] == [f'"    {LIMIT.replace("4096", "2048")}\\n",']


def test_lines_that_stay_keep_their_very_characters() -> None:
    data = notebook("a = '\\u003c'\nb = '/'\nc = 3").replace(b"'/'", b"'\\/'").replace(b"\\\\u003c", b"\\u003c")
    source = read(data)
    assert "a = '<'" in source.text and "b = '/'" in source.text
    assert source.encode(source.text.replace("c = 3", "c = 4 < 5")) == data.replace(b"c = 3", b"c = 4 \\u003c 5")


@pytest.mark.parametrize(
    ("old", "new"),
    [("a\nb", "a\nb\nc\n"), ("a\nb\n", "b\n"), ("a", "a\nb"), ("", "a\nb"), ("a\n\n\nb", "b")],
)
def test_lines_come_and_go(old: str, new: str) -> None:
    data = notebook("first\nsecond", old, "last")
    source = read(data)
    text = source.text.replace(f"cell 2\n{old}\n", f"cell 2\n{new}\n")
    assert source.encode(text) == notebook("first\nsecond", new, "last")


def test_a_cell_without_code_goes() -> None:
    source = read(notebook("first", "a = 1", "last"))
    assert source.encode(source.text.replace("a = 1\n", "\n")) == notebook("first", "last")


def test_a_cell_whose_code_goes_to_the_beginning_of_another_moves_there() -> None:
    source = read(notebook("first", "b = 2", "a = 1\nc = 3", "last"))
    text = source.text.replace("a = 1\nc = 3\n", "\n").replace("b = 2\n", "a = 1\nc = 3\n\nb = 2\n")
    assert source.encode(text) == notebook("first", "a = 1\nc = 3", "b = 2", "last")


@pytest.mark.parametrize(
    ("heading", "following", "moves"),
    [("Set growth.", "code", True), ("## Growth", "code", False), ("## Growth", "markdown", True)],
)
def test_a_text_that_is_about_a_cell_alone_moves_with_it(heading: str, following: str, moves: bool) -> None:
    def cell(kind: str, text: str) -> dict[str, object]:
        return {"cell_type": kind, "source": [text], "metadata": {}}

    def written(*cells: dict[str, object]) -> bytes:
        return json.dumps({"cells": cells, "nbformat": 4}).encode()

    start, text, grow, last = (
        cell("code", "b = 2"),
        cell("markdown", heading),
        cell("code", "a = 1"),
        cell(following, "c"),
    )
    source = read(written(start, text, grow, last))
    new = source.encode(source.text.replace("a = 1\n", "\n").replace("b = 2\n", "a = 1\nb = 2\n"))
    assert new == (written(text, grow, start, last) if moves else written(grow, start, text, last))


def test_a_source_that_is_one_string_stays_one() -> None:
    whole = {"cells": [{"cell_type": "code", "source": "a\nb", "metadata": {}, "outputs": []}], "nbformat": 4}
    data = json.dumps(whole).encode()
    source = read(data)
    assert source.encode(source.text.replace("b\n", "c\n")) == data.replace(b"a\\nb", b"a\\nc")


def test_windows_line_ends_and_a_byte_order_mark_stay() -> None:
    data = b"\xef\xbb\xbf" + notebook("a\nb", "c").replace(b"\n", b"\r\n")
    source = read(data)
    assert source.encode(source.text) == data
    assert source.encode(source.text.replace("c\n", "d\n")) == data.replace(b'"c"', b'"d"')


def test_the_older_format_has_its_cells_in_worksheets() -> None:
    cells = [{"cell_type": "code", "language": "python", "input": ["a\n", "b"], "outputs": []}]
    data = json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3}, indent=1).encode()
    source = read(data)
    assert [line for line in source.lines if not line.startswith("pass")] == ["a", "b", ""]
    assert source.encode(source.text.replace("b\n", "c\n")) == data.replace(b'"b"', b'"c"')


def test_a_notebook_of_another_language_is_passed_over() -> None:
    data = notebook("library(tensorflow)\ntf.config.set_memory_limit(1)").replace(b'"python"', b'"R"')
    assert read(data).text == ""


def test_large_outputs_are_no_burden() -> None:
    data = notebook("import tensorflow as tf").replace(b'"a\\n"', b'"' + b"x" * 40_000_000 + b'"')
    source = read(data)
    assert source.encode(source.text.replace("tf\n", "tf2\n")) == data.replace(b"as tf", b"as tf2")


# What is no notebook


@pytest.mark.parametrize(
    ("data", "words", "row"),
    [
        (b"", "is empty", 0),
        (b"{", "not valid JSON", 1),
        (b'{"cells": [\n{"cell_type": "code",\n"source": [}]}', "not valid JSON", 3),
        (b"[]", "not valid JSON", 1),
        (b'{"metadata": {}}', "it has no cells", 0),
        (b'{"cells": "\xff"}', "not valid UTF-8", 1),
        (b"<<<<<<< HEAD\n{}", "not valid JSON", 1),
    ],
)
def test_what_is_no_notebook_is_said(data: bytes, words: str, row: int) -> None:
    with pytest.raises(Unreadable, match=words) as raised:
        decode("a.ipynb", data)
    assert raised.value.row == row


# IPython's own syntax


@pytest.mark.parametrize(
    ("line", "python"),
    [
        ("%matplotlib inline", "pass"),
        ("!nvidia-smi", "pass"),
        ("!!ls", "pass"),
        ("    !pip install x", "    pass"),
        ("tf.constant?", "pass"),
        ("?tf.constant", "pass"),
        ("tf??", "pass"),
        ("files = !ls *.py", "files = None"),
        ("a, b = %magic x", "a, b = None"),
        ("pip install tensorflow", "pass"),
        ("%time x = f(1)", "x = f(1)"),
        ("%timeit -n 10 f(1)", "f(1)"),
        ("%time", "pass"),
        ("%env CUDA_VISIBLE_DEVICES=0,1", "import os; os.environ['CUDA_VISIBLE_DEVICES'] = '0,1'"),
        ("%env CUDA_VISIBLE_DEVICES 0", "import os; os.environ['CUDA_VISIBLE_DEVICES'] = '0'"),
        (
            "%set_env TF_GPU_ALLOCATOR=cuda_malloc_async",
            "import os; os.environ['TF_GPU_ALLOCATOR'] = 'cuda_malloc_async'",
        ),
        ("%env CUDA_VISIBLE_DEVICES=$gpu", "pass"),
        ("%env CUDA_VISIBLE_DEVICES={gpu}", "pass"),
        ("%env", "pass"),
        ("!export CUDA_VISIBLE_DEVICES=0", "pass"),
        ("%tensorflow_version 1.x", "pass"),
    ],
)
def test_lines_that_are_no_python_become_what_they_do(line: str, python: str) -> None:
    around = "if True:\n    x\n{}\n" if line.startswith(" ") else "x\n{}\n"
    source = read(notebook(around.format(line)))
    (row,) = (one for one in source.lines if line in one and "#@" in one)
    assert row.split("  #@")[0] == python
    ast.parse(source.text)
    assert not list(source.problems)


@pytest.mark.parametrize(
    "text",
    [
        "x = (a\n% b)",
        "s = '''\n!ls\n%env A=1\n'''",
        "x = a \\\n% b",
        "x = [\n    a\n    %b\n]",
        "print('%s' % x)",
        "ls = 1\nls",
    ],
)
def test_python_is_left_alone(text: str) -> None:
    source = read(notebook(text))
    assert "\n".join(source.lines[1:-1]) == text
    both = read(notebook(f"!ls\n{text}"))
    assert "\n".join(both.lines[2:-1]) == text


@pytest.mark.parametrize("magic", ["%%bash", "%%writefile a.py", "%%html", "%%script python2", "%%javascript"])
def test_cells_of_other_languages_are_comments(magic: str) -> None:
    source = read(notebook("import tensorflow as tf", f"{magic}\ntf.config.set_memory_limit(1)\n"))
    assert all(line.startswith(("#@", "pass")) for line in source.lines[2:-2])
    assert not list(source.problems)


@pytest.mark.parametrize("magic", ["%%time", "%%capture output", "%%timeit -n 1"])
def test_cells_under_a_magic_of_python_are_read(magic: str) -> None:
    assert "x = 1" in read(notebook(f"{magic}\nx = 1")).lines


def test_a_command_goes_on_behind_a_backslash() -> None:
    source = read(notebook("!pip install a \\\n  b \\\n  c\nx = 1"))
    assert source.lines[4] == "x = 1"
    ast.parse(source.text)


def test_a_cell_that_is_indented_as_a_whole_is_python_to_ipython() -> None:
    source = read(notebook("  x = 1\n  if x:\n    y = 2"))
    assert source.lines[1:4] == ["x = 1", "if x:", "  y = 2"]
    data = notebook("  x = 1\n  if x:\n    y = 2")
    assert source.encode(source.text) == data


def test_a_broken_cell_does_not_hide_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.ipynb").write_bytes(
        notebook("import tensorflow as tf", "gpus = = tf.config.list_physical_devices()", f"gpu = 0\n{LIMIT}")
    )
    (outcome,) = look()
    assert [(finding.code, outcome.source.cell_of(finding.span.row)) for finding in outcome.findings] == [  # type: ignore[union-attr]
        ("TFM901", (2, 1)),
        ("TFM202", (3, 2)),
    ]


def test_why_a_cell_is_broken_is_said_without_rows_of_its_own() -> None:
    ((row, words),) = read(notebook("a = 1", "x = 1\ndef f():\nx")).problems
    assert (row, words) == (6, "expected an indented block after function definition")


# As part of the tool


def look(**settings: Any) -> list[FileResult]:
    files = walk(["."], Choice(kinds=("python", "notebook"))).files
    return sorted(run([(path, False) for path in files], RunContext(**settings)), key=lambda one: one.path)


def test_cells_are_one_program_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    grow = "for gpu in tf.config.list_physical_devices('GPU'):\n    tf.config.experimental.set_memory_growth(gpu, True)"
    Path("ok.ipynb").write_bytes(notebook("import tensorflow as tf", grow, "x = tf.constant(1)"))
    Path("bad.ipynb").write_bytes(notebook("import tensorflow as tf", "\nx = tf.constant(1)", grow))
    assert main(["check", "--output-format", "concise", "-q", "."]) == 1
    shown = capsys.readouterr().out.splitlines()
    assert shown == [
        "bad.ipynb:cell 3:2:5: error: TFM101 set_memory_growth after the runtime has started:"
        " tf.constant in line 2 of cell 2 starts it"
    ]


def test_a_report_quotes_the_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    Path("a.ipynb").write_bytes(notebook("import tensorflow as tf", f"%time pass\n{LIMIT}"))
    main(["check", "."])
    assert f"  |\n1 | %time pass\n2 | {LIMIT}\n  | ^^^" in capsys.readouterr().out


def test_json_has_the_cell_and_github_the_line_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    data = notebook("import tensorflow as tf", f"x = 1\n{LIMIT}")
    Path("a.ipynb").write_bytes(data)
    main(["check", "--output-format", "json", "."])
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["cell"], found["location"]) == (2, {"row": 2, "column": 1})
    main(["check", "--output-format", "github", "."])
    row = next(number for number, line in enumerate(data.decode().splitlines(), 1) if LIMIT in line)
    assert f"line={row},endLine={row}" in capsys.readouterr().out


def test_a_fix_is_written_into_its_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = notebook(
        "!nvidia-smi\nimport tensorflow as tf",
        ("markdown", "é"),
        f"gpu = tf.config.list_physical_devices('GPU')[0]\n{LIMIT}\n",
    )
    Path("a.ipynb").write_bytes(data)
    assert main(["fix", "-q", "a.ipynb"]) == 0
    new = Path("a.ipynb").read_bytes()
    assert [cell["outputs"] for cell in json.loads(new)["cells"] if "outputs" in cell] == [
        cell["outputs"] for cell in json.loads(data)["cells"] if "outputs" in cell
    ]
    assert code(new)[0] == code(data)[0]
    assert "LogicalDeviceConfiguration(memory_limit=4096)" in code(new)[1]
    assert main(["fix", "-q", "a.ipynb"]) == 0
    assert Path("a.ipynb").read_bytes() == new


@pytest.mark.parametrize(
    ("cells", "fixed"),
    [
        (
            ["import tensorflow as tf\nprint(tf.zeros([2]))", "%env CUDA_VISIBLE_DEVICES=0\nprint(tf.ones([2]))"],
            ["import tensorflow as tf\n%env CUDA_VISIBLE_DEVICES=0\nprint(tf.zeros([2]))", "print(tf.ones([2]))"],
        ),
        (
            ["import tensorflow as tf\nprint(tf.zeros([2]))\n%set_env TF_FORCE_GPU_ALLOW_GROWTH true"],
            ["import tensorflow as tf\n%set_env TF_FORCE_GPU_ALLOW_GROWTH true\nprint(tf.zeros([2]))"],
        ),
    ],
)
def test_a_variable_that_a_magic_sets_too_late_is_moved_as_a_magic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cells: list[str], fixed: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.ipynb").write_bytes(notebook(*cells))
    main(["fix", "--unsafe-fixes", "a.ipynb"])
    assert code(Path("a.ipynb").read_bytes()) == fixed


def test_an_environment_magic_is_fixed_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.ipynb").write_bytes(notebook("%env  TF_FORCE_GPU_ALLOW_GROWTH=True\nimport tensorflow as tf\n"))
    main(["fix", "--unsafe-fixes", "a.ipynb"])
    assert code(Path("a.ipynb").read_bytes()) == ["%env  TF_FORCE_GPU_ALLOW_GROWTH=true\nimport tensorflow as tf\n"]


def test_configuration_moves_above_the_cell_that_starts_the_runtime(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    grow = "for gpu in tf.config.list_physical_devices('GPU'):\n    tf.config.experimental.set_memory_growth(gpu, True)"
    Path("a.ipynb").write_bytes(notebook("import tensorflow as tf", "%matplotlib inline\nx = tf.constant(1)", grow))
    assert main(["fix", "-q", "--unsafe-fixes", "a.ipynb"]) == 0
    cells = code(Path("a.ipynb").read_bytes())
    assert cells[1] == f"%matplotlib inline\n{grow}\n\nx = tf.constant(1)"


def test_a_notebook_is_a_program_of_its_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model.py").write_text("import tensorflow as tf\n\nweights = tf.Variable(1.0)\n")
    grow = "for gpu in tf.config.list_physical_devices('GPU'):\n    tf.config.experimental.set_memory_growth(gpu, True)"
    Path("a.ipynb").write_bytes(notebook("import tensorflow as tf\nimport model", grow))
    found = [finding for outcome in look() for finding in outcome.findings]
    assert [(finding.path, finding.code) for finding in found] == [("a.ipynb", "TFM101")]
    assert [step.path for step in found[0].trace][:2] == ["a.ipynb", "model.py"]


def test_lines_of_other_cells_are_named_by_cell() -> None:
    source = read(notebook("a = 1\nb = 2", "c = 3\nd = 4"))
    words = "f (also in lines 2, 3) and lines 5 and 6, line 2, line 6"
    finding = Finding("TFM206", "n", Severity.ERROR, "a.ipynb", Span(6, 1, 6, 2), words)
    ((placed,), _) = in_cells([finding], {"a.ipynb": source})
    assert placed.message == "f (also in cell 1) and lines 1 and 2, line 1 of cell 1, line 2"


@pytest.mark.parametrize(
    ("line", "release"),
    [
        ("!pip install -q tensorflow==2.4.1", "2.4"),
        ("%pip install 'tensorflow-gpu==1.15.*'", "1.15"),
        ("%tensorflow_version 1.x", "1.15"),
        ("!pip install tensorflow==2.4\n!pip install tensorflow==2.9", "2.9"),
        ("!pip install tensorflow", "2.12"),
        ("%tensorflow_version 2.x", "2.12"),
        ("# !pip install tensorflow==2.4", "2.12"),
    ],
)
def test_a_notebook_is_judged_for_what_it_installs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, release: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("requirements.txt").write_text("tensorflow==2.12\n")
    Path("a.ipynb").write_bytes(notebook(line, "import tensorflow as tf"))
    target = Finder().of_file("a.ipynb").target
    assert target is not None and str(target) == release


def test_a_cell_that_fails_when_it_is_run_again_is_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    hide = "gpus = tf.config.list_physical_devices('GPU')\ntf.config.set_visible_devices(gpus[:1], 'GPU')\n"
    twice = f"{hide}tf.config.set_visible_devices([], 'GPU')"
    Path("a.ipynb").write_bytes(notebook("import tensorflow as tf", twice, "x = tf.ones([2])"))
    main(["check", "--select", "TFM707", "--output-format", "concise", "-q", "."])
    assert capsys.readouterr().out.startswith("a.ipynb:cell 2:2:1: advice: TFM707 This cell fails when it is run again")
    main(["check", "--output-format", "concise", "-q", "."])
    assert "TFM707" not in capsys.readouterr().out


def test_a_comment_in_a_cell_silences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.ipynb").write_bytes(notebook("import tensorflow as tf", f"gpu = 0\n{LIMIT}  # noqa: TFM202"))
    assert not [finding for outcome in look() for finding in outcome.findings]


def test_a_plain_source_is_its_file() -> None:
    assert Source("a.py", "x\n").as_file("y\n") == "y\n"


def test_no_cell_is_left_with_nothing_but_its_magic() -> None:
    """IPython refuses such a cell: `%%time is a cell magic, but the cell body is empty`."""
    source = read(notebook("import tensorflow as tf", "%%time\nx = tf.constant(1)"))
    with pytest.raises(ValueError, match="cell 2 would hold nothing but %%time"):
        source.as_file(source.text.replace("x = tf.constant(1)", ""))


@pytest.mark.parametrize(
    ("cell", "fixed"),
    [
        ("!export CUDA_VISIBLE_DEVICES=1\n%autoreload 2", "%env CUDA_VISIBLE_DEVICES=1\n%autoreload 2"),
        ("# the GPUs\n! export CUDA_VISIBLE_DEVICES='0,1'", "# the GPUs\n%env CUDA_VISIBLE_DEVICES=0,1"),
        ("if True:\n    !export TF_FORCE_GPU_ALLOW_GROWTH=true", "if True:\n    %env TF_FORCE_GPU_ALLOW_GROWTH=true"),
        ("%%bash\nexport CUDA_VISIBLE_DEVICES=1", "%%bash\nexport CUDA_VISIBLE_DEVICES=1"),
        ("!export CUDA_VISIBLE_DEVICES=$GPU", "!export CUDA_VISIBLE_DEVICES=$GPU"),
    ],
)
def test_what_a_shell_exports_is_set_in_the_kernel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cell: str, fixed: str
) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(notebook(cell, "import tensorflow as tf\nprint(tf.constant(1))"))
    main(["fix", "--no-cache", "--isolated", "--unsafe-fixes", str(path)])
    capsys.readouterr()
    assert code(path.read_bytes())[0] == fixed


@pytest.mark.parametrize(
    ("cell", "code", "row"),
    [
        ("import tensorflow as tf\n!export TF_FORCE_GPU_ALLOW_GROWTH=true", "TFM315", 2),
        ("%%bash\nexport TF_GPU_ALLOCATOR=cuda_malloc_async\necho set", "TFM315", 2),
        ("!TF_FORCE_GPU_ALLOW_GROWTH=1 python train.py", "TFM307", 1),
        ("files = !TF_FORCE_GPU_ALLOW_GROWTH=1 python train.py", "TFM307", 1),
        ("%%sh\nTF_GPU_ALLOCATOR=cuda_malloc_asnyc python train.py", "TFM307", 2),
    ],
)
def test_commands_have_a_shell_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cell: str, code: str, row: int
) -> None:
    assert commands(tmp_path, monkeypatch, capsys, cell) == [(code, row)]


@pytest.mark.parametrize(
    "cell",
    [
        "!export TF_FORCE_GPU_ALLOW_GROWTH=true && python train.py",
        "%%bash\nexport TF_GPU_ALLOCATOR=cuda_malloc_async\npython train.py",
        "!export PATH=/opt/bin:$PATH",
        "text = '''\n!export TF_FORCE_GPU_ALLOW_GROWTH=true\n'''",
        "# !export TF_FORCE_GPU_ALLOW_GROWTH=true",
        "%env TF_FORCE_GPU_ALLOW_GROWTH=true",
        "!pip install tensorflow",
        "%%writefile run.sh\nexport TF_FORCE_GPU_ALLOW_GROWTH=true",
    ],
)
def test_commands_that_are_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cell: str
) -> None:
    assert commands(tmp_path, monkeypatch, capsys, cell) == []


def commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cell: str
) -> list[tuple[str, int]]:
    """What is found in a cell, by the code and the row; the cell above it imports TensorFlow."""
    monkeypatch.chdir(tmp_path)
    empty: dict[str, Any] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    cells = [{**empty, "source": source} for source in ("import tensorflow as tf", cell)]
    Path("a.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    main(["check", "--no-cache", "--output-format", "json", "a.ipynb"])
    return [(one["code"], one["location"]["row"]) for one in json.loads(capsys.readouterr().out)]


def test_large_outputs_are_not_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    # As a picture has them: a word that is looked for, every hundred characters.
    picture = ("A" * 97 + "GPU") * 50_000
    outputs = [{"output_type": "display_data", "metadata": {}, "data": {"image/png": picture}}]
    source = "import tensorflow as tf\ntf.config.set_memory_limit('GPU:0', 4096)"
    cell = {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": outputs, "source": source}
    Path("a.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    searched: list[int] = []

    def searching(data: bytes) -> int:
        searched.append(len(data))
        return triggers.scan(data)

    monkeypatch.setattr("tfmemlint.engine.scan_file.scan", searching)
    main(["check", "--no-cache", "--output-format", "json", "a.ipynb"])
    assert [one["code"] for one in json.loads(capsys.readouterr().out)] == ["TFM202"]
    assert searched
    assert max(searched) < 1000
