"""One TensorFlow for all of these tests, and a loud count of what it can't show."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fixture_files import fixture_paths
from tests.grounds import driver_or_skip, gpu_or_skip
from tests.truth.harness import read_case
from tfmemlint.verify.edge import Edge, shared
from tfmemlint.verify.ground import Ground


@pytest.fixture(scope="session")
def edge() -> Iterator[Edge]:
    """TensorFlow with GPUs simulated at its Python edge."""
    with shared() as ground:
        yield ground


@pytest.fixture(scope="session")
def driver() -> Iterator[Ground]:
    """TensorFlow's GPU build on the simulated driver; skips where it can't be had."""
    with driver_or_skip() as ground:
        yield ground


@pytest.fixture(scope="session")
def gpu() -> Iterator[Ground]:
    """A real GPU; skips where there is none."""
    with gpu_or_skip() as ground:
        yield ground


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how much rests on nothing that was run here."""
    reports = [report for kind in terminalreporter.stats.values() for report in kind if hasattr(report, "keywords")]
    if not any("truth/test_fixtures" in report.nodeid for report in reports):
        return
    cases = []
    for path in [*fixture_paths("bad"), *fixture_paths("ok")]:
        try:
            cases.append(read_case(path))
        except ValueError:
            continue  # its own test fails over it
    unseen = sum(case.needs_driver and not case.observed for case in cases)
    groundless = sum(case.groundless for case in cases)
    on_driver = sum(bool(case.observed) for case in cases)
    terminalreporter.write_line(
        f"{on_driver} fixtures are about the allocator (test_allocating.py runs them on the simulated driver), "
        f"{unseen} need it and claim nothing of it, {groundless} have no ground"
    )
