"""Bars on a terminal, and none elsewhere."""

from __future__ import annotations

import io
from typing import Any

import pytest

from tfmemlint.fit.bars import bar, lacks_blocks
from tfmemlint.fit.held import RESULTS, complete, shown
from tfmemlint.fit.measure import FitOutcome, FitResult
from tfmemlint.fit.observation import DeviceUsage, FitRun
from tfmemlint.fit.report import show
from tfmemlint.fit.runner import FitOptions
from tfmemlint.verify.driver import Usage
from tfmemlint.verify.result import Result

MIB = 1 << 20


class Terminal(io.StringIO):
    """A terminal, as far as a report asks."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("part", "length", "plain"), [(0, 0, 0), (1, 1, 1), (50, 5, 5), (55, 6, 6), (100, 10, 10), (200, 10, 10)]
)
def test_a_bar_is_as_long_as_its_part(part: int, length: int, plain: int) -> None:
    assert len(bar(part, 100, 10, plain=False)) == length
    assert bar(part, 100, 10, plain=True) == "#" * plain


def test_nothing_of_nothing_has_no_bar() -> None:
    assert bar(0, 0, 10, plain=False) == ""
    assert bar(1, 0, 10, plain=True) == ""


def test_an_encoding_may_lack_blocks() -> None:
    assert not lacks_blocks(io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    assert lacks_blocks(io.TextIOWrapper(io.BytesIO(), encoding="ascii"))


def _result() -> FitResult:
    groups: list[dict[str, Any]] = [
        {"role": role, "what": what, "type": "float32", "shape": "[1]", "number": 1, "asked": size, "bytes": size}
        for role, what, size in (("trained variables", "w", 750 * MIB), ("results of operations", "conv", 250 * MIB))
    ]
    roles = {group["role"]: group["bytes"] for group in groups}
    held = complete(
        {"peak": 1000 * MIB, "asked": 1000 * MIB, "asked_peak": 1000 * MIB, "roles": roles, "groups": groups}, {}
    )
    device = DeviceUsage("GPU:0", 0, 1000 * MIB, 4000 * MIB, False, False, 4000 * MIB, held)
    run = FitRun(Result(True), Usage(), [device], 3, [], 0)
    return FitResult(FitOptions(), "2.21.0", run, FitOutcome.FITS)


def test_bars_are_for_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    page, terminal = io.StringIO(), Terminal()
    show("x.py", _result(), page)
    show("x.py", _result(), terminal)
    assert "#" not in page.getvalue()
    assert "%" not in page.getvalue()
    shown = terminal.getvalue()
    assert "of what TensorFlow may take" in shown
    for role, share in (("trained variables", "75%"), ("results of operations", "25%")):
        (line,) = [line for line in shown.splitlines() if role in line]
        assert line.rstrip().endswith(share)


@pytest.mark.parametrize("columns", ["40", "60", "200"])
def test_no_line_with_a_bar_is_too_wide(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = Terminal()
    show("x.py", _result(), terminal)
    wide = [line for line in terminal.getvalue().splitlines() if "%" in line and len(line) > max(int(columns), 60)]
    assert not wide


def test_alike_groups_are_listed_as_one() -> None:
    groups: list[dict[str, Any]] = [
        {"role": RESULTS, "what": what, "type": "float32", "shape": "[1]", "number": 1, "asked": size, "bytes": size}
        for what, size in [("conv2d_1/Relu", 20), ("conv2d_2/Relu", 15), *((f"slice_{n}/Grad", 8) for n in range(99))]
    ]
    whole = sum(group["bytes"] for group in groups)
    held = {"peak": whole, "groups": groups, "largest": groups[:12]}
    assert [(group["what"], group["number"], group["bytes"]) for group in shown(held, RESULTS)] == [
        ("slice_N/Grad", 99, 792),
        ("conv2d_1/Relu", 1, 20),
        ("conv2d_2/Relu", 1, 15),
    ]
    assert shown(held, "trained variables") == []
