"""Which functions of a project lead to code of one kind, by the names that they mention."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfmemlint.facts import reach
from tfmemlint.facts.mentions import CONFIGURES, Mentions, Piece
from tfmemlint.knowledge import configuring
from tfmemlint.project.name_uses import may_be_of_keras_2
from tfmemlint.sources import suppressions


class TestPieces:
    def test_functions_classes_and_methods_with_their_decorators(self) -> None:
        text = (
            "import x\n@deco\n@other(1)\ndef a(b):\n    return 1\n\n\nclass C(B):\n    @property\n    def m(self):\n"
            "        def inner(): pass\n    async def n(self): pass\nx = 1\n"
        )
        pieces = {piece.name: piece for piece in Mentions(text, []).pieces}
        assert {name: piece.method for name, piece in pieces.items()} == {
            "a": False,
            "C": False,
            "m": True,
            "inner": False,
            "n": True,
        }
        assert pieces["a"].text.startswith("@deco\n@other(1)\ndef a(b):")
        assert pieces["m"].text.startswith("    @property\n    def m(self):")
        assert "x = 1" not in pieces["C"].text
        assert "async def n" in pieces["C"].text
        assert "async def n" not in pieces["m"].text

    def test_a_line_that_closes_a_bracket_ends_nothing(self) -> None:
        text = "def a(\n    b,\n):\n    c()\nd()\n"
        (piece,) = Mentions(text, []).pieces
        assert piece.text == "def a(\n    b,\n):\n    c()"

    def test_a_comment_at_the_start_of_a_line_ends_nothing(self) -> None:
        (piece,) = Mentions("def a():\n    b()\n# c\n    d()\ne()", []).pieces
        assert piece.text == "def a():\n    b()\n# c\n    d()"

    def test_a_decorator_of_something_else_is_no_part(self) -> None:
        pieces = Mentions("class A:\n    x = 1\n@deco\ndef b(): pass\n", []).pieces
        assert {piece.name: piece.text for piece in pieces}["b"].startswith("@deco\ndef b()")

    def test_words_and_attributes(self) -> None:
        piece = Piece("", "a.b(c1).d = x[0] . e\n_f")
        assert piece.words == {"a", "b", "c1", "d", "x", "e", "_f"}
        assert piece.attributes == {"b": {"a"}, "d": {")"}, "e": {"]"}}

    def test_names_that_are_defined(self) -> None:
        assert Mentions("def a(): pass\nclass B:\n    def c(self): pass\nd = 1", []).defined == {"a", "B", "c"}


TOP_IS = {
    "a call": ("f()", True),
    "an item that is written": ("a[0] = f", True),
    "a call under a condition": ("if a:\n    f()", True),
    "behind a docstring": ('"""Text\nwith f() in it."""\nf()', True),
    "a function that a decorator of the project's own puts somewhere": ("@register\ndef a():\n    f()", True),
    "what is asked for names": ("def __getattr__(name):\n    f()", True),
    "nothing": ("", False),
    "an assignment": ("a = f", False),
    "a comparison of an item": ("b = a[0] == f", False),
    "a function": ("def a():\n    f()", False),
    "a class": ("class A(f):\n    x = f()", False),
    "an import": ("from f import (\n    x,\n)\nimport f", False),
    "under the guard of the main module": ("if __name__ == '__main__':\n    f()", False),
    "a docstring": ('"""Text with f() in it."""\n', False),
    "a docstring in single quotes": ("'f()'", False),
    "a function with a decorator of a library": ("@functools.wraps(g)\ndef a():\n    f()", False),
    "a comment": ("# f()", False),
}


@pytest.mark.parametrize(("text", "expected"), TOP_IS.values(), ids=TOP_IS)
def test_what_an_import_runs(text: str, expected: bool) -> None:
    assert ("f" in Mentions(text, []).top.words) is expected


def test_the_whole_of_a_module_is_all_but_its_imports() -> None:
    assert Mentions("import a\nfrom b import c\nd = 1\ndef e(): pass", []).whole.text == "d = 1\ndef e(): pass"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("set_memory_growth", True), ("VirtualDeviceConfiguration", True), ("set_visible_devices", True)),
        *(
            ("CUDA_VISIBLE_DEVICES", True),
            ("TF_FORCE_GPU_ALLOW_GROWTH", True),
            ("set_intra_op_parallelism_threads", True),
        ),
        *(("tf.constant", False), ("list_physical_devices", False), ("memory", False), ("set_seed", False)),
    ],
)
def test_words_about_configuring(text: str, expected: bool) -> None:
    assert (CONFIGURES.search(text) is not None) is expected


PIECES = (
    "",
    "_",
    " ",
    "\n",
    "lr",
    "=",
    "a",
    ".",
    "fit_generator",
    "(",
    "é",
    "memory",
    "GPU",
    "Config",
    "\u017fession",
    "noqa",
)
OF_VARIABLES = ("TF_", "CUDA_", "VISIBLE_DEVICES", "TF_GPU", "_x", "MEM", "Session", "(", "GPUOptions", "a", " ")


@given(st.lists(st.sampled_from(PIECES), max_size=8))
def test_a_search_for_plain_parts_finds_what_its_expression_does(parts: list[str]) -> None:
    text = "".join(parts)
    expression = re.compile(rb"(?:fit|evaluate|predict)_generator[\s\\]*[(#]|\blr[\s\\]*[=#]")
    assert may_be_of_keras_2(text.encode()) is (expression.search(text.encode()) is not None)
    assert reach._is_of_interest(text) is (reach._OF_INTEREST.search(text) is not None)
    assert suppressions._may_have_comments(text) is (suppressions._PRESENT.search(text) is not None)


@given(st.lists(st.sampled_from(OF_VARIABLES), max_size=8))
def test_a_match_has_one_of_the_parts_that_are_looked_for_first(parts: list[str]) -> None:
    text = "".join(parts)
    if re.search(configuring.LATE_WORDS, text):
        assert any(part in text for part in configuring.LATE_PARTS)
    if re.search(configuring.OTHER_WORDS, text):
        assert any(part in text for part in configuring.OTHER_PARTS)
