"""The cells of notebooks as Python, beside what IPython's own transformer makes of them."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from tfmemlint.sources.magics import as_python

inputtransformer2: Any = pytest.importorskip(
    "IPython.core.inputtransformer2", reason="there is no IPython to compare with"
)


def theirs(cell: str) -> list[str] | None:
    """The statements of a cell that are Python as they stand, as IPython has them; None where it makes no Python."""
    text = inputtransformer2.TransformerManager().transform_cell(cell)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    if any(isinstance(node, ast.Attribute) and node.attr == "run_cell_magic" for node in ast.walk(tree)):
        return []
    return _statements(tree, "get_ipython")


def ours(cell: str) -> list[str] | None:
    """The same, as the project has them."""
    found = as_python(cell)
    if found.problem is not None:
        return None
    # Lines that only lost the indentation of the whole cell are Python.
    changed = (new for new, old in found.instead.items() if new.strip() != old.strip())
    instead = {new.split("#@tfmemlint:")[0].strip() for new in changed}
    tree = ast.parse("\n".join(found.lines))
    made = {ast.unparse(ast.parse(text)) for text in instead if text and _parses(text)}
    return [statement for statement in _statements(tree, "") if statement not in made]


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _statements(tree: ast.Module, besides: str) -> list[str]:
    """The simple statements, but those with a certain name in them."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            text = ast.unparse(node)
            if not (besides and besides in text):
                found.append(text)
    return sorted(found)


CELLS = {
    "plain": "a = 1\nb = a % 2\nc = not a\n",
    "line magics": "%matplotlib inline\na = 1\n%load_ext autoreload\n%autoreload 2\nb = 2\n",
    "shell escapes": "!pip install x\na = 1\n!ls {a} && echo '%b'\n!!ls\n",
    "assigned": "files = !ls\na, b = 1, 2\nwhere = %pwd\nc = 3\n",
    "indented": "if True:\n    !ls\n    a = 1\n    %cd x\nb = 2\n",
    "continued commands": "!pip install \\\n  x \\\n  y\na = 1\n",
    "help": "print?\na = 1\n?print\nprint??\nobj.method?\nb = 2\n",
    "signs within texts": 'a = \'!ls\'\nb = """\n%magic\n!command\n?\n"""\nc = \'%d\' % 3\n',
    "signs within brackets": "a = f(\n  x\n  % y,\n  z != 3,\n)\n",
    "comparison": "a = b != c\nd = e if a else f\n",
    "cell magics of other languages": "%%bash\nls\na = 1\n",
    "a cell magic with html": "%%html\n<b>a = 1</b>\n",
    "the first line is indented": "    a = 1\n    b = 2\n",
    "an empty cell": "",
    "comments above": "# first\n\n%matplotlib inline\na = 1\n",
    "semicolons": "a = 1; b = 2;\nb;\n",
}


KNOWN = {
    # IPython hands the cell to a function as text; it runs as Python, and is read as it.
    "timed": ("%%time\na = 1\n", ["a = 1"], []),
    # IPython starts another Python with it; it is read all the same.
    "another Python": ("%%python3\na = 1\n", ["a = 1"], []),
    # IPython takes `pip install x` for a magic if no variable is called so, which only it knows as it runs.
    "a command without a sign": ("pip install x\na = 1\n", ["a = 1"], None),
    # IPython takes prompts away; a cell that was pasted from a console is passed over, and said to be.
    "prompts of a console": (">>> a = 1\n>>> b = 2\n", None, ["a = 1", "b = 2"]),
}
"""Differences that are meant: the cell, what the project makes of it, and what IPython makes of it."""


@pytest.mark.parametrize("kind", CELLS)
def test_cells_are_read_as_by_ipython(kind: str) -> None:
    assert ours(CELLS[kind]) == theirs(CELLS[kind])


@pytest.mark.parametrize("kind", KNOWN)
def test_known_differences(kind: str) -> None:
    cell, found, other = KNOWN[kind]
    assert (ours(cell), theirs(cell)) == (found, other)
