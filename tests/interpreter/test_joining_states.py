"""States where two ways meet: nothing is claimed that is not so on both."""

from __future__ import annotations

import functools
from itertools import product
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfmemlint.interpreter.program import Call, RuntimeStart
from tfmemlint.interpreter.state import (
    ANY,
    Guards,
    Phase,
    Setting,
    State,
    Tri,
    join_phases,
    join_states,
)
from tfmemlint.interpreter.state.joins import MOST_WAYS
from tfmemlint.interpreter.values import EACH, UNKNOWN, Const
from tfmemlint.model.finding import Span

HERE = Span(1, 1, 1, 2)
START = RuntimeStart(
    path="a.py", span=HERE, statement=HERE, state=State(), what="context", name="tf.constant", text="tf.constant"
)
OTHER = RuntimeStart(
    path="a.py", span=HERE, statement=HERE, state=State(), what="context", name="tf.zeros", text="tf.zeros"
)
LEFT: Guards = (("flag", True),)
RIGHT: Guards = (("flag", False),)
INNER: Guards = (("other", True),)
NO, MAYBE, YES, OPEN = Phase(), Phase(Tri.MAYBE, START), Phase(Tri.YES, START), Phase(Tri.UNKNOWN)
PHASES = {Tri.NO: NO, Tri.MAYBE: MAYBE, Tri.YES: YES, Tri.UNKNOWN: OPEN}
TRUE, FALSE = Const(True), Const(False)


def setting(value: object = True) -> Setting:
    """A setting that one call has made."""
    call = Call(path="a.py", span=HERE, statement=HERE, state=State(), name="tf.config.f", func=HERE)
    return Setting(Const(value), call)


def state(**fields: Any) -> State:
    """A state by its fields' names."""
    return State(**fields)


class TestJoinPhases:
    @pytest.mark.parametrize(("left", "right"), list(product(Tri, Tri)), ids=lambda has: has.value)
    def test_what_has_happened_on_both_ways(self, left: Tri, right: Tri) -> None:
        pair = {left, right}
        if len(pair) == 1:
            expected = left
        elif pair == {Tri.NO, Tri.UNKNOWN}:
            expected = Tri.UNKNOWN
        else:
            expected = Tri.MAYBE
        joined = join_phases(PHASES[left], PHASES[right], LEFT, RIGHT)
        assert joined.has is expected
        assert joined.by is (START if pair & {Tri.MAYBE, Tri.YES} else None)

    def test_what_one_way_started_is_under_the_guard_of_that_way(self) -> None:
        assert join_phases(YES, NO, LEFT, RIGHT) == Phase(Tri.MAYBE, START, LEFT)
        assert join_phases(NO, YES, LEFT, RIGHT) == Phase(Tri.MAYBE, START, RIGHT)

    def test_guards_add_up_the_outer_one_first(self) -> None:
        inner = Phase(Tri.MAYBE, START, RIGHT)
        assert join_phases(inner, NO, LEFT, ()) == Phase(Tri.MAYBE, START, LEFT + RIGHT)

    def test_without_a_guard_it_is_not_known_when(self) -> None:
        assert join_phases(YES, NO) == Phase(Tri.MAYBE, START, None)
        assert join_phases(NO, YES, LEFT) == Phase(Tri.MAYBE, START, None)

    def test_a_start_under_conditions_that_are_not_known_stays_so(self) -> None:
        assert join_phases(Phase(Tri.MAYBE, START, None), NO, LEFT, RIGHT).guards is None

    def test_sure_on_one_way_and_perhaps_on_the_other_are_two_ways(self) -> None:
        maybe = Phase(Tri.MAYBE, OTHER, INNER)
        ways = Phase(Tri.MAYBE, START, LEFT), Phase(Tri.MAYBE, OTHER, RIGHT + INNER)
        assert join_phases(YES, maybe, LEFT, RIGHT).ways == ways
        assert join_phases(maybe, YES, RIGHT, LEFT).ways == ways[::-1]

    @pytest.mark.parametrize("maybe", [Phase(Tri.MAYBE, OTHER), Phase(Tri.MAYBE, OTHER, None)])
    def test_a_start_on_ways_that_are_not_known_makes_all_of_them_unknown(self, maybe: Phase) -> None:
        assert join_phases(YES, maybe, LEFT) == Phase(Tri.MAYBE, START, None)
        assert join_phases(maybe, YES, (), LEFT).guards is None

    def test_starts_under_different_conditions_are_ruled_out_by_what_rules_out_both(self) -> None:
        left, right = Phase(Tri.MAYBE, START, LEFT), Phase(Tri.MAYBE, OTHER, INNER)
        joined = join_phases(left, right)
        assert joined.under(RIGHT) == right
        assert joined.under((("other", False),)) == left
        assert joined.under((*RIGHT, ("other", False))) == Phase()
        assert joined.under((("third", True),)) == joined
        assert joined.under(INNER) == Phase(Tri.YES, OTHER)

    def test_two_starts_under_one_condition_are_not_one_start(self) -> None:
        left, right = Phase(Tri.MAYBE, START, LEFT), Phase(Tri.MAYBE, OTHER, LEFT)
        assert join_phases(left, right).ways == (left, right)

    def test_of_many_ways_none_is_known(self) -> None:
        many = functools.reduce(
            join_phases, [Phase(Tri.MAYBE, START, ((f"flag {number}", True),)) for number in range(MOST_WAYS + 1)]
        )
        assert many.guards is None

    def test_one_start_under_one_condition_is_kept(self) -> None:
        phase = Phase(Tri.MAYBE, START, LEFT)
        assert join_phases(phase, Phase(Tri.MAYBE, START, LEFT), LEFT, RIGHT) == phase

    def test_of_two_sure_starts_the_first_is_shown(self) -> None:
        assert join_phases(YES, Phase(Tri.YES, OTHER), LEFT, RIGHT) == YES


guards = cast(
    "st.SearchStrategy[Guards]", st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=2).map(tuple)
)
starts = st.sampled_from([START, OTHER])
phases = st.one_of(
    st.sampled_from([NO, OPEN]),
    st.builds(Phase, st.just(Tri.YES), starts),
    st.builds(Phase, st.just(Tri.MAYBE), starts, st.none() | guards),
)
POSSIBLE = {
    Tri.NO: {False},
    Tri.YES: {True},
    Tri.MAYBE: {False, True},
    Tri.UNKNOWN: {False, True},
}
"""What may have happened where a phase says so."""


class TestLawsOfJoining:
    @given(phases, phases, guards, guards)
    def test_nothing_is_sure_that_is_not_sure_on_both_ways(
        self, left: Phase, right: Phase, left_guard: Guards, right_guard: Guards
    ) -> None:
        joined = join_phases(left, right, left_guard, right_guard)
        assert POSSIBLE[left.has] | POSSIBLE[right.has] == POSSIBLE[joined.has]

    @given(phases, phases, guards, guards)
    def test_the_order_of_the_ways_does_not_matter(
        self, left: Phase, right: Phase, left_guard: Guards, right_guard: Guards
    ) -> None:
        there = join_phases(left, right, left_guard, right_guard)
        back = join_phases(right, left, right_guard, left_guard)
        assert there.has is back.has
        if there.has is Tri.MAYBE:
            assert (there.guards is None) is (back.guards is None)
            assert there.guards is None or set(there.ways) == set(back.ways)

    @given(phases, guards, guards)
    def test_a_way_joined_with_itself_is_itself(self, phase: Phase, left_guard: Guards, right_guard: Guards) -> None:
        assert join_phases(phase, phase, left_guard, right_guard) == phase

    @given(phases, phases, guards, guards, guards)
    def test_guards_never_rule_out_a_start_that_the_taken_way_had(
        self, left: Phase, right: Phase, left_guard: Guards, right_guard: Guards, holds: Guards
    ) -> None:
        joined = join_phases(left, right, left_guard, right_guard)
        known = dict((*holds, *left_guard))
        consistent = all(known[text] == outcome for text, outcome in (*holds, *left_guard))
        if left.has is Tri.YES and right.has is Tri.NO and consistent:
            assert joined.under((*holds, *left_guard)).has in (Tri.YES, Tri.MAYBE)


class TestUnder:
    @pytest.mark.parametrize(
        "phase", [NO, YES, OPEN, Phase(Tri.YES, START, LEFT), MAYBE, Phase(Tri.MAYBE, START, None)]
    )
    def test_what_depends_on_no_condition_stays(self, phase: Phase) -> None:
        assert phase.under(LEFT) is phase
        assert phase.under(RIGHT) is phase

    def test_other_conditions_tell_nothing(self) -> None:
        phase = Phase(Tri.MAYBE, START, LEFT)
        assert phase.under(()) is phase
        assert phase.under((("other", True),)) is phase
        assert phase.under((("other", False),)) is phase

    def test_where_its_condition_holds_it_has_started(self) -> None:
        assert Phase(Tri.MAYBE, START, LEFT).under((("other", False), *LEFT)) == Phase(Tri.YES, START)

    def test_where_its_condition_does_not_hold_it_has_not(self) -> None:
        assert Phase(Tri.MAYBE, START, LEFT).under(RIGHT) == Phase()

    def test_one_of_two_conditions_is_not_enough_to_start_and_enough_not_to(self) -> None:
        phase = Phase(Tri.MAYBE, START, (("a", True), ("b", False)))
        assert phase.under((("a", True),)) is phase
        assert phase.under((("b", False),)) is phase
        assert phase.under((("a", True), ("b", False))).has is Tri.YES
        assert phase.under((("a", True), ("b", True))).has is Tri.NO
        assert phase.under((("b", True),)).has is Tri.NO


class TestJoinStates:
    def test_a_state_joined_with_itself_is_itself(self) -> None:
        before = State(growth={0: setting()})
        assert join_states(before, before) is before

    def test_equal_states_join_to_an_equal_one(self) -> None:
        left = State(growth={0: setting()}, env={"A": TRUE}, min_gpus=1, max_gpus=2, imported={"m": True})
        assert join_states(left, state(**_fields(left))) == left

    @pytest.mark.parametrize("name", ["context", "allocator", "listed"])
    def test_each_phase_is_joined_under_its_guards(self, name: str) -> None:
        joined = join_states(state(**{name: YES}), State(), LEFT, RIGHT)
        assert joined == state(**{name: Phase(Tri.MAYBE, START, LEFT)})
        joined = join_states(State(), state(**{name: YES}), LEFT, RIGHT)
        assert joined == state(**{name: Phase(Tri.MAYBE, START, RIGHT)})

    @pytest.mark.parametrize(
        ("left", "right", "expected"),
        [
            (True, True, True),
            (False, False, False),
            (None, None, None),
            *((True, False, None), (False, True, None), (True, None, None), (None, False, None)),
        ],
    )
    def test_eager_execution_is_known_where_both_agree(
        self, left: bool | None, right: bool | None, expected: bool | None
    ) -> None:
        assert join_states(State(eager=left), State(eager=right)).eager is expected

    def test_open_graphs_stay_open(self) -> None:
        assert join_states(State(graphs=1), State(graphs=1, eager=None)).graphs == 1

    @pytest.mark.parametrize("name", ["entry_unknown", "in_child_process"])
    def test_a_doubt_on_one_way_is_a_doubt(self, name: str) -> None:
        for left, right in product((False, True), repeat=2):
            joined = join_states(state(**{name: left}), state(**{name: right}, min_gpus=1))
            assert getattr(joined, name) is (left or right)

    def test_the_number_of_gpus_is_within_the_wider_bounds(self) -> None:
        joined = join_states(State(min_gpus=1, max_gpus=2), State(min_gpus=2, max_gpus=4))
        assert (joined.min_gpus, joined.max_gpus) == (1, 4)

    @pytest.mark.parametrize(("left", "right"), [(None, 1), (1, None), (None, 0), (0, None), (None, None)])
    def test_no_bound_on_one_way_is_no_bound(self, left: int | None, right: int | None) -> None:
        assert join_states(State(max_gpus=left), State(max_gpus=right, min_gpus=1)).max_gpus is None

    def test_the_cpu_is_split_if_it_was_on_some_way(self) -> None:
        split = setting()
        assert join_states(State(cpu_split=split), State()).cpu_split is split
        assert join_states(State(), State(cpu_split=split)).cpu_split is split
        assert join_states(State(), State(min_gpus=1)).cpu_split is None

    def test_a_module_is_imported_for_sure_if_it_was_on_both_ways(self) -> None:
        left = State(imported={"both": True, "left": True, "maybe": False})
        right = State(imported={"both": True, "right": True, "maybe": True})
        assert join_states(left, right).imported == {"both": True, "left": False, "right": False, "maybe": False}

    def test_a_variable_is_known_where_both_ways_set_it_alike(self) -> None:
        left = State(env={"SAME": Const("1"), "OTHER": Const("1"), "LEFT": Const("1")})
        right = State(env={"SAME": Const("1"), "OTHER": Const("2"), "RIGHT": Const("1")})
        env = join_states(left, right).env
        assert env == {"SAME": Const("1"), "OTHER": UNKNOWN, "LEFT": UNKNOWN, "RIGHT": UNKNOWN}

    def test_visible_devices_by_the_environment_are_known_where_both_ways_agree(self) -> None:
        zero, one = Const("0"), Const("1")
        assert join_states(State(), State(min_gpus=1)).cuda_visible_devices is None
        assert join_states(State(cuda_visible_devices=zero), State(cuda_visible_devices=Const("0"))) == State(
            cuda_visible_devices=zero
        )
        for left, right in ((zero, one), (zero, None), (None, zero)):
            joined = join_states(State(cuda_visible_devices=left), State(cuda_visible_devices=right))
            assert joined.cuda_visible_devices == UNKNOWN


def _fields(of: State) -> dict[str, Any]:
    return {name: getattr(of, name) for name in of.__dataclass_fields__}


class TestJoinSettings:
    def test_a_setting_of_both_ways_is_in_force(self) -> None:
        on = setting()
        joined = join_states(State(growth={0: on}), State(growth={0: on}, min_gpus=1))
        assert joined.growth == {0: on}

    def test_the_first_call_is_shown_where_both_set_the_same(self) -> None:
        left, right = setting(), setting()
        assert join_states(State(visible=left), State(visible=right)).visible == Setting(TRUE, left.by)

    @pytest.mark.parametrize("left_first", [True, False])
    def test_a_setting_of_one_way_may_be_in_force(self, left_first: bool) -> None:
        on = setting()
        states = (State(growth={0: on}), State())
        joined = join_states(*(states if left_first else states[::-1])).growth[0]
        assert joined.value == UNKNOWN
        assert joined.by is on.by
        assert joined.ways == ((on, None) if left_first else (None, on))

    def test_different_settings_are_kept_way_by_way(self) -> None:
        on, off = setting(True), setting(False)
        joined = join_states(State(growth={0: on}), State(growth={0: off})).growth[0]
        assert joined == Setting(UNKNOWN, on.by, (on, off))

    def test_as_many_ways_as_are_followed(self) -> None:
        settings = [setting(number) for number in range(MOST_WAYS)]
        joined = State(visible=settings[0])
        for other in settings[1:]:
            joined = join_states(joined, State(visible=other))
        assert joined.visible is not None
        assert joined.visible.ways == tuple(settings)

    def test_more_ways_than_are_followed_are_not_known_one_by_one(self) -> None:
        joined = State(visible=setting(0))
        for number in range(1, MOST_WAYS + 1):
            joined = join_states(joined, State(visible=setting(number)))
        assert joined.visible is not None
        assert joined.visible.either == ()
        assert joined.visible.value == UNKNOWN

    @pytest.mark.parametrize("table", ["growth", "limits"])
    @pytest.mark.parametrize("left_first", [True, False])
    def test_what_was_set_for_all_holds_for_each(self, table: str, left_first: bool) -> None:
        every, first = setting(), setting()
        states = (state(**{table: {EACH: every}}), state(**{table: {EACH: every, 0: first}}))
        joined = getattr(join_states(*(states if left_first else states[::-1])), table)
        assert joined[0].value == TRUE
        assert joined[EACH] == every

    def test_what_was_set_for_all_holds_not_for_what_is_not_known(self) -> None:
        every, some = setting(), setting()
        joined = join_states(State(growth={EACH: every}), State(growth={ANY: some})).growth
        assert joined[ANY].ways == (None, some)
        assert joined[EACH].ways == (every, None)

    def test_each_thread_setting_is_joined_by_its_name(self) -> None:
        inter, intra = setting(1), setting(2)
        joined = join_states(State(threading={"inter": inter}), State(threading={"inter": inter, "intra": intra}))
        assert joined.threading["inter"] == inter
        assert joined.threading["intra"].ways == (None, intra)
        assert list(joined.threading) == ["inter", "intra"]
        joined = join_states(State(threading={"inter": inter}), State())
        assert joined.threading["inter"].ways == (inter, None)
