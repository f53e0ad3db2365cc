"""Conditions: whether a test holds, and what follows for the number of GPUs."""

from __future__ import annotations

import ast
from dataclasses import replace

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.observer import Decision, Reason
from tfmemlint.interpreter.operations.events import event_fields
from tfmemlint.interpreter.operations.numbers_in_loops import is_nonzero
from tfmemlint.interpreter.state import State, Tri
from tfmemlint.interpreter.state.options import NumberTested
from tfmemlint.interpreter.values import (
    Choice,
    Const,
    Count,
    Devices,
    Dict,
    FileValue,
    Index,
    Made,
    PassNumber,
    Proto,
    Ref,
    Seq,
    TextMatch,
    Value,
)

_CONTEXT_INITIALIZED = "tf.python.eager.context.context()._initialized"
_GPU_TESTS = frozenset(
    {
        "tf.test.is_gpu_available",
        "tf.test.is_built_with_cuda",
        "tf.test.is_built_with_gpu_support",
        "tf.test.gpu_device_name",
    }
)


class TestResult:
    """The outcome of a test.

    ``truth`` is None if it isn't known; ``assumed`` is True if it is so on machines with a GPU.
    """

    __slots__ = ("assumed", "truth")

    def __init__(self, truth: bool | None, assumed: bool = False) -> None:
        self.truth = truth
        self.assumed = assumed


def decide(context: Context, test: ast.expr, value: Value) -> TestResult:
    """Return whether ``test``, which evaluated to ``value``, holds."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = decide(context, test.operand, context.last_values.get(id(test.operand), value))
        return TestResult(None if inner.truth is None else not inner.truth, inner.assumed)
    if isinstance(test, ast.BoolOp):
        parts = [decide(context, part, context.last_values.get(id(part), value)) for part in test.values]
        stop = isinstance(test.op, ast.Or)
        if any(part.truth is stop and not part.assumed for part in parts):
            return TestResult(stop)
        if all(part.truth is not None for part in parts):
            if any(part.truth is stop for part in parts):
                return TestResult(stop, assumed=True)
            return TestResult(not stop, assumed=any(part.assumed for part in parts))
        return TestResult(None)
    if isinstance(test, ast.Compare):
        known = _count_test(context, test)
        if known is not None:
            return known
    if context.state is not None and context.state.max_gpus == 0 and _counts_gpus(value):
        return TestResult(False)
    if isinstance(value, Ref) and value.name == _CONTEXT_INITIALIZED:
        started = context.here.context.under(context.guards).has
        return TestResult({Tri.YES: True, Tri.NO: False}.get(started))
    return _truth_of_value(value)


def tell_test(context: Context, test: ast.expr, value: Value, result: TestResult) -> None:
    """Tell the observer how a test that came out as ``value`` is decided, and why."""
    if context.observer is None:
        return
    if result.truth is not None:
        decision = Decision.TAKEN if result.truth else Decision.NOT_TAKEN
        reason = Reason.ASSUMED if result.assumed else Reason.KNOWN
    else:
        decision, reason = Decision.BOTH, Reason.UNKNOWN
        if isinstance(value, Choice):
            reason = Reason.JOINED
        elif isinstance(value, Ref) and value.name == _CONTEXT_INITIALIZED:
            reason = Reason.UNKNOWN_STATE
    context.tell_branch(test, decision, reason)


def _report_number(context: Context, test: ast.Compare) -> None:
    """Report the comparison of a number, which is known and not written there, with the count of the physical GPUs, if
    the number is one that the listing is asked for: ``if number < len(gpus): gpus[number]``."""
    if len(test.ops) != 1 or context.state is None or context.here.cuda_visible_devices is None:
        return
    for number, count in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
        value, counted = context.last_values.get(id(number)), context.last_values.get(id(count))
        if not isinstance(counted, Count) or isinstance(number, ast.Constant) or not isinstance(count, ast.Call):
            continue
        asked = f"{context.text(count.args[0])}[{context.text(number)}]" if count.args else ""
        whole = counted.of.type == "GPU" and counted.of.whole
        # A number that a configuration file has is that of the launches that read it.
        index = value.value if isinstance(value, (Const, FileValue)) else None
        if type(index) is int and whole and asked in context.source.text:
            context.emit(NumberTested(index=index, key=context.span(number), text=asked, **event_fields(context, test)))


def _count_test(context: Context, test: ast.Compare) -> TestResult | None:
    """Decide ``len(gpus) > 0`` and the like: it is assumed that there is a GPU."""
    _report_number(context, test)
    counted = _count_and_number(context, test)
    if counted is None:
        return None
    op, number = counted
    state = context.here
    low, high = max(0 if state.max_gpus == 0 else 1, state.min_gpus), state.max_gpus
    match op:
        case ast.Gt():
            truth = True if low > number else (False if high is not None and high <= number else None)
        case ast.GtE():
            truth = True if low >= number else (False if high is not None and high < number else None)
        case ast.Lt():
            truth = False if low >= number else (True if high is not None and high < number else None)
        case ast.LtE():
            truth = False if low > number else (True if high is not None and high <= number else None)
        case ast.Eq():
            truth = False if low > number else (True if high == low == number else None)
        case ast.NotEq():
            truth = True if low > number else (False if high == low == number else None)
        case _:
            return None
    return TestResult(truth, assumed=truth is not None and high != 0)


def _count_and_number(context: Context, test: ast.Compare) -> tuple[ast.cmpop, int] | None:
    if len(test.ops) != 1:
        return None
    left = context.last_values.get(id(test.left))
    right = context.last_values.get(id(test.comparators[0]))
    if not (isinstance(left, Count) and left.of.type == "GPU" and left.of.whole):
        return None
    if isinstance(right, Const) and isinstance(right.value, int):
        return test.ops[0], int(right.value)
    return None


def refine(context: Context, state: State, test: ast.expr, outcome: bool) -> State:
    """Return the state with what is known of the number of GPUs after ``test`` came out as ``outcome``."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return refine(context, state, test.operand, not outcome)
    if isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) is outcome:
            for part in test.values:
                state = refine(context, state, part, outcome)
        return state
    value = context.last_values.get(id(test))
    if value is not None and _counts_gpus(value):
        # The list itself, or how long it is.
        whole = value.of.whole if isinstance(value, Count) else getattr(value, "whole", False)
        if outcome:
            return replace(state, min_gpus=max(state.min_gpus, 1))
        return replace(state, max_gpus=0) if whole else state
    if not isinstance(test, ast.Compare):
        return state
    counted = _count_and_number(context, test)
    if counted is None:
        return state
    op, number = counted
    low, high = _gpu_range(op, number, outcome)
    most = state.max_gpus if high is None else (high if state.max_gpus is None else min(state.max_gpus, high))
    return replace(state, min_gpus=max(state.min_gpus, low), max_gpus=most)


def _counts_gpus(value: Value) -> bool:
    """True if a value is truthy exactly where there is a GPU."""
    match value:
        case Devices(type="GPU") | Count(of=Devices(type="GPU")):
            return True
        case _:
            return False


def _truth_of_value(value: Value) -> TestResult:
    match value:
        case Const(constant):
            return TestResult(bool(constant))
        case Seq(items):
            return TestResult(bool(items))
        case TextMatch():
            return TestResult(True)
        case Dict(items, is_open):
            return TestResult(True if items else (None if is_open else False))
        case _ if _counts_gpus(value):
            # The code is about machines with a GPU; elsewhere nothing of this matters.
            return TestResult(True, assumed=True)
        case PassNumber() | Index():
            return TestResult(is_nonzero(value))
        case Proto():
            # A message has neither a length nor a truth value of its own, be there fields in it or not.
            return TestResult(True)
        case Ref("typing.TYPE_CHECKING" | "typing_extensions.TYPE_CHECKING"):
            return TestResult(False)
        case Made(name) if name in _GPU_TESTS:
            return TestResult(True, assumed=True)
        case _:
            return TestResult(None)


def _gpu_range(op: ast.cmpop, number: int, outcome: bool) -> tuple[int, int | None]:
    """Return the fewest and the most GPUs for which ``count op number`` comes out as ``outcome``."""
    match op, outcome:
        case (ast.Gt(), True) | (ast.LtE(), False):
            return number + 1, None
        case (ast.GtE(), True) | (ast.Lt(), False):
            return number, None
        case (ast.Lt(), True) | (ast.GtE(), False):
            return 0, max(number - 1, 0)
        case (ast.LtE(), True) | (ast.Gt(), False):
            return 0, number
        case (ast.Eq(), True) | (ast.NotEq(), False):
            return number, number
        case (ast.Eq(), False) | (ast.NotEq(), True) if number == 0:
            return 1, None
        case _:
            return 0, None
