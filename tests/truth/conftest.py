"""One TensorFlow for all of these tests, and a loud count of what it can't show."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fixture_files import fixture_paths
from tests.truth.harness import read_case
from tfmemlint.verify.edge import Edge


@pytest.fixture(scope="session")
def edge() -> Iterator[Edge]:
    """The ground that programs are run on."""
    with Edge() as ground:
        yield ground


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many fixtures rest on nothing that was run here."""
    reports = [report for kind in terminalreporter.stats.values() for report in kind if hasattr(report, "nodeid")]
    if not any("truth/test_fixtures" in report.nodeid for report in reports):
        return
    driver = groundless = 0
    for path in [*fixture_paths("bad"), *fixture_paths("ok")]:
        try:
            case = read_case(path)
        except ValueError:
            continue  # its own test fails over it
        driver += case.needs_driver
        groundless += case.groundless
    terminalreporter.write_line(f"{driver} fixtures need the simulated driver, {groundless} have no ground")
