"""Which statements give a name its value."""

from __future__ import annotations

import ast

import pytest

from tfmemlint.verify.slicing.bindings import Bindings


def rows(text: str, name: str, function: str = "") -> list[int]:
    """The rows of what defines or changes ``name`` as it is read in ``function``."""
    bindings = Bindings(ast.parse(text))
    places = [one for one in bindings.outer if one is not None and one.name == function]
    return sorted({one.lineno for one in bindings.definitions(name, places[0] if function else None)})


@pytest.mark.parametrize(
    ("text", "name", "function", "expected"),
    [
        ("x = 1\nx += 1\ny = x + 0\n", "x", "", [1, 2]),
        ("x = []\nx.append(1)\nx[0] = 2\nx.y = 3\n", "x", "", [1, 2, 3, 4]),
        ("x = 1\ndef f():\n    x = 2\n", "x", "", [1]),
        ("x = 1\ndef f():\n    x = 2\n", "x", "f", [3]),
        ("x = 1\ndef f():\n    return x\n", "x", "f", [1]),
        ("x = 1\ndef f():\n    global x\n    x = 2\n", "x", "", [1, 3, 4]),
        ("def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n", "x", "f", [2, 4, 5]),
        ("x = {}\ndef f():\n    x['a'] = 2\n", "x", "", [1, 3]),
        ("x = {}\ndef f(x):\n    x['a'] = 2\n", "x", "", [1]),
        ("x = {}\ny = x\ny['a'] = 2\n", "x", "", [1, 2, 3]),
        ("def f(d):\n    d['a'] = 2\nx = {}\nr = f(x)\n", "x", "", [3, 4]),
        ("def f(d):\n    return d['a']\nx = {}\nr = f(x)\n", "x", "", [3]),
        ("x = {}\nz = x\ny = z.a\ny.b = 1\n", "x", "", [1, 2, 3, 4]),
        ("x = {}\ny = x\nz = y\nprint(z)\n", "x", "", [1]),
        ("x = {}\ny = len(x)\ny += 1\n", "x", "", [1]),
        ("x = {}\ndef f():\n    y = x\n    y.a = 1\n", "x", "", [1, 3, 4]),
        ("x = {}\nfor y in x:\n    y.a = 1\n", "x", "", [1, 2, 3]),
        ("x = {}\nfor y in x:\n    print(y)\n", "x", "", [1]),
        ("x = {}\ny = [1, x]\ny[1].a = 1\n", "x", "", [1, 2, 3]),
        ("def f(d):\n    e = d.a\n    return e\nx = {}\nf(x).b = 1\n", "x", "", [4, 5]),
        ("from a import x\nx.b = 1\nx.add(1)\n", "x", "", [1, 2, 3]),
        ("from tensorflow import x\nx.add(1)\n", "x", "", [1]),
        ("with open('a') as x:\n    pass\n", "x", "", [1]),
        ("for x, (y, *z) in []:\n    pass\n", "z", "", [1]),
        ("try:\n    pass\nexcept OSError as x:\n    pass\n", "x", "", [1]),
        ("import a.b as x, c.d\n", "c", "", [1]),
        ("if (x := 1):\n    pass\n", "x", "", [1]),
    ],
)
def test_a_name_has_its_values_from_these_rows(text: str, name: str, function: str, expected: list[int]) -> None:
    assert rows(text, name, function) == expected


def test_what_a_module_offers_is_not_changed_by_calling_it() -> None:
    assert rows("import numpy\nnumpy.seterr('ignore')\n", "numpy") == [1]
    assert rows("import pynvml\npynvml.nvmlInit()\n", "pynvml") == [1, 2]
