"""Code is inert if neither it nor what it mentions has a word of interest in it."""

from __future__ import annotations

import ast

import pytest

from tfmemlint.facts.reach import Reach, definitions

MODULE = """\
def inert(): return 1
def direct(): tf.config.set_visible_devices([], "GPU")
def through(): direct()
def far(): through()
def around(): inert() or around()
def one(): other()
def other(): one()
class Thing:
    def method(self): direct()
class Quiet:
    def still(self): inert()
async def later(): await direct()
def comment():
    # sets the memory growth
    pass
def twice(): pass
if flag:
    def twice(): os.environ["A"] = "1"
"""


@pytest.fixture(scope="module")
def reach() -> Reach:
    """The words of a module."""
    return Reach(ast.parse(MODULE), MODULE.splitlines())


@pytest.mark.parametrize("name", ["inert", "around", "one", "other", "Quiet"])
def test_what_leads_to_nothing_is_inert(reach: Reach, name: str) -> None:
    assert reach.is_inert(reach.defined()[name][0])


@pytest.mark.parametrize("name", ["direct", "through", "far", "Thing", "later", "comment", "twice"])
def test_what_leads_to_something_is_not(reach: Reach, name: str) -> None:
    assert not reach.is_inert(reach.defined()[name][0])


def test_the_answer_is_the_same_when_asked_again(reach: Reach) -> None:
    for name, expected in (("inert", True), ("far", False)):
        node = reach.defined()[name][0]
        assert [reach.is_inert(node), reach.is_inert(node)] == [expected, expected]


@pytest.mark.parametrize(
    ("row", "expected"), [("inert()", True), ("print(1)", True), ("far()", False), ("session.run()", False)]
)
def test_a_statement_is_judged_by_its_lines(row: str, expected: bool) -> None:
    text = MODULE + row + "\n"
    tree = ast.parse(text)
    assert Reach(tree, text.splitlines()).is_inert(tree.body[-1]) is expected


def test_the_lines_of_a_node(reach: Reach) -> None:
    assert reach.text(reach.defined()["Quiet"][0]) == "class Quiet:\n    def still(self): inert()"


def test_nested_definitions_are_found_and_expressions_are_not_looked_into() -> None:
    code = """\
def a():
    def b(): pass
    with x:
        for y in z:
            while y:
                class c:
                    async def d(self): pass
            else:
                def e(): pass
try:
    def f(): pass
except E:
    def g(): pass
else:
    def h(): pass
finally:
    def i(): pass
match x:
    case 1:
        def j(): pass
k = lambda: 1
"""
    assert {node.name for node in definitions(ast.parse(code))} == set("abcdefghij")
