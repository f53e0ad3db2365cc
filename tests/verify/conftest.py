"""One TensorFlow for all of these tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tfmemlint.verify.edge import Edge, shared


@pytest.fixture(scope="session")
def edge() -> Iterator[Edge]:
    """The ground that programs are run on."""
    with shared() as ground:
        yield ground
