"""The strategies in the order in which they are tried: from the least to the most intrusive."""

from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.fixes.order.at_start import configure_at_start
from tfmemlint.fixes.order.attribute import make_cached_property
from tfmemlint.fixes.order.class_constant import make_property
from tfmemlint.fixes.order.consume_early import consume_early
from tfmemlint.fixes.order.dataclass_field import make_field_property
from tfmemlint.fixes.order.defaults import take_out_of_definition
from tfmemlint.fixes.order.defer_import import defer_import
from tfmemlint.fixes.order.environment import force_growth
from tfmemlint.fixes.order.extract import extract, extract_all, extract_further_up
from tfmemlint.fixes.order.into_constructor import move_into_constructor
from tfmemlint.fixes.order.lazy_argument import make_argument_lazy
from tfmemlint.fixes.order.leave_block import leave_block
from tfmemlint.fixes.order.leave_fixture import leave_fixture
from tfmemlint.fixes.order.list_physical import list_physical_devices
from tfmemlint.fixes.order.module_constant import make_function
from tfmemlint.fixes.order.move_call import move_in_scope, move_to_top_level
from tfmemlint.fixes.order.move_starter import move_starter_down
from tfmemlint.fixes.order.problem import Candidate, OrderProblem, Strategy
from tfmemlint.fixes.order.spawn_processes import spawn_processes
from tfmemlint.fixes.order.split_import import split_import
from tfmemlint.fixes.order.visible import set_visible_devices
from tfmemlint.fixes.order.widen_with import widen_with
from tfmemlint.fixes.withheld import Withheld
from tfmemlint.model.records import dataclass


def change_starter(problem: OrderProblem) -> Iterator[Candidate]:
    """Change what starts the runtime: out of a definition, down, or into the functions that use it.

    Where an import leads to it, the imported files are tried as well, beginning with that of the start.
    """
    reason: Withheld | None = None
    for strategy in (
        take_out_of_definition,
        make_property,
        make_cached_property,
        make_field_property,
        make_argument_lazy,
    ):
        try:
            yield from strategy(problem)
        except Withheld as found:
            reason = found
    for depth in (0, *range(len(problem.early) - 1, 0, -1)):
        for strategy in (move_starter_down, make_function, defer_import):
            try:
                yield from strategy(problem.at(depth))
            except Withheld as found:
                reason = reason or found
    if reason is not None:
        raise reason


@dataclass(frozen=True, slots=True)
class Plan:
    """Strategies that are applied one after the other.

    Attributes:
        steps: what the first proposes is the problem of the next.
        repeats: the last is applied to each statement in turn that starts the runtime too early.
        last_resort: it is not tried where a better plan needs files that may not be changed.
        moves_output: what is printed, logged or written to files may come in another order afterwards.
    """

    steps: tuple[Strategy, ...]
    repeats: bool = False
    last_resort: bool = False
    moves_output: bool = False


PLANS = (
    Plan((spawn_processes,)),
    Plan((consume_early,)),
    Plan((move_in_scope,)),
    Plan((split_import, move_in_scope)),
    Plan((move_to_top_level,)),
    Plan((consume_early, move_in_scope)),
    Plan((leave_block,)),
    Plan((leave_fixture,)),
    Plan((list_physical_devices,)),
    Plan((take_out_of_definition,), repeats=True),
    Plan((move_into_constructor,)),
    Plan((widen_with,)),
    Plan((extract,)),
    Plan((change_starter,), repeats=True),
    Plan((extract_all,)),
    Plan((extract_further_up,)),
    Plan((set_visible_devices,)),
    Plan((consume_early,), moves_output=True),
    Plan((move_in_scope,), moves_output=True),
    Plan((move_to_top_level,), moves_output=True),
    Plan((move_into_constructor,), moves_output=True),
    Plan((extract,), moves_output=True),
    Plan((change_starter,), repeats=True, moves_output=True),
    Plan((configure_at_start,), last_resort=True),
    Plan((force_growth,), last_resort=True),
)
