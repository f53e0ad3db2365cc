"""Conditions: whether a test can be told, what it is called, and what is known where it holds."""

from __future__ import annotations

import ast
from dataclasses import replace

from tfmemlint.facts.shapes import TestFacts
from tfmemlint.interpreter.containers import Containers
from tfmemlint.interpreter.state import Guards, State, Tri
from tfmemlint.interpreter.values import Const, Count, Devices, Dict, Made, Module, Ref, Seq, Value


class TestResult:
    """What is known of a test: ``truth`` True, False, or None; ``assumed``: so on the machines the code is about."""

    __slots__ = ("assumed", "truth")

    def __init__(self, truth: bool | None, assumed: bool = False) -> None:
        self.truth = truth
        self.assumed = assumed


class Conditions(Containers):
    """Reading tests."""

    def verdict(self, test: ast.expr, value: Value) -> TestResult:
        """Whether ``test``, which came out as ``value``, holds."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.verdict(test.operand, self.last_values.get(id(test.operand), value))
            return TestResult(None if inner.truth is None else not inner.truth, inner.assumed)
        if isinstance(test, ast.BoolOp):
            parts = [self.verdict(part, self.last_values.get(id(part), value)) for part in test.values]
            stop = isinstance(test.op, ast.Or)
            if any(part.truth is stop and not part.assumed for part in parts):
                return TestResult(stop)
            if all(part.truth is not None for part in parts):
                if any(part.truth is stop for part in parts):
                    return TestResult(stop, assumed=True)
                return TestResult(not stop, assumed=any(part.assumed for part in parts))
            return TestResult(None)
        if isinstance(test, ast.Compare):
            known = self._count_test(test)
            if known is not None:
                return known
        if self.state is not None and self.state.max_gpus == 0 and _counts_gpus(value):
            return TestResult(False)
        if isinstance(value, Ref) and value.name == "tf.python.eager.context.context()._initialized":
            started = self.here.context.under(self.guards).has
            return TestResult({Tri.YES: True, Tri.NO: False}.get(started))
        return _truth(value)

    def _count_test(self, test: ast.Compare) -> TestResult | None:
        """``len(gpus) > 0`` and ``len(gpus) != 0``: taken to hold, as the code is about machines with a GPU."""
        counted = self._count_and_number(test)
        if counted is None:
            return None
        op, number = counted
        state = self.here
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

    def _count_and_number(self, test: ast.Compare) -> tuple[ast.cmpop, int] | None:
        if len(test.ops) != 1:
            return None
        left = self.last_values.get(id(test.left))
        right = self.last_values.get(id(test.comparators[0]))
        if not (isinstance(left, Count) and left.of.type == "GPU" and left.of.whole):
            return None
        if isinstance(right, Const) and isinstance(right.value, int):
            return test.ops[0], int(right.value)
        return None

    def refine(self, state: State, test: ast.expr, outcome: bool) -> State:
        """What is known of the number of GPUs where ``test`` came out as ``outcome``."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.refine(state, test.operand, not outcome)
        if isinstance(test, ast.BoolOp):
            if isinstance(test.op, ast.And) is outcome:
                for part in test.values:
                    state = self.refine(state, part, outcome)
            return state
        value = self._last_values.get(id(test))
        if value is not None and _counts_gpus(value):
            # The list itself, or how long it is.
            whole = value.of.whole if isinstance(value, Count) else getattr(value, "whole", False)
            if outcome:
                return replace(state, min_gpus=max(state.min_gpus, 1))
            return replace(state, max_gpus=0) if whole else state
        if not isinstance(test, ast.Compare):
            return state
        counted = self._count_and_number(test)
        if counted is None:
            return state
        op, number = counted
        low, high = _range(op, number, outcome)
        most = state.max_gpus if high is None else (high if state.max_gpus is None else min(state.max_gpus, high))
        return replace(state, min_gpus=max(state.min_gpus, low), max_gpus=most)

    def guards_of(self, test: ast.expr, outcome: bool) -> Guards:
        """The conditions that hold where ``test`` came out as ``outcome``, by a name for each."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.guards_of(test.operand, not outcome)
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is outcome:
            return tuple(guard for part in test.values for guard in self.guards_of(part, outcome))
        facts = self.unit.shapes.test(test)
        return ((self._guard_name(facts), outcome is facts.positive),)

    def _guard_name(self, facts: TestFacts) -> str:
        if facts.changes or (facts.calls and not self._comes_out_alike(facts)):
            return f"{facts.text} @{self.next_serial()}"
        versions = []
        for name in facts.names:
            value = self.scope.lookup(name)
            if isinstance(value, Module):
                # The same module, from wherever it is asked.
                versions.append(f"{name}={value.name}")
                continue
            number = self.scope.owner(name).number
            times = self.rebindings.get((number, name), 0)
            if number or times > 1:
                versions.append(f"{name}@{number}#{times}")
        for name in facts.attributes:
            if name in self.attributes_set:
                versions.append(f".{name}#{self.attributes_set[name]}")
        return " ".join([facts.text, *versions]) if versions else facts.text

    def _comes_out_alike(self, facts: TestFacts) -> bool:
        """Whether all that a test calls gives the same answer throughout a run, as long as its names stay."""
        for asked in facts.calls:
            if asked.function in _READS_ENVIRONMENT and isinstance(asked.first, ast.Constant):
                # Until the program itself sets it.
                if self.state is not None and asked.first.value in self.state.env:
                    return False
            elif asked.function == "len" and asked.first is not None:
                if asked.written != "sys.argv" and not isinstance(self._last_values.get(id(asked.call)), Count):
                    return False
            elif asked.function not in _ALIKE and not isinstance(self._last_values.get(id(asked.call)), Devices):
                return False
        return True

    @property
    def last_values(self) -> dict[int, Value]:
        """The value that each part of the current test had when it was last evaluated, by the node's id."""
        return self._last_values

    _last_values: dict[int, Value]


_ALIKE = frozenset({"bool", "hasattr", "isinstance"})
_READS_ENVIRONMENT = frozenset({"os.environ.get", "environ.get", "os.getenv", "getenv"})
_GPU_TESTS = frozenset(
    {
        "tf.test.is_gpu_available",
        "tf.test.is_built_with_cuda",
        "tf.test.is_built_with_gpu_support",
        "tf.test.gpu_device_name",
    }
)


def _counts_gpus(value: Value) -> bool:
    """Whether a value is true where there is a GPU."""
    match value:
        case Devices(type="GPU") | Count(of=Devices(type="GPU")):
            return True
        case _:
            return False


def _truth(value: Value) -> TestResult:
    match value:
        case Const(constant):
            return TestResult(bool(constant))
        case Seq(items):
            return TestResult(bool(items))
        case Dict(items, is_open):
            return TestResult(True if items else (None if is_open else False))
        case _ if _counts_gpus(value):
            # The code is about machines with a GPU; elsewhere nothing of this matters.
            return TestResult(True, assumed=True)
        case Ref("typing.TYPE_CHECKING" | "typing_extensions.TYPE_CHECKING"):
            return TestResult(False)
        case Made(name) if name in _GPU_TESTS:
            return TestResult(True, assumed=True)
        case _:
            return TestResult(None)


def _range(op: ast.cmpop, number: int, outcome: bool) -> tuple[int, int | None]:
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
