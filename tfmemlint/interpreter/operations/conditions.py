"""TODO."""

from __future__ import annotations

import ast
from dataclasses import replace

from tfmemlint.interpreter.context import Context
from tfmemlint.interpreter.state import State, Tri
from tfmemlint.interpreter.values import Const, Count, Devices, Dict, Made, Ref, Seq, Value

_GPU_TESTS = frozenset(
    {
        "tf.test.is_gpu_available",
        "tf.test.is_built_with_cuda",
        "tf.test.is_built_with_gpu_support",
        "tf.test.gpu_device_name",
    }
)


class _TestResult:
    """What is known of a test: ``truth`` True, False, or None; ``assumed``: so on the machines the code is about."""

    __slots__ = ("assumed", "truth")

    def __init__(self, truth: bool | None, assumed: bool = False) -> None:
        self.truth = truth
        self.assumed = assumed


def decide(context: Context, test: ast.expr, value: Value) -> _TestResult:
    """Whether ``test``, which came out as ``value``, holds."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = decide(context, test.operand, context.last_values.get(id(test.operand), value))
        return _TestResult(None if inner.truth is None else not inner.truth, inner.assumed)
    if isinstance(test, ast.BoolOp):
        parts = [decide(context, part, context.last_values.get(id(part), value)) for part in test.values]
        stop = isinstance(test.op, ast.Or)
        if any(part.truth is stop and not part.assumed for part in parts):
            return _TestResult(stop)
        if all(part.truth is not None for part in parts):
            if any(part.truth is stop for part in parts):
                return _TestResult(stop, assumed=True)
            return _TestResult(not stop, assumed=any(part.assumed for part in parts))
        return _TestResult(None)
    if isinstance(test, ast.Compare):
        known = _count_test(context, test)
        if known is not None:
            return known
    if context.state is not None and context.state.max_gpus == 0 and _counts_gpus(value):
        return _TestResult(False)
    if isinstance(value, Ref) and value.name == "tf.python.eager.context.context()._initialized":
        started = context.here.context.under(context.guards).has
        return _TestResult({Tri.YES: True, Tri.NO: False}.get(started))
    return _truth_of_value(value)


def _count_test(context: Context, test: ast.Compare) -> _TestResult | None:
    """``len(gpus) > 0`` and ``len(gpus) != 0``: taken to hold, as the code is about machines with a GPU."""
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
    return _TestResult(truth, assumed=truth is not None and high != 0)


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
    """What is known of the number of GPUs where ``test`` came out as ``outcome``."""
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
    """Whether a value is true where there is a GPU."""
    match value:
        case Devices(type="GPU") | Count(of=Devices(type="GPU")):
            return True
        case _:
            return False


def _truth_of_value(value: Value) -> _TestResult:
    match value:
        case Const(constant):
            return _TestResult(bool(constant))
        case Seq(items):
            return _TestResult(bool(items))
        case Dict(items, is_open):
            return _TestResult(True if items else (None if is_open else False))
        case _ if _counts_gpus(value):
            # The code is about machines with a GPU; elsewhere nothing of this matters.
            return _TestResult(True, assumed=True)
        case Ref("typing.TYPE_CHECKING" | "typing_extensions.TYPE_CHECKING"):
            return _TestResult(False)
        case Made(name) if name in _GPU_TESTS:
            return _TestResult(True, assumed=True)
        case _:
            return _TestResult(None)


def _gpu_range(op: ast.cmpop, number: int, outcome: bool) -> tuple[int, int | None]:
    """The fewest and the most GPUs for which ``count op number`` comes out as ``outcome``."""
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
