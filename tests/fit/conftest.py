"""One TensorFlow for all of these tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.grounds import driver_or_skip
from tfmemlint.verify.ground import Ground


@pytest.fixture(scope="session")
def ground() -> Iterator[Ground]:
    """TensorFlow's GPU build on the simulated driver."""
    with driver_or_skip() as driver:
        yield driver
