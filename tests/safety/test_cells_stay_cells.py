"""After a fix, the cells of a notebook are what IPython would run: IPython itself is asked."""

from __future__ import annotations

import ast
import json
import re
import warnings
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from tfmemlint.cli.main import main
from tfmemlint.sources.magics import KEPT, as_python
from tfmemlint.sources.notebook import Notebook, decode_notebook

STARTED = "import tensorflow as tf\nstrategy = tf.distribute.MirroredStrategy()\n"
LISTED = 'gpus = strategy.extended.list_physical_devices("GPU")'
FIXED = 'gpus = tf.config.list_physical_devices("GPU")'
RUN = re.compile(r"run_cell_magic\('(\w+)', '.*?', (?P<body>'.*'|\".*\")\)\n?", re.DOTALL)


def transformed(cell: str) -> str:
    """What IPython makes of a cell; the cell of a magic that runs it here likewise."""
    code = str(TransformerManager().transform_cell(cell))  # type: ignore[no-untyped-call]
    match = RUN.search(code)
    if match is not None and match[1] in ("time", "timeit", "capture", "prun", "debug"):
        return transformed(ast.literal_eval(match["body"]))
    return code


def parsed(cell: str) -> str | None:
    """The syntax tree of what IPython would run; None where it would refuse to."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.dump(ast.parse(transformed(cell)))
    except (SyntaxError, ValueError):
        return None


def notebook(*cells: str | list[str], **options: Any) -> bytes:
    empty: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    made = [{**empty, "source": source} for source in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}, **options).encode()


def code(data: bytes) -> list[str]:
    """The code of each cell, as Jupyter reads it."""
    read = nbformat.reads(data.decode(), as_version=4)  # type: ignore[no-untyped-call]
    return [str(cell.source) for cell in read.cells]


def fixed(directory: Path, data: bytes, *options: str) -> bytes:
    """The notebook after a fix that a second one finds nothing to change in."""
    path = directory / "a.ipynb"
    path.write_bytes(data)
    main(["fix", "-q", "--no-cache", *options, str(path)])
    new = path.read_bytes()
    main(["fix", "-q", "--no-cache", *options, str(path)])
    assert path.read_bytes() == new
    return new


CELLS = {
    "an indented cell": f"  {LISTED}\n  if gpus:\n      print(gpus)\n",
    "a change in a block": f"    if True:\n        {LISTED}\n    print(1)",
    "tabs": f"\t{LISTED}\n\tfor gpu in gpus:\n\t\tprint(gpu)",
    "empty lines first": f"\n  \n  {LISTED}\n\n  x = 1",
    "a comment first": f"  # devices\n  {LISTED}\n  x = 1",
    "magics in it": f"  %matplotlib inline\n  {LISTED}\n  !ls\n  x = 1",
    "help in it": f"  {LISTED}\n  gpus?\n  ?gpus\n  print(gpus);",
    "a cell magic": f"%%time\n{LISTED}\nx = 1",
    "an indented cell magic": f"  %%time\n  {LISTED}\n  x = 1",
    "indented under a cell magic": f"%%time\n   {LISTED}\n   x = 1",
    "two cell magics": f"%%capture\n%%time\n  {LISTED}\n  x = 1",
    "prompts": f">>> {LISTED}\n>>> for gpu in gpus:\n...     print(gpu)",
    "IPython's prompts": f"In [1]: {LISTED}\n   ...: print(gpus)",
    "Windows line ends": f"{LISTED}\r\nx = 1\r\n",
    "indented, with Windows line ends": f"  {LISTED}\r\n  x = 1",
    "mixed line ends": f"y = 2\r\n{LISTED}\nx = 1\r\n",
    "a string with its own lines": f"  s = '''\n  a\n    b\n  '''\n  {LISTED}",
    "brackets over lines": f"  x = [\n    1,\n  ]\n  {LISTED}\n",
    "a line of calls without parentheses": f"{LISTED}\n,print gpus a\n/print gpus",
}


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("form", ["list", "string"])
def test_a_cell_is_fixed_as_it_is_written(name: str, form: str, tmp_path: Path) -> None:
    old, new = CELLS[name], CELLS[name].replace(LISTED, FIXED)
    source: str | list[str] = old if form == "string" else re.findall(r"[^\n]*\n|[^\n]+", old)
    _, cell, last = json.loads(fixed(tmp_path, notebook(STARTED, source, "print('é\U0001f600')", indent=1)))["cells"]
    assert "".join(cell["source"]) == new
    assert isinstance(cell["source"], type(source))
    assert parsed(new) is not None
    assert "".join(last["source"]) == "print('é\U0001f600')"


KEPT_CELLS = {
    "a line at the margin": f"  {LISTED}\nx = 1",
    "a string at the margin": f"  {LISTED}\n  s = '''\na\n  '''",
    "output between prompts": f">>> {LISTED}\n[]\n>>> gpus",
    "prompts and a string": f'>>> {LISTED}\n>>> s = """\n... a"""',
    "old Macs": f"{LISTED}\rx = 1",
    "a form feed that ends a line": f"!ls\n{LISTED} # \x0c%ls",
}


@pytest.mark.parametrize("name", KEPT_CELLS)
def test_what_IPython_reads_in_two_ways_is_left_alone(name: str, tmp_path: Path) -> None:  # noqa: N802
    data = notebook(STARTED, KEPT_CELLS[name], "x = 1", indent=1)
    assert fixed(tmp_path, data) == data


def test_a_loop_does_not_take_in_what_follows_it(tmp_path: Path) -> None:
    """`print` moved into an `if`, and all checks passed."""
    cell = f"    if True:\n        {LISTED}\n    print(gpus)\n"
    (_, new) = code(fixed(tmp_path, notebook(STARTED, cell)))
    tree = ast.parse(transformed(new))
    assert [type(one) for one in tree.body] == [ast.If, ast.Expr]


def test_lines_that_stay_are_the_same_bytes(tmp_path: Path) -> None:
    r"""However they are written: `\u0061`, `\/`, one string for a cell."""
    raw = notebook(STARTED, f"a = '/'\nb = 'é'\n{LISTED}\na = '/'\n", "x = 'é'", ensure_ascii=False)
    raw = raw.replace(b"a = '/'", rb"\u0061 = '\/'", 1).replace("b = 'é'".encode(), rb"b = '\u00e9'", 1)
    new = fixed(tmp_path, raw)
    assert new == raw.replace(b"strategy.extended", b"tf.config")


def test_equal_lines_that_are_written_differently(tmp_path: Path) -> None:
    lines = ["a = '/'\n", "a = '/'\n", f"{LISTED}\n", "a = '/'"]
    raw = notebook(STARTED, lines).replace(b"a = '/'", rb"\u0061 = '\/'", 1)
    assert fixed(tmp_path, raw) == raw.replace(b"strategy.extended", b"tf.config")


def test_the_last_of_two_sources_is_the_cell(tmp_path: Path) -> None:
    raw = notebook(STARTED, LISTED).replace(b'"source": "gpus', b'"source": "gone", "source": "gpus')
    assert fixed(tmp_path, raw) == raw.replace(b"strategy.extended", b"tf.config")


def test_what_is_reported_for_editors_fits_the_cell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(notebook(STARTED, f"    if True:\n        {LISTED}\n    print(1)\n"))
    main(["check", "-q", "--no-cache", "--output-format", "json", str(path)])
    (finding,) = json.loads(capsys.readouterr().out)
    assert (finding["cell"], finding["location"]["row"], finding["location"]["column"]) == (2, 2, 16)
    (edit,) = finding["fix"]["edits"]
    assert edit["content"] == f"        {FIXED}\n"


# Any cells

WORDS = st.sampled_from(
    [
        *(LISTED, "x = 1", "x = 1;", "print(gpus)", "# comment", "!ls", "%ls", "%time x = 1", "%env A=1", "x?", "??x"),
        *("?", "if x:", "for gpu in gpus:", "else:", "    print(gpus)", f"    {LISTED}", "    pass", "        x = 2"),
        *("\tx = 1", "s = '''", "'''", "  text", "x = [", "1,", "]", "x = 1 + \\", "2", "", "  ", "...", ">>> x = 1"),
        *("... y", "In [3]: x = 1", "   ...: y = 2", "%%time", "%%capture out", "%%bash", "%%timeit -n 1", "a = !ls"),
        *("b = %ls", "print('é\u2028')", "y = 'a\x0cb'", "ls", "cd /tmp", "def f():", "    return 1", "with x:", "@f"),
        *("async def g():", "    await f()", "await f()", ",f a", "/f a, b", "pass", "x = '\\ud800'", "\x0c", "x\x0b"),
        *("x = '\\U0001F600'", "x = '\ud800'"),
    ]
)
MARGINS = st.sampled_from(["", "", "  ", "    ", "\t", " ", "  \t", ">>> ", "... ", "In [1]: ", "   ...: "])
ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n"])


@st.composite
def cells(draw: st.DrawFn) -> str:
    margin = draw(MARGINS)
    other = draw(st.sampled_from([margin, margin, margin, ""]))
    end = draw(ENDS)
    lines = draw(st.lists(WORDS, max_size=7))
    text = end.join((draw(st.sampled_from([margin, margin, other])) + line) for line in lines)
    return (
        draw(st.sampled_from(["", "", "\n", " \n", "%%time\n", "%%capture\n%%time\n"]))
        + text
        + draw(st.sampled_from(["", end]))
    )


AS_PASS = re.compile(rf"^(\s*)(?:import os; .*?|pass|x = 1)  {KEPT}.*")


def outline(tree: ast.Module) -> str:
    """A syntax tree in which every call of IPython's is `pass`, and what it is assigned is None."""

    class Plain(ast.NodeTransformer):
        def visit_Expr(self, node: ast.Expr) -> ast.AST:
            return ast.Pass() if "get_ipython" in ast.dump(node) else node

        def visit_Assign(self, node: ast.Assign) -> ast.AST:
            return ast.Assign(node.targets, ast.Constant(None)) if "get_ipython" in ast.dump(node) else node

    return ast.dump(Plain().visit(tree))


@settings(max_examples=500, deadline=None)
@given(cells())
@example("  x = 1\n  if x:\n    y = 2")
@example("# c\n  x = 1")
@example("  # c\nx = 1")
def test_a_cell_is_read_as_IPython_reads_it(cell: str) -> None:  # noqa: N802
    """Where it is Python and nothing else. What magics stand for is another matter."""
    python = decode_notebook("a.ipynb", notebook(cell)).cells[0].python
    assert len(python.lines) == cell.count("\n") + 1
    if python.problem is not None or python.fixed or any(KEPT in line for line in python.lines):
        return
    theirs = parsed(cell)
    assert theirs is not None
    if not any(quote in cell for quote in ("'''", '"""')):
        # Within strings, one release of IPython strips what another one leaves.
        assert theirs == ast.dump(ast.parse("\n".join(python.lines)))


@pytest.mark.slow
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(cells(), min_size=1, max_size=3), st.booleans(), st.booleans(), st.sampled_from([None, 1, 2]))
@example([f"  if True:\n      {LISTED}\n  print(1)"], True, False, 1)
@example([f"%%time\n  {LISTED}\n\n  s = '''\n  '''"], True, False, 1)
def test_any_notebook_is_as_good_after_a_fix(
    tmp_path: Path, made: list[str], as_list: bool, plain: bool, indent: int | None
) -> None:
    sources = [re.findall(r"[^\n]*\n|[^\n]+", one) if as_list else one for one in (STARTED, *made, LISTED)]
    plain = plain or any("\ud800" in source for source in made)
    data = notebook(*sources, indent=indent, ensure_ascii=plain)
    new = fixed(tmp_path, data, "--unsafe-fixes")
    before, after = code(data), code(new)
    assert len(before) == len(after)
    # What no fix has named is the same, to the byte.
    unnamed = [line for line in data.splitlines() if b"list_physical" not in line and b"MirroredStrategy" not in line]
    if indent is not None and as_list:
        assert [line for line in unnamed if line not in new.splitlines()] == []
    for old, now in zip(before, after, strict=True):
        if old == now:
            continue
        assert (parsed(old) is None) or (parsed(now) is not None), (old, now)
        kept = [line for line in old.split("\n") if "list_physical" not in line and "Mirrored" not in line]
        assert [line for line in kept if line not in now.split("\n")] == []
        assert (old.count("\r\n") == old.count("\n")) == (now.count("\r\n") == now.count("\n")) or "\n" not in old


def edited(book: Notebook, number: int, line: str, place: int) -> str:
    """The text of a notebook with a line put into the n-th cell."""
    lines = book.text.split("\n")
    row = book.cells[number].row - 1
    last = book.cells[number + 1].row - 2 if number + 1 < len(book.cells) else len(lines) - 1
    lines.insert(min(row + place, last), line)
    return "\n".join(lines)


@settings(max_examples=500, deadline=None)
@given(cells(), st.sampled_from(["import os", "z = 1", "    z = 1", "# z", "del x", "if z:"]), st.integers(0, 8))
def test_a_line_put_anywhere_is_what_IPython_reads(cell: str, line: str, place: int) -> None:  # noqa: N802
    """Or it is refused: nothing is written that would be read as something else."""
    book = decode_notebook("a.ipynb", notebook(STARTED, cell, "last = 1"))
    text = edited(book, 1, line, place)
    try:
        new = code(book.encode(text))[1]
    except ValueError:
        return
    python = as_python(new.replace("\r\n", "\n"), prompts=True)
    assert python.problem is None
    again = decode_notebook("a.ipynb", book.encode(text))
    assert [one for one in again.text.split("\n") if KEPT not in one and one.strip()] == [
        one for one in text.split("\n") if KEPT not in one and one.strip()
    ]
    if parsed(cell) is not None and not python.fixed:
        assert parsed(new) is not None, (cell, new)
        if "'''" not in cell and "%time" not in cell and "%%" not in cell and not re.search(r"[,/]f a", cell):
            mine = ast.parse("\n".join(AS_PASS.sub(r"\1pass", one) for one in python.lines))
            assert outline(ast.parse(transformed(new))) == outline(mine)
