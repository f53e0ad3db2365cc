"""Facts about pieces of one module that depend on its text alone."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from tfmemlint.facts.shapes import Shapes, expressions
from tfmemlint.sources import Source

if TYPE_CHECKING:
    from tfmemlint.facts.shapes import TestFacts


def function_in(code: str) -> tuple[Shapes, ast.FunctionDef]:
    """The facts of a module, and its first function."""
    tree = ast.parse(code)
    function = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return Shapes(Source("a.py", code)), function


def facts(test: str) -> TestFacts:
    """The facts of a test."""
    return Shapes(Source("a.py", test)).test(ast.parse(test, mode="eval").body)


class TestConditions:
    @pytest.mark.parametrize(
        ("test", "text", "positive"),
        [
            *(("a", "a", True), ("a == 1", "a == 1", True), ("a != 1", "a == 1", False), ("a is b", "a is b", True)),
            *(("a is not b", "a is b", False), ("a in b", "a in b", True), ("a not in b", "a in b", False)),
            *(
                ("a > 1", "a > 1", True),
                ("a <= 1", "a > 1", False),
                ("a >= 1", "a >= 1", True),
                ("a < 1", "a >= 1", False),
            ),
            *(("not a", "not a", True), ("1 < a < 2", "1 < a < 2", True), ("1 != a != 2", "1 != a != 2", True)),
        ],
    )
    def test_a_test_and_its_opposite_have_one_text(self, test: str, text: str, positive: bool) -> None:
        assert (facts(test).text, facts(test).positive) == (text, positive)

    def test_names_attributes_and_calls_are_listed(self) -> None:
        found = facts("b.c > f(a.d, 2) and g() and h(k=1)")
        assert found.names == ("a", "b", "f", "g", "h")
        assert found.attributes == ("c", "d")
        assert {(asked.function, asked.written) for asked in found.calls} == {("f", "a.d"), ("g", ""), ("h", "")}
        assert {asked.function for asked in found.calls if asked.first is None} == {"g", "h"}

    @pytest.mark.parametrize(
        ("test", "expected"), [("a", False), ("f(a) == 1", False), ("(a := 1)", True), ("f(b := a) > 1", True)]
    )
    def test_a_test_that_changes_something(self, test: str, expected: bool) -> None:
        assert facts(test).changes is expected

    def test_a_test_that_waits_changes_something(self) -> None:
        code = "async def f():\n    if await g(): pass"
        test = next(node.test for node in ast.walk(ast.parse(code)) if isinstance(node, ast.If))
        assert Shapes(Source("a.py", code)).test(test).changes


class TestNames:
    def test_no_statement_binds_nothing(self) -> None:
        assert Shapes(Source("a.py", "")).bound_names([]) == frozenset()

    def test_parameters_are_local(self) -> None:
        shapes, function = function_in("def f(a, /, b, *c, d, **e):\n    g = b")
        assert shapes.local_names(function) == set("abcdeg")
        shapes, function = function_in("def f():\n    print(a)")
        assert shapes.local_names(function) == frozenset()

    def test_names_within_expressions_are_local(self) -> None:
        shapes, function = function_in("def f():\n    print(a := 1)")
        assert shapes.local_names(function) == {"a"}

    def test_names_of_a_lambda(self) -> None:
        node = ast.parse("lambda a, *b: c", mode="eval").body
        assert isinstance(node, ast.Lambda)
        assert Shapes(Source("a.py", "lambda a, *b: c")).local_names(node) == {"a", "b"}

    def test_outer_names(self) -> None:
        shapes, function = function_in("def f():\n    global a, b\n    if x:\n        nonlocal_ = 1")
        assert shapes.outer_names(function) == {"a", "b"}
        shapes, function = function_in("def f():\n    def g():\n        nonlocal a\n    a = 1")
        assert shapes.outer_names(function) == {"a"}
        shapes, function = function_in("def f():\n    a = 1")
        assert shapes.outer_names(function) == frozenset()

    def test_a_piece_is_asked_about_once(self) -> None:
        shapes, function = function_in("def f(a):\n    b = 1")
        assert shapes.local_names(function) is shapes.local_names(function)
        assert shapes.bound_names(function.body) is shapes.bound_names(function.body)


class TestGenerators:
    @pytest.mark.parametrize(
        "code",
        [
            *(
                "def f(): pass",
                "def f(): return 'yield'",
                "def f():\n    def g(): yield",
                "def f(): return lambda: (yield)",
            ),
            "def f():\n    class A:\n        x = [(yield)]",
        ],
    )
    def test_a_function_that_does_not_yield_itself(self, code: str) -> None:
        shapes, function = function_in(code)
        assert not shapes.is_generator(function)

    @pytest.mark.parametrize(
        "code", ["def f(): yield", "def f():\n    if a:\n        b = yield a", "def f(): yield from a"]
    )
    def test_a_function_that_yields(self, code: str) -> None:
        shapes, function = function_in(code)
        assert shapes.is_generator(function)


class TestChangedArguments:
    @pytest.mark.parametrize(
        "code",
        [
            *(
                "def f(): a.append(1)",
                "def f(a): b.append(1)",
                "def f(a): a.count(1)",
                "def f(a): a[0]",
                "def f(a): a = 1",
            ),
            *("def f(a): a.b.append(1)", "def f(a): b[a] = 1", "def f(a): return a + [1]", "def f(*a): a.x = 1"),
        ],
    )
    def test_a_function_that_leaves_them(self, code: str) -> None:
        shapes, function = function_in(code)
        assert not shapes.changes_arguments(function)

    @pytest.mark.parametrize(
        "code",
        [
            *("def f(a): a.append(1)", "def f(a): a[0] = 1", "def f(a): del a[0]", "def f(a): a += [1]"),
            *("def f(a, /): a.pop()", "def f(*, a): a.update(b)", "def f(b, a):\n    for x in b:\n        a.add(x)"),
        ],
    )
    def test_a_function_that_changes_one(self, code: str) -> None:
        shapes, function = function_in(code)
        assert shapes.changes_arguments(function)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("tf.constant(1)", False), ("import tensorflow as tf", False), ("memory", False)),
        *(("set_memory_growth", True), ("CUDA_VISIBLE_DEVICES", True), ("set_inter_op_parallelism_threads", True)),
    ],
)
def test_a_module_with_a_word_about_configuring(text: str, expected: bool) -> None:
    assert Shapes(Source("a.py", text)).configures is expected


def test_the_expressions_below_a_node_in_the_order_of_its_fields() -> None:
    node = ast.parse("f(a, *b, c=d)", mode="eval").body
    assert [ast.unparse(child) for child in expressions(node)] == ["f", "a", "*b"]
    assert [ast.unparse(child) for child in expressions(ast.parse("a = b = c").body[0])] == ["a", "b", "c"]
    assert list(expressions(ast.parse("pass").body[0])) == []
