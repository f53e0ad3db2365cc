"""The grounds that all tests of one process share: to import TensorFlow takes seconds, so each does it once."""

from __future__ import annotations

from functools import lru_cache

import pytest

from tfmemlint.verify.choose_ground import DriverGround, choose
from tfmemlint.verify.ground import Ground
from tfmemlint.verify.result import GroundError


@lru_cache(maxsize=1)
def driver() -> DriverGround:
    """TensorFlow's GPU build on the simulated driver. Its server starts with the first program, and again after
    `Ground.close`.

    Raises:
        GroundError: it can't be had here.
    """
    return DriverGround()


def driver_or_skip() -> Ground:
    """Return `driver`, or skip the test where it can't be had."""
    try:
        return driver()
    except GroundError as error:
        pytest.skip(str(error))


def gpu_or_skip() -> Ground:
    """Return a real GPU, or skip the test where there is none."""
    try:
        ground, _ = choose("gpu")
    except GroundError as error:
        pytest.skip(str(error))
    return ground
