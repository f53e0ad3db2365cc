"""Memory growth that differs between visible GPUs, of which the runtime makes an error when it starts.

Source of the cases: what the truth tests of TFM402's fixtures hold on TensorFlow with one, two and three GPUs: unset,
False and True are three values; hidden GPUs are not compared; a logical device configuration of any device, the CPU
among them, drops growth instead.
"""

from __future__ import annotations

from typing import Any

import pytest

from tfmemlint.interpreter.program import Call
from tfmemlint.interpreter.state import ANY, PART, Guards, Key, Setting, State
from tfmemlint.interpreter.values import EACH, UNKNOWN, Const, Device, Devices, Ref, Seq, Value
from tfmemlint.model.finding import Span

HERE = Span(1, 1, 1, 2)
ALL = Devices("physical", "GPU")
SOME = Devices("physical", "GPU", whole=False)
FLAG: Guards = (("flag", True),)


def gpu(index: int | str, *, loop: bool = False) -> Device:
    """One GPU of the list."""
    return Device("physical", "GPU", index, loop)


def setting(value: object = True, guards: Guards = ()) -> Setting:
    """A setting that a call has made, under ``guards``."""
    made = value if not isinstance(value, (bool, str)) else Const(value)
    call = Call(path="a.py", span=HERE, statement=HERE, state=State(), name="tf.f", func=HERE, guards=guards)
    return Setting(made, call)  # type: ignore[arg-type]


def shown(*values: Value | None) -> Setting:
    """Visible devices: one value, or one of several, None where some way leaves all visible."""
    if len(values) == 1 and values[0] is not None:
        return Setting(values[0])
    return Setting(UNKNOWN, None, tuple(None if value is None else Setting(value) for value in values))


def state(growth: dict[Key, Setting], **fields: Any) -> State:
    """A state with this growth."""
    return State(growth=growth, **fields)


ON, OFF = setting(True), setting(False)
NOT_KNOWN = setting(UNKNOWN)

ALIKE: dict[str, State] = {
    "nothing was set": State(),
    "all, in a loop": state({EACH: ON}),
    "all, and the first again": state({EACH: ON, 0: setting(True)}),
    "all, then one to what is not known": state({EACH: ON, 0: NOT_KNOWN}),
    "all to what is not known, then one": state({EACH: NOT_KNOWN, 0: ON}),
    "all, then one off, and a list that is visible": state({EACH: ON, 0: OFF}, visible=shown(SOME)),
    "the first, the only one visible": state({0: ON}, visible=shown(gpu(0))),
    "the first, the only one in the visible list": state({0: ON}, visible=shown(Seq((gpu(0),)))),
    "both visible ones": state({0: ON, 2: ON}, visible=shown(Seq((gpu(0), gpu(2))))),
    "no GPU is visible": state({0: ON}, visible=shown(Seq(()))),
    "the first, of one": state({0: ON}, max_gpus=1),
    "the first, of none": state({0: ON}, max_gpus=0),
    "the first, of one by the environment": state({0: ON}, cuda_visible_devices=Const("3")),
    "the first, of none by the environment": state({0: ON}, cuda_visible_devices=Const("")),
    "the first, of those that the environment shows": state({0: ON}, cuda_visible_devices=UNKNOWN),
    "the first and the second": state({0: ON, 1: ON}),
    "the first to the third": state({0: ON, 1: ON, 2: ON}),
    "both off": state({0: OFF, 1: OFF}),
    "all but one in a loop, and that one": state({0: ON, PART: Setting(UNKNOWN, ON.by, (None, ON)), 1: ON}),
    "all but one in a loop, and a list that is visible": state(
        {0: ON, PART: Setting(UNKNOWN, ON.by, (None, ON))}, visible=shown(SOME)
    ),
    "those that a loop does not leave by an error": state({0: ON, PART: ON}),
    "one to what is not known": state({0: ON, 1: NOT_KNOWN}),
    "one, and one by an expression": state({0: ON, "args.gpu": ON}),
    "one visible by an expression": state({"args.gpu": ON}, visible=shown(gpu("args.gpu"))),
    "visible by a value that is not known": state({0: ON}, visible=shown(Ref("x"))),
    "a part of the list is visible": state({0: ON}, visible=shown(SOME)),
    "visible on either way": state({0: ON}, visible=shown(gpu(0), Seq((gpu(0),)))),
    "a split CPU drops growth": state({0: ON}, cpu_split=setting()),
    "a limit on another GPU drops growth": state({0: ON}, limits={1: setting()}),
    "a limit under the condition of the growth": state(
        {0: setting(True, FLAG)}, limits={1: Setting(UNKNOWN, setting(True, FLAG).by, (setting(), None))}
    ),
    "a limit on some way that no condition names": state(
        {0: ON}, limits={1: Setting(UNKNOWN, setting().by, (setting(), None))}
    ),
    "a limit on some way that nobody made": state({0: ON}, limits={1: Setting(UNKNOWN, None, (setting(), None))}),
}
PARTIAL: dict[str, State] = {
    "all but one and the first in a loop": state({PART: Setting(UNKNOWN, ON.by, (None, ON))}),
    "the first": state({0: ON}),
    "the second": state({1: ON}),
    "the first, off": state({0: OFF}),
    "one by an expression": state({"args.gpu": ON}),
    "the second and the third": state({1: ON, 2: ON}),
    "the first and the third": state({0: ON, 2: ON}),
    "the first, of two": state({0: ON}, max_gpus=2),
    "the first, of at least one": state({0: ON}, min_gpus=1),
    "the first, of two by the environment": state({0: ON}, cuda_visible_devices=Const("0,1")),
    "the first, of two visible": state({0: ON}, visible=shown(Seq((gpu(0), gpu(1))))),
    "another than the visible ones": state({0: ON}, visible=shown(Seq((gpu(0), gpu(1), gpu(2))))),
    "the first, all visible": state({0: ON}, visible=shown(ALL)),
    "the first, each visible in a loop": state({0: ON}, visible=shown(gpu(EACH))),
    "the first, all visible on some way": state({0: ON}, visible=shown(gpu(0), None)),
    "the first, the second visible on some way": state({0: ON}, visible=shown(gpu(0), gpu(1))),
    "the first, what is visible is no device": state({0: ON}, visible=shown(Seq((gpu(0), UNKNOWN)))),
    "a limit under another condition": state(
        {0: ON}, limits={1: Setting(UNKNOWN, setting(True, FLAG).by, (setting(), None))}
    ),
}
ONE_IS_OTHERWISE: dict[str, tuple[State, list[Key]]] = {
    "all, then the first off": (state({EACH: ON, 0: OFF}), [0]),
    "all off, then two on": (state({EACH: OFF, 0: ON, 1: ON}), [0, 1]),
    "all, then one off and one on": (state({EACH: ON, 0: OFF, 1: ON}), [0]),
    "one on, one off": (state({0: ON, 1: OFF}), [0]),
    "all but one in a loop": (state({0: ON, PART: Setting(UNKNOWN, ON.by, (None, ON))}), [PART]),
    "one off, one on, one off": (state({0: OFF, 1: ON, 2: OFF}), [1]),
}


class TestPartialGrowth:
    @pytest.mark.parametrize("at", ALIKE.values(), ids=ALIKE)
    def test_nothing_is_said_where_all_may_be_alike(self, at: State) -> None:
        assert at.partial_growth is None
        assert not at.may_differ

    @pytest.mark.parametrize("at", PARTIAL.values(), ids=PARTIAL)
    def test_some_visible_gpu_is_left_without_it(self, at: State) -> None:
        assert at.partial_growth == at.growth
        assert at.may_differ

    @pytest.mark.parametrize(("at", "keys"), ONE_IS_OTHERWISE.values(), ids=ONE_IS_OTHERWISE)
    def test_those_that_are_otherwise_are_named(self, at: State, keys: list[Key]) -> None:
        assert list(at.partial_growth or ()) == keys
        assert at.may_differ


class TestMayDiffer:
    @pytest.mark.parametrize(
        "at",
        [
            state({ANY: ON}, max_gpus=1),
            state({ANY: ON}, visible=shown(gpu(0))),
            state({EACH: Setting(UNKNOWN, None, (ON, None))}),
            state({EACH: ON, 0: NOT_KNOWN}),
            state({EACH: Setting(UNKNOWN, None, (ON, OFF)), 0: ON}),
            state({EACH: Setting(UNKNOWN, None, (ON, None)), 0: ON}, max_gpus=1),
        ],
    )
    def test_all_are_alike_as_far_as_is_known(self, at: State) -> None:
        assert not at.may_differ

    @pytest.mark.parametrize(
        "at",
        [state({ANY: ON}), state({EACH: Setting(UNKNOWN, None, (ON, None)), 0: ON})],
        ids=["a GPU that is not known", "all on some way, and the first"],
    )
    def test_nobody_knows_which_have_it(self, at: State) -> None:
        assert at.partial_growth is None
        assert at.may_differ


class TestOneGpu:
    @pytest.mark.parametrize(
        "at",
        [
            State(),
            State(min_gpus=1),
            State(max_gpus=2),
            State(cuda_visible_devices=Const("0,1")),
            State(cuda_visible_devices=Const("0,1"), max_gpus=8),
        ],
    )
    def test_there_may_be_more(self, at: State) -> None:
        assert not at.one_gpu
        assert not at.single_gpu

    @pytest.mark.parametrize(
        "at",
        [
            *(State(max_gpus=0), State(max_gpus=1), State(max_gpus=1, cuda_visible_devices=Const("0,1"))),
            *(State(cuda_visible_devices=Const("1")), State(cuda_visible_devices=Const(""))),
            *(State(cuda_visible_devices=UNKNOWN), State(cuda_visible_devices=Const(0))),
        ],
    )
    def test_at_most_one_is_listed(self, at: State) -> None:
        assert at.one_gpu
        assert at.single_gpu

    @pytest.mark.parametrize(
        "visible", [ALL, SOME, gpu(EACH), gpu(0, loop=True), Seq((gpu(0), gpu(1))), UNKNOWN, Const(0)]
    )
    def test_more_than_one_may_be_visible(self, visible: Value) -> None:
        assert not State(visible=shown(visible)).single_gpu

    @pytest.mark.parametrize("visible", [gpu(0), gpu("i"), Seq(()), Seq((gpu(1),)), Seq((UNKNOWN,))])
    def test_one_is_visible_of_those_that_are_listed(self, visible: Value) -> None:
        assert State(visible=shown(visible)).single_gpu
        assert not State(visible=shown(visible)).one_gpu


class TestSettingOfAGpu:
    def test_without_a_setting_there_is_none(self) -> None:
        assert State().growth_of(0) is None
        assert State().limit_of(0) is None
        at = State(growth={1: ON}, limits={1: OFF})
        assert at.growth_of(0) is None
        assert at.limit_of(0) is None

    def test_its_own_comes_before_that_of_all(self) -> None:
        at = State(growth={EACH: ON, 0: OFF}, limits={EACH: OFF, 0: ON})
        assert at.growth_of(0) is OFF
        assert at.limit_of(0) is ON

    def test_what_was_set_for_all_holds_for_it(self) -> None:
        at = State(growth={EACH: ON}, limits={EACH: OFF})
        assert at.growth_of(3) is ON
        assert at.limit_of(3) is OFF

    def test_the_visible_ones_are_known_one_by_one_where_they_are_listed(self) -> None:
        assert State().visible_gpus is None
        assert State(visible=shown(ALL)).visible_gpus is None
        assert State(visible=shown(Seq((gpu(0),)))).visible_gpus == (gpu(0),)

    def test_a_setting_has_itself_as_its_only_way(self) -> None:
        assert ON.ways == (ON,)
        assert Setting(UNKNOWN, None, (ON, None)).ways == (ON, None)


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (State(), False),
        (State(eager=None), False),
        (State(eager=False), True),
        (State(graphs=1), True),
        (State(graphs=2, eager=None), True),
    ],
)
def test_an_op_goes_into_a_graph_in_graph_mode(at: State, expected: bool) -> None:
    assert at.graph_mode is expected
