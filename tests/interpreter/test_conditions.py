"""Conditions on the number of GPUs, and on what the program itself has set."""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import product
from textwrap import indent

import pytest

from tfmemlint.interpreter import analyze
from tfmemlint.interpreter.program import Call
from tfmemlint.interpreter.state import Tri
from tfmemlint.knowledge.releases import Target
from tfmemlint.sources import Source

HEAD = "import os, sys\nimport tensorflow as tf\ngpus = tf.config.list_physical_devices('GPU')\n"
PROBE = "tf.random.set_seed(1)\n"
START = "tf.constant(1)\n"
OPERATORS: dict[str, Callable[[int, int], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}
MANY = 20
"""More GPUs than any number in these tests."""


def probes(code: str) -> list[Call]:
    """The calls of the probe, in the order of their lines."""
    program = analyze(Source("a.py", HEAD + code), Target.newest())
    found = {event.span.row: event for event in program.events if isinstance(event, Call) and "set_seed" in event.name}
    return [found[row] for row in sorted(found)]


def bounds(code: str) -> tuple[int, int | None]:
    """How many GPUs there are at the only probe."""
    (probe,) = probes(code)
    return probe.state.min_gpus, probe.state.max_gpus


def started(code: str) -> Tri:
    """Whether the runtime has started at the last probe."""
    return probes(code)[-1].state.context.has


def hull(numbers: list[int]) -> tuple[int, int | None]:
    """The closest bounds of some numbers of GPUs."""
    return min(numbers), None if max(numbers) == MANY else max(numbers)


class TestBounds:
    @pytest.mark.parametrize(("op", "number", "outcome"), list(product(OPERATORS, range(4), (True, False))))
    def test_a_comparison_bounds_the_number_of_gpus(self, op: str, number: int, outcome: bool) -> None:
        numbers = [count for count in range(MANY + 1) if OPERATORS[op](count, number) is outcome]
        test = f"len(gpus) {op} {number}"
        if numbers:
            body = f"if {test}:\n    {PROBE}" if outcome else f"if {test}:\n    pass\nelse:\n    {PROBE}"
            assert bounds(body) == hull(numbers)
            negated = f"if not {test}:\n    pass\nelse:\n    {PROBE}" if outcome else f"if not {test}:\n    {PROBE}"
            assert bounds(negated) == hull(numbers)

    @pytest.mark.parametrize(
        ("code", "expected"),
        [
            (f"if gpus:\n    {PROBE}", (1, None)),
            (f"if not gpus:\n    {PROBE}", (0, 0)),
            (f"if len(gpus):\n    {PROBE}", (1, None)),
            (f"if not len(gpus):\n    {PROBE}", (0, 0)),
            (f"if gpus and len(gpus) < 3:\n    {PROBE}", (1, 2)),
            (f"if len(gpus) > 1 and len(gpus) < 4:\n    {PROBE}", (2, 3)),
            (f"if len(gpus) < 3 and len(gpus) < 5:\n    {PROBE}", (0, 2)),
            (f"if len(gpus) > 3 and len(gpus) > 1:\n    {PROBE}", (4, None)),
            (f"if len(gpus) < 2 or len(gpus) > 4:\n    pass\nelse:\n    {PROBE}", (2, 4)),
            (f"assert len(gpus) == 2\n{PROBE}", (2, 2)),
            (f"if len(gpus) < 2:\n    sys.exit()\n{PROBE}", (2, None)),
        ],
    )
    def test_what_is_known_where_a_condition_holds(self, code: str, expected: tuple[int, int | None]) -> None:
        assert bounds(code) == expected

    @pytest.mark.parametrize(
        "code",
        [
            f"if len(gpus) > 1 or flag():\n    {PROBE}",
            f"if len(gpus) > 1 and flag():\n    pass\nelse:\n    {PROBE}",
            f"if len(sys.argv) > 1:\n    {PROBE}",
            f"if len(tf.config.list_physical_devices('CPU')) > 1:\n    {PROBE}",
            f"if 1 < len(gpus) < 3:\n    {PROBE}",
            f"if len(gpus) > flag():\n    {PROBE}",
            f"if len(gpus) > 1:\n    pass\n{PROBE}",
            f"if not gpus[:1]:\n    {PROBE}",
            f"if len(gpus[1:]) > 1:\n    {PROBE}",
            f"if not tf.config.list_physical_devices('CPU'):\n    {PROBE}",
        ],
    )
    def test_other_conditions_tell_nothing_of_it(self, code: str) -> None:
        assert bounds("def flag(): return sys.argv\n" + code) == (0, None)


OUTER: dict[str, tuple[int, int]] = {
    "": (1, MANY),
    "if len(gpus) == 2:": (2, 2),
    "if len(gpus) >= 2:": (2, MANY),
    "if len(gpus) <= 2:": (1, 2),
    "if not gpus:": (0, 0),
}


class TestComparisonsThatCanBeDecided:
    @pytest.mark.parametrize(("outer", "op", "number"), list(product(OUTER, OPERATORS, range(4))))
    def test_a_branch_is_taken_where_every_machine_with_a_gpu_takes_it(self, outer: str, op: str, number: int) -> None:
        inner = f"if len(gpus) {op} {number}:\n    {START}{PROBE}"
        low, high = OUTER[outer]
        outcomes = {OPERATORS[op](count, number) for count in range(low, high + 1)}
        expected = Tri.MAYBE if len(outcomes) > 1 else Tri.YES if outcomes == {True} else Tri.NO
        has = started(f"{outer}\n{indent(inner, '    ')}" if outer else inner)
        if op in ("==", "!=") and number > high:
            assert has in (expected, Tri.MAYBE)
        else:
            assert has is expected

    @pytest.mark.parametrize(
        ("test", "expected"),
        [
            *(("gpus", Tri.YES), ("not gpus", Tri.NO), ("len(gpus)", Tri.YES), ("tf.test.is_gpu_available()", Tri.YES)),
            *(("gpus and sys.argv", Tri.MAYBE), ("gpus or sys.argv", Tri.MAYBE), ("sys.argv", Tri.MAYBE)),
            *(("gpus and True", Tri.YES), ("gpus and False", Tri.NO), ("sys.argv and False", Tri.NO)),
            *(("gpus or False", Tri.YES), ("not gpus or False", Tri.NO), ("sys.argv or True", Tri.YES)),
            *(("not gpus or len(gpus) > 0", Tri.YES), ("gpus and not gpus", Tri.NO), ("not (gpus and 1)", Tri.NO)),
            *(("0", Tri.NO), ("1", Tri.YES), ("[]", Tri.NO), ("[0]", Tri.YES), ("{}", Tri.NO), ("{'a': 1}", Tri.YES)),
            *(("{**x}", Tri.MAYBE), ("{'a': 1, **x}", Tri.YES), ("not 0", Tri.YES), ("None", Tri.NO), ("''", Tri.NO)),
            *(("not sys.argv", Tri.MAYBE), ("sys.argv and sys.path", Tri.MAYBE), ("0 or 1", Tri.YES)),
        ],
    )
    def test_what_can_be_said_of_a_test(self, test: str, expected: Tri) -> None:
        assert started(f"x = dict(sys.argv)\nif {test}:\n    {START}{PROBE}") is expected

    def test_only_type_checkers_take_this_branch(self) -> None:
        assert started(f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    {START}{PROBE}") is Tri.NO

    def test_a_branch_that_is_not_taken_has_no_events(self) -> None:
        assert probes(f"if False:\n    {PROBE}") == []
        assert probes(f"if not gpus and gpus:\n    {PROBE}") != []

    @pytest.mark.parametrize(
        ("before", "expected"), [(START, Tri.YES), ("", Tri.NO), (f"if sys.argv:\n    {START}", Tri.MAYBE)]
    )
    def test_whether_the_runtime_has_started_is_known_to_a_test_for_it(self, before: str, expected: Tri) -> None:
        code = (
            f"from tensorflow.python.eager import context\n{before}"
            f"if context.context()._initialized:\n    tf.config.set_soft_device_placement(True)\n    {PROBE}"
        )
        assert bool(probes(code)) is (expected is not Tri.NO)


SAME = {
    "a flag": ("flag", "flag", ""),
    "a flag and its opposite's opposite": ("flag", "not not flag", ""),
    "a comparison and its opposite": ("flag == 1", "not flag != 1", ""),
    "an attribute": ("args.a", "args.a", ""),
    "the environment": ("os.environ.get('A')", "os.environ.get('A')", ""),
    "the number of arguments": ("len(sys.argv) > 1", "len(sys.argv) > 1", ""),
    "what is there": ("hasattr(sys, 'a')", "hasattr(sys, 'a')", ""),
    "one of two that hold": ("flag", "other and flag", ""),
    "another flag is set between": ("flag", "flag", "other = sys.argv"),
    "another variable is set between": ("os.environ.get('A')", "os.environ.get('A')", "os.environ['B'] = '1'"),
}
DIFFERENT = {
    "another flag": ("flag", "other", ""),
    "the opposite": ("flag", "not flag", ""),
    "the flag is set between": ("flag", "flag", "flag = sys.path"),
    "the attribute is set between": ("args.a", "args.a", "args.a = sys.path"),
    "a call": ("sys.gettrace()", "sys.gettrace()", ""),
    "the length of a list": ("len(other) > 1", "len(other) > 1", ""),
    "a name bound in the test": ("(new := f())", "(new := f())", ""),
    "the variable is set between": ("os.environ.get('A')", "os.environ.get('A')", "os.environ['A'] = str(other)"),
    "one that implies nothing": ("flag or other", "flag", ""),
    "one of two that are needed": ("flag and other", "flag", ""),
}


class TestGuards:
    FLAGS = "args = object()\nflag = sys.argv[1:]\nother = sys.argv[2:]\ndef f(): return sys.argv\n"

    @staticmethod
    def _has(first: str, second: str, between: str) -> Tri:
        code = f"{TestGuards.FLAGS}if {first}:\n    {START}{between}\nif {second}:\n    {PROBE}"
        (probe,) = probes(code)
        return probe.state.context.under(probe.guards).has

    @pytest.mark.parametrize(("first", "second", "between"), SAME.values(), ids=SAME)
    def test_under_one_condition_it_is_the_same_way(self, first: str, second: str, between: str) -> None:
        assert self._has(first, second, between) is Tri.YES

    @pytest.mark.parametrize(("first", "second", "between"), DIFFERENT.values(), ids=DIFFERENT)
    def test_under_another_condition_nothing_is_sure(self, first: str, second: str, between: str) -> None:
        assert self._has(first, second, between) is not Tri.YES

    def test_under_the_opposite_condition_it_is_another_way(self) -> None:
        assert self._has("flag", "not flag", "") is Tri.NO
        assert self._has("flag == 1", "flag != 1", "") is Tri.NO
