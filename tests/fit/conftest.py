"""One TensorFlow for all of these tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tfmemlint.verify.choose_ground import DriverGround
from tfmemlint.verify.ground import Ground
from tfmemlint.verify.result import GroundError


@pytest.fixture(scope="session")
def ground() -> Iterator[Ground]:
    """TensorFlow's GPU build on the simulated driver."""
    try:
        driver = DriverGround()
    except GroundError as error:
        pytest.skip(str(error))
    with driver:
        yield driver
