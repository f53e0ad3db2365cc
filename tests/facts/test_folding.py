"""Constants are folded where Python's answer is sure and cheap, and nothing else is."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from tfmemlint.facts.folding import MAX_BITS, MAX_LENGTH, NotFolded, binary, compare, function, is_large, method, unary


def operator_of(text: str) -> Any:
    """The operator in ``a OP b``."""
    node = ast.parse(f"a {text} b", mode="eval").body
    if isinstance(node, ast.Compare):
        return node.ops[0]
    assert isinstance(node, ast.BinOp)
    return node.op


def fold(text: str, left: Any, right: Any) -> Any:
    """``left text right``, folded."""
    op = operator_of(text)
    return (compare if isinstance(op, ast.cmpop) else binary)(op, left, right)


class TestBinary:
    @pytest.mark.parametrize(
        ("left", "op", "right", "expected"),
        [
            *((7, "+", 2, 9), (7, "-", 2, 5), (7, "*", 2, 14), (7, "/", 2, 3.5), (7, "//", 2, 3), (7, "%", 2, 1)),
            *((7, "**", 2, 49), (7, "<<", 2, 28), (7, ">>", 1, 3), (5, "|", 2, 7), (5, "&", 4, 4)),
            *(("a", "+", "b", "ab"), ("ab", "*", 2, "abab"), (2, "*", "ab", "abab"), ("%d GB", "%", 4, "4 GB")),
            *(([1], "+", [2], [1, 2]), ((1,), "*", 2, (1, 1)), ("a", "*", -1, ""), (b"a", "*", 3, b"aaa")),
            *((2, "**", 64, 2**64), (1, "<<", 64, 1 << 64), (2, "**", -64, 2.0**-64), (4, "**", 0.5, 2.0)),
            *((10**9, "*", 10**9, 10**18), (1.5, "*", 10**6, 1.5e6)),
        ],
    )
    def test_folded(self, left: Any, op: str, right: Any, expected: Any) -> None:
        folded = fold(op, left, right)
        assert folded == expected
        assert type(folded) is type(expected)

    @pytest.mark.parametrize(
        ("left", "op", "right"),
        [
            *((1, "+", "a"), ("a", "-", "b"), (1, "/", 0), (1, "//", 0), (1, "%", 0), ("%d", "%", "a")),
            *((1, "^", 2), (1, "@", 2), (1, "<<", -1), (1, "|", 1.5), (None, "+", 1), ("a", "*", 1.5)),
        ],
    )
    def test_what_python_refuses_or_nobody_writes(self, left: Any, op: str, right: Any) -> None:
        with pytest.raises(NotFolded):
            fold(op, left, right)

    @pytest.mark.parametrize(
        ("left", "op", "right"),
        [
            *((2, "**", 65), (10, "**", 10**9), (2, "**", -65), (1, "<<", 65), (1, "<<", 10**9), (2, "**", "a")),
            *(("a", "*", 10_001), (10_001, "*", "a"), ("ab", "*", 5001), ([0], "*", 10**9), ((0, 0), "*", 10**9)),
            *((b"a", "*", 10**9), ("a" * 6000, "+", "a" * 6000), ("a" * 10_001, "%", ())),
        ],
    )
    def test_what_would_be_huge(self, left: Any, op: str, right: Any) -> None:
        with pytest.raises(NotFolded):
            fold(op, left, right)

    def test_the_longest_text_that_is_kept(self) -> None:
        assert len(fold("*", "a", 10_000)) == 10_000
        assert fold("*", "a" * 10_001, 0) == ""
        assert len(fold("+", "a" * 5000, "a" * 5000)) == 10_000
        assert fold("%", "a" * 9_998 + "%s", "b") == "a" * 9_998 + "b"


class TestUnary:
    @pytest.mark.parametrize(
        ("op", "operand", "expected"),
        [
            (ast.USub(), 2, -2),
            (ast.UAdd(), True, 1),
            (ast.Not(), 0, True),
            (ast.Not(), "a", False),
            (ast.Invert(), 1, -2),
        ],
    )
    def test_folded(self, op: ast.unaryop, operand: Any, expected: Any) -> None:
        folded = unary(op, operand)
        assert folded == expected
        assert type(folded) is type(expected)

    @pytest.mark.parametrize(("op", "operand"), [(ast.USub(), "a"), (ast.UAdd(), None), (ast.Invert(), 1.5)])
    def test_what_python_refuses(self, op: ast.unaryop, operand: Any) -> None:
        with pytest.raises(NotFolded):
            unary(op, operand)


class TestCompare:
    @pytest.mark.parametrize(
        ("left", "op", "right", "expected"),
        [
            *((1, "==", 1, True), (1, "==", 2, False), (1, "!=", 1, False), (1, "!=", 2, True)),
            *((1, "<", 1, False), (1, "<", 2, True), (1, "<=", 1, True), (2, "<=", 1, False)),
            *((1, ">", 1, False), (2, ">", 1, True), (1, ">=", 1, True), (1, ">=", 2, False)),
            *(
                ("a", "in", "ab", True),
                ("c", "in", "ab", False),
                ("a", "not in", "ab", False),
                (1, "not in", [2], True),
            ),
            *(
                (None, "is", None, True),
                (1, "is", None, False),
                (None, "is not", None, False),
                (1, "is not", None, True),
            ),
        ],
    )
    def test_folded(self, left: Any, op: str, right: Any, expected: bool) -> None:
        assert fold(op, left, right) is expected

    @pytest.mark.parametrize(("left", "op", "right"), [(1, "<", "a"), (None, ">=", 0), (1, "in", 1), (1, "not in", 1)])
    def test_what_python_refuses(self, left: Any, op: str, right: Any) -> None:
        with pytest.raises(NotFolded):
            fold(op, left, right)


class TestMethod:
    @pytest.mark.parametrize(
        ("receiver", "name", "args", "expected"),
        [
            *(("0,1", "split", (",",), ["0", "1"]), ("GPU:0", "startswith", ("GPU",), True), (" a ", "strip", (), "a")),
            *(
                ("{} GB", "format", (4,), "4 GB"),
                (",", "join", (["0", "1"],), "0,1"),
                ("ab", "replace", ("a", "b"), "bb"),
            ),
            *(
                ("A", "lower", (), "a"),
                ("12", "isdigit", (), True),
                (2.0, "is_integer", (), True),
                ("7", "zfill", (2,), "07"),
            ),
        ],
    )
    def test_folded(self, receiver: Any, name: str, args: tuple[Any, ...], expected: Any) -> None:
        assert method(receiver, name, args) == expected

    @pytest.mark.parametrize(
        ("receiver", "name", "args"),
        [
            *(("a", "encode", ()), ("a", "__class__", ()), ("a", "expandtabs", (10**9,)), ("a", "center", (10**9,))),
            *(([1], "index", (1,)), ([2, 1], "count", (1,)), (b"a", "strip", ()), (None, "strip", ())),
            *(
                (1, "strip", ()),
                ("a", "index", ("b",)),
                ("a", "strip", (1,)),
                ("a", "join", (1,)),
                ("{}", "format", ()),
            ),
        ],
    )
    def test_what_is_not_harmless_or_fails(self, receiver: Any, name: str, args: tuple[Any, ...]) -> None:
        with pytest.raises(NotFolded):
            method(receiver, name, args)

    def test_what_would_be_long(self) -> None:
        with pytest.raises(NotFolded):
            method("1", "zfill", (10_001,))
        assert len(method("1", "zfill", (10_000,))) == 10_000

    def test_a_list_is_not_changed(self) -> None:
        items = [2, 1]
        for name, args in (("append", (3,)), ("sort", ()), ("pop", ()), ("clear", ())):
            with pytest.raises(NotFolded):
                method(items, name, args)
        assert items == [2, 1]


class TestFunction:
    @pytest.mark.parametrize(
        ("name", "args", "expected"),
        [
            *(
                ("int", ("4096",), 4096),
                ("int", (4.7,), 4),
                ("float", ("0.5",), 0.5),
                ("str", (1,), "1"),
                ("bool", ("",), False),
            ),
            *(("len", ("abc",), 3), ("min", (1, 2), 1), ("max", (1, 2), 2), ("abs", (-1,), 1), ("round", (2.6,), 3)),
            *(
                ("sum", ([1, 2],), 3),
                ("tuple", ([1],), (1,)),
                ("list", ("ab",), ["a", "b"]),
                ("sorted", ([2, 1],), [1, 2]),
            ),
        ],
    )
    def test_folded(self, name: str, args: tuple[Any, ...], expected: Any) -> None:
        folded = function(name, args)
        assert folded == expected
        assert type(folded) is type(expected)

    @pytest.mark.parametrize(
        ("name", "args"),
        [
            *(
                ("open", ("x",)),
                ("print", (1,)),
                ("exec", ("1",)),
                ("eval", ("1",)),
                ("getattr", ("a", "b")),
                ("range", (3,)),
            ),
            *(
                ("int", ("a",)),
                ("len", (1,)),
                ("min", ()),
                ("max", ([],)),
                ("sum", ("a",)),
                ("float", (None,)),
                ("int", (1, 2, 3)),
            ),
        ],
    )
    def test_what_has_an_effect_or_fails(self, name: str, args: tuple[Any, ...]) -> None:
        with pytest.raises(NotFolded):
            function(name, args)

    def test_what_would_be_long(self) -> None:
        with pytest.raises(NotFolded):
            function("list", ("a" * 10_001,))
        assert len(function("list", ("a" * 10_000,))) == 10_000


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2**MAX_BITS - 1, False),
        (2**MAX_BITS, True),
        (-(2**MAX_BITS), True),
        (True, False),
        (1.0e300, False),
        ("a" * MAX_LENGTH, False),
        ("a" * (MAX_LENGTH + 1), True),
        ([0] * (MAX_LENGTH + 1), True),
        (None, False),
    ],
)
def test_what_is_too_long_to_go_on_with(value: object, expected: bool) -> None:
    assert is_large(value) is expected
