"""Joins of values: where two ways meet, only what both agree on is known."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from tfmemlint.interpreter.scopes import Scope
from tfmemlint.interpreter.values import (
    EACH,
    MOST_CODE_OPTIONS,
    MOST_OPTIONS,
    UNKNOWN,
    Amount,
    Cell,
    Choice,
    Class,
    Const,
    Count,
    Device,
    Devices,
    Dict,
    Function,
    Instance,
    Partial,
    Proto,
    ProtoRecord,
    Ref,
    Seq,
    Value,
    as_made,
    holds_code,
    is_called,
    is_same,
    join,
    join_contents,
    parts,
)

ONE, TWO = Const(1), Const(2)
GPUS = Devices("physical", "GPU")


def function(name: str = "f") -> Function:
    """A function of the program: two calls make two different ones."""
    node = ast.parse(f"def {name}(): pass").body[0]
    assert isinstance(node, ast.FunctionDef)
    return Function(node, Scope())


def proto() -> Proto:
    """A `ConfigProto` that nothing has got yet."""
    return Proto("tf.compat.v1.ConfigProto", ProtoRecord())


def listed(*items: Value, watched: bool = False, kind: str = "list") -> Seq:
    """A list that can be told from others with the same in it."""
    return as_list(Cell(1, Seq(items, kind), watched))


def as_list(cell: Cell) -> Seq:
    """A list as it was made."""
    made = as_made(cell)
    assert isinstance(made, Seq)
    return made


def table(*, watched: bool = False, open: bool = False, **items: Value) -> Dict:  # noqa: A002
    """A dictionary that can be told from others with the same in it."""
    made = as_made(Cell(1, Dict(items, open), watched))
    assert isinstance(made, Dict)
    return made


F, G = function(), function("g")
CLASS = Class(ast.ClassDef("A", [], [], [], []), Scope())


class TestJoin:
    @pytest.mark.parametrize(
        ("left", "right"),
        [
            (ONE, TWO),
            (ONE, None),
            (None, ONE),
            (None, None),
            (ONE, UNKNOWN),
            (Ref("tf.a"), Ref("tf.b")),
            (Ref("tf.a"), ONE),
            (GPUS, Devices("physical", "CPU")),
            (GPUS, Devices("logical", "GPU")),
            (GPUS, Devices("physical", "GPU", whole=False)),
            (GPUS, Count(GPUS)),
            (Device("physical", "GPU", 0), Device("physical", "GPU", 1)),
            (Seq((ONE,)), Seq((ONE, ONE))),
            (Seq((ONE,)), Dict({"a": ONE})),
            (Dict({"a": ONE}), Dict({"a": TWO})),
            (Dict({"a": ONE}), Dict({"a": ONE}, open=True)),
            (Const(float("nan")), Const(float("nan"))),
        ],
    )
    def test_what_differs_is_not_known(self, left: Value | None, right: Value | None) -> None:
        assert join(left, right) == UNKNOWN

    @pytest.mark.parametrize(("left", "right"), [(1, True), (0, False), (1, 1.0), (True, 1.0), (0, 0.0)])
    def test_constants_that_python_calls_equal_are_different_values(self, left: Any, right: Any) -> None:
        assert join(Const(left), Const(right)) == UNKNOWN
        assert join(Const(right), Const(left)) == UNKNOWN

    @pytest.mark.parametrize(
        "value",
        [ONE, Const(None), Const(True), Ref("tf.config"), GPUS, Count(GPUS), Dict({"a": ONE}), Seq((ONE, TWO))],
    )
    def test_what_is_equal_is_kept(self, value: Value) -> None:
        assert join(value, value) is value

    def test_an_equal_constant_is_kept(self) -> None:
        assert join(Const("a"), Const("a")) == Const("a")

    def test_lists_of_one_length_are_joined_item_by_item(self) -> None:
        assert join(Seq((ONE, TWO)), Seq((ONE, ONE))) == Seq((ONE, UNKNOWN))

    def test_a_joined_list_is_of_the_first_kind(self) -> None:
        joined = join(Seq((ONE, TWO), "tuple"), Seq((ONE, ONE), "list"))
        assert isinstance(joined, Seq)
        assert joined.kind == "tuple"

    def test_values_that_cannot_be_compared_are_not_known(self) -> None:
        class Strange:
            def __eq__(self, other: object) -> bool:
                raise ValueError

        assert join(Const(Strange()), Const(Strange())) == UNKNOWN


class TestJoinOfListsThatCanBeToldApart:
    def test_two_lists_with_the_same_in_them_may_be_either(self) -> None:
        joined = join(listed(ONE), listed(ONE))
        assert joined == Seq((ONE,))
        assert isinstance(joined, Seq)
        assert joined.cell is None

    def test_two_dictionaries_with_the_same_in_them_may_be_either(self) -> None:
        joined = join(table(a=ONE), table(a=ONE))
        assert joined == Dict({"a": ONE})
        assert isinstance(joined, Dict)
        assert joined.cell is None

    def test_one_list_stays_that_list_whatever_is_in_it_on_either_way(self) -> None:
        cell = Cell(1, Seq(()), watched=False)
        left, right = Seq((ONE,), cell=cell), Seq((TWO,), cell=cell)
        assert join(left, right) is left

    def test_a_list_without_identity_is_not_the_one_with_the_same_in_it(self) -> None:
        joined = join(Seq((ONE,)), Seq((TWO,)))
        assert joined == Seq((UNKNOWN,))

    def test_lists_that_may_get_callbacks_are_a_choice(self) -> None:
        left, right = listed(watched=True), listed(watched=True)
        assert join(left, right) == Choice((left, right))
        joined = join(left, right)
        assert isinstance(joined, Choice)
        assert len(joined.options) == 2

    def test_the_same_list_twice_is_one_option(self) -> None:
        left = listed(F)
        joined = join(Choice((left,)), left)
        assert isinstance(joined, Choice)
        assert len(joined.options) == 1


class TestJoinOfWhatIsCalled:
    def test_a_function_on_one_way_only_may_be_something_else(self) -> None:
        assert join(F, None) == Choice((F, UNKNOWN))
        assert join(None, F) == Choice((UNKNOWN, F))

    def test_two_functions_are_a_choice(self) -> None:
        assert join(F, G) == Choice((F, G))

    def test_an_option_is_not_there_twice(self) -> None:
        assert join(join(F, G), join(G, F)) == Choice((F, G))

    @pytest.mark.parametrize("constant", [Const(None), ONE])
    def test_a_constant_is_left_out_of_what_is_called(self, constant: Const) -> None:
        assert join(F, constant) == Choice((F,))
        assert join(constant, F) == Choice((F,))

    @pytest.mark.parametrize("value", [GPUS, Device("physical", "GPU", 0)])
    def test_what_is_no_code_is_some_other_value(self, value: Value) -> None:
        assert join(F, value) == Choice((F, UNKNOWN))

    def test_an_imported_function_is_an_option(self) -> None:
        assert join(F, Ref("tf.constant")) == Choice((F, Ref("tf.constant")))

    def test_an_instance_and_a_partial_are_options(self) -> None:
        instance, partial = Instance(CLASS), Partial(F, (), {})
        assert join(instance, partial) == Choice((instance, partial))

    def test_as_many_options_as_are_followed(self) -> None:
        functions = tuple(function() for _ in range(MOST_CODE_OPTIONS))
        joined: Value = functions[0]
        for other in functions[1:]:
            joined = join(joined, other)
        assert joined == Choice(functions)

    def test_more_options_than_are_followed_are_not_known(self) -> None:
        joined: Value = function()
        for _ in range(MOST_CODE_OPTIONS):
            joined = join(joined, function())
        assert joined == UNKNOWN

    def test_a_list_of_functions_is_an_option(self) -> None:
        assert join(Seq((F,)), Seq((G,))) == Choice((Seq((F,)), Seq((G,))))

    def test_a_list_without_code_is_an_option_beside_one_with_code(self) -> None:
        assert join(Seq(()), Seq((F,))) == Choice((Seq(()), Seq((F,))))


class TestJoinOfMessages:
    def test_a_message_that_a_name_may_mean_is_taken_to_be_used(self) -> None:
        for other in (None, UNKNOWN, ONE, F):
            for left in (True, False):
                message = proto()
                joined = join(message, other) if left else join(other, message)
                assert joined == UNKNOWN or isinstance(joined, Choice)
                assert message.record.consumed

    def test_of_two_messages_both_are_taken_to_be_used(self) -> None:
        left, right = proto(), proto()
        assert join(left, right) == UNKNOWN
        assert left.record.consumed
        assert right.record.consumed

    def test_one_message_stays_that_message(self) -> None:
        message = proto()
        assert join(message, message) is message
        assert not message.record.consumed


class TestParts:
    @pytest.mark.parametrize("value", [UNKNOWN, ONE, GPUS, F, Ref("tf.x"), Device("physical", "GPU")])
    def test_what_holds_nothing_has_no_parts(self, value: Value) -> None:
        assert parts(value) == ()

    def test_parts_of_what_holds_values(self) -> None:
        assert parts(Seq((ONE, TWO))) == (ONE, TWO)
        assert parts(Dict({"a": ONE, "b": TWO})) == (ONE, TWO)
        assert parts(Choice((F, G))) == (F, G)


class TestHoldsCode:
    @pytest.mark.parametrize(
        "value",
        [
            *(None, UNKNOWN, ONE, GPUS, F, Choice((F,))),
            *(Seq(()), Seq((ONE,)), Dict({}), Dict({"a": ONE}), listed(), listed(ONE), table(a=ONE)),
        ],
    )
    def test_nothing_to_call_in_it(self, value: Value | None) -> None:
        assert not holds_code(value)

    @pytest.mark.parametrize(
        "value",
        [
            *(Seq((F,)), Seq((ONE, F)), Seq((Seq((F,)),)), Dict({"a": F}), Dict({"a": ONE, "b": CLASS})),
            *(Dict({"a": Seq((ONE, F))}), listed(F), listed(watched=True), table(watched=True)),
        ],
    )
    def test_something_to_call_in_it_or_yet_to_come(self, value: Value) -> None:
        assert holds_code(value)

    @pytest.mark.parametrize("value", [UNKNOWN, ONE, Ref("tf.constant"), GPUS, proto(), listed(watched=True)])
    def test_what_is_no_code_of_the_program(self, value: Value) -> None:
        assert not is_called(value)

    @pytest.mark.parametrize("value", [F, CLASS, Instance(CLASS), Partial(F, (), {}), Choice((ONE,)), Seq((F,))])
    def test_what_is_code_of_the_program(self, value: Value) -> None:
        assert is_called(value)


class TestIsSame:
    @pytest.mark.parametrize(
        ("left", "right"),
        [
            (ONE, ONE),
            (F, F),
            (Seq((ONE,)), Seq((TWO,))),
            (Seq((ONE,)), ONE),
            (ONE, Seq((ONE,))),
            (listed(ONE), listed(ONE)),
            (listed(ONE), Seq((ONE,))),
            (Seq(()), Dict({})),
        ],
    )
    def test_not_one_list(self, left: Value, right: Value) -> None:
        assert not is_same(left, right)

    def test_one_list_with_other_things_in_it_is_not_the_same(self) -> None:
        cell = Cell(1, Seq(()), watched=False)
        assert not is_same(Seq((ONE,), cell=cell), Seq((TWO,), cell=cell))

    def test_one_list(self) -> None:
        cell = Cell(1, Seq((ONE,)), watched=False)
        assert is_same(as_made(cell), as_made(cell))
        assert is_same(Seq((ONE,)), Seq((ONE,)))


class TestJoinContents:
    CELL = Cell(1, Seq((ONE,)), watched=False)

    def test_a_list_as_it_was_made_on_both_ways(self) -> None:
        joined = join_contents(self.CELL, None, None)
        assert joined == Seq((ONE,))
        assert isinstance(joined, Seq)
        assert joined.cell is self.CELL

    def test_a_list_that_one_way_has_changed_back(self) -> None:
        assert join_contents(self.CELL, Seq((ONE,)), None) == Seq((ONE,))

    @pytest.mark.parametrize("other", [Seq(()), Seq((ONE, ONE)), Dict({"a": ONE}), UNKNOWN, ONE])
    def test_what_differs_is_not_known(self, other: Value) -> None:
        assert join_contents(self.CELL, other, None) == UNKNOWN
        assert join_contents(self.CELL, None, other) == UNKNOWN

    def test_items_are_joined_one_by_one_in_the_same_list(self) -> None:
        joined = join_contents(self.CELL, Seq((ONE, ONE)), Seq((ONE, TWO)))
        assert joined == Seq((ONE, UNKNOWN))
        assert isinstance(joined, Seq)
        assert joined.cell is self.CELL

    @pytest.mark.parametrize("other", [True, 1.0])
    def test_equal_constants_of_another_type_differ(self, other: Any) -> None:
        assert join_contents(self.CELL, Seq((Const(other),)), None) == Seq((UNKNOWN,))

    def test_of_dictionaries_that_differ_nothing_is_known(self) -> None:
        cell = Cell(1, Dict({"a": ONE}), watched=False)
        for other in (Dict({"a": TWO}), Dict({"b": ONE}), Dict({"a": ONE, "b": ONE}), Dict({"a": ONE}, open=True)):
            assert join_contents(cell, other, None) == UNKNOWN
        assert join_contents(cell, Dict({"a": Const(True)}), None) == UNKNOWN
        assert join_contents(cell, Dict({"a": ONE, "b": ONE}), Dict({"a": ONE, "b": TWO})) == UNKNOWN

    def test_the_order_of_keys_matters(self) -> None:
        cell = Cell(1, Dict({"a": ONE, "b": TWO}), watched=False)
        assert join_contents(cell, Dict({"b": TWO, "a": ONE}), None) == UNKNOWN

    def test_equal_dictionaries_are_kept(self) -> None:
        cell = Cell(1, Dict({"a": ONE}), watched=False)
        assert join_contents(cell, Dict({"a": ONE}), None) == Dict({"a": ONE})

    def test_contents_with_code_are_a_choice(self) -> None:
        with_code = Seq((F,))
        assert join_contents(self.CELL, with_code, None) == Choice((with_code, Seq((ONE,))))

    def test_choices_are_taken_apart_and_each_content_counted_once(self) -> None:
        with_f, with_g = Seq((F,)), Seq((G,))
        assert join_contents(self.CELL, Choice((with_f, with_g)), with_g) == Choice((with_f, with_g))

    def test_a_choice_with_something_else_in_it_is_not_known(self) -> None:
        assert join_contents(self.CELL, Choice((Seq((F,)), UNKNOWN)), None) == UNKNOWN

    def test_as_many_contents_as_are_followed(self) -> None:
        contents = tuple(Seq((function(),)) for _ in range(MOST_OPTIONS))
        assert join_contents(self.CELL, Choice(contents[1:]), contents[0]) == Choice((*contents[1:], contents[0]))

    def test_more_contents_than_are_followed_are_not_known(self) -> None:
        contents = tuple(Seq((function(),)) for _ in range(MOST_OPTIONS + 1))
        assert join_contents(self.CELL, Choice(contents[1:]), contents[0]) == UNKNOWN

    def test_three_contents_without_code_are_not_known(self) -> None:
        contents = Choice((Seq((ONE,)), Seq((TWO,)), Seq((Const(3),))))
        assert join_contents(self.CELL, contents, contents) == UNKNOWN


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        (Device("physical", "GPU", 0), False),
        (Device("physical", "GPU", "args.gpu"), False),
        (Device("physical", "GPU"), False),
        (Device("physical", "GPU", EACH), True),
        (Device("physical", "GPU", 0, loop=True), True),
    ],
)
def test_a_device_stands_for_every_one_of_a_loop(device: Device, expected: bool) -> None:
    assert device.each is expected


NUMBER, TEXT, LISTING = (Amount(type_, "mib", "--limit") for type_ in ("number", "str", "list"))


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (NUMBER, NUMBER, NUMBER),
        (NUMBER, Amount("number", "gib", "--limit"), Amount("number", "", "--limit")),
        (NUMBER, Amount("number", "mib", "--limit", sure=False), Amount("number", "mib", "--limit", sure=False)),
        (NUMBER, TEXT, Amount("", "mib")),
        (TEXT, LISTING, Amount("", "mib")),
        (NUMBER, Amount("str", "gib"), UNKNOWN),
        (NUMBER, Amount("str", ""), UNKNOWN),
        (TEXT, Const("4096"), TEXT),
        (NUMBER, Const("4096"), UNKNOWN),
        (TEXT, Const(None), Amount("str", "mib", "--limit", sure=False)),
        (TEXT, Const(4096), Amount("str", "mib", "--limit", sure=False)),
        (TEXT, Const(True), UNKNOWN),
        (NUMBER, Const(4096), UNKNOWN),
        (NUMBER, Device("physical", "GPU", 0), UNKNOWN),
    ],
)
def test_of_two_amounts_only_what_both_are_is_known(left: Value, right: Value, expected: Value) -> None:
    def told(value: Value) -> object:
        return (value.type, value.unit, value.source, value.sure) if isinstance(value, Amount) else value is UNKNOWN

    assert told(join(left, right)) == told(expected)
    if not isinstance(right, Amount) or right.source:
        assert told(join(right, left)) == told(expected)
