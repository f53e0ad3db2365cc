"""Names are found and bound in the scope in which Python would."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tfmemlint.interpreter.scopes import Scope
from tfmemlint.interpreter.values import UNKNOWN, Const

A, B, C = Const("a"), Const("b"), Const("c")


def nest(*scopes: Scope) -> list[Scope]:
    """Each scope in the one before it, as they stand in the text."""
    for outer, inner in pairwise(scopes):
        inner.parent = outer
    return list(scopes)


class TestLookup:
    def test_a_name_that_nothing_binds(self) -> None:
        *_, inner = nest(Scope(names={"a": A}), Scope())
        assert inner.lookup("b") is None

    def test_the_innermost_binding_is_meant(self) -> None:
        outer, inner = nest(Scope(names={"a": A, "b": B}), Scope(names={"a": C}))
        assert inner.lookup("a") is C
        assert inner.lookup("b") is B
        assert outer.lookup("a") is A

    def test_a_local_name_that_is_not_bound_yet_means_no_outer_one(self) -> None:
        *_, inner = nest(Scope(names={"a": A}), Scope(local=frozenset("a")))
        assert inner.lookup("a") is UNKNOWN
        *_, inner = nest(Scope(names={"a": A}), Scope(local=frozenset("a")), Scope())
        assert inner.lookup("a") is UNKNOWN

    def test_a_global_name_means_the_outer_one(self) -> None:
        *_, inner = nest(Scope(names={"a": A}), Scope(local=frozenset("a"), outer=frozenset("a")))
        assert inner.lookup("a") is A

    def test_a_method_does_not_see_the_names_of_its_class(self) -> None:
        _, body, method = nest(Scope(names={"a": A}), Scope(names={"a": B}, is_class=True), Scope())
        assert method.lookup("a") is A
        assert body.lookup("a") is B

    def test_a_method_does_not_see_the_local_names_of_its_class(self) -> None:
        _, body, method = nest(Scope(names={"a": A}), Scope(local=frozenset("a"), is_class=True), Scope())
        assert method.lookup("a") is A
        assert body.lookup("a") is UNKNOWN


class TestBind:
    def test_a_name_is_bound_where_it_is_assigned(self) -> None:
        outer, inner = nest(Scope(names={"a": A}), Scope())
        inner.bind("a", B)
        assert (outer.names, inner.names) == ({"a": A}, {"a": B})

    def test_a_nonlocal_name_is_bound_in_the_next_scope_that_has_it(self) -> None:
        module, outer, inner = nest(
            Scope(names={"a": A}), Scope(names={"a": B}), Scope(names={"a": B}, outer=frozenset("a"))
        )
        inner.bind("a", C)
        assert (module.names["a"], outer.names["a"], inner.names["a"]) == (A, C, B)

    def test_a_global_name_that_no_scope_has_is_the_module_s(self) -> None:
        module, outer, inner = nest(Scope(), Scope(), Scope(outer=frozenset("a")))
        inner.bind("a", A)
        assert module.names == {"a": A}
        assert not outer.names
        assert not inner.names

    def test_the_module_itself_binds_what_it_calls_global(self) -> None:
        module = Scope(outer=frozenset("a"))
        module.bind("a", A)
        assert module.names == {"a": A}


class TestOwner:
    def test_what_nobody_has_is_the_module_s(self) -> None:
        module, *_, inner = nest(Scope(), Scope(), Scope())
        assert inner.owner("a") is module

    @pytest.mark.parametrize("has", [Scope(names={"a": A}), Scope(local=frozenset("a"))])
    def test_the_next_scope_that_has_it(self, has: Scope) -> None:
        has.parent = None
        _, middle, inner = nest(Scope(names={"a": A}), has, Scope())
        assert inner.owner("a") is middle
        assert middle.owner("a") is middle

    def test_the_module_of_a_scope(self) -> None:
        module, middle, inner = nest(Scope(), Scope(), Scope())
        assert inner.module is module
        assert middle.module is module
        assert module.module is module
