"""The report and the fix of every fixture are those of ``tests/snapshots``."""

from __future__ import annotations

import difflib

import pytest

from tests.snapshots import COMMAND, only_entries_of, pages, stored


@pytest.mark.parametrize("name", pages())
def test_the_report_and_the_fixes_are_those_of_the_snapshot(name: str) -> None:
    made = pages()[name]()
    kept = only_entries_of(stored().get(name, ""), made)
    changes = difflib.unified_diff(
        kept.splitlines(keepends=True), made.splitlines(keepends=True), f"tests/snapshots/{name}", "as it is now", n=5
    )
    difference = "".join(changes)
    assert not difference, f"{difference}\nIf that is what you meant, write it down: {COMMAND}"


def test_no_snapshot_is_left_over() -> None:
    assert sorted(stored().keys() - pages().keys()) == [], f"of no fixture; they go with: {COMMAND}"
