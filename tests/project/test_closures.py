"""What a file may import, directly or through others, in circles of any shape."""

from __future__ import annotations

import random

import pytest

from tfmemlint.project.reaching import Graph, Module


def _graph(edges: dict[str, set[str]]) -> Graph:
    return Graph({name: Module(name, (), False, False, frozenset(others)) for name, others in edges.items()})


def _reached(edges: dict[str, set[str]], start: str) -> set[str]:
    found, pending = {start}, [start]
    while pending:
        new = edges[pending.pop()] - found
        found |= new
        pending.extend(new)
    return found


def test_closures_are_what_can_be_reached() -> None:
    rng = random.Random(7)
    for size in (1, 2, 5, 12, 40):
        for density in (0.5, 1.0, 2.0, 4.0):
            names = [str(number) for number in range(size)]
            edges: dict[str, set[str]] = {name: set() for name in names}
            for _ in range(int(size * density)):
                edges[rng.choice(names)].add(rng.choice(names))
            made = _graph(edges)
            for name in rng.sample(names, size):
                assert made.closure(name) == _reached(edges, name)


@pytest.mark.slow
def test_a_long_chain_is_no_trouble() -> None:
    edges = {str(number): {str(number + 1)} for number in range(5_000)} | {"5000": set()}
    assert len(_graph(edges).closure("0")) == 5_001
