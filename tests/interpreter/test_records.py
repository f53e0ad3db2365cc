"""Records are frozen dataclasses to mypy, and are compared, hashed and pickled as these are."""

from __future__ import annotations

import dataclasses
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tfmemlint.interpreter.values import Const, Unknown
from tfmemlint.model.finding import Span
from tfmemlint.model.records import dataclass, record


@record(frozen=True, slots=True)
class _Own:
    number: int

    def __hash__(self) -> int:
        return 7


@record(frozen=True, slots=True)
class _OwnEquality:
    number: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _OwnEquality)


def test_equal_records_have_equal_hashes() -> None:
    assert Span(1, 2, 3, 4) == Span(1, 2, 3, 4) != Span(1, 2, 3, 5)
    assert len({Span(1, 2, 3, 4), Span(1, 2, 3, 4)}) == 1
    assert Span(1, 2, 3, 4) < Span(1, 2, 3, 5)


def test_a_hash_of_its_own_stays() -> None:
    assert hash(_Own(1)) == hash(_Own(2)) == 7
    assert hash(Unknown()) == hash(Unknown)


def test_a_record_with_its_own_equality_has_the_hash_of_a_frozen_dataclass() -> None:
    @dataclasses.dataclass(frozen=True)
    class Frozen:
        number: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Frozen)

    assert hash(_OwnEquality(3)) == hash(Frozen(3))


def test_records_are_replaced_and_pickled() -> None:
    span = Span(1, 2, 3, 4)
    assert dataclasses.replace(span, row=5) == Span(5, 2, 3, 4)
    assert pickle.loads(pickle.dumps(span)) == span
    assert pickle.loads(pickle.dumps(Const(1))) == Const(1)


def test_what_can_be_changed_is_no_record() -> None:
    with pytest.raises(AssertionError):
        record(frozen=False)


@pytest.mark.slow
def test_mypy_holds_that_nothing_assigns_to_a_record(tmp_path: Path) -> None:
    file = tmp_path / "assigns.py"
    file.write_text("from tfmemlint.model.finding import Span\n\nSpan(1, 2, 3, 4).row = 2\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-incremental", "--no-color-output", "--follow-imports=silent", str(file)],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "FORCE_COLOR"},
    )
    assert 'Property "row" defined in "Span" is read-only' in done.stdout


def _point(decorator: Any) -> Any:
    @decorator(slots=True)
    class Base:
        x: int
        kept: ClassVar[int] = 3
        names: list[str] = dataclasses.field(default_factory=list)

    @decorator(slots=True)
    class Point(Base):
        y: int = 2
        seen: dict[str, int] = dataclasses.field(default_factory=dict, init=False, compare=False)
        total: int = dataclasses.field(init=False, repr=False)
        unit: str = dataclasses.field(default="MiB", kw_only=True)

        def __post_init__(self) -> None:
            self.total = self.x + self.y

    return Point


@pytest.mark.parametrize(
    "call", ["(1)", "(1, ['a'], 3)", "(x=1, y=5, unit='GiB')", "()", "(1, total=2)", "(1, [], 2, 3)"]
)
def test_a_dataclass_is_made_as_the_standard_library_makes_it(call: str) -> None:
    said: list[object] = []
    for decorator in (dataclasses.dataclass, dataclass):
        cls = _point(decorator)
        try:
            made, again = (eval(f"cls{call}", {"cls": cls}) for _ in range(2))
        except TypeError as error:
            said.append(str(error).rpartition(".")[2])
            continue
        assert made == again and made != dataclasses.replace(again, x=7) and made is not again
        assert again.names is not made.names or made.names
        with pytest.raises(TypeError, match="unhashable"):
            hash(made)
        assert cls.__match_args__ == ("x", "names", "y")
        said.append((repr(made).rpartition(".")[2], made.total, dataclasses.asdict(made), cls.kept))
    assert said[0] == said[1]


def test_a_method_is_compiled_once() -> None:
    cls = _point(dataclass)
    assert "first_call" in cls.__init__.__qualname__
    cls(1)
    assert cls.__init__.__qualname__.endswith("Point.__init__")
