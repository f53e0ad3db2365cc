"""What a file imports is read off its bytes: nothing that Python would import is missed."""

from __future__ import annotations

import ast
import os
import random
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.processor_time import assert_linear
from tfmemlint.project.imports import Imported, scan


def found(code: str | bytes) -> list[tuple[int, str, tuple[str, ...]]]:
    return [(one.level, one.module, one.names) for one in scan(code.encode() if isinstance(code, str) else code)]


def by_syntax(code: str | bytes) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.level, node.module or "", tuple(alias.name for alias in node.names)


@pytest.mark.parametrize(
    "code",
    [
        "",
        "imports = 1\nimportant = imports\nreimport = 2\n",
        "import_module(name)\nimport_module(f'{x}.y')\n__import__(name)\n",
        "x.import_module(prefix + 'a')\n",
        "importlib = None\n",
        "from x\n",
        "import",
        "from",
        "from import",
        "from a import (",
        "import_module(",
        "import_module('",
        "import_module('..b', 'a')\n",
        "\0\0\0",
    ],
)
def test_what_is_no_import_is_none(code: str) -> None:
    assert found(code) == []


EXACT: dict[str, list[tuple[int, str, tuple[str, ...]]]] = {
    "import a": [(0, "a", ())],
    "import a.b as c, d": [(0, "a.b", ()), (0, "d", ())],
    "import a . b": [(0, "a.b", ())],
    "import a; import b;import c": [(0, "a", ()), (0, "b", ()), (0, "c", ())],
    "if x: import a": [(0, "a", ())],
    "try:\n\timport a\nexcept ImportError:\n\timport b": [(0, "a", ()), (0, "b", ())],
    "def f():\n    from a import b": [(0, "a", ("b",))],
    "import a \\\n  , b": [(0, "a", ()), (0, "b", ())],
    "import \\\r\n  a": [(0, "a", ())],
    "from a import b, c as d": [(0, "a", ("b", "c"))],
    "from a import *": [(0, "a", ("*",))],
    "from . import a": [(1, "", ("a",))],
    "from .import a": [(1, "", ("a",))],
    "from.a import b": [(1, "a", ("b",))],
    "from ... a . b import c": [(3, "a.b", ("c",))],
    "from a \\\n import b": [(0, "a", ("b",))],
    "from a import (b,  # the first, not (that)\n  c as d,\n)": [(0, "a", ("b", "c"))],
    "from a import (  # import b\n\n  c)": [(0, "a", ("c",)), (0, "b", ())],
    "from a import b, \\\n    c": [(0, "a", ("b", "c"))],
    "from a.from_b import c": [(0, "a.from_b", ("c",))],
    "from importer.imports import imported": [(0, "importer.imports", ("imported",))],
    "import a  # because": [(0, "a", ())],
    "import a\rimport b\r": [(0, "a", ()), (0, "b", ())],
    "import a\nimport a\n": [(0, "a", ())],
    "importlib.import_module('a.b')": [(0, "a.b", ())],
    'import_module(\n    "a",\n)': [(0, "a", ())],
    "import_module('.b', __package__)": [(1, "b", ())],
    "import_module('.b', package='a.c')": [(0, "a.c.b", ())],
    "import_module('..b', 'a.c')": [(0, "a.b", ())],
    "import_module(f'a.b.{name}')": [(0, "a.b", ())],
    "import_module('a.' + name)": [(0, "a", ())],
    "__import__('a.%s' % name)": [(0, "a", ())],
    "import_module(f'{name}.a')": [],
    "x = __import__('a')": [(0, "a", ())],
    "\ufeffimport a": [(0, "a", ())],
    "\ufefffrom a import b": [(0, "a", ("b",))],
    "import größe": [(0, "größe", ())],
    "# import a \\\nimport b": [(0, "a", ()), (0, "b", ())],
}


@pytest.mark.parametrize("code", EXACT)
def test_an_import_is_found_however_it_is_written(code: str) -> None:
    assert sorted(found(code)) == sorted(EXACT[code])


NAMES = st.sampled_from(["a", "b1", "from_x", "importer", "imports", "_c", "tensorflow"])
DOTTED = st.lists(NAMES, min_size=1, max_size=3).map(".".join)
GAP = st.sampled_from([" ", "  ", "\t", " \\\n", " \\\n  "])
AS = st.one_of(st.just(""), NAMES.map(" as {}".format))


@st.composite
def statements(draw: st.DrawFn) -> str:
    gap = draw(GAP)
    if draw(st.booleans()):
        names = draw(st.lists(st.tuples(DOTTED, AS).map("".join), min_size=1, max_size=3))
        return f"import{gap}{draw(st.sampled_from([', ', ',', ' ,'])).join(names)}"
    dots = draw(st.sampled_from(["", "", ".", ". ", "...", ".. "]))
    module = draw(DOTTED) if not dots or draw(st.booleans()) else ""
    taken = draw(st.lists(st.tuples(NAMES, AS).map("".join), min_size=1, max_size=3))
    end = draw(
        st.sampled_from(
            ["{0}", "({0})", "( {1} )", "(\n{2},\n)", "(  # import x)\n{3}  # y\n)", "*" if not dots else "{0}"]
        )
    )
    lists = [", ".join(taken), ",".join(taken), ",\n    ".join(taken), ", # from z (\n".join(taken)]
    return f"from{gap}{dots}{module}{gap}import{gap}{end.format(*lists)}"


@st.composite
def programs(draw: st.DrawFn) -> str:
    lines = []
    for statement in draw(st.lists(statements(), min_size=1, max_size=5)):
        lines.append(
            draw(st.sampled_from(["{}", "x = 1; {}", "if x: {}", "{}; y = 2", "{}  # import this", "'from'; {}"]))
        )
        lines[-1] = lines[-1].format(statement)
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines) + draw(st.sampled_from(["", "\n"]))


@settings(max_examples=300, deadline=None)
@given(programs())
def test_every_import_that_python_sees_is_found(code: str) -> None:
    assert set(by_syntax(code)) <= set(found(code))


_LEFT_OUT = {"site-packages", "test", "tests"}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('for n in ("p.a", "p.b"):\n    import_module(n)\n', [(0, "p", ("a",)), (0, "p", ("b",))]),
        ('T = {"x": "p.a:f", "y": "b:g.h"}\nimport_module(n)\n', [(0, "p", ("a",)), (0, "b", ())]),
        ('T = ["p.a.Class"]\nimport_module(n.rpartition(".")[0])\n', [(0, "p.a", ("Class",))]),
        ('N = ["a", "b"]\nimport_module("p." + n)\n', [(0, "p", ()), (0, "p", ("a",)), (0, "p", ("b",))]),
        ('N = ["a"]\nimport_module(f"p.{n}")\n', [(0, "p", ()), (0, "p", ("a",))]),
        ('N = ["a"]\nimport_module("p.%s" % n)\n', [(0, "p", ()), (0, "p", ("a",))]),
        ('N = ["a"]\nimport_module("p.{}".format(n))\n', [(0, "p", ()), (0, "p", ("a",))]),
        ('N = ["a"]\nimport_module("." + n, __package__)\n', [(1, "", ("a",))]),
        ('N = ["a"]\nimport_module(f"..{n}", __package__)\n', [(2, "", ("a",))]),
        ('N = [".a"]\nimport_module(n, __package__)\n', [(1, "a", ())]),
        # Nothing is computed here: a text is a text.
        ('N = ["p.a"]\nimport_module("json")\n', [(0, "json", ())]),
        ('N = ["p.a", "b"]\nimport os\n', [(0, "os", ())]),
    ],
)
def test_names_of_modules_in_texts_count_where_an_import_is_computed(code: str, expected: list[object]) -> None:
    assert found(code) == expected


def test_no_import_of_the_standard_library_is_missed() -> None:
    files = sorted(Path(os.__file__).parent.rglob("*.py"))
    read = 0
    for path in random.Random(1).sample([file for file in files if not _LEFT_OUT.intersection(file.parts)], 300):
        data = path.read_bytes()
        try:
            wanted = set(by_syntax(data))
        except (SyntaxError, ValueError):
            continue
        assert wanted <= set(found(data)), path
        read += 1
    assert read > 250


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(["import", "from", " ", ".", "a", "(", ")", ",", "\\\n", "\n", "#", "'", "_module", "as"]))
)
def test_no_text_is_too_odd(parts: list[str]) -> None:
    for one in scan("".join(parts).encode()):
        assert isinstance(one, Imported)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "import ", "from a import (", "from a import ( # ", "import \\\n", "import_module(", "a.", " . ", "from ",
        "import ,\n", "# from a import (\n", "from a import (#\n", "'from'import ", "\\\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("start", ["import ", "from a import (\n", "import a", "import_module('"])
def test_the_time_grows_with_the_text_and_not_with_its_square(start: str, text: str) -> None:
    some, more = ((start + text * (size // len(text))).encode() for size in (100_000, 200_000))
    assert_linear(lambda: scan(some), lambda: scan(more))
