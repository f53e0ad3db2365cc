"""What all tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tfmemlint.engine import cache


@pytest.fixture(scope="session", autouse=True)
def _no_traces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What the command line keeps from one run to the next is not the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(cache.VARIABLE, str(tmp_path_factory.mktemp("cache")))
        yield
